"""What readers notice on the way, for the notes of the data: deep inside a file there is no caller to hand it to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_notes: ContextVar[dict[str, None] | None] = ContextVar("notes of the file that is being read", default=None)


@contextmanager
def noticing() -> Iterator[dict[str, None]]:
    """Collect what is noticed while a file is read, each once and in order."""
    notes: dict[str, None] = {}
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def notice(text: str) -> None:
    """Remember something that a careful reader of the file would like to know."""
    notes = _notes.get()
    if notes is not None:
        notes[text] = None


_forgiven: ContextVar[dict[str, list[str]] | None] = ContextVar("cells that are no numbers, by column", default=None)


@contextmanager
def forgiving() -> Iterator[dict[str, list[str]]]:
    """Read cells that should be numbers and are not as gaps, and collect them by column: to describe is not to use."""
    cells: dict[str, list[str]] = {}
    token = _forgiven.set(cells)
    try:
        yield cells
    finally:
        _forgiven.reset(token)


def forgive(place: str, column: str, cell: str) -> bool:
    """Say whether an odd cell is to be read as a gap, and remember it if so."""
    cells = _forgiven.get()
    if cells is None:
        return False
    cells.setdefault(column, []).append(f"{cell!r:.40} in {place}")
    return True
