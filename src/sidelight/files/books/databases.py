"""SQLite databases, read only: one table or view, or the result of a query in a file."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

from sidelight.errors import InvalidData, SidelightError, UnknownName, UnreadableFile, nearest
from sidelight.files.books.columns import table_of
from sidelight.files.books.queries import query_in
from sidelight.files.limits import need
from sidelight.files.roles.columns import MemorySource
from sidelight.words import counted, some_of

_PIECE = 10_000  # rows that are fetched at once
_CELL = 60  # bytes of a cell while it is a Python value
_STEPS = 200_000_000  # of SQLite's machine that a query may take


def read_sqlite(path: Path, what: str | None = None) -> MemorySource:
    """Read a table of a database.

    Parameters
    ----------
    path : Path
        The database; it is opened for reading only.
    what : str, optional
        A table, a view, or the path of a file with one SELECT; the only table by default.
    """
    try:
        base = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=2.0)
    except sqlite3.Error as error:
        raise _refused(path, error) from None
    try:
        base.text_factory = lambda cell: cell.decode("utf-8", "replace")
        names = _tables(base)
        query, title, notes = _query(path, what, names)
        base.execute("PRAGMA query_only = 1")
        steps = iter(range(_STEPS // 10_000))
        base.set_progress_handler(lambda: next(steps, None) is None, 10_000)
        cursor = base.execute(query)
        header = [column[0] for column in cursor.description or ()]
        columns: list[list[object]] = [[] for _ in header]
        while rows := cursor.fetchmany(_PIECE):
            for cells, column in zip(zip(*rows), columns):
                column.extend(cell if not isinstance(cell, bytes) else None for cell in cells)
            n_rows = len(columns[0])
            need(path, float(_CELL * n_rows * len(columns)), f"the first {n_rows} rows of {title}")
    except SidelightError:
        raise
    except (sqlite3.Error, ValueError) as error:  # ValueError: text that is none
        raise _refused(path, error) from None
    finally:
        base.close()
    return table_of(path, f"SQLite, {title}", header, columns, notes=notes)


def _tables(base: sqlite3.Connection) -> list[str]:
    found = base.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'")
    return [name for (name,) in found.fetchall()]


def _query(path: Path, what: str | None, names: list[str]) -> tuple[str, str, list[str]]:
    if what is not None and what not in names and what.lower().endswith(".sql"):
        return query_in(Path(what)), f"the query of {Path(what).name}", []
    if not names:
        raise InvalidData(f"{path}: a database without tables.")
    if what is not None and what not in names:
        raise UnknownName(f"{path} has no table {what!r}. {nearest(what, names)}")
    chosen = what or names[0]
    notes = []
    if what is None and len(names) > 1:
        notes.append(
            f"table {chosen!r} was read; {counted(len(names) - 1, 'other')} are there: {some_of(names[1:], 3)}"
        )
    quoted = chosen.replace('"', '""')
    return f'SELECT * FROM "{quoted}"', f"table {chosen!r}", notes


def _refused(path: Path, error: Exception) -> UnreadableFile:
    text = str(error)
    if "locked" in text or "busy" in text:
        return UnreadableFile(f"{path}: another program holds the database. Close it there, or copy the file.")
    if "interrupted" in text:
        return UnreadableFile(f"{path}: the query takes too long. Make a table of its result first.")
    return UnreadableFile(f"{path}: an SQLite database that cannot be read ({text}).")
