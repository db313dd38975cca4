"""From rows to features: the rows themselves beside a Nystroem map, so that a linear rule can bend.

map(x)      = T' exp(-|x - z|^2 / h) over the landmarks z, with T the inverse root of their kernel matrix
features(x) = [(x - mean) * row_scale, strength * map(x), centred and of mean square length 1]

Landmarks are k-means centres, which cover the rows evenly, or rows drawn at random. Far from every landmark the map is
constant, so the belief of a far row is the straight one. Everything is learnt from at most ``SAMPLE`` rows, and
features are always dense: of rows with more than ``most_columns`` columns their leading directions are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidelight._core.params import as_seed
from sidelight._core.process import for_each_in_threads

Floats = npt.NDArray[np.float64]

SAMPLE = 20_000  # rows that landmarks, widths and scales are learnt from
BLOCK = 1_024  # rows mapped together: their distances to the landmarks stay in the cache
MOST_COLUMNS = 500  # columns of the straight block; wider rows are projected on this many directions
ROUNDS = 5  # of k-means: landmarks only have to cover the rows, not to sit at the optimum
TOO_SMALL = 1e-6  # directions of the landmarks' kernel matrix below this share of the largest are rounding


@dataclass(frozen=True, slots=True, eq=False)
class FeatureMap:
    """A fixed map from rows to features; ``FeatureMap.learn`` finds one, calling it applies it.

    Parameters
    ----------
    mean : array of shape (n_columns,)
        What is taken off the rows.
    basis : array of shape (n_columns, n_straight)
        Directions of the straight block; of shape (n_columns, 0) when the columns are taken as they are.
    row_scale : float
        What the straight block is multiplied by.
    landmarks : array of shape (n_landmarks, n_columns)
        Where the curved block looks from; none for a straight map.
    width : float
        h, a squared distance.
    projection, offset : array of shape (n_landmarks, rank) and (rank,)
        T and the mean of the map, both with strength and scale worked in.
    """

    mean: Floats
    basis: Floats
    row_scale: float
    landmarks: Floats
    width: float
    projection: Floats
    offset: Floats

    @classmethod
    def learn(
        cls,
        X: Any,
        *,
        generator: np.random.Generator,
        n_landmarks: int = 300,
        landmarks: str = "centres",
        width: float = 0.3,
        gamma: float | None = None,
        rank: int | None = 150,
        strength: float = 1.0,
        unit_rows: bool = True,
        most_columns: int | None = MOST_COLUMNS,
    ) -> Self:
        """Learn a map from the rows of X.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_columns)
            The rows.
        generator : numpy.random.Generator
            Draws the sample and the first k-means centres.
        n_landmarks : int
            How many landmarks at most; 0 gives a straight map.
        landmarks : {"centres", "rows"}
            K-means centres, which cover the rows evenly, or rows drawn at random, of which there are most where the
            rows are densest.
        width : float
            h as a multiple of the median squared distance between rows and landmarks.
        gamma : float, default=None
            1 / h itself; replaces ``width``.
        rank : int, default=None
            How many directions of the map to keep, those in which it varies most; None keeps all.
        strength : float
            The root mean square length of the curved block.
        unit_rows : bool
            Centre the rows and give them a root mean square length of 1; otherwise they stay as they are.
        most_columns : int, default=500
            Keep that many directions of wider rows; None keeps every column.
        """
        n, d = X.shape
        sample = X if n <= SAMPLE else X[np.sort(generator.choice(n, SAMPLE, replace=False))]
        mean = np.asarray(sample.mean(axis=0), dtype=np.float64).ravel()
        length = float(max(_mean_square(sample) - float(mean @ mean), 0.0)) ** 0.5
        basis = np.zeros((d, 0))
        if most_columns is not None and d > most_columns:
            basis = _leading_directions(sample, mean, min(most_columns, sample.shape[0]), generator)
        row_scale = 1.0 / length if unit_rows and length > 0 else 1.0
        shift = mean if unit_rows or basis.shape[1] else np.zeros(d)
        where = _landmarks(sample, n_landmarks, generator, centres=landmarks == "centres")
        straight = cls(shift, basis, row_scale, np.zeros((0, d)), 1.0, np.zeros((0, 0)), np.zeros(0))
        if not len(where) or length == 0 or strength == 0:
            return straight
        distances = squared_distances(sample, where)
        h = width * float(np.median(distances)) if gamma is None else 1.0 / gamma
        if h <= 0:  # more than half of the distances are 0: the rows repeat a few patterns, and the rest decide
            h = width * float(distances.mean())
        projection = _inverse_root(np.exp(-squared_distances(where, where) / h))
        projection, offset = _centred_and_scaled(np.exp(-distances / h), projection, rank, strength)
        return cls(shift, basis, row_scale, where, h, projection, offset)

    @property
    def n_features(self) -> int:
        """How many features a row gets."""
        return self.n_straight + len(self.offset)

    def __call__(self, X: Any) -> Floats:
        """Return the features of the rows of X, dense."""
        return self.map(X)

    def map(self, X: Any, *, dtype: Any = np.float64) -> npt.NDArray[Any]:
        """Return the features of the rows of X, dense.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_columns)
            The rows.
        dtype : type
            float64, or float32 for half the memory.
        """
        features = np.empty((X.shape[0], self.n_features), dtype=dtype)

        def fill(begin: int) -> None:
            self._fill(X[begin : begin + BLOCK], features[begin : begin + BLOCK])

        for_each_in_threads(fill, range(0, X.shape[0], BLOCK))
        return features

    def scores(self, X: Any, W: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Return features(x) @ W + b of every row, and its squared distance to the nearest landmark.

        Features are never made: the weights take the projection, and rows are visited block by block.
        """
        U, shift = self.weights_unprojected(W)
        scores, nearest = np.empty((X.shape[0], W.shape[1])), np.zeros(X.shape[0])

        def fill(begin: int) -> None:
            rows, here = X[begin : begin + BLOCK], slice(begin, begin + BLOCK)
            scores[here] = self._straight(rows) @ U[: self.n_straight]
            if len(self.offset):
                distances = squared_distances(rows, self.landmarks)
                nearest[here] = distances.min(axis=1)
                scores[here] += self._kernels(distances) @ U[self.n_straight :]
            scores[here] += b + shift

        for_each_in_threads(fill, range(0, X.shape[0], BLOCK))
        return scores, nearest

    def apply(self, function: Callable[[Floats], npt.NDArray[Any]], X: Any, n_columns: int) -> Floats:
        """Return what a function makes of the features of each row: they are made block by block and never kept.

        Parameters
        ----------
        function : callable
            Turns features of some rows into ``n_columns`` numbers a row; called in threads.
        X : array or CSR matrix of shape (n_rows, n_columns)
            The rows.
        n_columns : int
            How many numbers a row gets.
        """
        made = np.empty((X.shape[0], n_columns))

        def fill(begin: int) -> None:
            rows = X[begin : begin + BLOCK]
            features = np.empty((rows.shape[0], self.n_features))
            self._fill(rows, features)
            made[begin : begin + BLOCK] = function(features)

        for_each_in_threads(fill, range(0, X.shape[0], BLOCK))
        return made

    @property
    def n_straight(self) -> int:
        """How many features the straight block has."""
        return self.basis.shape[1] or len(self.mean)

    def kernels(self, X: Any) -> Floats:
        """Return exp(-|x - z|^2 / h) for the rows of X and the landmarks z: what the curved block is linear in."""
        return self._kernels(squared_distances(X, self.landmarks))

    def weights_unprojected(self, W: Floats) -> tuple[Floats, Floats]:
        """Return U and c with features(x) @ W = [straight block, kernels(x)] @ U + c.

        The projection takes longer than all the rest, and every linear rule can take it into its weights.
        """
        straight, curved = W[: self.n_straight], W[self.n_straight :]
        if not len(self.offset):
            return np.vstack([straight, np.zeros((len(self.landmarks), W.shape[1]))]), np.zeros(W.shape[1])
        return np.vstack([straight, self.projection @ curved]), -(self.offset @ curved)

    def gradient_projected(self, of_U: Floats, of_c: Floats) -> Floats:
        """Return the gradient by W from those by U and c of :meth:`weights_unprojected`."""
        straight, kernels = of_U[: self.n_straight], of_U[self.n_straight :]
        if not len(self.offset):
            return straight
        return np.vstack([straight, self.projection.T @ kernels - np.outer(self.offset, of_c)])

    def weights_of_columns(self, W: Floats) -> tuple[Floats, Floats, Floats]:
        """Return V, U and c with features(x) @ W = x @ V + kernels(x) @ U + c."""
        U, c = self.weights_unprojected(W)
        V = U[: self.n_straight] * self.row_scale
        if self.basis.shape[1]:
            V = self.basis @ V
        return V, U[self.n_straight :], c - self.mean @ V

    def gradient_of_columns(self, of_V: Floats, of_U: Floats, of_c: Floats) -> Floats:
        """Return the gradient by W from those by V, U and c of :meth:`weights_of_columns`."""
        of_V = of_V - np.outer(self.mean, of_c)
        straight = (self.basis.T @ of_V if self.basis.shape[1] else of_V) * self.row_scale
        return self.gradient_projected(np.vstack([straight, of_U]), of_c)

    def curved(self, X: Any) -> Floats:
        """Return the curved block alone, not centred: its inner products are those of the kernel, up to a factor."""
        blocks = [
            np.exp(-squared_distances(X[begin : begin + BLOCK], self.landmarks) / self.width) @ self.projection
            for begin in range(0, X.shape[0], BLOCK)
        ]
        return np.concatenate(blocks) if blocks else np.zeros((0, len(self.offset)))

    def _fill(self, rows: Any, features: npt.NDArray[Any]) -> None:
        features[:, : self.n_straight] = self._straight(rows)
        if len(self.offset):
            features[:, self.n_straight :] = self.kernels(rows) @ self.projection - self.offset

    def _straight(self, rows: Any) -> Floats:
        if self.basis.shape[1]:
            return np.asarray((rows @ self.basis - self.mean @ self.basis) * self.row_scale)
        return np.asarray(((rows.toarray() if sp.issparse(rows) else rows) - self.mean) * self.row_scale)

    def _kernels(self, distances: Floats) -> Floats:
        return np.exp(np.divide(distances, -self.width, out=distances), out=distances)

    def __archive__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @classmethod
    def __unarchive__(cls, state: dict[str, Any]) -> Self:
        return cls(**state)


