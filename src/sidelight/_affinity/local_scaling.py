"""Self-tuning similarities: exp(-||p - q||^2 / (2 sigma_p sigma_q)), dense or on a neighbour graph.

sigma_p is the distance to the t-th neighbour of p, p itself not counted ([PF14] section 5.1, t = 7). With t or more
copies of a row sigma_p would be 0; the nearest row that is not a copy takes its place. Every row is similar to itself
(W_pp = 1) in both forms, so that no degree is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms

from sidelight._affinity.neighbours import Neighbours
from sidelight._core.threads import for_each_in_threads

FLOAT32_ROWS = 2_000  # below, float64 costs nothing; above, memory traffic decides and similarities need no 16 digits
_BLOCK = 500_000  # distances of one pass, 4 MB: they stay in the cache until they are similarities


def working_dtype(n_rows: int) -> type[np.floating[Any]]:
    """Return the float type that pays for similarities of that many rows."""
    return np.float32 if n_rows > FLOAT32_ROWS else np.float64


def dense_local_scaling(X: Any, t: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Return all similarities W, shape (n_rows, n_rows), and the scale sigma of every row.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_rows, n_features)
        The rows.
    t : int
        Which neighbour's distance is the scale.
    """
    n_rows = X.shape[0]
    W = np.empty((n_rows, n_rows), dtype=working_dtype(n_rows))
    scales = np.empty(n_rows)
    gaps_to = SquaredDistances.to(X)

    def measure(at: slice) -> None:
        W[at] = gaps_to(X[at])
        scales[at] = _scales(W[at], min(t, n_rows - 1))

    for_each_in_threads(measure, _blocks(n_rows))
    scales = np.where(np.isfinite(scales), scales, 1.0)  # rows that are all equal: any scale gives W = 1
    for_each_in_threads(lambda at: _scale_block(W[at], scales[at], scales), _blocks(n_rows))
    return W, scales


def graph_local_scaling(neighbours: Neighbours, t: int = 7) -> tuple[Any, np.ndarray]:
    """Return the similarities along the edges of a neighbour graph as CSR, and the scale of every row.

    Rows are joined when either is among the other's neighbours; both directions carry the same similarity.
    """
    n_rows, k = neighbours.indices.shape
    scales = graph_scales(neighbours.distances, t)
    weights = neighbours.distances**2
    weights /= 2.0 * scales[:, None]
    weights /= scales[neighbours.indices]
    np.exp(-weights, out=weights)
    own = np.arange(n_rows, dtype=neighbours.indices.dtype)[:, None]  # every row is similar to itself
    indices = np.hstack([own, neighbours.indices])
    values = np.hstack([np.ones((n_rows, 1)), weights]).astype(working_dtype(n_rows))
    ends = np.arange(0, n_rows * (k + 1) + 1, k + 1, dtype=np.int64)
    W = sparse.csr_array((values.ravel(), indices.ravel(), ends), shape=(n_rows, n_rows))
    W = W.maximum(W.T).tocsr()
    if W.nnz < 2**31:  # half the index traffic of every product
        W.indices, W.indptr = W.indices.astype(np.int32), W.indptr.astype(np.int32)
    return W, scales


def graph_scales(distances: np.ndarray, t: int) -> np.ndarray:
    """Return each row's distance to its t-th neighbour; where that is 0, to the nearest listed row that is no copy.

    A row whose listed neighbours are all copies of it takes the smallest scale of the others, or 1.
    """
    n_rows, k = distances.shape
    if k == 0:
        return np.ones(n_rows)
    scales = distances[:, min(t, k) - 1].copy()
    farthest = distances.max(axis=1)
    scales = np.where(scales > 0, scales, np.where(distances > 0, distances, np.inf).min(axis=1))
    positive = scales[np.isfinite(scales) & (farthest > 0)]
    return np.where(np.isfinite(scales), scales, positive.min() if len(positive) else 1.0)


def similarities_to(X: Any, scales: np.ndarray, queries: Any, t: int = 7) -> np.ndarray:
    """Return the dense similarities of new rows to known ones; a new row's scale is its t-th neighbour among these."""
    gaps = SquaredDistances.to(X)(queries)
    own = _scales(gaps, min(t, gaps.shape[1]) - 1)
    own = np.where(np.isfinite(own), own, 1.0)
    return _scale_block(gaps, own, scales)


@dataclass(frozen=True, slots=True)
class SquaredDistances:
    """Squared distances to known rows, by one matrix product; copies are at exactly 0.

    |p|^2 + |q|^2 - 2 p'q leaves rounding where there should be 0, and a scale made of it tears copies apart. So the
    lengths are taken smaller by the bound of that rounding, and what falls below 0 is 0. The mean is taken off first
    when X is dense: lengths far above the distances lose them.
    """

    centre: np.ndarray | None
    factors: Any
    rounding: float

    @classmethod
    def to(cls, X: Any) -> Self:
        """Prepare for distances to the rows of ``X``."""
        n_features = X.shape[1]
        centre = None if sparse.issparse(X) else X.mean(axis=0)
        rounding = float(np.finfo(np.float64).eps) * (n_features + 2)
        if centre is None:
            return cls(None, X, rounding)
        X = X - centre
        lengths = (1 - rounding) * row_norms(X, squared=True)
        return cls(centre, np.vstack([-2 * X.T, np.ones(len(X)), lengths]), rounding)

    def __call__(self, queries: Any) -> np.ndarray:
        """Return the squared distances, shape (n_queries, n_rows)."""
        if self.centre is None:
            gaps = -2 * (queries @ self.factors.T).toarray()
            gaps += (1 - self.rounding) * row_norms(queries, squared=True)[:, None]
            gaps += (1 - self.rounding) * row_norms(self.factors, squared=True)
        else:
            left = queries - self.centre
            lengths = (1 - self.rounding) * row_norms(left, squared=True)
            gaps = np.column_stack([left, lengths, np.ones(len(left))]) @ self.factors
        return np.maximum(gaps, 0, out=gaps)


def _scales(gaps: np.ndarray, position: int) -> np.ndarray:
    """Return the distance at ``position`` of each row's sorted distances, or the smallest positive one."""
    scales = np.sqrt(np.partition(gaps, position, axis=1)[:, position].astype(np.float64))
    for row in np.flatnonzero(scales == 0):
        positive = gaps[row][gaps[row] > 0]
        scales[row] = np.sqrt(float(positive.min())) if len(positive) else np.inf
    return scales


def _scale_block(gaps: np.ndarray, own: np.ndarray, scales: np.ndarray) -> np.ndarray:
    gaps *= (-0.5 / own).astype(gaps.dtype)[:, None]
    gaps *= (1.0 / scales).astype(gaps.dtype)
    return np.exp(gaps, out=gaps)


def _blocks(n_rows: int) -> list[slice]:
    step = max(1, _BLOCK // n_rows)
    return [slice(at, min(at + step, n_rows)) for at in range(0, n_rows, step)]
