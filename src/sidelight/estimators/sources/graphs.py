"""Channels clustered by nearest-neighbour graphs: those of all channels added up, or that of all channels side by side.

Every channel has the graph of its nearest rows, with self-tuning similarities ([PF14] section 5.1), normalised by its
degrees, and counts for what ``_agreement`` says; words of few rows have a second graph (``_looks``). So has the
concatenation, in which every channel has the variance of its weight. All these graphs are added, rows of one sequence
are joined as well, and the rows of the K leading eigenvectors, of unit length, are clustered by k-means. The graph of
the concatenation alone is clustered in the same way: channels that each tell some of the clusters have too few common
eigenvectors. Borders are made straight where that suits them (``_smoothed``). Which of the two is taken is decided in
``_graph_fit``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from sidelight._affinity.operators import NormalisedSum
from sidelight._affinity.spectral import leading_eigenvectors, unit_rows
from sidelight._core.params import as_seed
from sidelight._core.quiet import without_library_warnings
from sidelight._core.threads import one_thread
from sidelight.estimators.sources._added import AddedGraphs
from sidelight.estimators.sources._agreement import CommonEdges, Masks, channel_weights
from sidelight.estimators.sources._looks import Looks, graph_of, looks_of
from sidelight.estimators.sources._smoothed import smoothed
from sidelight.progress import report

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

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
    whole: Mapping[str, Any],
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
    whole : mapping of str to CSR
        The words of channels that have a second look.
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
    looks = looks_of(channels, whole, present, generator)
    report("graphs", 1, n_steps, "what channels share")
    joined = {name: of.joined for name, of in looks.items()}
    common = CommonEdges.of(joined, present)

    def labels_of(name: str) -> Ints:
        alone = _added(looks[name].parts(1.0), home)
        return _rounded(_embedding(alone, n_clusters, generator), n_clusters, generator, n_init=3)

    weights = channel_weights(
        channels,
        present,
        joined,
        common,
        generator,
        labels_of=labels_of,
        leading=lambda rows: _leading(rows, n_clusters, generator),
    )
    del joined
    report("graphs", 2, n_steps, "all channels")
    complete = np.all([present[name] for name in channels], axis=0)
    found = {}
    sides: list[tuple[NormalisedSum, float]] = []
    for number, way in enumerate(ways):
        report("graphs", 3 + number, n_steps, way)
        # the mean that stands in for a missing channel is no place of its own: such rows are left to their channels
        there = complete if way == "graphs" else np.ones(len(complete), dtype=bool)
        if not sides or not complete.all():
            sides = _side_by_side(channels, whole, looks, weights, there, complete, generator)
        own = [part for name, of in looks.items() for part in of.parts(weights[name])] if way == "graphs" else []
        beside_own = [(graph, _BESIDE * weight) for graph, weight in sides] if own else sides
        U = _embedding(_added(own + beside_own, home), n_clusters, generator)
        labels = _rounded(U, n_clusters, generator)
        if home is None:  # rows of a sequence follow it, borders or not
            labels = _with_straight_borders(
                beside(channels, weights), labels, n_clusters, sides[0][0].W, complete, generator
            )
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


def _side_by_side(
    channels: Mapping[str, Floats],
    whole: Mapping[str, Any],
    looks: Mapping[str, Looks],
    weights: Mapping[str, float],
    there: NDArray[np.bool_],
    complete: NDArray[np.bool_],
    generator: np.random.Generator,
) -> list[tuple[NormalisedSum, float]]:
    """Return the graphs of prepared channels side by side, and of whole words side by side, with their weights."""
    prepared = {name: weights[name] * of.share for name, of in looks.items()}
    out = [(NormalisedSum.of(graph_of(beside(channels, prepared), there, generator)), sum(prepared.values()))]
    if whole:
        told = {name: weights[name] * looks[name].share for name in whole}
        words = sp.csr_array(sp.hstack([rows * np.sqrt(told[name]) for name, rows in whole.items()]))
        out.append((NormalisedSum.of(graph_of(words, complete, generator)), sum(told.values())))
    return out


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


def _leading(rows: Floats, n_clusters: int, generator: np.random.Generator) -> float:
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
