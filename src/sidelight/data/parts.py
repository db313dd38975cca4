"""Rows that need not be in memory: recipes for parts of them, each made of whole bags.

A *source* knows where some rows are (a file, an array, a partition of somebody else's frame) and reads any of them. All
rows together are cut into *blocks* of about ``BLOCK`` rows, always between two bags; where the cuts are depends on the
rows and bags alone. A *part* is a run of blocks, kept as a recipe: which rows of which sources. Whoever has the recipe
can read the part, so that no part lives in one place only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import as_sequence
from sidelight.data.bag_lists import (
    WHOLE,
    BagLists,
    Draw,
    LabelSet,
    Sample,
    bag_keys,
    joined_lists,
    joined_samples,
    least_keys,
)
from sidelight.data.bags import Bags
from sidelight.data.names import Names, sorted_names
from sidelight.errors import InvalidData, InvalidParameter, UnknownName, WrongKind, nearest
from sidelight.progress import report
from sidelight.words import counted

Ints = NDArray[np.intp]
Numbers = NDArray[Any]
Units = tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]  # what is taken off rows, what divides them

BLOCK = 4_096  # rows of a block: what is computed about them stays in the cache
BLOCKS = 64  # blocks of a part, where nobody wants other ones
SLICE = 1 << 20  # rows whose bags are looked at together
LOOKS, LOOK = 64, 256  # places, and rows at each, that show roughly where the numbers of a column are


@runtime_checkable
class Source(Protocol):
    """Where some rows are; small enough to be sent to whoever shall read them."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        ...

    def rows(self, first: int, last: int) -> Numbers:
        """Return the features of these rows, dense."""
        ...

    def lists(self, first: int, last: int) -> BagLists | None:
        """Return the bags of these rows; None where every row is on its own."""
        ...

    def numbers(self, first: int, last: int) -> Ints:
        """Return the numbers that these rows have among all rows that the user gave."""
        ...

    def place(self, row: int) -> str:
        """Say where a row is, for a message."""
        ...

    def only(self, first: int, last: int) -> tuple[Source, int, int]:
        """Return a source with at least these rows, and where they are in it: what a recipe carries."""
        ...


@dataclass(frozen=True, slots=True)
class Part:
    """A recipe: consecutive blocks of whole bags, ``cuts[i]`` to ``cuts[i + 1]`` counted from the part's first row."""

    number: int
    pieces: tuple[tuple[Source, int, int], ...]
    first_row: int
    first_block: int
    cuts: tuple[int, ...]
    units: Units = ()

    @property
    def n_rows(self) -> int:
        """How many rows the part has."""
        return self.cuts[-1]

    def rows(self) -> Numbers:
        """Read the features."""
        return _read(self.pieces, self.units)

    def lists(self) -> BagLists | None:
        """Read the bags; None where every row is on its own."""
        return joined_lists([source.lists(first, last) for source, first, last in self.pieces])

    def numbers(self) -> Ints:
        """Return the number of each row among all rows, as the user counts them."""
        return np.concatenate([source.numbers(first, last) for source, first, last in self.pieces])

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What the features are called, for a message; nothing where the sources do not know."""
        return getattr(self.pieces[0][0], "feature_names", ())

    def place(self, row: int) -> str:
        """Say where a row of the part is, for a message."""
        for source, first, last in self.pieces:
            if row < last - first:
                return source.place(first + row)
            row -= last - first
        return f"row {self.first_row + row + 1}"


def _read(pieces: Iterable[tuple[Source, int, int]], units: Units) -> Numbers:
    """Read rows of several sources."""
    read = [source.rows(first, last) for source, first, last in pieces]
    return in_units(read[0] if len(read) == 1 else np.concatenate(read), units)


def in_units(rows: Numbers, units: Units) -> Numbers:
    """Return rows of a source, shifted and divided."""
    for shift, scale in units:
        rows = (rows - shift) / scale
    return rows


class Survey(NamedTuple):
    """What the bags of all rows look like."""

    cuts: Ints  # where blocks begin, and at the end the number of rows
    n_bags: int
    classes: Names
    is_arranged: bool  # whether the rows of every bag stand together
    sets: tuple[LabelSet, ...] = ()  # the different label sets, None where nobody said anything
    least: Mapping[LabelSet, int] = {}  # keys up to which bags with such a set are in every sample


@dataclass(frozen=True)
class Look:
    """Where the numbers of each column are, roughly: rows are kept as ``(x - centre) / spread`` in single precision."""

    centre: NDArray[np.float64]
    spread: NDArray[np.float64]

    def near(self, rows: Numbers, dtype: Any = np.float32) -> NDArray[Any]:
        """Return rows in these units; their first seven digits are then the ones that matter."""
        near = np.asarray(rows - self.centre)
        near /= self.spread  # in place: new memory would cost as much as the division
        return np.ascontiguousarray(near, dtype=dtype)

    def far(self, rows: Numbers) -> NDArray[np.float64]:
        """Return rows in the user's own units."""
        return np.asarray(rows * self.spread + self.centre, dtype=np.float64)


