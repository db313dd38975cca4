"""What stands between several labels in one cell, found by what the parts share.

``wren + owl`` beside ``owl`` and ``jay + wren``: a mark separates labels when the parts that it leaves come back in
other cells. A blank counts only as the last resort: names have blanks, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

_MARKS = ("|", ";", ",", "@", "+", "&", "/", "\\", " and ", " und ", " et ", " y ")
_STEPS = ("/", "\\")  # also between the steps of a path, where each name has one place
_COME_BACK = 0.6  # share of the parts that must be met in another cell


def find_separator(cells: Iterable[str]) -> str | None:
    """Return the mark that separates the labels of cells, or None when every cell is one label."""
    different = sorted({" ".join(cell.split()) for cell in cells if cell.strip()})
    for mark in (*_MARKS, " "):
        split = [[part.strip() for part in cell.split(mark) if part.strip()] for cell in different if mark in cell]
        if any(split) and _come_back(split, different, mark) and not (mark in _STEPS and _are_paths(split, different)):
            return mark
    return None


def _come_back(split: list[list[str]], different: list[str], mark: str) -> bool:
    counts = Counter(part for parts in split for part in set(parts))
    alone = {cell for cell in different if mark not in cell}
    parts = list(counts)
    shared = sum(counts[part] > 1 or part in alone for part in parts)
    if mark == "|":  # stands in no name
        return max(map(len, parts)) <= 40
    if mark != " ":
        return shared >= _COME_BACK * len(parts) or (len(parts) <= 2 and bool(alone & set(parts)))
    fewer = len(set(parts) | alone) < 0.75 * len(different)  # blanks also stand inside names: be sure
    return fewer and shared >= 0.8 * len(parts)


def _are_paths(split: list[list[str]], different: list[str]) -> bool:
    """Say whether every part has one place in its cells, as steps of a path do (``animal/bird``), or is a number."""
    places: dict[str, set[int]] = {}
    for parts in split:
        for place, part in enumerate(parts):
            places.setdefault(part, set()).add(place)
    alone = set(different)
    return all(part.isdecimal() for part in places) or not any(
        len(where) > 1 or part in alone for part, where in places.items()
    )
