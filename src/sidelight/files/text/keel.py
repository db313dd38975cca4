"""KEEL files: an ARFF-like header with ranges, ``@inputs`` and ``@outputs``, then comma-separated rows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.data.dataset import Dataset
from sidelight.errors import UnreadableFile
from sidelight.files.problems import not_a_number, ragged, shown
from sidelight.files.roles.cells import as_number, is_gap
from sidelight.files.roles.columns import Coded, MemorySource
from sidelight.files.roles.plan import RoleRequest
from sidelight.files.roles.tables import read_table
from sidelight.files.source import text_lines

_ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|[^\s{\[]+)\s*(.*)", re.IGNORECASE)


def read_keel(path: Path, wanted: RoleRequest, encoding: str | None = None) -> Dataset:
    """Read a KEEL ``.dat`` file."""
    names: list[str] = []
    is_text: list[bool] = []
    inputs: list[str] = []
    outputs: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    in_data = False
    for number, line in text_lines(path, encoding):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if in_data:
            row = [cell.strip() for cell in text.split(",")]
            if len(row) != len(names):
                raise ragged(path, number, len(names), len(row))
            rows.append(row)
            lines.append(number)
        elif text.lower().startswith("@attribute"):
            name, kind = _attribute(path, number, text)
            names.append(name)
            is_text.append(kind.startswith("{"))
        elif match := re.match(r"@(input|output)s?\b(.*)", text, re.IGNORECASE):
            listed = [n.strip().strip("'\"") for n in match.group(2).split(",") if n.strip()]
            (inputs if match.group(1).lower() == "input" else outputs).extend(listed)
        elif text.lower().startswith("@data"):
            in_data = True
        elif not text.startswith("@"):
            raise UnreadableFile(f"{path}, line {number}: expected @attribute or @data, found {shown(text)}.")
    if not rows:
        raise UnreadableFile(f"{path}: expected rows after @data, found none. Was the file cut off? Fetch it again.")
    columns = [_column(path, n, [row[j] for row in rows], lines, is_text[j]) for j, n in enumerate(names)]
    source = MemorySource(path, "KEEL", names, columns, lines)
    return read_table(source, wanted.over(**_hints(names, is_text, inputs, outputs)))


def _attribute(path: Path, number: int, text: str) -> tuple[str, str]:
    match = _ATTRIBUTE.fullmatch(text)
    if match is None:
        raise UnreadableFile(
            f"{path}, line {number}: expected a name and a type after @attribute, found {shown(text)}."
        )
    return match.group(1).strip("'\""), match.group(2).strip()


def _hints(names: list[str], is_text: list[bool], inputs: list[str], outputs: list[str]) -> dict[str, tuple[Any, str]]:
    known = [name for name in outputs if name in names]
    if known:
        label: Any = known[0] if len(known) == 1 else tuple(known)
        hints: dict[str, tuple[Any, str]] = {"label": (label, "named by @outputs")}
    elif is_text[-1]:
        hints = {"label": (names[-1], "the last attribute, and nominal")}
    else:
        hints = {}
    taken = set(known) or ({names[-1]} if is_text[-1] else set())
    features = tuple(n for n in names if n not in taken and (not inputs or n in inputs))
    return {
        **hints,
        "features": (features, "named by @inputs" if inputs else "declared in the header"),
        "id": (False, ""),
    }


def _column(path: Path, name: str, cells: list[str], lines: list[int], is_text: bool) -> Any:
    if is_text:
        return Coded.of("" if cell in ("?", "<null>") else cell for cell in cells)
    out = np.empty(len(cells))
    for i, cell in enumerate(cells):
        try:
            out[i] = np.nan if is_gap(cell) or cell == "<null>" else as_number(cell)
        except ValueError:
            raise not_a_number(path, f"line {lines[i]}", name, cell) from None
    return out
