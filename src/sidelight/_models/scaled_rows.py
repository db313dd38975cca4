"""Rows that look standardised and of unit length, while X itself is never copied.

Only products with the scaled rows are ever needed, so centring and scaling move into the weights: a sparse X stays
sparse although its centred rows would be dense, and a big X is held once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

_BLOCK = 1 << 19  # numbers of X looked at together: 4 MB, which stays in the cache and far below X


@dataclass(frozen=True, slots=True)
class ScaledRows:
    """The rows (X - mean) * inverse_scale * inverse_norms[:, None], known only through products.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        The rows as they came.
    mean, inverse_scale : array of shape (n_features,)
        The shift and scale of the columns.
    inverse_norms : array of shape (n_rows,)
        The scale of the rows.
    turn : array of shape (n_features, n_features), optional
        Multiplies the scaled rows: :func:`whitening`.
    """

    X: Any
    mean: Floats
    inverse_scale: Floats
    inverse_norms: Floats
    turn: Floats | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    def products(self, W: Floats) -> Floats:
        """Return the scaled rows times ``W.T``, of shape (n_rows, len(W))."""
        V = (W if self.turn is None else W @ self.turn.T) * self.inverse_scale
        scores: Floats = np.asarray(self.X @ V.T, dtype=np.float64)
        scores -= V @ self.mean
        scores *= self.inverse_norms[:, None]
        return scores

    def combine(self, M: Floats) -> Floats:
        """Return ``M.T`` times the scaled rows, of shape (M.shape[1], n_features)."""
        weights = M * self.inverse_norms[:, None]
        sums: Floats = np.asarray(self.X.T @ weights, dtype=np.float64).T
        scaled: Floats = (sums - np.outer(weights.sum(axis=0), self.mean)) * self.inverse_scale
        return scaled if self.turn is None else scaled @ self.turn

    def magnitude(self, weights: Floats) -> Floats:
        """Return what ``combine(weights)`` adds up in absolute value; its rounding error is of that size times eps."""
        weights = np.abs(weights) * self.inverse_norms
        sums = np.zeros(len(self.mean))
        for block in _blocks(self.n_rows, len(self.mean)):
            sums += np.asarray(abs(self.X[block]).T @ weights[block]).ravel()
        scaled: Floats = (sums + weights.sum() * np.abs(self.mean)) * self.inverse_scale
        return scaled if self.turn is None else scaled @ np.abs(self.turn)

    def squares(self) -> Floats:
        """Return the squared length of every row."""
        if self.turn is None:
            return _squares(self.X, self.mean, self.inverse_scale) * self.inverse_norms**2
        squares = np.empty(self.n_rows)
        for block in _blocks(self.n_rows, len(self.mean)):
            squares[block] = np.square(self._dense(block)).sum(axis=1)
        return squares

    def second_moments(self) -> Floats:
        """Return the sum over rows of their products with themselves, of shape (n_features, n_features)."""
        total = np.zeros((len(self.mean), len(self.mean)))
        for block in _blocks(self.n_rows, len(self.mean)):
            rows = self._dense(block)
            total += rows.T @ rows
        return total

    def _dense(self, block: slice) -> Floats:
        rows = self.X[block] if isinstance(self.X, np.ndarray) else self.X[block].toarray()
        scaled: Floats = (rows - self.mean) * self.inverse_scale * self.inverse_norms[block, None]
        return scaled if self.turn is None else scaled @ self.turn

    def take(self, rows: Ints | slice) -> ScaledRows:
        """Return some of the rows, under the same scaling of columns."""
        return ScaledRows(self.X[rows], self.mean, self.inverse_scale, self.inverse_norms[rows], self.turn)


def column_scaling(X: Any) -> tuple[Floats, Floats]:
    """Return the mean of every column, and an inverse scale that gives all columns the same weight.

    It is 1 / (deviation * sqrt(number of columns that vary)), so that the mean squared length of a scaled row is 1
    whatever the number of columns. A constant column is scaled by 0; a column counts as constant when its deviation
    is lost in the rounding of its mean.
    """
    n_rows, n_features = X.shape
    mean = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / n_rows
    squares = np.zeros(n_features)
    if isinstance(X, np.ndarray):
        for block in _blocks(n_rows, n_features):
            squares += np.square(X[block] - mean).sum(axis=0)
    else:
        stored = np.bincount(X.indices, minlength=n_features)
        away = np.square(X.data - mean[X.indices])
        squares += np.bincount(X.indices, weights=away, minlength=n_features) + (n_rows - stored) * mean**2
    deviation: Floats = np.sqrt(squares / n_rows)
    rounding = n_rows * np.finfo(X.dtype).eps * np.abs(mean)  # the error of a sum of n_rows equal numbers
    varies = np.asarray(deviation > rounding)
    shared = deviation * np.sqrt(max(1, int(np.count_nonzero(varies))))
    return mean, np.divide(1.0, shared, out=np.zeros(n_features), where=varies)


def whitening(covariance: Floats, ridge: float) -> Floats:
    """Return the matrix that takes rows of this covariance to directions of nearly the same variance.

    Each direction is divided by the root of its variance plus ``ridge`` times the mean variance, so that directions of
    rounding stay small.
    """
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, 0.0)
    vary = values > 1e-12 * values[-1]  # constant features are directions of rounding: they do not count in the mean
    mean = float(values[vary].mean()) if vary.any() else 1.0
    return np.asarray(vectors / np.sqrt(values + ridge * mean), dtype=np.float64)


def scaled_rows(X: Any, mean: Floats, inverse_scale: Floats, *, unit: bool, turn: Floats | None = None) -> ScaledRows:
    """Scale ``X`` by columns and, with ``unit``, every row to length one; a row of zeros stays one.

    Parameters
    ----------
    X : array or CSR matrix
        The rows.
    mean, inverse_scale : array of shape (n_features,)
        From :func:`column_scaling`, or zeros and ones for rows as they are.
    unit : bool
        Divide every row by its length.
    turn : array of shape (n_features, n_features), optional
        What multiplies the scaled rows, unless they are of length one.
    """
    if not unit:
        return ScaledRows(X, mean, inverse_scale, np.ones(X.shape[0]), turn)
    lengths = np.sqrt(_squares(X, mean, inverse_scale))
    tiny = 1e-10  # the lengths of standardised rows are of order one; below this a row is rounding error
    inverse = np.divide(1.0, lengths, out=np.zeros(X.shape[0]), where=lengths > tiny)
    return ScaledRows(X, mean, inverse_scale, inverse)


def spread_rows(rows: ScaledRows, count: int, generator: np.random.Generator) -> Floats:
    """Draw ``count`` scaled rows far from each other, as k-means++ does: by squared distance to the nearest drawn.

    The first is drawn by squared distance to 0, so clutter near the mean is seldom among them.
    """
    squares = rows.squares()
    nearest = squares.copy()
    drawn = np.empty((count, len(rows.mean)))
    for number in range(count):
        total = nearest.sum()
        chances = nearest / total if total > 0 else None  # all rows alike: any will do
        row = np.array([generator.choice(rows.n_rows, p=chances)])
        drawn[number] = rows.take(row).combine(np.ones((1, 1)))[0]
        away = squares + squares[row[0]] - 2 * rows.products(drawn[number : number + 1])[:, 0]
        np.minimum(nearest, np.maximum(away, 0.0), out=nearest)
    return drawn


def _squares(X: Any, mean: Floats, inverse_scale: Floats) -> Floats:
    """Return the squared length of every row after the columns were scaled."""
    n_rows, n_features = X.shape
    squares = np.empty(n_rows)
    if isinstance(X, np.ndarray):
        for block in _blocks(n_rows, n_features):
            squares[block] = np.square((X[block] - mean) * inverse_scale).sum(axis=1)
        return squares
    # (x - m)^2 = m^2 + (x^2 - 2 x m), where the bracket is 0 wherever x is not stored
    weight = inverse_scale**2
    bracket = (X.data * (X.data - 2 * mean[X.indices])) * weight[X.indices]
    row_of = np.repeat(np.arange(n_rows), np.diff(X.indptr))
    squares[:] = np.bincount(row_of, weights=bracket, minlength=n_rows) + np.sum(weight * mean**2)
    return np.maximum(squares, 0.0)


def _blocks(n_rows: int, n_features: int) -> Iterator[slice]:
    step = max(1, _BLOCK // max(n_features, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