class PartedRows:
    """Rows of features, in bags or not, that are read part by part.

    Parameters
    ----------
    sources : sequence of Source
        Where the rows are, in order. Sources without rows are left out.
    feature_names : sequence of str
        What the columns are called.
    in_bags : bool
        Whether sources tell the bags of their rows.
    classes : sequence, default=None
        The known labels; by default those that occur, sorted.
    """

    units: Units = ()  # what is done to every row that a source reads

    def __init__(
        self, sources: Sequence[Source], feature_names: Sequence[str], *, in_bags: bool, classes: Any = None
    ) -> None:
        if not isinstance(sources, (list, tuple)) or not all(isinstance(source, Source) for source in sources):
            raise WrongKind(
                f"{type(self).__name__} is made of sources by one of its methods: from_parquet(...), from_arrays(...), "
                f"from_frame(...). Got {sources!r:.80}."
            )
        self.sources = tuple(source for source in sources if source.n_rows)
        self.feature_names = tuple(as_sequence(self, "feature_names", feature_names))
        self.in_bags = in_bags
        self._classes = None if classes is None else tuple(as_sequence(self, "classes", classes))
        self._ends = np.cumsum([source.n_rows for source in self.sources], dtype=np.intp)
        if not self.sources:
            raise InvalidData(
                f"{type(self).__name__}: there is not a single row in {counted(len(sources), 'part')}. Check the paths."
            )

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self._ends[-1])

    @property
    def n_features(self) -> int:
        """The number of columns that are features."""
        return len(self.feature_names)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.n_rows, self.n_features

    def __len__(self) -> int:
        return self.n_rows

    @property
    def n_bags(self) -> int:
        """The number of bags; the column that names them is read once to find out."""
        return self.survey.n_bags

    @property
    def classes(self) -> Names:
        """The known labels; the columns of bags and labels are read once to find out."""
        return self.survey.classes

    @cached_property
    def survey(self) -> Survey:
        """What the bags look like: reads the columns of bags and labels, never the features."""
        if not self.in_bags:
            wanted = np.arange(0, self.n_rows, BLOCK)
            return Survey(np.append(wanted, self.n_rows).astype(np.intp), self.n_rows, (), True)
        starts, keys, found, codes = self._read_bags()
        sets = sorted(found, key=lambda members: (members is None, sorted(map(str, members or ()))))
        named = sorted_names({name for members in sets if members for name in members})
        classes = named if self._classes is None else self._classes
        unknown = next((name for name in named if name not in set(classes)), None)
        if unknown is not None:
            raise UnknownName(f"A bag lists {unknown!r}, which is not among the classes. {nearest(unknown, classes)}")
        distinct, first = np.unique(keys, return_index=True)
        is_arranged = len(distinct) == len(keys)
        cuts = block_cuts(starts, self.n_rows) if is_arranged else starts[:0]
        return Survey(
            cuts, len(distinct), classes, is_arranged, tuple(sets), least_keys(distinct, codes[first], tuple(found))
        )

    @cached_property
    def look(self) -> Look:
        """Where the numbers of each column are, from rows at evenly spaced places."""
        places = np.unique(np.linspace(0, max(0, self.n_rows - LOOK), LOOKS).astype(np.intp)).tolist()
        rows = np.concatenate([self.rows(first, min(first + LOOK, self.n_rows)) for first in places])
        seen = np.ascontiguousarray(
            rows, dtype=np.float64
        )  # the layout decides the order of sums, and so the last bits
        with np.errstate(invalid="ignore", over="ignore"):
            centre, spread = seen.mean(axis=0), seen.std(axis=0)
        centre = np.where(np.isfinite(centre), centre, 0.0)  # gaps are told where they are met
        usable = np.isfinite(spread) & (spread > 1e-12 * np.maximum(1.0, np.abs(centre)))
        return Look(centre, np.where(usable, spread, 1.0))

    def rows(self, first: int, last: int) -> Numbers:
        """Read the features of the rows ``first`` to ``last``."""
        return _read(self._pieces(first, last), self.units)

    def parts(self, n_blocks: int | None = None) -> list[Part]:
        """Return recipes for all rows, of at most ``n_blocks`` blocks each (``BLOCKS`` by default)."""
        n_blocks = BLOCKS if n_blocks is None else n_blocks
        if not self.survey.is_arranged:
            raise InvalidData(
                f"{type(self).__name__}: the rows of some bags do not stand together, so parts of whole bags cannot be "
                "cut as they are. Bring them together first: parts = parts.together(folder)."
            )
        cuts = self.survey.cuts
        found = []
        for number, block in enumerate(range(0, len(cuts) - 1, n_blocks)):
            own = cuts[block : block + n_blocks + 1]
            pieces = tuple(piece[0].only(*piece[1:]) for piece in self._pieces(int(own[0]), int(own[-1])))
            found.append(Part(number, pieces, int(own[0]), block, tuple((own - own[0]).tolist()), self.units))
        return found

    def sample(self, n_rows: int = 100_000, *, whole: int = WHOLE) -> tuple[Numbers, Bags | None]:
        """Return about so many rows and their bags: whole bags drawn by a hash of their names, some rows of long ones.

        Parameters
        ----------
        n_rows : int, default=100000
            How many rows are wanted. Which bags are drawn depends on their names alone, never on the files they are in.
        whole : int, default=1000
            Rows up to which a bag is in the sample as a whole or not at all. Of a longer one about so many rows are
            drawn, or more, so that a few very long bags are all in the sample.
        """
        if n_rows < 1:
            raise InvalidParameter(f"The 'n_rows' parameter of Parts.sample must be at least 1. Got {n_rows!r}.")
        drawn = self.drawn(self.draw(n_rows, whole=whole))
        return drawn.rows, None if drawn.lists is None else drawn.lists.as_bags(self.classes)

    def draw(self, n_rows: int, *, whole: int = WHOLE, also: Ints | None = None) -> Draw:
        """Return how about so many rows are drawn."""
        return Draw(n_rows / self.n_rows, whole, self.survey.least, also)

    def drawn(self, draw: Draw) -> Sample:
        """Read all parts, and keep what is drawn."""
        return joined_samples([draw.take(part.rows(), part.lists(), part.numbers()) for part in self.parts()])

    def apply(self, method: Callable[..., Any], *, bags: bool = False) -> Any:
        """Return what a method of a fitted model says about the rows, part by part and never gathered.

        Parameters
        ----------
        method : callable
            ``model.predict``, ``model.predict_labels``, ``model.predict_proba``: one answer for each row it is given.
        bags : bool, default=False
            Whether the method is told the bags of the rows, with their labels, as ``bags=``.
        """
        if bags and not self.in_bags:
            raise InvalidParameter(f"{self!r} has no bags to tell. Leave bags=True out.")
        return ByPart(self, method, bags, self.n_rows)

    def scaled(self, mean: NDArray[np.float64], scale: NDArray[np.float64]) -> PartedRows:
        """Return the same rows with every feature shifted and divided."""
        scaled = type(self)(self.sources, self.feature_names, in_bags=self.in_bags, classes=self._classes)
        scaled.units = (*self.units, (mean, scale))
        if "survey" in vars(self):
            vars(scaled)["survey"] = self.survey  # the bags are the same
        return scaled

    def together(self, folder: str | Path, columns: Sequence[str] = ()) -> Self:
        """Write the rows bag by bag into a folder, in single precision, and return them from there.

        Parameters
        ----------
        folder : str or path
            An empty folder that stays as long as the rows are needed: for bags whose rows lie apart.
        columns : sequence of str, default=()
            Columns of a table that are no features and go along, as text: names of rows, say.
        """
        from sidelight.data.spill import spill

        look, near = self.look, spill(self, Path(folder), lambda place, rows, names: None, columns)
        found = type(self)(near.sources, self.feature_names, in_bags=self.in_bags, classes=self.classes)
        found.units = ((-look.centre / look.spread, 1.0 / look.spread),)
        return found

    def without_bags(self) -> PartedRows:
        """Return the same rows, each on its own: their bags are never read."""
        alone = PartedRows(self.sources, self.feature_names, in_bags=False)
        alone.units = self.units
        return alone

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_rows} rows x {self.n_features} features in {len(self.sources)} sources)"

    def _pieces(self, first: int, last: int) -> Iterator[tuple[Source, int, int]]:
        number = int(np.searchsorted(self._ends, first, side="right"))
        while first < last:
            source, end = self.sources[number], int(self._ends[number])
            begin = end - source.n_rows
            yield source, first - begin, min(last, end) - begin
            first, number = min(last, end), number + 1

    def _read_bags(self) -> tuple[Ints, NDArray[np.uint64], dict[LabelSet, int], Ints]:
        """Return where bags begin, a key of each, the different label sets, and which each bag has.

        A bag may go on in the next source.
        """
        starts: list[Ints] = []
        keys: list[NDArray[np.uint64]] = []
        sets: dict[LabelSet, int] = {}
        codes: list[Ints] = []
        before, kind, row = None, None, 0
        for number, source in enumerate(self.sources):
            report("looking at bags", number, len(self.sources))
            for first in range(0, source.n_rows, SLICE):
                last = min(first + SLICE, source.n_rows)
                lists = source.lists(first, last)
                assert lists is not None  # the source was said to tell its bags
                if kind is not None and lists.names.dtype.kind != kind:
                    raise InvalidData(f"{source.place(first)}: bags are named by numbers here and by text before.")
                kind = lists.names.dtype.kind
                own = slice(int(before is not None and lists.names[0] == before), None)
                starts.append(lists.starts[:-1][own] + row)
                keys.append(bag_keys(lists.names[own]))
                places = np.array([sets.setdefault(members, len(sets)) for members in lists.sets], dtype=np.intp)
                codes.append(places[lists.codes[own]])
                before, row = lists.names[-1], row + last - first
        starts.append(np.array([self.n_rows]))
        return np.concatenate(starts).astype(np.intp), np.concatenate(keys), sets, np.concatenate(codes)


