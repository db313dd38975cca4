"""A block of text cut into columns with Python alone: for small files, and for tables too wide for polars."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from sidelight.files.problems import not_a_number
from sidelight.files.roles.cells import is_gap, is_number, undressed
from sidelight.files.text.blocks import Block, rows_with_lines
from sidelight.files.text.dialect import Dialect

Column = list[float | None] | list[str]


def plain_columns(
    path: Path,
    block: Block,
    dialect: Dialect,
    wanted: Sequence[int],
    numbers: Collection[int],
    dressed: Collection[int] = (),
) -> dict[int, Column]:
    """Return the wanted columns, those of ``numbers`` as floats (None for a gap), the others as stripped text.

    Columns of ``dressed`` hold numbers with the marks of a spreadsheet.
    """
    lines, rows = zip(*rows_with_lines(block, dialect))
    columns: dict[int, Column] = {}
    for j in wanted:
        cells = [row[j].strip() for row in rows]
        columns[j] = _numbers(path, dialect, lines, cells, j, j in dressed) if j in numbers else cells
    return columns


def _numbers(
    path: Path, dialect: Dialect, lines: Sequence[int], cells: Sequence[str], column: int, is_dressed: bool
) -> list[float | None]:
    values: list[float | None] = []
    for line, cell in zip(lines, cells):
        text = undressed(dialect.with_point(cell)) if is_dressed else dialect.with_point(cell)
        if is_gap(cell):
            values.append(None)
        elif is_number(text):
            values.append(float(text))
        else:
            raise not_a_number(path, f"line {line}", dialect.names[column], cell)
    return values
