r"""Label tracks of Praat and Audacity: times and the names that were marked there, as a table of start, end, label.

Praat's TextGrid has tiers of intervals or points, written long (``xmin = 0.5``) or short (the values alone). Audacity
writes start, end and label between tabs, and a second line ``\ low high`` for a box.
"""

from __future__ import annotations

import re
from pathlib import Path

from sidelight.errors import UnreadableFile
from sidelight.files.books.columns import table_of
from sidelight.files.limits import need
from sidelight.files.roles.columns import MemorySource
from sidelight.files.source import Source, guess_encoding

_VALUE = re.compile(r'"((?:[^"]|"")*)"|(?<![\w.\[])(-?\d+(?:\.\d+)?(?:e-?\d+)?)(?![\w\]])|<exists>', re.IGNORECASE)
NAMES = ("start", "end", "label", "tier")


def is_text_grid(start: str) -> bool:
    """Say whether a text is a TextGrid of Praat, by its beginning."""
    return "ooTextFile" in start[:200] and "TextGrid" in start[:400]


def has_boxes(lines: list[str]) -> bool:
    """Say whether lines are an Audacity track with frequencies: every other line begins with a backslash."""
    return sum(line.startswith("\\") for line in lines[:40]) >= max(1, min(len(lines), 40) // 3)


def read_track(path: Path, part: str | None = None) -> MemorySource:
    """Read a label track as a table; ``part`` names one tier."""
    with Source(path).open() as file:
        content = file.read()
    need(path, 20.0 * len(content), f"{len(content)} bytes of a label track")
    text = content.decode(guess_encoding(content, is_whole=True), errors="replace")
    rows = _text_grid(path, text) if is_text_grid(text) else _audacity(path, text)
    rows = [row for row in rows if part is None or row[3] == part]
    if not rows:
        raise UnreadableFile(f"{path}: a label track without a mark that has a name.")
    columns = [list(column) for column in zip(*rows)]
    names = NAMES if len(set(columns[3])) > 1 else NAMES[:3]
    title = "a TextGrid of Praat" if is_text_grid(text) else "a label track of Audacity"
    made = table_of(path, title, names, columns[: len(names)])
    made.declared_kind = "label track"
    return made


def _text_grid(path: Path, text: str) -> list[tuple[float, float, str, str]]:
    """Return the named intervals and points of all tiers."""
    values: list[str | float] = []
    for found in _VALUE.finditer(text):
        if found.group(1) is not None:
            values.append(found.group(1).replace('""', '"'))
        elif found.group(2) is not None:
            values.append(float(found.group(2)))
    rows: list[tuple[float, float, str, str]] = []
    starts = [k for k, value in enumerate(values) if value in ("IntervalTier", "TextTier")]
    for k, last in zip(starts, [*starts[1:], len(values)]):
        width = 3 if values[k] == "IntervalTier" else 2
        tier, body = str(values[k + 1]) if k + 1 < last else "", values[k + 5 : last]
        for at in range(0, len(body) - width + 1, width):
            *times, name = body[at : at + width]
            if not all(isinstance(time, float) for time in times) or not isinstance(name, str):
                raise UnreadableFile(f"{path}: a TextGrid that cannot be read, in its tier {tier!r}.")
            if name.strip():
                rows.append((float(times[0]), float(times[-1]), name.strip(), tier))
    return rows


def _audacity(path: Path, text: str) -> list[tuple[float, float, str, str]]:
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("\\"):
            cells = line.split("\t")
            try:
                rows.append((float(cells[0]), float(cells[1]), cells[2].strip() if len(cells) > 2 else "", ""))
            except (ValueError, IndexError):
                raise UnreadableFile(f"{path}, line {number}: expected start, end and label, found {line[:40]!r}.") \
                    from None  # fmt: skip
    return rows
