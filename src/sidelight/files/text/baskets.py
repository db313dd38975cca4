"""Baskets: a set of things a line, of any length, as shops and logs keep them; read as (line, thing) events."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from sidelight.files.limits import need
from sidelight.files.roles.cells import is_number
from sidelight.files.roles.columns import Coded, MemorySource
from sidelight.files.source import text_lines

_FEWEST = 8  # lines that show what they are
_MARKS = (",", "\t", ";", "|", " ")
NAMES = ("line", "item")


def basket_separator(lines: list[str]) -> str | None:
    """Return what stands between the things of a basket; None for lines that are none.

    Parameters
    ----------
    lines : list of str
        The first lines of a file: as long as one another in a table, of any length here, with things that come back
        and none twice in a line.
    """
    if len(lines) < _FEWEST or any('"' in line for line in lines[:50]):
        return None
    for mark in _MARKS[:-1]:
        widths = Counter(line.count(mark) for line in lines[:400])
        width, share = widths.most_common(1)[0]
        if width and share > 0.9 * min(len(lines), 400):
            return None  # a table
    for mark in _MARKS:
        cut = [[cell.strip() for cell in line.split(mark) if cell.strip()] for line in lines[:400]]
        widths = Counter(map(len, cut))
        cells = [cell for row in cut for cell in row]
        if len(widths) < 4 or widths.most_common(1)[0][1] > 0.6 * len(cut) or max(widths) < 4:
            continue
        counts = Counter(cells)
        if mark == " " and not all(cell.isdecimal() for cell in cells):
            continue
        words = sum(not is_number(cell) or (mark == " " and cell.isdecimal()) for cell in cells)
        twice = sum(len(set(row)) < len(row) for row in cut)
        back = sum(n for n in counts.values() if n > 1)
        short = sum(len(cell.split()) <= 4 and len(cell) <= 40 for cell in cells)
        if (
            words > 0.95 * len(cells)
            and back > 0.5 * len(cells)
            and short > 0.95 * len(cells)
            and twice < 0.1 * len(cut)
        ):
            return mark
    return None


def read_baskets(path: Path, part: str | None = None) -> MemorySource:
    """Read a set of things a line as two columns: the number of the line, and one of its things."""
    numbered = [(number, line) for number, line in text_lines(path) if line.strip()]
    mark = basket_separator([line for _, line in numbered[:400]]) or ","
    pairs = [(str(number), cell.strip()) for number, line in numbered for cell in line.split(mark) if cell.strip()]
    need(path, 200.0 * len(pairs), f"{len(pairs)} things in {len(numbered)} lines")
    columns = [Coded.of(line for line, _ in pairs), Coded.of(item for _, item in pairs)]
    title = f"baskets: a set of things on each of {len(numbered)} lines"
    made = MemorySource(path, title, NAMES, columns, [int(line) for line, _ in pairs])
    made.hints["events"] = (NAMES, "the line, and the things on it")
    return made
