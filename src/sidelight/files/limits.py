"""How much memory a file may take: one limit, and every reader asks before it makes something large.

A few hundred bytes can declare two billion rows, and libraries below Python abort the process when memory ends. So
each reader estimates what a file will take from what the file declares (or from what it has read so far) and asks
:func:`need`. The limit is ``sidelight.read(max_memory=...)``; by default half of what this process may have.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from sidelight.errors import InvalidParameter, TooLarge
from sidelight.words import Setting

NAME = 80  # bytes of one short text in a list: the object, and its place
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]i?)?b?", re.IGNORECASE)
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
    if isinstance(size, str) and (match := _SIZE.fullmatch(size.strip())):
        number, unit = match.groups()
        size = float(number) * _UNITS[(unit or "").lower()]
    is_number = isinstance(size, (int, float)) and not isinstance(size, bool)
    if not is_number or not 1 <= size < float("inf"):
        raise InvalidParameter(
            "The 'max_memory' parameter of sidelight.read must be a size: a number of bytes, or a text such as '8GB'. "
            f"Got {size!r:.80} instead."
        )
    return int(size)


def in_units(n_bytes: float) -> str:
    """Write a size for people."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}" if n_bytes < 1000 * size else f"{n_bytes / size:.0f} {unit}"
    return f"{n_bytes:.0f} bytes"


@cache
def default_limit() -> int:
    """Return half of what this process may have: the machine's memory, or less where a limit is set."""
    return max(min(_machine(), _container(), _process()) // 2, 1 << 28)


def _rounded_up(n_bytes: float) -> str:
    unit, size = ("GB", 10**9) if n_bytes >= 10**9 else ("MB", 10**6)
    return f"{int(n_bytes // size) + 1}{unit}"


def _machine() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows does not say it here
        return 16 << 30


def _container() -> int:
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            return int(Path(file).read_text())
        except (OSError, ValueError):  # no such file, or the word "max"
            continue
    return 1 << 62


def _process() -> int:
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, OSError):
        return 1 << 62
    return soft if soft > 0 else 1 << 62  # unlimited is -1
