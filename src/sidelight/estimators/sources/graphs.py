"""Channels clustered by nearest-neighbour graphs: those of all channels added up, or that of all channels side by side.

Every channel has the graph of its nearest rows, with self-tuning similarities ([PF14] section 5.1), normalised by its
degrees, and counts for what ``_agreement`` says. So has the concatenation, in which every channel has the variance of
its weight. All these graphs are added, rows of one sequence are joined as well, and the rows of the K leading
eigenvectors, of unit length, are clustered by k-means. The graph of the concatenation alone is clustered in the same
way: channels that each tell some of the clusters have too few common eigenvectors. Which of the two is taken is decided
in ``_graph_fit``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans

from sidelight._affinity.local_scaling import graph_local_scaling
from sidelight._affinity.neighbours import nearest_of, nearest_rows
from sidelight._affinity.operators import NormalisedSum
from sidelight._affinity.spectral import leading_eigenvectors, unit_rows
from sidelight._core.params import as_seed
from sidelight._core.quiet import without_library_warnings
from sidelight._core.threads import one_thread
from sidelight.estimators.sources._agreement import CommonEdges, channel_weights
from sidelight.progress import report

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

NEIGHBOURS = 10
WAYS = ("graphs", "concatenated")
_TOLERANCE = 1e-4  # relative accuracy of eigenvalues: gaps are compared by more
_SAMPLE = 20_000  # rows on which k-means starts compete
_FAR = 30.0  # scales beyond which a row has no vote; keeps squares finite
_LANDMARKS = 10_000  # rows that new ones are compared with


@dataclass(frozen=True, slots=True)
class AddedGraphs:
    """A symmetric operator: normalised graphs of several channels, and of sequences, added up."""

    parts: tuple[NormalisedSum, ...]
    weights: tuple[float, ...]
    home: Ints | None  # the sequence of each row
    together: float  # the weight of sequences

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.parts[0].n_rows

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return the product with a vector or a block of vectors."""
        out = sum(weight * part.product(V) for weight, part in zip(self.weights, self.parts))
        if self.home is not None:
            out = out + self.together * _sequence_means(V, self.home)
        return np.asarray(out, dtype=V.dtype)

    def take(self, rows: np.ndarray) -> Self:
        """Return the same among ``rows`` only."""
        parts = tuple(part.take(rows) for part in self.parts)
        return type(self)(parts, self.weights, None if self.home is None else self.home[rows], self.together)

    def components(self) -> Ints:
        """Number the connected components of all graphs together."""
        n = self.n_rows
        joined = sum((abs(sp.csr_array(part.W)) for part in self.parts), start=sp.csr_array((n, n)))
        if self.home is not None:
            n_sequences = int(self.home.max()) + 1
            member = sp.csr_array((np.ones(n), (np.arange(n), self.home)), shape=(n, n_sequences))
            joined = sp.block_array([[joined, member], [member.T, None]]).tocsr()
        numbers = connected_components(joined, directed=False)[1][:n]
        return np.asarray(np.unique(numbers, return_inverse=True)[1], dtype=np.intp)


def _sequence_means(V: np.ndarray, home: Ints) -> np.ndarray:
    """Replace every row by the mean of its sequence: a projection, so no eigenvalue above 1."""
    n = int(home.max()) + 1
    member = sp.csr_array((np.ones(len(home), dtype=V.dtype), (home, np.arange(len(home)))), shape=(n, len(home)))
    sizes = np.bincount(home, minlength=n).astype(V.dtype)
    means = member @ V
    means = means / (np.maximum(sizes, 1) if V.ndim == 1 else np.maximum(sizes, 1)[:, None])
    return np.asarray(means[home])


@dataclass(frozen=True, slots=True)
class Found:
    """The labels of one way of joining channels."""

    labels: Ints
    gap: float  # how far the K-th eigenvalue stands above the next


