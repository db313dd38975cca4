"""How much memory a file may take: one limit, and every reader asks before it makes something large.

A few hundred bytes can declare two billion rows, and libraries below Python abort the process when memory ends. So
each reader estimates what a file will take from what the file declares (or from what it has read so far) and asks
:func:`need`. The limit is ``sidelight.read(max_memory=...)``; by default half of what this process may have.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from sidelight._core.memory import default_limit, in_units, size_in_bytes
from sidelight.errors import InvalidParameter, TooLarge
from sidelight.words import Setting

NAME = 80  # bytes of one short text in a list: the object, and its place
_limit: ContextVar[int | None] = ContextVar("memory a file may take", default=None)


@contextmanager
def memory_limit(wanted: Any) -> Iterator[None]:
    """Read under a limit: bytes, a text such as ``"8GB"``, or None for half of what this process may have."""
    token = _limit.set(None if wanted is None else as_bytes(wanted))
    try:
        yield
    finally:
        _limit.reset(token)


def need(path: Any, n_bytes: float, what: str) -> None:
    """Raise :class:`TooLarge` when ``what`` would take more than the limit.

    Parameters
    ----------
    path : path
        The file.
    n_bytes : float
        The estimate.
    what : str
        What would take so much: "2147483648 rows and 2 columns".
    """
    limit = _limit.get() or default_limit()
    if n_bytes > limit:
        raise TooLarge(
            f"{path}: {what} would take about {in_units(n_bytes)} of memory; the limit is {in_units(limit)}.",
            do=["If that is right, raise it: ", Setting("max_memory", _rounded_up(n_bytes)), "."],
        )


def need_dense(path: Any, n_rows: int, n_columns: int) -> None:
    """Ask for a full matrix of float64 with the numbers of its rows and the names of its columns."""
    n_bytes = 8 * n_rows * n_columns + 8 * n_rows + NAME * n_columns
    need(path, n_bytes, f"a table of {n_rows} rows and {n_columns} columns")


def need_sparse(path: Any, n_rows: int, n_columns: int, n_cells: int) -> None:
    """Ask for a sparse matrix, by rows and by columns, with the numbers of its rows and the names of its columns."""
    n_bytes = 24 * n_rows + (16 + NAME) * n_columns + 32 * n_cells
    need(path, n_bytes, f"a sparse table of {n_rows} rows and {n_columns} columns")


def as_bytes(size: Any) -> int:
    """Return a size in bytes: a number, or a text with a unit."""
    n_bytes = size_in_bytes(size)
    if n_bytes is None:
        raise InvalidParameter(
            "The 'max_memory' parameter of sidelight.read must be a size: a number of bytes, or a text such as '8GB'. "
            f"Got {size!r:.80} instead."
        )
    return n_bytes


def _rounded_up(n_bytes: float) -> str:
    unit, size = ("GB", 10**9) if n_bytes >= 10**9 else ("MB", 10**6)
    return f"{int(n_bytes // size) + 1}{unit}"
