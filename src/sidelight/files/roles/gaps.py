"""Words that mean "nothing is known" in this table, found by how they come back, and the table without them.

``-999`` among temperatures, ``k. A.`` among numbers: a person sees at once that these are no measurements. They are
seen here in the same way: a word that comes back among numbers, or a number of nines far away from all others.
What was found is said, and ``missing_words`` overrules it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.files.problems import listing
from sidelight.files.roles.cells import Writing, is_gap, is_number, writing_of
from sidelight.files.roles.columns import Coded, Loaded, TableSource
from sidelight.files.roles.names import folded


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KNOWN = _names(
    "k.a. ka keineangabe keineangaben n.a. n.d. s/d s.d. -- --- #nv #n/v #num! #div/0! #wert! #value! #ref! #zahl! "
    "sindato sindatos nonrenseigne notavailable nodata <na> nat (null) \\n"
)
_AMONG_NUMBERS = _KNOWN | _names(
    "unbekannt inconnu desconocido desconocida unknown unk fehlt manquant sconosciuto nd nr none leer x xx xxx "
    "nichtbekannt nonmesure"
)
_NINES = re.compile(r"-9{2,}|9{2,}")


class Cleaned:
    """A table whose gap words are gaps, and whose numbers beside them are read as they are written."""

    def __init__(self, source: TableSource, words: dict[int, frozenset[str]], writings: dict[int, Writing]) -> None:
        self.inner: Any = source
        self.words, self._writings = words, writings
        self.path: Path = source.path
        self.title, self.names = source.title, source.names
        self.declares_words = source.declares_words
        self.doubts, self.bag_hint = getattr(source, "doubts", ()), getattr(source, "bag_hint", None)
        self.declared_kind = getattr(source, "declared_kind", "")
        self.notes = (*source.notes, *self._told())

    def _told(self) -> Iterator[str]:
        found: dict[frozenset[str], list[str]] = {}
        for j, words in self.words.items():
            found.setdefault(words, []).append(self.names[j])
        for words, columns in found.items():
            are = "is" if len(words) == 1 else "are"
            yield f"{listing(sorted(words), 3)} {are} read as missing in {listing(columns, 3)}"

    def sample(self) -> list[list[str]]:
        """Return the first rows as text, gaps empty."""
        rows = [list(row) for row in self.inner.sample()]
        for j, words in self.words.items():
            writing = self._writings.get(j)
            for row in rows:
                row[j] = "" if row[j] in words else row[j] if writing is None else writing.plain(row[j])
        return rows

    def load(self, numbers: Sequence[int], texts: Sequence[int]) -> Loaded:
        """Return some columns as numbers and some as text."""
        by_text = [j for j in numbers if j in self._writings]
        plain = [j for j in numbers if j not in by_text]
        loaded = self.inner.load(plain, list(dict.fromkeys([*texts, *by_text])))
        cells = dict(loaded.texts)
        if by_text:
            X = np.empty((len(cells[by_text[0]].codes), len(numbers)))
            for k, j in enumerate(numbers):
                X[:, k] = self._numbers(j, cells[j]) if j in by_text else loaded.X[:, plain.index(j)]
        else:
            X = loaded.X
        for k, j in enumerate(numbers):
            for word in self.words.get(j, ()):
                if is_number(word):
                    X[X[:, k] == float(word), k] = np.nan
        return Loaded(X, {j: self._without(j, cells[j]) for j in texts})

    def _without(self, j: int, column: Coded) -> Coded:
        words = self.words.get(j)
        if not words or not words & set(column.values):
            return column
        whole = Coded.of("" if value in words else value for value in column.values)
        return Coded(whole.values, whole.codes[column.codes], column.levels)

    def _numbers(self, j: int, column: Coded) -> np.ndarray:
        from sidelight.files.problems import forgive, not_a_number

        values = np.full(max(len(column.values), 1), np.nan)
        for k, value in enumerate(column.values):
            text = self._writings[j].plain(value)
            if value in self.words[j] or is_gap(value):
                continue
            if is_number(text):
                values[k] = float(text)
                continue
            place = self.location(int(np.flatnonzero(column.codes == k)[0]))
            if not forgive(place, self.names[j], value):
                raise not_a_number(self.path, place, self.names[j], value)
        return values[column.codes]

    def frames(self, columns: Sequence[int], weight: int | None) -> Iterator[Any]:
        """Yield the columns as data frames or mappings; names are counted as they stand."""
        yield from self.inner.frames(columns, weight)

    def location(self, row: int) -> str:
        """Say where a row is, in the file's own terms."""
        return str(self.inner.location(row))

    def pieces(self, numbers: Sequence[int], texts: Sequence[int]) -> Iterator[Any]:
        """Yield polars frames of some rows each, gaps and all, as the table's own do."""
        import polars as pl

        by_text = [j for j in numbers if j in self._writings]
        plain = [j for j in numbers if j not in by_text]
        sentinels = {j: [float(w) for w in self.words.get(j, ()) if is_number(w)] for j in numbers}
        for frame in self.inner.pieces(plain, list(dict.fromkeys([*texts, *by_text]))):
            for j in by_text:
                name, words, writing = f"column_{j + 1}", self.words[j], self._writings[j]
                cells = [None if c is None or c in words or is_gap(c) else writing.plain(c) for c in frame[name]]
                frame = frame.with_columns(pl.Series(name, cells, dtype=pl.String).cast(pl.Float64).fill_null(np.nan))
            for j, values in sentinels.items():
                if values:
                    cell = pl.col(f"column_{j + 1}")
                    frame = frame.with_columns(
                        pl.when(cell.is_in(values)).then(float("nan")).otherwise(cell).name.keep()
                    )
            for j in texts:
                if j in self.words:
                    cell = pl.col(f"column_{j + 1}")
                    frame = frame.with_columns(
                        pl.when(cell.is_in(sorted(self.words[j]))).then(pl.lit("")).otherwise(cell).name.keep()
                    )
            yield frame


