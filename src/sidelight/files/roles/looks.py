"""What the first rows say about a column: numbers or words, how many different ones, names of files, sets in cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from sidelight.files.roles.cells import dress_of, is_gap, is_number

_MEDIA = re.compile(r".*\.(png|jpe?g|gif|webp|bmp|tiff?|svg|wav|mp3|ogg|flac|txt|html?)$", re.IGNORECASE)


@dataclass(frozen=True)
class Look:
    """What the first rows say about one column."""

    name: str
    kind: str  # "number", "0/1", "text" or "empty"
    n_seen: int
    n_distinct: int
    is_whole: bool
    is_sorted_run: bool  # equal values stand together
    mean_length: float
    separator: str | None  # cells hold several names between these
    is_media: bool
    low: float = 0.0
    high: float = 0.0
    odd: str = ""  # a word among numbers
    dressed: str = ""  # a number with a mark such as % in a column of such numbers

    @cached_property
    def key(self) -> str:
        """The name without case, blanks and punctuation."""
        return re.sub(r"[^a-z0-9]", "", self.name.lower())

    @property
    def is_unique(self) -> bool:
        """Say whether no value was seen twice."""
        return self.n_distinct == self.n_seen


def inspect_column(name: str, cells: Sequence[str]) -> Look:
    """Summarise the first cells of a column."""
    seen = [cell for cell in cells if not is_gap(cell)]
    distinct = set(seen)
    numbers = [cell for cell in seen if is_number(cell)]
    if not seen:
        return Look(name, "empty", 0, 0, False, False, 0.0, None, False)
    is_numeric = len(numbers) >= 0.9 * len(seen)
    values = [float(cell) for cell in numbers] if is_numeric else []
    whole = is_numeric and all(v == v and abs(v) < 1e15 and v == int(v) for v in values)
    kind = ("0/1" if {float(v) for v in values} <= {0.0, 1.0} else "number") if is_numeric else "text"
    changes = sum(1 for a, b in pairwise(seen) if a != b)
    finite = [v for v in values if v == v and abs(v) != float("inf")]
    return Look(
        name,
        kind,
        len(seen),
        len(distinct),
        whole,
        changes == len(distinct) - 1,
        sum(map(len, seen)) / len(seen),
        None if is_numeric else _inner_separator(seen),
        sum(bool(_MEDIA.match(cell)) for cell in seen) > 0.8 * len(seen),
        min(finite, default=0.0),
        max(finite, default=0.0),
        "" if is_numeric or len(numbers) < 0.3 * len(seen) else next(c for c in seen if not is_number(c)),
        "" if is_numeric else dress_of(seen),
    )


def _inner_separator(cells: Sequence[str]) -> str | None:
    """Find the mark between several names in one cell: the parts come back in other cells."""
    for mark in ("|", ";", ",", "@", "&"):
        split = [cell for cell in cells if mark in cell]
        if not split:
            continue
        parts = [part.strip() for cell in split for part in cell.split(mark)]
        singles = {cell for cell in cells if mark not in cell}
        again = (
            sum(1 for part in parts if part in singles or parts.count(part) > 1) if len(parts) < 2000 else len(parts)
        )
        if parts and all(0 < len(part) <= 30 for part in parts) and again >= 0.5 * len(parts):
            return mark
    return None
