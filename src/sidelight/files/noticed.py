"""What readers notice on the way, for the notes of the data: deep inside a file there is nobody to hand it to."""

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
