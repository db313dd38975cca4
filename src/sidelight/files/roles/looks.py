"""What the first rows say about a column and about a table: one pass that collects facts and decides nothing."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from sidelight.files.roles.cells import find_separator, is_gap, is_number, writing_of
from sidelight.files.roles.names import (
    CLOCKS,
    NO,
    PLACE_CODES,
    TIMES,
    TRUE_WORDS,
    TRUTHS,
    YES,
    folded,
    is_called,
    key_of,
    word_list,
    words_of,
)

_MEDIA = re.compile(r".*\.(png|jpe?g|gif|webp|bmp|tiff?|svg|wav|mp3|ogg|flac|m4a|mp4|txt|html?)$", re.IGNORECASE)
_CLOCK = r"([01]?\d|2[0-4]):[0-5]\d(:[0-6]\d([.,]\d+)?)?\s*([ap]\.?m\.?)?"
_ZONE = r"(\s*(Z|[+-]\d{2}:?\d{2}|UTC|GMT))?"
_MONTH = (
    r"(jan|feb|mar|mrz|maerz|märz|apr|may|mai|jun|jul|aug|sep|sept|oct|okt|nov|dec|dez|january|february|march|april|"
    r"june|july|august|september|october|november|december|januar|februar|juni|juli|oktober|dezember)\.?"
)
_DAY = r"(mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so)[a-z]*\.?"
_TIME = re.compile(
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}([T ]{_CLOCK}{_ZONE})?|"
    rf"\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}([,T]?\s*{_CLOCK}{_ZONE})?|{_CLOCK}|"
    rf"({_DAY},?\s+)?{_MONTH}\s+\d{{1,2}}(st|nd|rd|th)?,?(\s+\d{{4}})?(,?\s+{_CLOCK}{_ZONE})?(\s+\d{{4}})?|"
    rf"({_DAY},?\s+)?\d{{1,2}}[-. ]{{0,2}}{_MONTH}[-, ]*(\d{{2,4}})?(\s+{_CLOCK}{_ZONE})?|"
    rf"{_MONTH}[-, ]*\d{{2,4}}|\d{{4}}-?W\d{{1,2}}(-\d)?|\d{{4}}[- ]?Q[1-4]|Q[1-4][- /]\d{{4}}|"
    rf"(1[89]|20)\d{{2}}[-/.](0?[1-9]|1[0-2])|\d{{8}}T\d{{4,6}}{_ZONE}|{_MONTH}|(mon|tues?|wednes|thurs?|fri|satur|sun)(day)?",
    re.IGNORECASE,
)
_HASH = re.compile(
    r"[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?=.*\d)(?=.*[a-z])(?=.*[A-Z])\w{18,}",
)
_UNITS = (
    (6e8, 2.3e9),
    (6e11, 2.3e12),
    (6e14, 2.3e15),
    (6e17, 2.3e18),
)  # since 1970, from 1989 to 2042, in s, ms, us, ns
_EXCEL = (18_000, 62_000)  # days since 1900 from 1949 to 2069
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
    is_hash: bool = False  # hexadecimal or random names, large random numbers
    is_rising: bool = False  # every value at least the one before it
    n_zeros: int = 0

    @cached_property
    def key(self) -> str:
        """The name without case, accents, blanks and punctuation."""
        return key_of(self.name)

    @cached_property
    def last_word(self) -> str:
        """The last word of the name behind its path: of ``http.user_id`` it is ``id``."""
        return (word_list(self.name) or ("",))[-1]

    def is_called(self, known: frozenset[str]) -> bool:
        """Say whether the column bears one of the names."""
        return is_called(self.key, self.name, known)

    @property
    def is_unique(self) -> bool:
        """Say whether no value was seen twice."""
        return self.n_distinct == self.n_seen

    @property
    def is_full(self) -> bool:
        """Say whether no cell is a gap."""
        return self.n_seen == self.n_rows

    @cached_property
    def has_name(self) -> bool:
        """Say whether the column was named."""
        return re.fullmatch(r"column[_ ]\d+", self.name) is None

    @cached_property
    def is_truth(self) -> bool:
        """Say whether it is called like a truth; words alone are evidence only where the cells are words, too."""
        return self.key in TRUTHS or (self.kind == "text" and bool(words_of(self.name) & TRUE_WORDS))

    @cached_property
    def is_place_code(self) -> bool:
        """Say whether it is called like the code of a place: rows may share it, and it names none of them."""
        return bool({self.key, self.last_word} & PLACE_CODES)

    @property
    def is_number(self) -> bool:
        """Say whether the cells are numbers."""
        return self.kind in ("number", "0/1")

    @property
    def is_few(self) -> bool:
        """Say whether cells are plain words or whole numbers of which at most thirty are different, and come back."""
        few = 2 <= self.n_distinct <= max(2, min(30, self.n_seen // 2))
        plain = not (self.is_time or self.is_prose or self.is_media or self.dressed)
        return few and plain and (self.kind == "text" or self.is_whole) and self.mean_length <= 40

    @property
    def is_class(self) -> bool:
        """Say whether cells may be classes: words, ticks or a few whole numbers that come back."""
        few = 2 <= self.n_distinct <= max(2, min(30, self.n_seen // 3))
        return few and (self.kind == "text" or self.is_tick or self.is_whole) and not self.is_time and not self.is_prose

    @property
    def is_name(self) -> bool:
        """Say whether cells are single names that come back: words or whole numbers, twice each on average."""
        is_single = self.separator is None and not self.is_media and not self.dressed and self.mean_length <= 40
        return is_single and (self.kind == "text" or self.is_whole) and 2 <= self.n_distinct <= max(2, self.n_seen // 2)


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
    is_media = not is_numeric and sum(bool(_MEDIA.match(cell)) for cell in seen) > 0.8 * len(seen)
    is_time = (
        _is_time_of_words(name, seen)
        if not is_numeric
        else kind != "0/1" and _is_time_of_numbers(name, values, whole=whole)
    )
    steps = {b - a for a, b in pairwise(values)} if whole and len(numbers) == len(cells) else {-1.0}
    writing = None if is_numeric or is_time else writing_of(sorted(distinct))
    is_prose = not is_numeric and not is_media and sum(len(cell.split()) for cell in seen) >= _PROSE * len(seen)
    is_prose = is_prose and len(distinct) > 0.5 * len(seen) and not is_time
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
        _is_hash(distinct, values, whole=whole) if len(distinct) > 2 else False,
        is_numeric and len(values) > 2 and all(a <= b for a, b in pairwise(values)),
        sum(v == 0 for v in values),
    )


def _is_hash(distinct: set[str], values: Sequence[float], *, whole: bool) -> bool:
    """Say whether cells are names that a program made: hexadecimal ones, or whole numbers of random size."""
    if values:
        if not whole or len(distinct) < 0.6 * len(values) or max(map(abs, values)) < 1e8 or len(distinct) < 5:
            return False
        is_random = any(a > b for a, b in pairwise(values)) and sum(abs(v) > 1e7 for v in values) > 0.9 * len(values)
        return is_random and not any(v % 1000 == 0 for v in values[:20])
    return sum(bool(_HASH.fullmatch(cell)) for cell in distinct) > 0.9 * len(distinct)


def _is_tick(distinct: set[str]) -> bool:
    """Say whether cells say yes and no; one letter alone says neither."""
    if len(distinct) > 4:
        return False
    words = {folded(cell.strip()) for cell in distinct}
    return len(words) == 2 and len(words & YES) == 1 and len(words & NO) == 1


def _is_time_of_words(name: str, cells: Sequence[str]) -> bool:
    some = cells[:200]
    told = sum(bool(_TIME.fullmatch(cell.strip())) for cell in some)
    if told < 0.9 * len(some) and is_called(key_of(name), name, TIMES):
        told = sum(bool(re.fullmatch(r"[\d\-/.:, TZ+]{4,}|\d{1,2}-\w{2,3}", cell.strip())) for cell in some)
    return told >= 0.9 * len(some) and (told == len(some) or told > 3)


def _is_time_of_numbers(name: str, values: Sequence[float], *, whole: bool) -> bool:
    """Say whether numbers are times: since 1970 or 1900, 20240131, years, hours and days that are called so."""
    low, high, key = min(values), max(values), key_of(name)
    last = re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", name.strip())[-1].lower()
    word = key if key in CLOCKS else last
    if whole and word in CLOCKS and CLOCKS[word][0] <= low and high <= CLOCKS[word][1]:
        return True
    if len(values) < 3 or low == high or not (low == low and abs(high) < 1e19):
        return False
    is_called_so = is_called(key, name, TIMES)
    rising = all(a <= b for a, b in pairwise(values))
    for place, (first, last) in enumerate(_UNITS if low > 0 and (whole or is_called_so) else ()):
        if first <= low and high <= last and (place or is_called_so or rising or high < 1.3 * low):
            return True
    if not whole:
        return is_called_so and rising and _EXCEL[0] <= low and high <= _EXCEL[1]
    if low >= 17_500_101 and high <= 22_001_231:
        return all(1 <= v % 10_000 // 100 <= 12 and 1 <= v % 100 <= 31 for v in values)
    if low >= 175_001 and high <= 220_012 and is_called_so:
        return all(1 <= v % 100 <= 12 for v in values)
    steps = Counter(b - a for a, b in pairwise(values))
    if low >= 1600 and high <= 2100 and set(steps) == {1.0} and len(values) > 4:
        return True  # years, one after the other
    return rising and _EXCEL[0] <= low and high <= _EXCEL[1] and is_called_so


def _inner_separator(cells: Sequence[str], *, is_prose: bool) -> str | None:
    """Find the mark between several names in one cell; sentences have commas and blanks of their own."""
    mark = find_separator(cells)
    if mark is None:
        return None
    parts = [part.strip() for cell in cells for part in cell.split(mark)]
    if is_prose and (mark in (" ", ",", "/", " and ", " und ", " et ") or max(map(len, parts)) > 30):
        return None
    return mark if max(map(len, parts)) <= 60 else None


class Facts:
    """What is known of a table before anything is decided: its columns, and what one says about another.

    Parameters
    ----------
    looks : sequence of Look
        One for each column.
    rows : sequence of sequence of str
        The first rows.
    bag_hint : str, optional
        A column whose values name what held the rows in the file.
    declared : str
        What the format says that the table is, such as ``"label track"``.
    """

    def __init__(
        self, looks: Sequence[Look], rows: Sequence[Sequence[str]], *, bag_hint: str | None = None, declared: str = ""
    ) -> None:
        self.looks, self.rows, self.bag_hint, self.declared = looks, rows, bag_hint, declared
        self._determines: dict[tuple[int, int], bool] = {}

    @property
    def n_rows(self) -> int:
        """How many rows were looked at."""
        return len(self.rows)

    def cells(self, j: int) -> list[str]:
        """Return one column."""
        return [row[j] for row in self.rows]

    @cached_property
    def numbers(self) -> list[int]:
        """The columns of numbers."""
        return [j for j, look in enumerate(self.looks) if look.is_number]

    @cached_property
    def has_times(self) -> list[int]:
        """The columns of times."""
        return [j for j, look in enumerate(self.looks) if look.is_time]

    @cached_property
    def words(self) -> list[int]:
        """The columns of text."""
        return [j for j, look in enumerate(self.looks) if look.kind == "text"]

    @cached_property
    def plain_words(self) -> list[int]:
        """The columns of short words: no prose, no names of media, no dressed numbers."""
        short = (j for j in self.words if self.looks[j].mean_length <= 40)
        return [j for j in short if not (self.looks[j].is_prose or self.looks[j].is_media or self.looks[j].dressed)]

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of all columns."""
        return frozenset(look.key for look in self.looks)

    @cached_property
    def first_named(self) -> int:
        """The first column that has a name; the number of columns where none has."""
        return next((j for j, look in enumerate(self.looks) if look.has_name), len(self.looks))

    @cached_property
    def n_flags(self) -> int:
        """How many columns hold 0 and 1."""
        return sum(self.looks[j].kind == "0/1" for j in self.numbers)

    @cached_property
    def _variety(self) -> list[int]:
        return sorted(self.looks[j].n_distinct for j in self.numbers)

    def variety_without(self, *columns: int | None) -> list[int]:
        """Return how many values the columns of numbers have, but for these columns; the fewest first."""
        found = self._variety.copy()
        for j in {*columns} - {None}:
            if j is not None and self.looks[j].is_number:
                del found[bisect_left(found, self.looks[j].n_distinct)]
        return found

    def determines(self, names: int, cells: int) -> bool:
        """Say whether rows that share a name share the cell; gaps say nothing."""
        if (names, cells) not in self._determines:
            self._determines[names, cells] = determines(self.rows, names, cells)
        return self._determines[names, cells]

    def decides(self, names: int, cells: int) -> bool:
        """Say whether a name decides a cell, seen on at least three names that come back."""
        return self.has_pairs(names) and self.determines(names, cells)

    def is_same(self, a: int, b: int) -> bool:
        """Say whether two columns say the same in other words: each decides the other."""
        one, other = self.looks[a], self.looks[b]
        return one.n_distinct == other.n_distinct > 2 and self.determines(a, b) and self.determines(b, a)

    def has_pairs(self, names: int) -> bool:
        """Say whether at least three names have several rows."""
        return sum(n > 1 for n in Counter(row[names] for row in self.rows).values()) >= 3

    def n_pairs(self, a: int, b: int) -> int:
        """Count the different pairs of values of two columns."""
        return len({(row[a], row[b]) for row in self.rows})

    def is_shared(self, bag: int, j: int) -> bool:
        """Say whether each of two values is met in at least two bags of several rows: once is chance."""
        bags: Counter[str] = Counter()
        for (_, value), n in Counter((row[bag], row[j]) for row in self.rows).items():
            bags[value] += n > 1
        return min(bags.values()) > 1

    def distinct(self, j: int) -> set[str]:
        """Return the different cells of a column without gaps."""
        return {row[j].strip() for row in self.rows if not is_gap(row[j])}

    def alike(self, j: int) -> int:
        """Count the other columns of whole numbers that begin at zero and are mostly zero, as this one is."""
        look = self.looks[j]
        if not (look.is_whole and look.low == 0 and 2 * look.n_zeros > look.n_seen):
            return 0
        return self._n_mostly_zero - (look.is_number and look.n_distinct > 2)

    @cached_property
    def _n_mostly_zero(self) -> int:
        others = (self.looks[k] for k in self.numbers)
        return sum(o.is_whole and o.low == 0 and 2 * o.n_zeros > o.n_seen and o.n_distinct > 2 for o in others)


def determines(rows: Sequence[Sequence[str]], names: int, cells: int) -> bool:
    """Say whether rows that share a name share the cell; gaps say nothing."""
    seen: dict[str, str] = {}
    return all(
        is_gap(row[names]) or is_gap(row[cells]) or seen.setdefault(row[names], row[cells]) == row[cells]
        for row in rows
    )


def stem(name: str) -> str:
    """Return a name without the number at its end: columns with the same are a series."""
    return re.sub(r"[_\- .]?\d+$", "", name)