def _landmarks(X: Any, n_landmarks: int, generator: np.random.Generator, *, centres: bool) -> Floats:
    """K-means centres of the rows, some of the rows, or all distinct rows where these are not more."""
    from sklearn.cluster import kmeans_plusplus

    if n_landmarks == 0:
        return np.zeros((0, X.shape[1]))
    if X.shape[0] <= n_landmarks:
        return np.unique(X.toarray() if sp.issparse(X) else X, axis=0)
    if not centres:
        drawn = X[np.sort(generator.choice(X.shape[0], n_landmarks, replace=False))]
        return np.unique(drawn.toarray() if sp.issparse(drawn) else drawn, axis=0)
    places, _ = kmeans_plusplus(X, n_landmarks, random_state=as_seed(generator))
    places = np.unique(places.toarray() if sp.issparse(places) else places, axis=0)
    for _ in range(ROUNDS):
        nearest = squared_distances(X, places).argmin(axis=1)
        members = sp.csr_array(
            (np.ones(len(nearest)), nearest, np.arange(len(nearest) + 1)), shape=(len(nearest), len(places))
        )
        sums, sizes = members.T @ X, np.bincount(nearest, minlength=len(places))
        used = sizes > 0
        places = (sums.toarray() if sp.issparse(sums) else sums)[used] / sizes[used, None]
    return np.asarray(places, dtype=np.float64)


