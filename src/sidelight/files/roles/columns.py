"""Columns on their way in: numbers as one float64 matrix, text as codes into a list of its different values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sidelight.data.dataset import Doubt
from sidelight.files.roles.cells import as_number, is_gap, is_number


@dataclass(frozen=True, eq=False)
class Coded:
    """A text column: ``values[codes]``; the value ``""`` is a gap."""

    values: tuple[str, ...]
    codes: NDArray[np.intp]
    levels: frozenset[str] = frozenset()  # words such as "none" that are values here and no gaps

    @classmethod
    def of(cls, cells: Iterable[str], declared: Iterable[str] = ()) -> Coded:
        """Encode cells: declared values first, then in order of first appearance."""
        code_of: dict[str, int] = {value: code for code, value in enumerate(dict.fromkeys(declared))}
        codes = np.fromiter((code_of.setdefault(cell, len(code_of)) for cell in cells), dtype=np.intp)
        return cls(tuple(code_of), codes)

    def objects(self) -> NDArray[np.object_]:
        """Return one shared string a row."""
        table = np.empty(len(self.values), dtype=object)
        table[:] = self.values
        return table[self.codes]

    def gaps(self) -> NDArray[np.bool_]:
        """Say which rows hold nothing."""
        empty = np.array([self.is_gap(value) for value in self.values], dtype=bool)
        return empty[self.codes] if len(self.values) else np.zeros(len(self.codes), dtype=bool)

    def is_gap(self, value: str) -> bool:
        """Say whether a value of this column says that nothing is known."""
        return is_gap(value) and value not in self.levels

    def with_levels(self) -> Coded:
        """Take "none" for a value where it comes back among a few words: a kind of its own, and no gap."""
        words = [value for value in self.values if not is_gap(value)]
        nones = [code for code, value in enumerate(self.values) if value.lower() == "none"]
        often = sum(int((self.codes == code).sum()) for code in nones)
        few = 1 < len(words) <= 30 and not any(is_number(word) for word in words)
        if self.levels or not nones or not few or often < 0.02 * len(self.codes):
            return self
        return Coded(self.values, self.codes, frozenset(self.values[code] for code in nones))

    def names(self) -> NDArray[Any]:
        """Return the values as integers when every one is a plainly written integer, else as text."""
        if self.values and all(_is_plain_int(value) for value in self.values):
            return np.array([int(value) for value in self.values], dtype=np.int64)[self.codes]
        return self.objects()


class Coder:
    """Turns text that comes in pieces into codes and values, without one Python string a row where polars is used."""

    def __init__(self) -> None:
        self.found: dict[str, int] = {}
        self._pieces: list[NDArray[np.intp]] = []

    def codes(self, piece: Any) -> NDArray[np.intp]:
        """Return the codes of a polars series, or of a sequence of strings."""
        if not hasattr(piece, "str"):
            return np.fromiter((self.found.setdefault(cell, len(self.found)) for cell in piece), dtype=np.intp)
        import polars as pl

        local = piece.unique(maintain_order=True)  # each text once: a long one may come back a million times
        texts = local.cast(pl.String).fill_null("").str.strip_chars().to_list()
        mine = pl.Series([self.found.setdefault(text, len(self.found)) for text in texts], dtype=pl.Int64)
        if piece.dtype == pl.Categorical:
            piece, local = piece.to_physical(), local.to_physical()
        codes = piece.replace_strict(local, mine, return_dtype=pl.Int64)
        return np.asarray(codes.to_numpy(), dtype=np.intp)

    def add(self, piece: Any) -> None:
        """Encode a piece and keep its codes."""
        self._pieces.append(self.codes(piece))

    def result(self) -> Coded:
        """Return everything that was added as one column."""
        return Coded(tuple(self.found), np.concatenate(self._pieces) if self._pieces else np.empty(0, dtype=np.intp))


class Loaded(NamedTuple):
    """The columns that were asked for."""

    X: NDArray[np.float64]
    texts: dict[int, Coded]


class TableSource(Protocol):
    """A table on disk or in memory that hands out its columns; readers of tables implement it."""

    path: Path
    title: str
    names: tuple[str, ...]
    notes: tuple[str, ...]
    declares_words: bool  # whether the format itself lists the words that a column may hold

    def sample(self) -> Sequence[Sequence[str]]:
        """Return the first rows as text."""

    def load(self, numbers: Sequence[int], texts: Sequence[int]) -> Loaded:
        """Return some columns as numbers and some as text; no other column is kept."""

    def frames(self, columns: Sequence[int], weight: int | None) -> Iterator[Any]:
        """Yield the columns as data frames or mappings of modest size, for counting."""

    def location(self, row: int) -> str:
        """Say where row ``row`` is, in the file's own terms: ``"line 17"``."""