@dataclass(frozen=True, slots=True)
class Clustered:
    """What the ways found, what each channel counts for, and how much two channels share beyond chance, at most."""

    ways: Mapping[str, Found]
    weights: Mapping[str, float]
    shared: float


def cluster_graphs(
    channels: Mapping[str, Floats],
    present: Mapping[str, NDArray[np.bool_]],
    n_clusters: int,
    home: Ints | None,
    generator: np.random.Generator,
    *,
    ways: Sequence[str] = WAYS,
) -> Clustered:
    """Cluster prepared channels in each of the ways.

    Parameters
    ----------
    channels : mapping of str to ndarray
        The prepared rows of each channel.
    present : mapping of str to ndarray of bool
        Which rows have the channel at all.
    n_clusters : int
        Number of clusters.
    home : ndarray of int or None
        The sequence of each row.
    generator : numpy.random.Generator
        Where the randomness comes from.
    ways : sequence of str
        "graphs" (added up) and "concatenated".
    """
    n_steps = len(channels) + 1 + len(ways)
    graphs = {}
    for number, name in enumerate(channels):
        report("graphs", number, n_steps, name)
        graphs[name] = _graph(channels[name], present[name], generator)
    common = CommonEdges.of(graphs, present)

    def labels_of(name: str) -> Ints:
        alone = AddedGraphs((NormalisedSum.of(graphs[name]),), (1.0,), home, 1.0)
        return _rounded(_embedding(alone, n_clusters, generator)[0], n_clusters, generator, n_init=3)

    weights = channel_weights(
        channels,
        present,
        common,
        generator,
        labels_of=labels_of,
        leading=lambda rows: _leading(rows, n_clusters, generator),
    )
    report("graphs", len(channels), n_steps, "all channels")
    complete = np.all([present[name] for name in channels], axis=0)
    rows = beside(channels, weights)
    together: NormalisedSum | None = None
    found = {}
    for number, way in enumerate(ways):
        report("graphs", len(channels) + 1 + number, n_steps, way)
        # the mean that stands in for a missing channel is no place of its own: such rows are left to their channels
        there = complete if way == "graphs" else np.ones(len(complete), dtype=bool)
        if together is None or not complete.all():
            together = NormalisedSum.of(_graph(rows, there, generator))
        parts, shares = [together], [sum(weights.values())]
        if way == "graphs":
            own = [NormalisedSum.of(W) for W in graphs.values()]
            parts, shares = [*own, *parts], [*weights.values(), *shares]
        operator = AddedGraphs(tuple(parts), tuple(shares), home, sum(shares))
        U, gap = _embedding(operator, n_clusters, generator)
        found[way] = Found(_rounded(U, n_clusters, generator), gap)
    report("graphs", n_steps, n_steps)
    return Clustered(found, weights, float(common.excess.max()) if len(channels) > 1 else np.inf)


def balanced(rows: Floats) -> Floats:
    """Give a channel a total variance of 1, however many columns it has."""
    return rows / spread(rows)


def spread(rows: Floats) -> float:
    """Return the root of the total variance; 1 where nothing varies."""
    return float(np.sqrt(rows.var(axis=0).sum())) or 1.0


