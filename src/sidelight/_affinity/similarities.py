"""Which similarities a spectral method uses: dense or on a neighbour graph, given, or made by the caller's function.

Our own are self-tuning: exp(-||p - q||^2 / (2 sigma_p sigma_q)), where sigma_p is the distance to the t-th neighbour of
p, p itself not counted ([PF14] section 5.1, t = 7). With t or more copies of a row sigma_p would be 0; the nearest row
that is not a copy takes its place. Every row is similar to itself (W_pp = 1) in both forms, so that no degree is 0.

Rows joined by many short paths of a graph lie close together in its features: with A = D^-1/2 W D^-1/2 and (lambda, V)
its leading eigenvectors these are the rows of D^-1/2 V (1 - lambda + delta)^-1/2, scaled to unit length, a regularised
commute-time embedding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.extmath import row_norms

from sidelight._affinity.links import degrees, similarity_components
from sidelight._affinity.neighbours import Neighbours, as_metric_rows, nearest_of, nearest_rows
from sidelight._affinity.spectral import NormalisedSum, leading_eigenvectors, unit_rows
from sidelight._core.process import for_each_in_threads
from sidelight.errors import InvalidData
from sidelight.progress import report
from sidelight.words import counted

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


DENSE_ROWS = 10_000  # all similarities of that many rows are 400 MB in float32
Maker = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Similarities:
    """Similarities W of rows, how they were made, and what there is to say about them.

    ``d`` holds the degrees W 1; ``kind`` is "dense", "neighbours" or "given"; ``scales`` the local scale of each row
    (empty when given); ``recall`` the share of true neighbours in the graph; ``parts`` the connected component of each
    row; ``notes`` sentences about duplicates, isolated rows and components.
    """

    W: Any
    d: np.ndarray
    kind: str
    scales: np.ndarray
    recall: float
    parts: np.ndarray
    notes: tuple[str, ...]


def make_similarities(
    X: Any, affinity: str | Maker, *, metric: str, n_neighbors: int, t: int, generator: np.random.Generator
) -> Similarities:
    """Return the similarities of the rows of ``X``.

    Parameters
    ----------
    X : ndarray or CSR
        The rows, or W itself when ``affinity="precomputed"``.
    affinity : "auto", "dense", "neighbours", "precomputed" or callable
        "auto" is dense up to ``DENSE_ROWS`` rows. A callable gets X and returns W.
    metric : "euclidean" or "cosine"
        Distance between rows.
    n_neighbors, t : int
        Neighbours in the graph; which neighbour's distance is the local scale.
    generator : numpy.random.Generator
        For approximate neighbours.
    """
    report("similarities", 0, 1)
    recall, scales = 1.0, np.empty(0)
    if callable(affinity) or affinity == "precomputed":
        W = _checked(affinity(X) if callable(affinity) else X, X.shape[0])
        kind = "given"
    elif affinity == "dense" or (affinity == "auto" and X.shape[0] <= DENSE_ROWS):
        W, scales = dense_local_scaling(as_metric_rows(X, metric), t)
        kind = "dense"
    else:
        neighbours = nearest_rows(as_metric_rows(X, metric), max(n_neighbors, t), generator=generator)
        W, scales = graph_local_scaling(neighbours, t)
        kind, recall = "neighbours", neighbours.recall
    d = degrees(W)
    parts = similarity_components(W, d)
    return Similarities(W, d, kind, scales, recall, parts, tuple(_notes(W, kind, recall, parts)))


def similarities_of_new_rows(
    similar: str, X: Any, scales: np.ndarray, queries: Any, *, metric: str, n_neighbors: int, t: int
) -> Any:
    """Return the similarities of ``queries`` to the known rows ``X``: dense, or CSR on their nearest rows."""
    X, queries = as_metric_rows(X, metric), as_metric_rows(queries, metric)
    if similar == "dense":
        return similarities_to(X, scales, queries, t)
    indices, distances = nearest_of(X, queries, max(n_neighbors, t))
    own = graph_scales(distances, t)
    weights = np.exp(-(distances**2) / (2 * own[:, None] * scales[indices]))
    ends = np.arange(0, indices.size + 1, indices.shape[1])
    return sparse.csr_array((weights.ravel(), indices.ravel(), ends), shape=(len(indices), len(scales)))


def alpha_scale(
    similar: Similarities, X: Any, n_clusters: int, *, metric: str, t: int, generator: np.random.Generator
) -> float:
    """Return what alpha is multiplied with: 1, except on a neighbour graph."""
    if similar.kind != "neighbours":
        return 1.0
    return graph_alpha_scale(as_metric_rows(X, metric), similar.d, n_clusters, t=t, generator=generator)


def _checked(W: Any, n_rows: int) -> Any:
    W = sparse.csr_array(W) if sparse.issparse(W) else np.asarray(W)
    if W.shape != (n_rows, n_rows):
        raise InvalidData(
            f"Similarities of {n_rows} rows must be a matrix of shape ({n_rows}, {n_rows}). Got shape {W.shape}. "
            "affinity='precomputed' takes them as X; a callable gets X and returns them."
        )
    values = W.data if sparse.issparse(W) else W
    if not np.isfinite(values).all() or (values < 0).any():
        raise InvalidData(
            f"Similarities must be finite and not negative. Got values from {values.min():.3g} to {values.max():.3g}. "
            "Pass similarities such as exp(-distance), not distances or correlations."
        )
    gap = abs(W - W.T).max() if n_rows else 0.0
    if gap > 1e-6 * max(float(values.max(initial=0.0)), 1e-300):  # far above rounding, far below anything meant
        raise InvalidData(f"Similarities must be symmetric; the largest difference is {gap:.3g}. Use (W + W.T) / 2.")
    return W.astype(working_dtype(n_rows))


def _notes(W: Any, kind: str, recall: float, parts: np.ndarray) -> list[str]:
    notes = []
    if kind == "neighbours" and recall < 1:
        notes.append(f"Neighbours were searched in cells; {recall:.1%} of the true ones were found on a sample.")
    n_isolated = int(np.count_nonzero(np.bincount(parts) == 1)) if len(parts) > 1 else 0
    if n_isolated:
        notes.append(f"{counted(n_isolated, 'row is', 'rows are')} similar to no other row.")
    if parts.max(initial=0) > 0:
        notes.append(f"The similarities fall into {int(parts.max()) + 1} parts that nothing connects.")
    if kind != "given":
        n_copies = _n_copies(W)
        if n_copies:  # never one alone
            notes.append(f"{n_copies} rows have a copy among the others, or nearly one.")
    return notes


def _n_copies(W: Any) -> int:
    """Count rows with similarity 1 to another row: copies are at distance 0."""
    full = (W == 1).sum(axis=1) if not sparse.issparse(W) else _ones_per_row(W)
    return int(np.count_nonzero(np.asarray(full).ravel() > 1))


def _ones_per_row(W: Any) -> np.ndarray:
    return np.bincount(np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))[W.data == 1], minlength=W.shape[0])


SAMPLE = 2_000  # dense similarities of that many rows cost 0.1 s; 1,000 give the same alpha within 15 %
_TOL = 1e-2  # the median of eigenvalues needs no more


def graph_alpha_scale(
    X: Any, d: np.ndarray, n_clusters: int, *, t: int, generator: np.random.Generator, sample: int = SAMPLE
) -> float:
    """Return the factor for alpha on a graph with degrees ``d`` over the rows ``X`` (Euclidean distances)."""
    n_rows = X.shape[0]
    rows = np.sort(generator.choice(n_rows, size=min(n_rows, max(sample, 4 * n_clusters)), replace=False))
    S, _ = dense_local_scaling(X[rows], t)
    d_S = degrees(S)
    operator = NormalisedSum.of(S, d=d_S)
    k = min(n_clusters, len(rows))
    values, _ = leading_eigenvectors(
        operator, k, parts=similarity_components(S), generator=generator, tol=_TOL, dtype=S.dtype
    )
    middle = max(float(np.median(values)), np.finfo(np.float32).eps)
    return float(len(rows) * np.mean(1 / d_S) / (n_rows * np.mean(1 / d)) / middle)


Floats = npt.NDArray[np.float64]
DELTA = 0.02  # keeps components, whose lambda is 1, from counting without bound
FAINT = 1e-6  # similarity that is added to every edge, so that no row is left without any
TOLERANCE = 1e-3  # relative accuracy of the eigenvalues; the features are coordinates, not results


def graph_features(
    X: Any, n_features: int, *, generator: np.random.Generator, n_neighbours: int = 10, sharp: bool = False
) -> Floats:
    """Return at most ``n_features`` features of every row of X from its graph of nearest rows.

    ``sharp`` squares the similarities and leaves out those of rows with themselves: near rows count for more.
    """
    W, _ = graph_local_scaling(nearest_rows(X, n_neighbours, generator=generator))
    if sharp:
        W.setdiag(0.0)
        W.eliminate_zeros()
        W.data = W.data**2 + W.dtype.type(FAINT)
    operator = NormalisedSum.of(W)
    k = min(n_features, X.shape[0])
    parts = similarity_components(W)
    values, V = leading_eigenvectors(operator, k, parts=parts, generator=generator, tol=TOLERANCE, dtype=W.dtype)
    weights = 1.0 / np.sqrt(np.maximum(1.0 - values, 0.0) + DELTA)
    return np.asarray(unit_rows(V.astype(np.float64) * weights / np.sqrt(degrees(W))[:, None]))
