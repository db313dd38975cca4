"""C4.5 multi-instance files: bag, instance, numbers, then the class of the bag followed by a dot.

The ``.names`` file beside it, when there is one, names the classes and the attributes. Plain C4.5 data (no bag, no
instance) is read too: which of the two it is shows in the ``.names`` file, or in a first column whose values come back.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sidelight.data.dataset import Dataset
from sidelight.errors import UnreadableFile
from sidelight.files.problems import not_a_number, ragged
from sidelight.files.roles.cells import as_number, is_gap
from sidelight.files.roles.columns import Coded, MemorySource
from sidelight.files.roles.plan import RoleRequest
from sidelight.files.roles.tables import read_table
from sidelight.files.source import text_lines


class Names(NamedTuple):
    """What a ``.names`` file declares."""

    classes: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]  # (name, type)


def read_c45(path: Path, wanted: RoleRequest) -> Dataset:
    """Read a C4.5 ``.data`` file."""
    rows, lines = _rows(path)
    width = len(rows[0])
    for line, row in zip(lines, rows):
        if len(row) != width:
            raise ragged(path, line, width, len(row))
    names = _names_beside(path)
    has_bags, why = _has_bags(rows, names, width)
    labels = _attribute_names(names, width, has_bags)
    n_head = 2 if has_bags else 0
    columns: list[np.ndarray | Coded] = [Coded.of(row[j] for row in rows) for j in range(n_head)]
    columns.extend(
        _column(path, [row[j] for row in rows], lines, labels[j], _is_text(names, j, n_head))
        for j in range(n_head, width - 1)
    )
    columns.append(Coded.of(row[-1] for row in rows))
    source = MemorySource(path, "C4.5 multi-instance" if has_bags else "C4.5", labels, columns, lines)
    hints: dict[str, tuple[object, str]] = {"label": (labels[-1], "the class that ends each line")}
    if has_bags:
        hints["bag"] = (labels[0], why)
        hints["ignore"] = ([labels[1]], "the number of the instance")
        hints["label_level"] = ("bag", "C4.5 multi-instance files give the class of the bag")
    return read_table(source, wanted.over(**hints))


def _rows(path: Path) -> tuple[list[list[str]], list[int]]:
    rows, lines = [], []
    for number, line in text_lines(path):
        text = line.split("|", 1)[0].strip()
        if not text:
            continue
        row = [cell.strip() for cell in text.split(",")]
        if not row[-1].endswith("."):
            raise UnreadableFile(
                f"{path}, line {number}: expected the class and a dot at the end of the line, found {row[-1][-20:]!r}. "
                "Was the file cut off there?"
            )
        row[-1] = row[-1][:-1]
        rows.append(row)
        lines.append(number)
    if not rows:
        raise UnreadableFile(f"{path}: expected rows, found none. Was the file written completely?")
    return rows, lines


def _names_beside(path: Path) -> Names | None:
    beside = path.with_suffix(".names")
    if not beside.is_file() or beside == path:
        return None
    text = "\n".join(line.split("|", 1)[0] for _, line in text_lines(beside))
    entries = [entry.strip() for entry in re.split(r"\.\s*(?:\n|$)", text) if entry.strip()]
    if not entries:
        return None
    classes = tuple(name.strip() for name in entries[0].split(","))
    attributes = []
    for entry in entries[1:]:
        name, colon, kind = entry.partition(":")
        if colon:
            attributes.append((name.strip(), kind.strip()))
    return Names(classes, tuple(attributes))


def _has_bags(rows: list[list[str]], names: Names | None, width: int) -> tuple[bool, str]:
    if names and len(names.attributes) == width - 1:
        first = re.sub(r"[^a-z]", "", names.attributes[0][0].lower())
        return "bag" in first or "molecule" in first, f"called {names.attributes[0][0]!r} in the .names file"
    firsts = [row[0] for row in rows]
    pairs = {(row[0], row[1]) for row in rows}
    comes_back = len(set(firsts)) < len(firsts) and len(pairs) == len(rows) and width > 3
    return comes_back, "the first of each line; its values come back, and the second tells its rows apart"


def _attribute_names(names: Names | None, width: int, has_bags: bool) -> list[str]:
    n_head = 2 if has_bags else 0
    inner = [f"f{j}" for j in range(width - n_head - 1)]
    if names and len(names.attributes) == width - 1:
        given = [name for name, _ in names.attributes]
        if len(set(given)) == len(given) and "class" not in given:
            return [*given, "class"]
    return (["bag", "instance"] if has_bags else []) + inner + ["class"]


def _is_text(names: Names | None, j: int, n_head: int) -> bool:
    if names is None:
        return False
    at = j if len(names.attributes) > j else j - n_head
    kind = names.attributes[at][1] if 0 <= at < len(names.attributes) else "continuous"
    return not kind.startswith(("continuous", "ignore")) and not re.fullmatch(r"[\d\s,.+-]*", kind)


def _column(path: Path, cells: list[str], lines: list[int], name: str, is_text: bool) -> np.ndarray | Coded:
    if is_text:
        return Coded.of(cells)
    try:
        return np.array([np.nan if cell == "?" else as_number(cell) for cell in cells])
    except ValueError:
        for line, cell in zip(lines, cells):
            try:
                as_number("nan" if is_gap(cell) else cell)
            except ValueError:
                raise not_a_number(path, f"line {line}", name, cell) from None
        return np.array([np.nan if is_gap(cell) else as_number(cell) for cell in cells])
