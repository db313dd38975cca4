"""The nearest rows of every row: exact by brute force, or by an inverted file with its recall measured.

A row is never its own neighbour, even among duplicates. Up to ``BRUTE_ROWS`` rows the answer is exact; above, rows are
searched in cells (:mod:`sidelight._affinity.inverted`), and ``recall`` says how much of the truth was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from sidelight._affinity import inverted
from sidelight._core.threads import one_blas_thread
from sidelight.errors import InvalidParameter

BRUTE_ROWS = 25_000  # exact search of that many rows takes about 2 s; 100,000 take 45 s
METRICS = ("euclidean", "cosine")


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The ``k`` nearest rows of each row, nearest first.

    ``indices`` and ``distances`` have shape (n_rows, k); ``recall`` is the share of true neighbours found among
    sampled rows, 1.0 when the search was exact.
    """

    indices: np.ndarray
    distances: np.ndarray
    recall: float


def as_metric_rows(X: Any, metric: str) -> Any:
    """Return rows whose Euclidean distances mean ``metric``: for the cosine, rows of unit length.

    ||u - v||^2 = 2 - 2 cos(u, v) for unit rows, so that everything below knows one distance only. Rows of zeros stay.
    """
    if metric == "euclidean":
        return X
    if metric == "cosine":
        return normalize(X)
    raise InvalidParameter(f"The metric must be one of {METRICS}. Got {metric!r} instead.")


def nearest_rows(X: Any, k: int, *, generator: np.random.Generator, exact_up_to: int = BRUTE_ROWS) -> Neighbours:
    """Find the ``k`` nearest other rows of every row of ``X``, in Euclidean distance.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_rows, n_features)
        The rows.
    k : int
        How many neighbours; fewer are returned when there are not that many other rows.
    generator : numpy.random.Generator
        Chooses the cells and the rows whose recall is measured; unused when the search is exact.
    exact_up_to : int
        Search by brute force up to that many rows.
    """
    n_rows = X.shape[0]
    k = min(k, n_rows - 1)
    if k < 1:
        return Neighbours(np.empty((n_rows, 0), dtype=np.intp), np.empty((n_rows, 0)), 1.0)
    if n_rows <= exact_up_to:
        return Neighbours(*_brute_force(X, k), recall=1.0)
    return Neighbours(*inverted.search(X, k, generator=generator))


def nearest_of(X: Any, queries: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the ``k`` nearest rows of ``X`` for each query, exactly; one that equals a row finds it at distance 0."""
    search = NearestNeighbors(n_neighbors=min(k, X.shape[0]), algorithm="brute").fit(X)
    with one_blas_thread():  # scikit-learn limits BLAS by itself; only inside our count do overlapping fits restore it
        indices = search.kneighbors(queries, return_distance=False)
    distances = inverted.exact_distances(queries, X, indices)  # its own are roots of differences of large numbers
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(distances, order, axis=1)


def _brute_force(X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    indices, distances = nearest_of(X, X, k + 1)
    return drop_self(indices, distances)


def drop_self(indices: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Remove each row from its own list; among many duplicates it may be missing, then the farthest goes."""
    n_rows, width = indices.shape
    is_self = indices == np.arange(n_rows)[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    return indices[~is_self].reshape(n_rows, width - 1), distances[~is_self].reshape(n_rows, width - 1)
