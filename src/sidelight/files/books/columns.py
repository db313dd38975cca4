"""Cells of any kind to the columns of a table: numbers where all are, else texts as people would write them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.errors import InvalidData, UnreadableFile
from sidelight.files.arrays.nested import opened
from sidelight.files.limits import need
from sidelight.files.roles.cells import is_gap
from sidelight.files.roles.columns import Coded, MemorySource

_MOST_EXACT = 2**53  # whole numbers beyond this are names: a float would change their last digits


def table_of(
    path: Path, title: str, names: Sequence[str], columns: Sequence[Sequence[Any]], *, notes: Sequence[str] = ()
) -> MemorySource:
    """Return columns of Python values as a table.

    Parameters
    ----------
    path, title : Path and str
        Where it came from, and what it is.
    names : sequence of str
        One name a column; empty ones are numbered, repeated ones told apart.
    columns : sequence of sequences
        Numbers, texts, dates, booleans and None.
    notes : sequence of str
        What is worth a word.
    """
    if not columns or not len(columns[0]):
        raise InvalidData(f"{path}: a table without rows. Was it written completely?")
    made = MemorySource(path, title, _unique(names), [as_column(cells) for cells in columns], notes=notes)
    made.declares_words, made.can_be_cut = False, True
    return made


def as_column(cells: Sequence[Any]) -> Any:
    """Return cells as float64 where all are numbers or empty, else as texts."""
    numbers = [cell for cell in cells if cell is not None and not (isinstance(cell, str) and is_gap(cell))]
    if numbers and all(_is_exact_number(cell) for cell in numbers):
        return np.array([float(cell) if _is_exact_number(cell) else np.nan for cell in cells])
    return Coded.of([as_text(cell) for cell in cells])


def _is_exact_number(cell: Any) -> bool:
    if isinstance(cell, bool) or not isinstance(cell, (int, float)):
        return False
    return not isinstance(cell, int) or abs(cell) <= _MOST_EXACT


def as_text(cell: Any) -> str:
    """Return a cell as a person would write it: 7.0 of a workbook is 7, a midnight is a day."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(int(cell))
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < _MOST_EXACT else repr(cell)
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(sep=" ")
    if isinstance(cell, (date, time)):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell.total_seconds())
    return str(cell)


def _unique(names: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    found = []
    for j, name in enumerate(names, start=1):
        name = " ".join(str(name).split()) or f"column {j}"
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return found


# Arrow (Feather) files through polars.


def read_feather(path: Path, part: str | None = None) -> MemorySource:
    """Read an Arrow file as a table; a list of texts in a cell is a set of labels."""
    import polars as pl

    need(path, 6.0 * path.stat().st_size, f"{path.stat().st_size} bytes of Arrow")
    try:
        with path.open("rb") as file:
            is_file = file.read(6) == b"ARROW1"
        frame = pl.read_ipc(path) if is_file else pl.read_ipc_stream(path)
        lazy, notes = opened(frame.lazy(), frame.schema)
        frame = lazy.collect()
    except (Exception, pl.exceptions.PanicException) as error:  # on damaged files polars panics, too
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UnreadableFile(f"{path}: an Arrow file that cannot be read ({reason}). Write it again.") from None
    lists = [name for name, kind in frame.schema.items() if kind == pl.List(pl.String)]
    frame = frame.with_columns(pl.col(name).list.join("|") for name in lists)
    return table_of(path, "Arrow", frame.columns, [frame[name].to_list() for name in frame.columns], notes=notes)
