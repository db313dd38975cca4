"""ARFF files: dense or sparse rows, label attributes (Mulan, MEKA), a label hierarchy (CLUS), relational bags."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.data.dataset import Dataset
from sidelight.errors import UnreadableFile
from sidelight.files.arff.bags import relational_source
from sidelight.files.arff.clus import with_hierarchy
from sidelight.files.arff.header import Attribute, Header, parse_header, split_values
from sidelight.files.arff.mulan import find_label_names
from sidelight.files.arff.sparse import read_sparse
from sidelight.files.problems import not_a_number, ragged, shown
from sidelight.files.roles.columns import Coded, MemorySource
from sidelight.files.roles.plan import RoleRequest
from sidelight.files.roles.tables import read_table
from sidelight.files.source import text_lines

Row = tuple[int, str]


def read_arff(path: Path, wanted: RoleRequest, label_file: Path | None = None, encoding: str | None = None) -> Dataset:
    """Read an ARFF file of any kind."""
    lines = text_lines(path, encoding)
    header = parse_header(path, lines)
    rows = _rows(path, lines)
    labels = find_label_names(path, header, label_file)
    hints: dict[str, tuple[Any, str]] = {}
    if labels is not None:
        hints["label"] = (labels.names, labels.why)
    hierarchical = [j for j, a in enumerate(header.attributes) if a.kind == "hierarchical"]
    if any(a.kind == "relational" for a in header.attributes):
        source, more = relational_source(path, header, rows, None if labels is None else labels.names)
        data = read_table(source, wanted.over(**{**more, **hints}))
    elif rows[0][1].lstrip().startswith("{"):
        return read_sparse(path, header, rows, wanted, labels)
    else:
        source = dense_source(path, header, rows)
        if hierarchical:
            hints["label"] = (header.attributes[hierarchical[0]].name, "declared as hierarchical")
            hints["label_separator"] = ("@", "")
        elif not hints:
            hints.update(_class_hint(header))
        hints.setdefault("id", (False, ""))
        nominal = tuple(a.name for a in header.attributes if a.kind in ("numeric", "nominal"))
        label = wanted.label if wanted.label is not None else hints.get("label", ((), ""))[0]
        taken = {label} if isinstance(label, str) else set(label or ())
        hints["features"] = (tuple(n for n in nominal if n not in taken), "declared in the header")
        data = read_table(source, wanted.over(**hints))
    return with_hierarchy(path, header, data, labels, hierarchical)


def dense_source(path: Path, header: Header, rows: list[Row]) -> MemorySource:
    """Return the columns of dense rows."""
    attributes = header.attributes
    cut = [split_values(path, number, text) for number, text in rows]
    numbers = [number for number, _ in rows]
    notes = []
    if all(len(row) == len(attributes) + 1 and row[-1].startswith("{") for row in cut):
        cut = [row[:-1] for row in cut]
        notes.append("instance weights at the end of the rows were left out")
    for number, row in zip(numbers, cut):
        if len(row) != len(attributes):
            raise ragged(path, number, len(attributes), len(row))
    columns = [as_column(path, attribute, [row[j] for row in cut], numbers) for j, attribute in enumerate(attributes)]
    return MemorySource(path, "ARFF", [a.name for a in attributes], columns, numbers, notes)


def as_column(path: Path, attribute: Attribute, cells: list[str], numbers: list[int]) -> NDArray[np.float64] | Coded:
    """Return a column of numbers, or of text where the attribute is nominal, a string or a date."""
    if attribute.kind != "numeric":
        if attribute.kind == "nominal":
            _check_nominal(path, attribute, cells, numbers)
            return Coded.of(("" if cell == "?" else cell for cell in cells), declared=attribute.values)
        return Coded.of("" if cell == "?" else cell for cell in cells)
    try:
        return np.array([np.nan if cell == "?" else float(cell) for cell in cells], dtype=np.float64)
    except ValueError:
        for number, cell in zip(numbers, cells):
            try:
                float("nan" if cell == "?" else cell)
            except ValueError:
                raise not_a_number(path, f"line {number}", attribute.name, cell) from None
        raise


def _check_nominal(path: Path, attribute: Attribute, cells: list[str], numbers: list[int]) -> None:
    known = {*attribute.values, "?"}
    strangers = set(cells) - known
    if strangers:
        number, cell = next((n, c) for n, c in zip(numbers, cells) if c in strangers)
        from sidelight.errors import nearest

        raise UnreadableFile(
            f"{path}, line {number}, attribute {attribute.name!r}: expected a declared value, found {shown(cell)}. "
            f"{nearest(cell, attribute.values)} Correct the cell, or add the value to the header."
        )


def _class_hint(header: Header) -> dict[str, tuple[Any, str]]:
    """Take a nominal attribute called class, else a nominal last one, for the label."""
    nominal = [a.name for a in header.attributes if a.kind == "nominal"]
    named = [name for name in nominal if name.lower() in ("class", "label", "target")]
    if named:
        return {"label": (named[0], "nominal, and its name")}
    if nominal and nominal[-1] == header.attributes[-1].name:
        return {"label": (nominal[-1], "the last attribute, and nominal")}
    return {}


def _rows(path: Path, lines: Iterator[Row]) -> list[Row]:
    rows = [(n, text) for n, line in lines if (text := line.strip()) and not text.startswith("%")]
    if not rows:
        raise UnreadableFile(f"{path}: expected rows after @data, found none. Was the file cut off? Fetch it again.")
    return rows
