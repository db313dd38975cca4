"""The sentences for what is wrong with a file: where, what was expected, what was found, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from sidelight.errors import InvalidData, UnknownName, UnreadableFile, unknown_column
from sidelight.words import Setting, counted

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


_skipped: ContextVar[dict[int, str] | None] = ContextVar("lines that are left out, with the reason", default=None)


@contextmanager
def skipping(is_wanted: bool) -> Iterator[dict[int, str]]:
    """Collect the lines that are no rows, by number, where these are to be left out."""
    lines: dict[int, str] = {}
    token = _skipped.set(lines if is_wanted else None)
    try:
        yield lines
    finally:
        _skipped.reset(token)


def skipped() -> dict[int, str] | None:
    """Return where lines that are left out are remembered; None where they are refused."""
    return _skipped.get()


def skip(line: int, reason: str) -> bool:
    """Say whether a line is to be left out, and remember it if so."""
    lines = _skipped.get()
    if lines is None:
        return False
    lines[line] = reason
    return True


def about_skipped(lines: Mapping[int, str]) -> str:
    """Say how many lines were left out, and name the first."""
    some = [f"line {line} ({reason})" for line, reason in sorted(lines.items())[:3]]
    more = f" and {len(lines) - 3} more" if len(lines) > 3 else ""
    are = "is" if len(lines) == 1 else "are"
    return f"{counted(len(lines), 'line')} left out that {are} no row: {', '.join(some)}{more}"


_LONGEST = 60


def shown(value: object) -> str:
    """Return a value as it may appear in a message: quoted and not too long."""
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 4] + "...'"


def not_a_number(path: Path, place: str, column: str, cell: str) -> InvalidData:
    """Say that a column of numbers holds something else."""
    return InvalidData(
        f"{path}, {place}, column {column!r}: expected a number, found {shown(cell)}.",
        do=["Correct or empty the cell, or leave the column out: ", Setting("ignore", column), "."],
    )


def ragged(path: Path, line: int, expected: int, found: int) -> UnreadableFile:
    """Say that a row has too few or too many cells."""
    quote = "Put a cell that holds the separator into quotation marks, or pass "
    return UnreadableFile(
        f"{path}, line {line}: expected {expected} columns, found {found}.",
        do=[
            "A cell is missing, or the file was cut off there. Leave such lines out: ",
            Setting("bad_lines", "skip"),
            ".",
        ]
        if found < expected
        else [quote, Setting("separator"), " if it was guessed wrong."],
    )


def header_only(path: Path, names: Sequence[str]) -> UnreadableFile:
    """Say that there are names but no rows."""
    listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    return UnreadableFile(
        f"{path}: expected rows below the header ({listed}), found none.",
        do=["If the first line is a row and not a header, pass ", Setting("header", False), "."],
    )


def no_such_column(path: Path, wanted: str, role: str, names: Sequence[str]) -> UnknownName:
    """Say that a column does not exist, and which ones are near."""
    return unknown_column(path, wanted, role, names)


def listing(items: Sequence[object], limit: int = 5) -> str:
    """Name a few of many."""
    text = ", ".join(shown(item) for item in items[:limit])
    return text + (f" and {len(items) - limit} more" if len(items) > limit else "")


def unclosed_quote(path: Path, line: int) -> UnreadableFile:
    """Say that a quotation mark swallows the rest of the file."""
    return UnreadableFile(
        f"{path}, line {line}: a quotation mark is opened and not closed. "
        "Close it, or write a mark inside a cell twice."
    )