def without_gap_words(source: TableSource, said: Any) -> TableSource:
    """Return the table with the words for "nothing" as gaps: those that were said, or those that are found.

    Parameters
    ----------
    source : TableSource
        The table.
    said : sequence of str, False or None
        What the user said: these words, no words, or nothing.
    """
    if said is False or isinstance(source, Cleaned):
        return source
    rows = source.sample()
    given = {said} if isinstance(said, str) else set(said or ())
    words: dict[int, frozenset[str]] = {}
    writings: dict[int, Writing] = {}
    comma = bool(getattr(getattr(source, "dialect", None), "decimal_comma", False))
    for j in range(len(source.names)):
        cells = [row[j] for row in rows]
        missing = frozenset(given.intersection(cells)) if given else find_gap_words(cells)
        if not missing:
            continue
        words[j] = missing
        if not all(is_number(word) for word in missing):
            rest = list(dict.fromkeys(cell for cell in cells if cell not in missing))
            numbers = sum(is_number(cell) for cell in rest if not is_gap(cell))
            writing = writing_of(rest, decimal_comma=comma)
            if writing is None and numbers >= 0.9 * sum(not is_gap(cell) for cell in rest) > 0:
                writing = Writing(decimal="," if comma else ".")
            if writing is not None:
                writings[j] = writing if not comma else _either(writing)
    return Cleaned(source, words, writings) if words else source


def _either(writing: Writing) -> Writing:
    """Return a way to read a column of a file with decimal commas."""
    return writing if writing.thousands or writing.decimal == "," else Writing("", ",", writing.example)


def find_gap_words(cells: Sequence[str]) -> frozenset[str]:
    """Return the words of a column that mean "nothing is known", beside those that always do."""
    counts = Counter(cell for cell in cells if not is_gap(cell))
    total = sum(counts.values())
    shaped = {cell: n for cell, n in counts.items() if is_number(cell) or _looks_numeric(cell)}
    if sum(shaped.values()) < 0.5 * total or not shaped:
        return frozenset(word for word in counts if _squeezed(word) in _KNOWN)
    words = {word: n for word, n in counts.items() if word not in shaped}
    found = {word for word in words if _squeezed(word) in _AMONG_NUMBERS}
    if len(words) <= 3:
        found |= {word for word, n in words.items() if n > 1 and len(word) <= 20 and not re.search(r"[\d<>]", word)}
    return frozenset(found | _sentinels(shaped))


def _sentinels(counts: dict[str, int]) -> set[str]:
    """Return numbers of nines that come back and lie far from all others."""
    suspects = {cell: n for cell, n in counts.items() if _NINES.fullmatch(cell.removesuffix(".0"))}
    rest = [float(cell) for cell in counts if cell not in suspects and is_number(cell)]
    if not suspects or len(rest) < 2:
        return set()
    low, high = min(rest), max(rest)
    found = set()
    for cell, n in suspects.items():
        value, n_nines = float(cell), cell.count("9")
        if value < 0:
            is_far = low - value > high - low or (low >= 0 and n_nines > 2)
        else:
            is_far = value - high > (high - low) * (1 if n_nines > 2 else 3)
        if is_far and n >= (2 if n_nines > 2 else 3):
            found.add(cell)
    return found


def _looks_numeric(cell: str) -> bool:
    return bool(re.fullmatch(r"[$€£]?\s*[-+]?\d[\d.,' \u00a0\u202f]*\s*[%$€£]?", cell))


def _squeezed(word: str) -> str:
    return re.sub(r"\s", "", folded(word))
