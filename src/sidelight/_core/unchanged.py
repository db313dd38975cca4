"""Rows that stay as they are for a while: inside ``unchanged_rows()`` the same array is checked, and prepared, once.

An estimator checks what it is given in every method, since nobody keeps a user from changing an array between two
calls. A run of the application fits and then asks five things about the same rows, which nothing changes: there, an
array that passed a check passes it again by being the same object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass
class _Known:
    """Arrays that were checked, with how, and those made of others; kept, so that no other array takes their place."""

    checked: list[tuple[Any, str]] = field(default_factory=list)
    made: list[tuple[Any, Any, Any]] = field(default_factory=list)


_known: ContextVar[_Known | None] = ContextVar("rows that stay as they are", default=None)


@contextmanager
def unchanged_rows() -> Iterator[None]:
    """Promise that no array of rows is changed inside the block."""
    token = _known.set(_Known())
    try:
        yield
    finally:
        _known.reset(token)


def passed_before(X: Any, check: str) -> bool:
    """Say whether this very array passed this check inside the block."""
    known = _known.get()
    return known is not None and any(X is other and check == passed for other, passed in known.checked)


def remember_passed(X: Any, check: str) -> None:
    """Remember that an array passed a check."""
    known = _known.get()
    if known is not None and not passed_before(X, check):
        known.checked.append((X, check))


def made_once(X: Any, by: Any, make: Callable[[], Any]) -> Any:
    """Return what ``by`` makes of rows, made at most once inside the block."""
    known = _known.get()
    if known is None:
        return make()
    for rows, maker, made in known.made:
        if rows is X and maker is by:
            return made
    known.made.append((X, by, make()))
    return known.made[-1][2]
