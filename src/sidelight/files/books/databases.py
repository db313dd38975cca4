"""Databases, read only: one table or view, or the result of a query in a file.

An SQLite database is a file. One on a server is named by SQLAlchemy's address (``postgresql://user@host/name::table``);
its password is never repeated. PostgreSQL needs the extra ``postgres``, others work where their driver is installed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeGuard
from urllib.parse import quote

from sidelight.errors import InvalidData, MissingExtra, SidelightError, UnknownName, UnreadableFile, nearest
from sidelight.files.books.columns import table_of
from sidelight.files.books.tables import which_table, worth
from sidelight.files.limits import need
from sidelight.files.roles.columns import MemorySource
from sidelight.files.source import Source
from sidelight.progress import report
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
        base.execute("PRAGMA query_only = 1")
        steps = iter(range(_STEPS // 10_000))
        base.set_progress_handler(lambda: next(steps, None) is None, 10_000)
        sizes = {name: _worth(base, name) for name in names} if what is None and len(names) > 1 else {}
        names = sorted(names, key=lambda name: -sizes.get(name, 0.0))
        query, title, notes = _query(path, what, names)
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
    made = table_of(path, f"SQLite, {title}", header, columns, notes=notes)
    made.doubts = tuple(which_table(path, names[0], sizes, "tables")) if sizes else ()
    return made


def _worth(base: sqlite3.Connection, name: str) -> float:
    """Return how much a table holds: its rows times its columns of measurements, by its first rows."""
    quoted = name.replace('"', '""')
    try:
        n_rows = base.execute(f'SELECT COUNT(*) FROM "{quoted}"').fetchone()[0]
        cursor = base.execute(f'SELECT * FROM "{quoted}" LIMIT 100')
        header = [column[0] for column in cursor.description or ()]
        cells = list(zip(*cursor.fetchall()))
        keys = {row[3].lower() for row in base.execute(f'PRAGMA foreign_key_list("{quoted}")')}
    except sqlite3.Error:  # a view of what is gone
        return 0.0
    return worth(n_rows, {h: c for h, c in zip(header, cells) if h.lower() not in keys})


def _tables(base: sqlite3.Connection) -> list[str]:
    found = base.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'")
    return [name for (name,) in found.fetchall()]


def _query(path: Path, what: str | None, names: list[str]) -> tuple[str, str, list[str]]:
    if _is_query(what, names):
        return _query_in(Path(what)), f"the query of {Path(what).name}", []
    chosen, notes = _choose(path, what, names)
    quoted = chosen.replace('"', '""')
    return f'SELECT * FROM "{quoted}"', f"table {chosen!r}", notes


def _is_query(what: str | None, names: list[str]) -> TypeGuard[str]:
    return what is not None and what not in names and what.lower().endswith(".sql")


def _query_in(path: Path) -> str:
    """Return the one SELECT that a file holds."""
    file = path.expanduser()
    if not file.is_file():
        raise UnreadableFile(f"{file}: there is no such file with a query.")
    text = file.read_text(encoding="utf-8", errors="replace").strip().rstrip(";")
    if not text.lower().startswith(("select", "with")):
        raise InvalidData(f"{file}: expected one SELECT, found {text[:40]!r}.")
    return text


def _choose(database: Path | Source, what: str | None, names: list[str]) -> tuple[str, list[str]]:
    """Return the table that is meant, and a note when it is one of several and none was named."""
    if not names:
        raise InvalidData(
            f"{database}: a database without tables{' that this user may see' * isinstance(database, Source)}."
        )
    if what is not None and what not in names:
        raise UnknownName(f"{database} has no table {what!r}. {nearest(what, names)}")
    if what is not None or len(names) == 1:
        return what or names[0], []
    others = f"{counted(len(names) - 1, 'other is', 'others are')} there: {some_of(names[1:], 3)}"
    return names[0], [f"table {names[0]!r} was read; {others}"]


def _refused(path: Path, error: Exception) -> UnreadableFile:
    text = str(error)
    if "locked" in text or "busy" in text:
        return UnreadableFile(f"{path}: another program holds the database. Close it there, or copy the file.")
    if "interrupted" in text:
        return UnreadableFile(f"{path}: the query takes too long. Make a table of its result first.")
    return UnreadableFile(f"{path}: an SQLite database that cannot be read ({text}).")


_PATIENCE = {"connect_timeout": 10}  # seconds, of PostgreSQL


def read_server(source: Source) -> MemorySource:
    """Read a table or view (``schema.table`` where it is not in the usual schema), or the SELECT of a ``.sql`` file."""
    what = source.part
    with _told(source), _connected(source) as connection:
        query, title, notes = _query_on(connection, source, what)
        result = connection.execution_options(stream_results=True, max_row_buffer=_PIECE).execute(query)
        header = list(result.keys())
        columns: list[list[Any]] = [[] for _ in header]
        while rows := result.fetchmany(_PIECE):
            for cells, column in zip(zip(*rows), columns):
                column.extend(_plain(cell) for cell in cells)
            n_rows = len(columns[0])
            need(source, float(_CELL * n_rows * len(columns)), f"the first {n_rows} rows of {title}")
            report("reading", n_rows, None, title)
    return table_of(source.path, f"a database, {title}", header, columns, notes=notes)


@contextmanager
def _connected(source: Source) -> Iterator[Any]:
    """Yield a connection that cannot write."""
    try:
        import sqlalchemy as sa
    except ImportError as error:
        raise MissingExtra("sqlalchemy", "postgres", "Reading a server's database") from error
    url = sa.make_url(source.address)
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    is_postgres = url.get_backend_name() == "postgresql"
    try:
        engine = sa.create_engine(url, poolclass=sa.pool.NullPool, connect_args=_PATIENCE if is_postgres else {})
    except ImportError as error:
        if is_postgres:
            raise MissingExtra("psycopg", "postgres", "Reading PostgreSQL") from error
        raise UnreadableFile(f"{source}: the driver of this database is not installed ({error}).") from None
    try:
        with engine.connect() as connection:
            if is_postgres:
                connection.execute(sa.text("SET TRANSACTION READ ONLY"))
            elif url.get_backend_name() in ("mysql", "mariadb"):
                connection.execute(sa.text("SET SESSION TRANSACTION READ ONLY"))
            yield connection
            connection.rollback()
    finally:
        engine.dispose()


@contextmanager
def _told(source: Source) -> Iterator[None]:
    """Turn what SQLAlchemy and drivers raise into one message, without the password."""
    try:
        yield
    except SidelightError:
        raise
    except Exception as error:  # drivers have errors of their own, whatever SQLAlchemy wraps
        first = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        if source.password:
            first = first.replace(source.password, "...")
        raise UnreadableFile(f"{source}: the database cannot be read ({first[:300]}).") from None


def _query_on(connection: Any, source: Source, what: str | None) -> tuple[Any, str, list[str]]:
    import sqlalchemy as sa

    inspector = sa.inspect(connection)
    names = [*inspector.get_table_names(), *inspector.get_view_names()]
    if _is_query(what, names):
        return sa.text(_query_in(Path(what))), f"the query of {Path(what).name}", []
    schema, dot, table = (what or "").rpartition(".")
    if what is not None and what not in names and dot and schema in inspector.get_schema_names():
        inside = [*inspector.get_table_names(schema=schema), *inspector.get_view_names(schema=schema)]
        if table not in inside:
            raise UnknownName(f"{source} has no table {what!r}. {nearest(table, inside)}")
        return _all_of(table, schema), f"table {what!r}", []
    chosen, notes = _choose(source, what, names)
    return _all_of(chosen, None), f"table {chosen!r}", notes


def _all_of(table: str, schema: str | None) -> Any:
    import sqlalchemy as sa

    return sa.select(sa.text("*")).select_from(sa.table(table, schema=schema))


def _plain(cell: Any) -> Any:
    """Return a cell as other tables hold it: numbers, texts, days; what is no table's business is empty."""
    if isinstance(cell, Decimal):
        return int(cell) if cell == cell.to_integral_value() and abs(cell) < 2**53 else float(cell)
    if isinstance(cell, (bytes, memoryview)):
        return None
    if isinstance(cell, (list, tuple, set, frozenset)):
        return "|".join(str(part) for part in cell)
    return cell
