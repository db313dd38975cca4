"""A block of text cut into columns with Python alone: for small files, and for tables too wide for polars."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from sidelight.files.noticed import forgive
from sidelight.files.problems import not_a_number, ragged
from sidelight.files.roles.cells import is_gap, is_number
from sidelight.files.roles.numbers import Writing
from sidelight.files.text.blocks import Block, rows_with_lines
from sidelight.files.text.dialect import Dialect

Column = list[float | None] | list[str]


def plain_columns(
    path: Path,
    block: Block,
    dialect: Dialect,
    wanted: Sequence[int],
    numbers: Collection[int],
    writings: Mapping[int, Writing] = MappingProxyType({}),
) -> dict[int, Column]:
    """Return the wanted columns, those of ``numbers`` as floats (None for a gap), the others as stripped text.

    ``writings`` says how the numbers of a column are written, where that is not plainly.
    """
    lines, rows = zip(*rows_with_lines(block, dialect))
    for line, row in zip(lines, rows):
        if len(row) != len(dialect.names):  # a short and a long row have an even number of separators between them
            raise ragged(path, line, len(dialect.names), len(row))
    columns: dict[int, Column] = {}
    for j in wanted:
        cells = [row[j].strip() for row in rows]
        columns[j] = _numbers(path, dialect, lines, cells, j, writings.get(j)) if j in numbers else cells
    return columns


def _numbers(
    path: Path, dialect: Dialect, lines: Sequence[int], cells: Sequence[str], column: int, writing: Writing | None
) -> list[float | None]:
    values: list[float | None] = []
    for line, cell in zip(lines, cells):
        text = dialect.with_point(cell) if writing is None else writing.plain(cell)
        if is_gap(cell):
            values.append(None)
        elif is_number(text):
            values.append(float(text))
        elif forgive(f"line {line}", dialect.names[column], cell):
            values.append(None)
        else:
            raise not_a_number(path, f"line {line}", dialect.names[column], cell)
    return values
