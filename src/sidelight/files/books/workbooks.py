"""Workbooks of Excel and LibreOffice through calamine: one sheet, its title lines skipped, merged cells filled."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from sidelight.errors import InvalidData, UnknownName, UnreadableFile, nearest
from sidelight.files.books.columns import table_of
from sidelight.files.books.sheets import body_of
from sidelight.files.books.tables import choose, which_table, worth
from sidelight.files.limits import need
from sidelight.files.roles.columns import MemorySource
from sidelight.words import counted, some_of

_MOST_RATIO = 200  # how far the sheets of a workbook may unpack
_MOST_UNPACKED = 4 << 30


def read_workbook(path: Path, sheet: str | None = None) -> MemorySource:
    """Read one sheet of a workbook as a table.

    Parameters
    ----------
    path : Path
        .xlsx, .xls, .xlsb or .ods.
    sheet : str, optional
        Which sheet; the only one that holds a table by default.
    """
    _check_size(path)
    from python_calamine import CalamineWorkbook

    try:
        book = CalamineWorkbook.from_path(str(path))
        names = list(book.sheet_names)
    except Exception as error:  # calamine has an error a kind of damage
        raise UnreadableFile(f"{path}: a workbook that cannot be read ({error}). Save it again, or as CSV.") from None
    if sheet is not None and sheet not in names:
        raise UnknownName(f"{path} has no sheet {sheet!r}. {nearest(sheet, names)}")
    filled = {name: _cells(book, name, path) for name in ([sheet] if sheet is not None else names)}
    tables = {name: cells for name, cells in filled.items() if len(cells) > 1}
    if not tables:
        raise InvalidData(f"{path}: no sheet holds a line of names and a row ({some_of(names, 4)}).")
    sizes = {name: _worth(cells) for name, cells in tables.items()}
    chosen = choose(sizes)
    notes = []
    if len(tables) > 1:
        others = some_of([name for name in tables if name != chosen], 3)
        notes.append(f"sheet {chosen!r} was read; {counted(len(tables) - 1, 'other sheet')} hold tables too: {others}")
    cells = tables[chosen]
    body = body_of(cells)
    used = [j for j, name in enumerate(body.names) if name or any(not _is_empty(row[j]) for row in body.rows)]
    columns = [[None if _is_empty(row[j]) else row[j] for row in body.rows] for j in used]
    made = table_of(
        path, f"a workbook, sheet {chosen!r}", [body.names[j] for j in used], columns, notes=[*notes, *body.notes]
    )
    made.lines = body.lines
    made.hints = {} if body.label is None else {"label": (body.label, "the line below the names says so")}
    made.doubts = tuple(which_table(path, chosen, sizes, "sheets with tables"))
    return made


def _worth(cells: list[list[Any]]) -> float:
    """Return how much a sheet holds: its rows times its columns of measurements."""
    body = body_of(cells)
    return worth(len(body.rows), {name: [row[j] for row in body.rows[:100]] for j, name in enumerate(body.names)})


def _cells(book: Any, name: str, path: Path) -> list[list[Any]]:
    """Return the cells of a sheet; a merged block has its value in every cell."""
    try:
        sheet = book.get_sheet_by_name(name)
        need(path, 60.0 * sheet.total_height * sheet.total_width, f"sheet {name!r} of {sheet.total_height} lines")
        rows: list[list[Any]] = [list(row) for row in sheet.to_python(skip_empty_area=False)]
        merged = getattr(sheet, "merged_cell_ranges", None) or ()
    except (UnreadableFile, InvalidData):
        raise
    except Exception as error:  # calamine has an error a kind of damage
        raise UnreadableFile(f"{path}: sheet {name!r} cannot be read ({error}). Save it again, or as CSV.") from None
    for (top, left), (bottom, right) in merged:
        for i in range(top, min(bottom + 1, len(rows))):
            for j in range(left, min(right + 1, len(rows[i]))):
                rows[i][j] = rows[top][left]
    while rows and all(_is_empty(cell) for cell in rows[-1]):
        rows.pop()
    return rows


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _check_size(path: Path) -> None:
    """Refuse a workbook whose sheets unpack to far more than its size: a decompression bomb."""
    if not zipfile.is_zipfile(path):
        return  # .xls, which is not packed
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise UnreadableFile(f"{path}: a damaged workbook ({error}). Save it again.") from None
    size = max(path.stat().st_size, 1)
    if unpacked > _MOST_UNPACKED or (unpacked > 50_000_000 and unpacked > _MOST_RATIO * size):
        raise UnreadableFile(
            f"{path}: {size:,} bytes unpack to {unpacked:,}; no real workbook shrinks that much, so this looks like a "
            "decompression bomb."
        )
