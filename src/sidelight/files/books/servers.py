"""A table of a server's database, by its address: read only, in blocks, its password never repeated.

The address is SQLAlchemy's: ``postgresql://user@host:5432/name::table``. PostgreSQL needs the extra ``postgres``; other
servers work where their driver is installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from sidelight.errors import InvalidData, MissingExtra, SidelightError, UnknownName, UnreadableFile, nearest
from sidelight.files.books.columns import table_of
from sidelight.files.books.queries import query_in
from sidelight.files.limits import need
from sidelight.files.roles.columns import MemorySource
from sidelight.files.source import Source
from sidelight.progress import report
from sidelight.words import counted, some_of

_PIECE = 10_000  # rows that are fetched at once
_CELL = 60  # bytes of a cell while it is a Python value
_PATIENCE = {"connect_timeout": 10}  # seconds, of PostgreSQL


def read_server(source: Source) -> MemorySource:
    """Read a table or view (``schema.table`` where it is not in the usual schema), or the SELECT of a ``.sql`` file."""
    what = source.part
    with _told(source), _connected(source) as connection:
        query, title, notes = _query(connection, source, what)
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


def _query(connection: Any, source: Source, what: str | None) -> tuple[Any, str, list[str]]:
    import sqlalchemy as sa

    inspector = sa.inspect(connection)
    names = [*inspector.get_table_names(), *inspector.get_view_names()]
    if what is not None and what not in names and what.lower().endswith(".sql"):
        return sa.text(query_in(Path(what))), f"the query of {Path(what).name}", []
    schema, dot, table = (what or "").rpartition(".")
    if what is not None and what not in names and dot and schema in inspector.get_schema_names():
        inside = [*inspector.get_table_names(schema=schema), *inspector.get_view_names(schema=schema)]
        if table not in inside:
            raise UnknownName(f"{source} has no table {what!r}. {nearest(table, inside)}")
        return _all_of(table, schema), f"table {what!r}", []
    if not names:
        raise InvalidData(f"{source}: a database without tables that this user may see.")
    if what is not None and what not in names:
        raise UnknownName(f"{source} has no table {what!r}. {nearest(what, names)}")
    chosen, notes = what or names[0], []
    if what is None and len(names) > 1:
        others = some_of(names[1:], 3)
        notes.append(f"table {chosen!r} was read; {counted(len(names) - 1, 'other is', 'others are')} there: {others}")
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
