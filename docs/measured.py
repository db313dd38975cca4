"""A role that quotes a figure from a page of benchmarks, so that no guide repeats a number that a later run changes.

``{measured}`relations_quality|Right answers|wine|0.6N pairs (trial)``` is the cell of that page, section, row and
column (a name, or its place from 0); an empty section is the table at the top. Brackets in the cell are left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes

PAGES = Path(__file__).parent / "benchmarks"


def quote(page: str, section: str, row: str, column: str) -> str:
    """Return the text of one cell; KeyError says which part of the address leads nowhere."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    sections = {"": parts[0]} | dict(zip(parts[1::2], parts[2::2]))
    lines = [line for line in sections[section].splitlines() if line.startswith("|")]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    header, rows = table[0], {cells[0]: cells for cells in table[2:]}
    place = int(column) if column.isdigit() else header.index(column)
    return re.sub(r"\s*\(.*\)", "", rows[row][place])


def _role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, options: Any = None, content: Any = ()
) -> tuple[list[nodes.Node], list[Any]]:
    try:
        return [nodes.Text(quote(*text.split("|")))], []
    except (OSError, KeyError, IndexError, ValueError, TypeError) as error:
        return [], [inliner.reporter.error(f"no such figure: {text} ({error!r})", line=lineno)]


def setup(app: Any) -> dict[str, bool]:
    """Add the role."""
    app.add_role("measured", _role)
    return {"parallel_read_safe": True}
