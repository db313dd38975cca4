"""What the first rows say about a column: numbers or words, how many different ones, names of files, sets in cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from sidelight.files.roles.cells import is_gap, is_number
from sidelight.files.roles.numbers import writing_of
from sidelight.files.roles.separators import find_separator
from sidelight.files.roles.vocabulary import NO, TIMES, YES, folded, is_called, key_of

_MEDIA = re.compile(r".*\.(png|jpe?g|gif|webp|bmp|tiff?|svg|wav|mp3|ogg|flac|m4a|mp4|txt|html?)$", re.IGNORECASE)
_CLOCK = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*([ap]\.?m\.?)?"
_ZONE = r"(Z|[+-]\d{2}:?\d{2}|\s*UTC)?"
_TIME = re.compile(
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}([T ]{_CLOCK}{_ZONE})?|"
    rf"\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}(,?\s+{_CLOCK})?|{_CLOCK}",
    re.IGNORECASE,
)
_SECONDS, _MILLISECONDS = (6e8, 2.3e9), (6e11, 2.3e12)  # since 1970, from 1989 to 2042
_PROSE = 4  # words of a cell from which on it is a text and no name


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
    n_rows: int = 0  # rows that were looked at
    is_tick: bool = False  # yes and no, in numbers or words
    is_time: bool = False
    is_prose: bool = False  # sentences
    is_consecutive: bool = False  # 1, 2, 3, ... in the order of the rows
    is_running: bool = False  # 1, 1, 1, 2, 2, ...

    @cached_property
    def key(self) -> str:
        """The name without case, accents, blanks and punctuation."""
        return key_of(self.name)

    def is_called(self, known: frozenset[str]) -> bool:
        """Say whether the column bears one of the names."""
        return is_called(self.key, self.name, known)

    @property
    def is_unique(self) -> bool:
        """Say whether no value was seen twice."""
        return self.n_distinct == self.n_seen

    @property
    def has_name(self) -> bool:
        """Say whether the column was named."""
        return re.fullmatch(r"column[_ ]\d+", self.name) is None


def inspect_column(name: str, cells: Sequence[str]) -> Look:
    """Summarise the first cells of a column."""
    seen = [cell for cell in cells if not is_gap(cell)]
    distinct = set(seen)
    numbers = [cell for cell in seen if is_number(cell)]
    if not seen:
        return Look(name, "empty", 0, 0, False, False, 0.0, None, False, n_rows=len(cells))
    is_numeric = len(numbers) >= 0.9 * len(seen)
    values = [float(cell) for cell in numbers] if is_numeric else []
    whole = is_numeric and all(v == v and abs(v) < 1e15 and v == int(v) for v in values)
    kind = ("0/1" if {float(v) for v in values} <= {0.0, 1.0} else "number") if is_numeric else "text"
    changes = sum(1 for a, b in pairwise(seen) if a != b)
    finite = [v for v in values if v == v and abs(v) != float("inf")]
    is_media = sum(bool(_MEDIA.match(cell)) for cell in seen) > 0.8 * len(seen)
    is_time = _is_time_of_words(seen) if not is_numeric else whole and _is_time_of_numbers(name, values)
    steps = {b - a for a, b in pairwise(values)} if whole and len(numbers) == len(cells) else {-1.0}
    writing = None if is_numeric or is_time else writing_of(sorted(distinct))
    is_prose = not is_numeric and not is_media and sum(len(cell.split()) for cell in seen) >= _PROSE * len(seen)
    is_prose = is_prose and len(distinct) > 0.5 * len(seen)
    lists = not (is_numeric or is_time or is_media or writing)
    return Look(
        name,
        kind,
        len(seen),
        len(distinct),
        whole,
        changes == len(distinct) - 1,
        sum(map(len, seen)) / len(seen),
        _inner_separator(seen, is_prose=is_prose) if lists else None,
        is_media,
        min(finite, default=0.0),
        max(finite, default=0.0),
        "" if is_numeric or len(numbers) < 0.3 * len(seen) else next(c for c in seen if not is_number(c)),
        "" if writing is None else writing.example,
        len(cells),
        _is_tick(distinct),
        is_time,
        is_prose,
        steps == {1.0} and values[0] in (0, 1),
        bool(values) and steps == {0.0, 1.0} and values[0] in (0, 1),
    )


def _is_tick(distinct: set[str]) -> bool:
    """Say whether cells say yes and no; one letter alone says neither."""
    words = {folded(cell.strip()) for cell in distinct}
    return len(words) == 2 and len(words & YES) == 1 and len(words & NO) == 1


def _is_time_of_words(cells: Sequence[str]) -> bool:
    return sum(bool(_TIME.fullmatch(cell.strip())) for cell in cells) >= 0.9 * len(cells)


def _is_time_of_numbers(name: str, values: Sequence[float]) -> bool:
    """Say whether whole numbers are seconds or milliseconds since 1970: of such size, and called so or in order."""
    low, high = min(values), max(values)
    if len(values) < 3 or low == high:
        return False
    if _MILLISECONDS[0] <= low and high <= _MILLISECONDS[1]:
        return True
    is_called_so = is_called(key_of(name), name, TIMES)
    in_order = all(a <= b for a, b in pairwise(values))
    return _SECONDS[0] <= low and high <= _SECONDS[1] and (is_called_so or in_order or high < 1.3 * low)


def _inner_separator(cells: Sequence[str], *, is_prose: bool) -> str | None:
    """Find the mark between several names in one cell; sentences have commas and blanks of their own."""
    mark = find_separator(cells)
    if mark is None:
        return None
    parts = [part.strip() for cell in cells for part in cell.split(mark)]
    if is_prose and (mark in (" ", ",", "/", " and ", " und ", " et ") or max(map(len, parts)) > 30):
        return None
    return mark if max(map(len, parts)) <= 60 else None