def block_cuts(starts: Ints, n_rows: int) -> Ints:
    """Cut rows into blocks of whole bags: at the first bag that begins at or after every multiple of ``BLOCK``."""
    wanted = np.arange(BLOCK, n_rows, BLOCK)
    return np.unique(np.concatenate([[0], starts[np.searchsorted(starts, wanted)], [n_rows]])).astype(np.intp)


class ByPart:
    """What a method of a fitted model says about the rows of parts.

    Iterating yields one array for each part; ``np.asarray`` gathers all of them in the order in which the user gave the
    rows, for results that fit into memory.
    """

    def __init__(
        self, parts: PartedRows | None, method: Callable[..., Any] | None, with_bags: bool, n_rows: int
    ) -> None:
        self.parts, self.method, self.with_bags, self.n_rows = parts, method, with_bags, n_rows

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int]:
        """One answer for each row."""
        return (self.n_rows,)

    def refuse_without_rows(self) -> None:
        """Refuse to answer where the rows are not known."""
        if self.parts is None or self.method is None:
            raise InvalidData(
                f"The labels of {self.n_rows} rows were never gathered, and the model was loaded without the rows. "
                "Ask again with parts.apply(model.predict)."
            )

    def each(self) -> Iterator[tuple[Part, NDArray[Any]]]:
        """Yield every part with what is said about its rows."""
        self.refuse_without_rows()
        assert self.parts is not None  # that was the question
        for part in self.parts.parts():
            yield part, self.of_rows(part.rows(), part.lists())

    def of_rows(self, rows: NDArray[Any], lists: BagLists | None) -> NDArray[Any]:
        """Ask about some rows and their bags."""
        assert self.method is not None  # the caller has parts
        assert self.parts is not None
        rows = np.asarray(rows, dtype=np.float64)
        if not self.with_bags:
            return np.asarray(self.method(rows))
        assert lists is not None  # rows are in bags
        return np.asarray(self.method(rows, bags=lists.as_bags(self.parts.classes)))

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (answers for _, answers in self.each())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        gathered: NDArray[Any] | None = None
        for part, answers in self.each():
            if gathered is None:
                gathered = np.empty((self.n_rows, *answers.shape[1:]), dtype=answers.dtype)
            gathered[part.numbers()] = answers
        return np.asarray(gathered, dtype=dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_rows} rows, made part by part)"

    def __archive__(self) -> dict[str, Any]:
        return {"n_rows": self.n_rows}

    @classmethod
    def __unarchive__(cls, state: dict[str, Any]) -> Self:
        return cls(None, None, False, int(state["n_rows"]))