def squared_distances(X: Any, Z: Floats) -> Floats:
    """Return the squared distance of every row of X to every row of Z."""
    squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
    distances = np.asarray(X @ Z.T, dtype=np.float64)
    distances *= -2.0
    distances += np.asarray(squares, dtype=np.float64).reshape(-1, 1)
    distances += np.einsum("ij,ij->i", Z, Z)
    return np.maximum(distances, 0.0, out=distances)


def _mean_square(X: Any) -> float:
    total = X.multiply(X).sum() if sp.issparse(X) else np.einsum("ij,ij->", X, X)
    return float(total) / X.shape[0]


def _inverse_root(kernel: Floats) -> Floats:
    values, vectors = np.linalg.eigh(kernel)
    kept = values > TOO_SMALL * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def _centred_and_scaled(kernel: Floats, projection: Floats, rank: int | None, strength: float) -> tuple[Floats, Floats]:
    """Turn to the directions in which the mapped rows vary most, and give them mean 0 and mean square ``strength``."""
    mapped = kernel @ projection
    mean = mapped.mean(axis=0)
    covariance = mapped.T @ mapped / len(mapped) - np.outer(mean, mean)
    values, vectors = np.linalg.eigh(covariance)
    largest_first = slice(None, None, -1) if rank is None else slice(-1, -rank - 1, -1)
    values, vectors = np.maximum(values[largest_first], 0.0), _signed(vectors[:, largest_first])
    total = values.sum()
    if total <= 0:  # every row is mapped to the same place
        return np.zeros((len(projection), 0)), np.zeros(0)
    scale = strength / np.sqrt(total)
    return projection @ vectors * scale, mean @ vectors * scale


def _leading_directions(X: Any, mean: Floats, n_directions: int, generator: np.random.Generator) -> Floats:
    """Directions of largest variance by a randomised range finder (Halko, Martinsson and Tropp 2011, algorithm 4.4)."""
    ahead = min(X.shape[0], n_directions + 10)  # ten more columns than wanted, as the paper advises
    seen = X @ generator.standard_normal((X.shape[1], ahead))
    for _ in range(3):  # power iterations; three are enough for slowly falling spectra such as those of words
        Q, _ = np.linalg.qr(seen - seen.mean(axis=0))
        back, _ = np.linalg.qr(np.asarray(X.T @ Q) - np.outer(mean, Q.sum(axis=0)))
        seen = X @ back
    Q, _ = np.linalg.qr(seen - seen.mean(axis=0))
    small = np.asarray(X.T @ Q) - np.outer(mean, Q.sum(axis=0))
    directions, _, _ = np.linalg.svd(small, full_matrices=False)
    return np.ascontiguousarray(_signed(directions[:, :n_directions]))


def _signed(vectors: Floats) -> Floats:
    """Give every column the sign that makes its largest entry positive, so that rounding never flips a feature."""
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
