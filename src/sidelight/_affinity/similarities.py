"""Which similarities a spectral method uses: dense or on a neighbour graph, given, or made by the caller's function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from sidelight._affinity.components import degrees, similarity_components
from sidelight._affinity.local_scaling import (
    dense_local_scaling,
    graph_local_scaling,
    graph_scales,
    similarities_to,
    working_dtype,
)
from sidelight._affinity.neighbours import as_metric_rows, nearest_of, nearest_rows
from sidelight._affinity.operators import NormalisedSum
from sidelight._affinity.spectral import leading_eigenvectors
from sidelight.errors import InvalidData
from sidelight.progress import report
from sidelight.words import counted

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