def beside(channels: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """Put channels side by side, each with a total variance of its weight."""
    return np.hstack([balanced(rows) * np.sqrt(weights[name]) for name, rows in channels.items()])


def _leading(rows: Floats, n_clusters: int, generator: np.random.Generator) -> float:
    """Return the mean of the second to the K-th eigenvalue of the graph of rows."""
    operator = AddedGraphs(
        (NormalisedSum.of(_graph(rows, np.ones(len(rows), dtype=bool), generator)),), (1.0,), None, 0
    )
    k = min(max(n_clusters, 2), len(rows) - 2)
    values, _ = leading_eigenvectors(
        operator, k, parts=operator.components(), generator=generator, tol=_TOLERANCE, dtype=operator.parts[0].W.dtype
    )
    return float(values[1:].mean())


def _graph(rows: Floats, there: NDArray[np.bool_], generator: np.random.Generator) -> Any:
    """Return the self-tuned graph of the rows that have the channel; the others are joined to nothing."""
    if there.all():
        return graph_local_scaling(nearest_rows(rows, NEIGHBOURS, generator=generator))[0]
    own = np.flatnonzero(there)
    small = graph_local_scaling(nearest_rows(rows[own], NEIGHBOURS, generator=generator))[0].tocoo()
    shape = (len(rows), len(rows))
    W = sp.csr_array((small.data, (own[small.row], own[small.col])), shape=shape)
    rest = sp.csr_array((np.full(len(rows) - len(own), 1e-9, W.dtype), (np.flatnonzero(~there),) * 2), shape=shape)
    return (W + rest).tocsr()


def _embedding(operator: AddedGraphs, n_clusters: int, generator: np.random.Generator) -> tuple[Floats, float]:
    """Return unit rows of the K leading eigenvectors, and the gap below the K-th relative to the largest."""
    k = min(n_clusters + 1, operator.n_rows)
    parts = operator.components()
    values, V = leading_eigenvectors(
        operator, k, parts=parts, generator=generator, tol=_TOLERANCE, dtype=operator.parts[0].W.dtype
    )
    gap = (values[n_clusters - 1] - values[n_clusters]) / max(values[0], 1e-12) if k > n_clusters else 1.0
    return np.asarray(unit_rows(V[:, :n_clusters].astype(np.float64))), float(gap)


def _rounded(U: Floats, n_clusters: int, generator: np.random.Generator, n_init: int = 10) -> Ints:
    seed = as_seed(generator)
    few = U if len(U) <= _SAMPLE else U[np.sort(generator.choice(len(U), size=_SAMPLE, replace=False))]
    with without_library_warnings(), one_thread():  # fewer distinct rows than clusters: some stay empty
        best = KMeans(n_clusters, n_init=n_init, random_state=seed).fit(few)
        if few is U:
            return np.asarray(best.labels_, dtype=np.intp)
        return np.asarray(KMeans(n_clusters, init=best.cluster_centers_, n_init=1).fit_predict(U), dtype=np.intp)


def landmarks(n_rows: int, generator: np.random.Generator) -> Ints:
    """Choose the rows that new ones are compared with: all, or a random sample of them."""
    if n_rows <= _LANDMARKS:
        return np.arange(n_rows)
    return np.sort(generator.choice(n_rows, size=_LANDMARKS, replace=False)).astype(np.intp)


def votes(rows: Floats, known: Floats, labels: Ints, n_clusters: int) -> Floats:
    """Return how the nearest known rows of one channel vote on rows, shape (n_rows, n_clusters); rows sum to 1.

    A row that is known already is judged by itself and its copies: what a fit has seen keeps its cluster, also where a
    cluster has fewer rows than neighbours vote.
    """
    near, gaps = nearest_of(known, rows, NEIGHBOURS)
    scale = gaps[:, [min(6, gaps.shape[1] - 1)]]
    weight = np.exp(-(np.minimum(gaps / np.where(scale > 0, scale, 1.0), _FAR) ** 2) / 2)
    is_known = gaps[:, 0] == 0.0
    weight[is_known] = gaps[is_known] == 0.0
    shares = np.zeros((len(rows), n_clusters))
    np.add.at(shares, (np.arange(len(rows))[:, None], labels[near]), weight)
    crowded = np.flatnonzero(gaps[:, -1] == 0.0)
    if len(crowded):
        shares[crowded] = _copies(known, near[crowded, 0], labels, n_clusters)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _copies(known: Floats, one: Ints, labels: Ints, n_clusters: int) -> Floats:
    """Count the clusters of all copies of some known rows: a column of a few values has more of them than vote."""
    kind = np.unique(known, axis=0, return_inverse=True)[1].ravel()
    counts = np.zeros((int(kind.max()) + 1, n_clusters))
    np.add.at(counts, (kind, labels), 1.0)
    return np.asarray(counts[kind[one]])