class MemorySource:
    """Columns that a reader has already taken apart: float64 arrays and :class:`Coded` text."""

    declares_words = True

    def __init__(
        self,
        path: Path,
        title: str,
        names: Sequence[str],
        columns: Sequence[NDArray[np.float64] | Coded],
        lines: Sequence[int] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.path, self.title, self.names, self.notes = path, title, tuple(names), tuple(notes)
        self.columns, self.lines = list(columns), lines  # lines: where each row was in the file
        self.doubts: tuple[Doubt, ...] = ()  # which of several tables is meant
        self.hints: dict[str, tuple[Any, str]] = {}  # what the format says of columns, and why
        self.declared_kind = ""  # what the format says that the table is
        self.bag_hint: str | None = None  # a column whose values name what held the rows in the file

    can_be_cut = False  # whether a last row that is a total may be left out

    def without_last(self) -> MemorySource:
        """Return the table without its last row."""
        cut = [Coded.of(c.objects()[:-1]) if isinstance(c, Coded) else c[:-1] for c in self.columns]
        made = MemorySource(self.path, self.title, self.names, cut, self.lines, self.notes)
        made.doubts, made.declares_words = self.doubts, self.declares_words
        return made

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        first = self.columns[0] if self.columns else np.empty(0)
        return len(first.codes) if isinstance(first, Coded) else len(first)

    def sample(self) -> list[list[str]]:
        """Return the first rows as text."""
        cut = [_as_text(column, 1000) for column in self.columns]
        return [list(row) for row in zip(*cut)]

    def load(self, numbers: Sequence[int], texts: Sequence[int]) -> Loaded:
        """Return some columns as numbers and some as text."""
        X = np.empty((self.n_rows, len(numbers)))
        for k, j in enumerate(numbers):
            column = self.columns[j]
            X[:, k] = self._numbers(j, column) if isinstance(column, Coded) else column
        return Loaded(X, {j: self._text(j) for j in texts})

    def frames(self, columns: Sequence[int], weight: int | None) -> Iterator[dict[str, Any]]:
        """Yield the columns in one piece."""
        frame: dict[str, Any] = {self.names[j]: self._text(j).objects() for j in columns}
        if weight is not None:
            frame[self.names[weight]] = self.load([weight], []).X[:, 0]
        yield frame

    def location(self, row: int) -> str:
        """Say which line a row came from."""
        return f"line {self.lines[row]}" if self.lines is not None else f"row {row + 1}"

    def _text(self, j: int) -> Coded:
        column = self.columns[j]
        return column if isinstance(column, Coded) else Coded.of(_as_text(column, None))

    def _numbers(self, j: int, column: Coded) -> NDArray[np.float64]:
        values = np.empty(len(column.values))
        for k, value in enumerate(column.values):
            try:
                values[k] = np.nan if is_gap(value) else as_number(value)
            except ValueError:
                from sidelight.files.problems import forgive, not_a_number

                row = int(np.flatnonzero(column.codes == k)[0])
                values[k] = np.nan
                if not forgive(self.location(row), self.names[j], value):
                    raise not_a_number(self.path, self.location(row), self.names[j], value) from None
        return values[column.codes] if len(values) else np.empty(0)


def _as_text(column: NDArray[np.float64] | Coded, limit: int | None) -> list[str]:
    if isinstance(column, Coded):
        return list(column.objects()[:limit])
    cut = column[:limit]
    return ["" if value != value else f"{value:.17g}" for value in cut.tolist()]


def _is_plain_int(value: str) -> bool:
    """Say whether text is an integer as Python would write it: ``"7"`` but not ``"007"``, ``"+7"`` or ``"7.0"``."""
    return len(value) <= 18 and value.lstrip("-").isdecimal() and value.isascii() and str(int(value)) == value
