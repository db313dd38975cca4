"""Rows prepared by their kind, before anything is clustered: measures, components, words, each in its own way.

Measures are standardised. Components (:mod:`sidelight._models.column_kinds`) are centred and keep their relative
variances: every family gets the same total variance, and where there are more columns than rows can carry, their own
principal components stand for them.

Words (counts, 0/1, tf-idf) are told by what the cells hold, not by how they are stored: mostly zeros, never negative,
small where they are not zero, or a weight times small counts. They become sublinear tf-idf of unit length and its
leading directions, of unit length again; a table that holds both kinds has them prepared apart and given the same total
variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

from sidelight._core.process import one_blas_thread
from sidelight._core.prototypes import mean_and_scale, scaled

Floats = NDArray[np.float64]
KINDS = ("auto", "numbers", "words", "mixed")
DIRECTIONS = 50  # of words that are kept, unless it is said
CARRIED = 100  # components that are kept of more; 50 and 200 do as well on photographs, docs/benchmarks/embeddings.md
_ZEROS = 0.7  # share of zeros from which a column may hold words
_SMALL = 3.0  # the usual count of a word where it occurs
_OFTEN = 15.0  # the usual count of a frequent word, where most columns are counts of rarer ones
_FEWEST = 30  # columns of words that make a vocabulary; fewer are answers to questions
_LOOKED_AT = 20_000  # rows that tell the kind
_STEADY = 2.5  # upper over lower quartile of the cells of a word: a weight times small counts; amounts and pixels: 4
_TELLING = 4  # cells whose quartiles say something
_ROUNDING = 1e-5  # of shares that were written with a few digits


@dataclass(frozen=True, eq=False)
class Preparation:
    """What was learnt from the rows of a fit, and is done to all rows.

    Attributes
    ----------
    kind, why : str
        ``"numbers"``, ``"components"``, ``"words"`` or ``"mixed"``, and the evidence in a few words.
    is_word : ndarray of bool
        Which columns hold words.
    mean, scale : ndarray
        Of the columns of numbers; components of a family share a scale.
    idf : ndarray
        The weight of each word.
    directions : ndarray of shape (n_directions, n_words)
        What condenses words.
    is_counted : bool
        Whether words are counts, or shares of counts, so that the logarithm of a count is what matters.
    balance : tuple of (float, float)
        What numbers and directions are multiplied by; (1, 1) unless both are there.
    is_component : ndarray of bool
        Which columns are components; none in files of older versions.
    turn : ndarray of shape (n_components, n_kept)
        The principal components of components, where there are too many of them; else of shape (n_components, 0).
    strength : float
        What components are multiplied by, so that they weigh as much as measures beside them.
    """

    kind: str
    why: str
    is_word: NDArray[np.bool_]
    mean: Floats
    scale: Floats
    idf: Floats
    directions: Floats
    is_counted: bool
    balance: tuple[float, float] = (1.0, 1.0)
    is_component: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    turn: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    strength: float = 1.0

    @classmethod
    def of(
        cls,
        X: Any,
        kind: str = "auto",
        *,
        seed: int = 0,
        n_directions: int = DIRECTIONS,
        families: NDArray[np.intp] | None = None,
    ) -> Preparation:
        """Learn from the rows of X how to prepare rows.

        Parameters
        ----------
        X : ndarray or CSR of shape (n_rows, n_features)
            The rows.
        kind : {"auto", "numbers", "words", "mixed"}
            What they are; "auto" looks.
        seed : int
            Of the random projections behind the directions.
        n_directions : int
            Of words, that are kept.
        families : ndarray of int, optional
            The family of each column that is a component, -1 for the others; no column is one by default.
        """
        if families is not None and (families >= 0).any():
            return cls._with_components(X, kind, seed, n_directions, families)
        told, why, is_word = kind_of(X) if kind == "auto" else _as_told(X, kind)
        mean, scale = mean_and_scale(X)
        if sp.issparse(X) and told == "numbers":
            mean = np.zeros_like(mean)  # centring would make the rows dense
        empty = np.zeros(0)
        if told == "numbers":
            return cls(told, why, is_word, mean, scale, empty, np.zeros((0, 0)), False)
        words = _columns(X, is_word)
        is_counted = _is_counted(words)
        idf = _idf(words)
        directions = _directions(_weighed(words, idf, is_counted), n_directions, seed)
        made = cls(told, why, is_word, mean[~is_word], scale[~is_word], idf, directions, is_counted)
        if told == "words":
            return made
        numbers, condensed = made._numbers(X), made._words(X)
        spread = [float(np.sqrt(part.var(axis=0).sum())) or 1.0 for part in (numbers, condensed)]
        parts = (1.0, spread[0] / spread[1])
        return cls(told, why, is_word, made.mean, made.scale, idf, directions, is_counted, parts)

    @classmethod
    def _with_components(
        cls, X: Any, kind: str, seed: int, n_directions: int, families: NDArray[np.intp]
    ) -> Preparation:
        """Learn how to prepare components, and the columns beside them as if these were alone."""
        is_component = families >= 0
        if is_component.all():
            d = X.shape[1]
            rest = cls(
                "numbers", "", np.zeros(d, dtype=bool), np.zeros(d), np.ones(d), np.zeros(0), np.zeros((0, 0)), False
            )
            others, mean, scale, is_word = None, rest.mean, rest.scale, rest.is_word
        else:
            rest = cls.of(_columns(X, ~is_component), kind, seed=seed, n_directions=n_directions)
            others = rest(_columns(X, ~is_component))
            is_word = np.zeros(X.shape[1], dtype=bool)
            is_word[~is_component] = rest.is_word
            mean, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
            mean[~is_component & ~is_word], scale[~is_component & ~is_word] = rest.mean, rest.scale
        rows = _dense(_columns(X, is_component))
        own_mean, own_scale = mean_and_scale(rows)
        varies = rows.std(axis=0) > 0
        shared = [
            np.sqrt((own_scale[(families[is_component] == k) & varies] ** 2).sum()) for k in range(families.max() + 1)
        ]
        mean[is_component] = own_mean
        scale[is_component] = np.array([one or 1.0 for one in shared])[families[is_component]]
        ready = scaled(rows, own_mean, scale[is_component])
        turn = np.zeros((rows.shape[1], 0))
        if rows.shape[1] > CARRIED:
            turn = np.ascontiguousarray(_directions(ready, min(CARRIED, rows.shape[0] - 1), seed).T)
            ready = ready @ turn
        first = float(ready.std(axis=0).max()) or 1.0  # the strongest gets variance 1, as a measure has
        strength = 1.0 / first
        if others is not None:
            spread = float(np.sqrt(_dense(others).var(axis=0).sum())) or 1.0
            strength = spread / (float(np.sqrt(ready.var(axis=0).sum())) or 1.0)
        told = "components" if is_component.all() else "mixed"
        n = int(is_component.sum())
        why = f"{n} columns are components" + (f"; {rest.why}" if rest.why else "")
        return replace(
            rest, kind=told, why=why, is_word=is_word, mean=mean[~is_word], scale=scale[~is_word],
            is_component=is_component, turn=turn, strength=strength,
        )  # fmt: skip

    def __call__(self, X: Any) -> Any:
        """Return prepared rows: dense, but for sparse numbers, which stay sparse."""
        if self.is_component.any():
            return np.hstack(self._parts(X))
        if self.kind == "numbers":
            return scaled(X, self.mean, self.scale)
        if self.kind == "words":
            return self._words(X)
        return np.hstack([self.balance[0] * self._numbers(X), self.balance[1] * self._words(X)])

    def _parts(self, X: Any) -> list[Floats]:
        """Return measures, words and components apart, each prepared."""
        of_numbers = self.is_component[~self.is_word]
        numbers = ~self.is_word & ~self.is_component
        parts: list[Floats] = []
        if numbers.any():
            measures = _dense(_columns(X, numbers))
            parts.append(self.balance[0] * scaled(measures, self.mean[~of_numbers], self.scale[~of_numbers]))
        if self.is_word.any():
            parts.append(self.balance[1] * self._words(X))
        rows = scaled(_dense(_columns(X, self.is_component)), self.mean[of_numbers], self.scale[of_numbers])
        with one_blas_thread():
            parts.append(self.strength * (rows @ self.turn if self.turn.shape[1] else rows))
        return parts

    def weighed(self, X: Any) -> Any:
        """Return the words of rows before they are condensed: tf-idf of unit length, CSR."""
        return _weighed(_columns(X, self.is_word), self.idf, self.is_counted)

    def names(self, features: Sequence[str]) -> tuple[str, ...]:
        """Return the names of prepared columns: those of numbers as they are, directions by their strongest words."""
        if self.kind == "numbers":
            return tuple(features)
        if self.is_component.any():
            of = [name for name, is_one in zip(features, self.is_component) if is_one]
            kept = [f"component {k + 1}" for k in range(self.turn.shape[1])] or of
            rest = [name for name, is_one in zip(features, self.is_component) if not is_one]
            others = replace(self, is_component=np.zeros(0, dtype=bool), is_word=self.is_word[~self.is_component])
            return (*(others.names(rest) if self.is_word.any() else rest), *kept)
        words = [name for name, is_word in zip(features, self.is_word) if is_word]
        told = [
            ", ".join(words[j] for j in np.argsort(-np.abs(direction), kind="stable")[:3])
            for direction in self.directions
        ]
        return (*(name for name, is_word in zip(features, self.is_word) if not is_word), *told)

    def __archive__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @classmethod
    def __unarchive__(cls, state: dict[str, Any]) -> Self:
        return cls(**state)

    def _numbers(self, X: Any) -> Floats:
        rows = _columns(X, ~self.is_word)
        return np.asarray(scaled(rows.toarray() if sp.issparse(rows) else rows, self.mean, self.scale))

    def _words(self, X: Any) -> Floats:
        with one_blas_thread():
            return _unit(np.asarray(self.weighed(X) @ self.directions.T))


def kind_of(X: Any) -> tuple[str, str, NDArray[np.bool_]]:
    """Return what rows hold, why it seems so, and which columns are words."""
    sample = X[:: max(1, X.shape[0] // _LOOKED_AT)]
    n, d = sample.shape
    nothing = np.zeros(d, dtype=bool)
    if d < _FEWEST or n < 2:
        return "numbers", "few columns", nothing
    columns = (sample.tocsc() if sp.issparse(sample) else sp.csc_array(sample)).copy()
    columns.eliminate_zeros()
    filled = np.diff(columns.indptr)
    lows, lower, middles, upper, are_whole = _order_statistics(columns)
    is_sparse = (filled <= (1 - _ZEROS) * n) & (lows >= 0)
    middles /= _usual_weight(middles, upper <= _STEADY * lower, is_sparse & (filled >= _TELLING))
    is_word = is_sparse & (middles <= _SMALL)
    if (is_word & (filled > 0)).sum() < _FEWEST or is_word.mean() < 0.1:
        return "numbers", "columns of numbers", nothing
    zeros = 1 - filled[is_word].sum() / max(n * is_word.sum(), 1)
    if is_word.mean() > 0.5:  # words that few rows use often, and frequent words
        is_word |= is_sparse & ((middles <= _OFTEN) | (is_word.mean() > 0.9))
        if are_whole[is_word].all():
            is_word |= (lows >= 0) & are_whole & ((middles <= _OFTEN) | is_sparse)
    if (lows >= 0).all() and (middles[~is_word] <= _SMALL).all():
        same = not are_whole[~is_word].any() and are_whole[is_word & (filled >= _TELLING)].mean() < 0.1  # weights, too
        if is_word.mean() > 0.9 or (is_word.mean() > 0.5 and same):
            is_word = ~nothing
    if is_word.all():
        return "words", f"{zeros:.0%} of the cells are zero, the others small and never negative", is_word
    return "mixed", f"{int(is_word.sum())} columns hold words ({zeros:.0%} zeros), the others numbers", is_word


def _order_statistics(columns: Any) -> tuple[Floats, Floats, Floats, Floats, NDArray[np.bool_]]:
    """Return the least cell of each CSC column, its quartiles (0 without cells), and whether all are whole numbers."""
    filled, starts = np.diff(columns.indptr), columns.indptr[:-1]
    data = columns.data[np.lexsort((columns.data, np.repeat(np.arange(len(filled)), filled)))]
    used = np.flatnonzero(filled)
    places = [0 * filled, (filled - 1) // 4, (filled - 1) // 2, filled // 2, 3 * (filled - 1) // 4]
    out = np.zeros((5, len(filled)))
    out[:, used] = [data[starts[used] + place[used]] for place in places]
    broken = np.repeat(np.arange(len(filled)), filled)[data != np.round(data)]
    are_whole = np.ones(len(filled), dtype=bool)
    are_whole[broken] = False
    return out[0], out[1], (out[2] + out[3]) / 2, out[4], are_whole


def _usual_weight(middles: Floats, is_steady: NDArray[np.bool_], is_telling: NDArray[np.bool_]) -> float:
    """Return what a word weighs where it occurs, if most sparse columns are a weight times small counts; else 1."""
    if 2 * (is_steady & is_telling).sum() <= is_telling.sum():
        return 1.0
    return max(1.0, float(np.median(middles[is_steady & is_telling])))


def _as_told(X: Any, kind: str) -> tuple[str, str, NDArray[np.bool_]]:
    d = X.shape[1]
    if kind != "mixed":
        return kind, "it was said", np.full(d, kind == "words")
    found, why, is_word = kind_of(X)
    return (found, why, is_word) if found == "mixed" else ("numbers", "no column holds words", np.zeros(d, dtype=bool))


def _dense(rows: Any) -> Floats:
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)


def _columns(X: Any, chosen: NDArray[np.bool_]) -> Any:
    if chosen.all():
        return X
    return X[:, np.flatnonzero(chosen)]


def _is_counted(words: Any) -> bool:
    """Say whether words are counts, or counts divided by something in each row: shares, counts of unit length."""
    counts = _in_smallest_cells(sp.csr_array(words, dtype=np.float64, copy=True)).data
    return bool((np.abs(counts - np.round(counts)) <= _ROUNDING * counts).all())


def _in_smallest_cells(rows: Any) -> Any:
    """Return CSR rows as they are where they are whole, else in units of their smallest cell."""
    rows.eliminate_zeros()
    of_row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    least = np.full(rows.shape[0], np.inf)
    np.minimum.at(least, of_row, rows.data)
    is_broken = np.zeros(rows.shape[0], dtype=bool)
    is_broken[of_row[rows.data != np.round(rows.data)]] = True
    rows.data /= np.where(is_broken & (least > 0), least, 1.0)[of_row]
    return rows


def _idf(words: Any) -> Floats:
    """Weigh words by how few rows have them, log((1 + n) / df): next to nothing for what stands in every text.

    Articles and pronouns of any language weigh little then, without a list of them.
    """
    n = words.shape[0]
    frequency = (
        np.bincount(words.tocsr().indices[words.tocsr().data != 0], minlength=words.shape[1])
        if sp.issparse(words)
        else np.count_nonzero(words, axis=0)
    )
    return np.asarray(np.log((1 + n) / np.maximum(frequency, 1)))


def _weighed(words: Any, idf: Floats, is_counted: bool) -> Any:
    """Return CSR rows of unit length: (1 + log count) * idf; weights that are no counts are taken as they are."""
    rows = sp.csr_array(words, dtype=np.float64, copy=True)
    np.maximum(rows.data, 0.0, out=rows.data)  # new rows may hold what no fit has seen
    rows.eliminate_zeros()
    if is_counted:
        rows = _in_smallest_cells(rows)
        rows.data = np.where(rows.data > 0, 1.0 + np.log(np.maximum(rows.data, 1e-300)), 0.0)
        rows.data *= idf[rows.indices]
    lengths = np.sqrt(
        np.bincount(np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.data**2, rows.shape[0])
    )
    rows.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(rows.indptr))
    return rows


def _directions(weighed: Any, n_directions: int, seed: int) -> Floats:
    n, d = weighed.shape
    k = max(1, min(n_directions, n - 1, d - 1))
    with one_blas_thread():
        _, _, V = randomized_svd(weighed, k, n_iter=5, random_state=seed)
    return np.asarray(V)


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))
