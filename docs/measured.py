"""A role that quotes a figure from a page of benchmarks, so that no guide repeats a number that a later run changes.

``{measured}`relations_quality|Right answers|wine|0.6N pairs (trial)``` is the cell of that page, section, row and
column (a name, or its place from 0); an empty section is the table at the top. Brackets in the cell are left out. Where
a table needs several cells to tell its rows apart, the row is all of them: ``MSRC v2 / 1-4 / DMNL``.

``{freshness}`novel``` says whether a page was measured with the code as it is when the docs are built; every page of
benchmarks is told the same under its title.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes

PAGES = Path(__file__).parent / "benchmarks"
sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))


def quote(page: str, section: str, row: str, column: str, *, whole: bool = False) -> str:
    """Return the text of one cell, ``whole`` with its brackets; KeyError says which part of the address is wrong."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    sections = {"": parts[0]} | dict(zip(parts[1::2], parts[2::2]))
    if section not in sections:
        raise KeyError(f"{page} has no section {section!r} yet")
    lines = [line for line in sections[section].splitlines() if line.startswith("|")]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    header, rows = table[0], {cells[0]: cells for cells in table[2:]}
    if not column.isdigit() and column not in header:
        raise KeyError(f"{page} has no column {column!r} in {section or 'its first table'!r}")
    place = int(column) if column.isdigit() else header.index(column)
    several = row.split(" / ")
    found = [rows[row]] if row in rows else [cells for cells in table[2:] if cells[: len(several)] == several]
    if len(found) != 1:
        raise KeyError(f"{page} has {len(found) or 'no'} rows {row!r} in {section or 'its first table'!r}")
    return found[0][place] if whole else re.sub(r"\s*\(.*\)", "", found[0][place])


_DECISION = re.compile(r"\[([^\]]+)\]\((?:\.\./)*decisions/([\w-]+\.md)\)")  # decisions are not among the built pages


def _role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, options: Any = None, content: Any = ()
) -> tuple[list[nodes.Node], list[Any]]:
    try:
        return [nodes.Text(quote(*text.split("|")))], []
    except (OSError, KeyError, IndexError, ValueError, TypeError) as error:
        return [], [inliner.reporter.error(f"no such figure: {text} ({error!r})", line=lineno)]


def _freshness(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, options: Any = None, content: Any = ()
) -> tuple[list[nodes.Node], list[Any]]:
    from fingerprint import freshness

    try:
        return [nodes.Text(freshness(text))], []
    except OSError as error:
        return [], [inliner.reporter.error(f"no such page of benchmarks: {text} ({error!r})", line=lineno)]


def _tell(app: Any, docname: str, source: list[str]) -> None:
    """Tell the reader of a page of benchmarks which code it is of, and where in the repository a decision is."""
    source[0] = _DECISION.sub(r"\1 (`docs/decisions/\2`)", source[0])
    folder, _, page = docname.partition("/")
    if folder == "benchmarks" and page == "index":
        source[0] += "\n" + "\n".join(
            f"- [{_title(path)}]({path.name})" for path in sorted(PAGES.glob("*.md")) if path.stem != page
        )
    elif folder == "benchmarks":
        source[0] = (
            f"---\norphan: true\n---\n{source[0]}"  # reached from the index and from what quotes it, not in the menu
        )
    if folder == "benchmarks" and "\n\nWritten by `make bench" in source[0]:
        head, _, rest = source[0].partition("\n\nWritten by")
        source[0] = f"{head}\n\n*This page was {{freshness}}`{page}`.*\n\nWritten by{rest}"


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def _always_old(app: Any, env: Any, *_: Any) -> list[str]:
    """Read these pages at each build: what they say of the code depends on files that Sphinx does not watch."""
    return [name for name in env.found_docs if name.startswith(("benchmarks/", "reproduction/")) or name == "index"]


def setup(app: Any) -> dict[str, bool]:
    """Add the roles."""
    app.add_role("measured", _role)
    app.add_role("freshness", _freshness)
    app.connect("source-read", _tell)
    app.connect("env-get-outdated", _always_old)
    return {"parallel_read_safe": True}
