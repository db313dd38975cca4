"""Channels clustered by nearest-neighbour graphs: those of all channels added up, or that of all channels side by side.

Every channel has the graph of its nearest rows, with self-tuning similarities ([PF14] section 5.1), normalised by its
degrees, and counts for what ``_agreement`` says. So has the concatenation, in which every channel has the variance of
its weight. All these graphs are added, rows of one sequence
are joined as well, and the rows of the K leading eigenvectors, of unit length, are clustered by k-means. The graph of
the concatenation alone is clustered in the same way: channels that each tell some of the clusters have too few common
eigenvectors. Borders are made straight where that suits them (``_smoothed``). Which of the two is taken is decided in
``_graph_fit``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans

from sidelight._affinity.neighbours import nearest_rows
from sidelight._affinity.similarities import graph_local_scaling
from sidelight._affinity.spectral import NormalisedSum, leading_eigenvectors, unit_rows
from sidelight._core.params import as_seed
from sidelight._core.process import one_thread, without_library_warnings
from sidelight.estimators.sources._agreement import CommonEdges, Masks, channel_weights
from sidelight.estimators.sources._smoothed import smoothed
from sidelight.progress import report

# The graph of one channel: every row is joined to its nearest ones.


Floats = NDArray[np.float64]
NEIGHBOURS = 10


def graph_of(rows: Any, there: NDArray[np.bool_], generator: np.random.Generator) -> Any:
    """Return the self-tuned graph of the rows that have the channel; the others are joined to nothing."""
    if there.all():
        return graph_local_scaling(nearest_rows(rows, NEIGHBOURS, generator=generator))[0]
    own = np.flatnonzero(there)
    n = rows.shape[0]
    small = graph_local_scaling(nearest_rows(rows[own], NEIGHBOURS, generator=generator))[0].tocoo()
    return sp.csr_array((small.data, (own[small.row], own[small.col])), shape=(n, n))


# Graphs of several channels, and of sequences, added up: one symmetric operator, and its leading eigenvectors.


Ints = NDArray[np.intp]


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
        out: Any = 0.0
        for weight, part in zip(self.weights, self.parts):
            out = out + weight * part.product(V)
        if self.home is not None:
            out = out + self.together * _sequence_means(V, self.home)
        return np.asarray(out, dtype=V.dtype)

    def take(self, rows: np.ndarray) -> Self:
        """Return the same among ``rows`` only."""
        parts = tuple(part.take(rows) for part in self.parts)
        return type(self)(parts, self.weights, None if self.home is None else self.home[rows], self.together)

    def components(self) -> Ints:
        """Number the connected components of all graphs together."""
        groups = [connected_components(part.W, directed=False)[1] for part in self.parts]
        numbers = groups[0] if self.home is None else self.home
        for other in groups if self.home is not None else groups[1:]:
            numbers = _joined(numbers, other)
        return np.asarray(np.unique(numbers, return_inverse=True)[1], dtype=np.intp)


def _joined(first: Ints, second: Ints) -> Ints:
    """Number rows by the components of two groupings together: rows that share a group of either belong together."""
    n, m = int(first.max()) + 1, int(second.max()) + 1
    links = sp.csr_array((np.ones(len(first)), (first, n + second)), shape=(n + m, n + m))
    return np.asarray(connected_components(links, directed=False)[1][first], dtype=np.intp)


def _sequence_means(V: np.ndarray, home: Ints) -> np.ndarray:
    """Replace every row by the mean of its sequence: a projection, so no eigenvalue above 1."""
    n = int(home.max()) + 1
    member = sp.csr_array((np.ones(len(home), dtype=V.dtype), (home, np.arange(len(home)))), shape=(n, len(home)))
    sizes = np.bincount(home, minlength=n).astype(V.dtype)
    means = member @ V
    means = means / (np.maximum(sizes, 1) if V.ndim == 1 else np.maximum(sizes, 1)[:, None])
    return np.asarray(means[home])


WAYS = ("graphs", "concatenated")
_TOLERANCE = 1e-4  # relative accuracy of eigenvalues: gaps are compared by more
_SAMPLE = 20_000  # rows on which k-means starts compete
_BESIDE = 0.5  # weight of the concatenation beside the channels, as a share of theirs


@dataclass(frozen=True, slots=True)
class Clustered:
    """The labels of each way, what each channel counts for, and how much two channels share beyond chance, at most."""

    ways: Mapping[str, Ints]
    weights: Mapping[str, float]
    shared: float


def cluster_graphs(
    channels: Mapping[str, Floats],
    present: Masks,
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
    n_steps = 3 + len(ways)
    report("graphs", 0, n_steps, "channels")
    joined = {name: graph_of(rows, present[name], generator) for name, rows in channels.items()}
    report("graphs", 1, n_steps, "what channels share")
    common = CommonEdges.of(joined, present)
    own = {name: NormalisedSum.of(graph) for name, graph in joined.items()}

    def labels_of(name: str) -> Ints:
        alone = _added([(own[name], 1.0)], home)
        return _rounded(_embedding(alone, n_clusters, generator), n_clusters, generator, n_init=3)

    weights = channel_weights(
        channels,
        present,
        joined,
        common,
        generator,
        labels_of=labels_of,
        leading=partial(_leading, n_clusters, generator),
    )
    del joined
    report("graphs", 2, n_steps, "all channels")
    complete = np.all([present[name] for name in channels], axis=0)
    found = {}
    side: Any = None
    for number, way in enumerate(ways):
        report("graphs", 3 + number, n_steps, way)
        # the mean that stands in for a missing channel is no place of its own: such rows are left to their channels
        there = complete if way == "graphs" else np.ones(len(complete), dtype=bool)
        if side is None or not complete.all():
            side = NormalisedSum.of(graph_of(beside(channels, weights), there, generator))
        total = sum(weights.values())
        parts = [(side, total)]
        if way == "graphs":
            parts = [*((graph, weights[name]) for name, graph in own.items()), (side, _BESIDE * total)]
        U = _embedding(_added(parts, home), n_clusters, generator)
        labels = _rounded(U, n_clusters, generator)
        if home is None:  # rows of a sequence follow it, borders or not
            labels = _with_straight_borders(beside(channels, weights), labels, n_clusters, side.W, complete, generator)
        found[way] = labels
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


def _with_straight_borders(
    rows: Floats, labels: Ints, n_clusters: int, graph: Any, complete: NDArray[np.bool_], generator: np.random.Generator
) -> Ints:
    """Smooth the borders of clusters among the rows that have all channels."""
    if complete.all():
        return smoothed(rows, labels, n_clusters, graph, generator)
    own = np.flatnonzero(complete)
    out = labels.copy()
    out[own] = smoothed(rows[own], labels[own], n_clusters, graph[own][:, own], generator)
    return out


def _added(parts: Sequence[tuple[NormalisedSum, float]], home: Ints | None) -> AddedGraphs:
    graphs, weights = zip(*parts)
    return AddedGraphs(graphs, weights, home, sum(weights))


def _leading(n_clusters: int, generator: np.random.Generator, rows: Floats) -> float:
    """Return the mean of the second to the K-th eigenvalue of the graph of rows."""
    graph = graph_of(rows, np.ones(len(rows), dtype=bool), generator)
    operator = _added([(NormalisedSum.of(graph), 1.0)], None)
    k = min(max(n_clusters, 2), len(rows) - 2)
    return float(_eigenvectors(operator, k, generator)[0][1:].mean())


def _embedding(operator: AddedGraphs, n_clusters: int, generator: np.random.Generator) -> Floats:
    """Return unit rows of the K leading eigenvectors."""
    return np.asarray(unit_rows(_eigenvectors(operator, n_clusters, generator)[1].astype(np.float64)))


def _eigenvectors(operator: AddedGraphs, k: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    dtype = operator.parts[0].W.dtype
    return leading_eigenvectors(
        operator, k, parts=operator.components(), generator=generator, tol=_TOLERANCE, dtype=dtype
    )


def _rounded(U: Floats, n_clusters: int, generator: np.random.Generator, n_init: int = 10) -> Ints:
    seed = as_seed(generator)
    few = U if len(U) <= _SAMPLE else U[np.sort(generator.choice(len(U), size=_SAMPLE, replace=False))]
    with without_library_warnings(), one_thread():  # fewer distinct rows than clusters: some stay empty
        best = KMeans(n_clusters, n_init=n_init, random_state=seed).fit(few)
        if few is U:
            return np.asarray(best.labels_, dtype=np.intp)
        return np.asarray(KMeans(n_clusters, init=best.cluster_centers_).fit_predict(U), dtype=np.intp)
