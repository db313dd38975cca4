"""COP-KMeans: k-means in which no answer may be broken (Wagstaff, Cardie, Rogers and Schroedl 2001)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sidelight._core.params import check_number
from sidelight._core.process import one_blas_thread
from sidelight._core.prototypes import squared_distances
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import ConflictingAnswers
from sidelight.estimators._base import reporting
from sidelight.peers._clusterer import AnswerClusterer
from sidelight.peers._links import Links
from sidelight.peers.constrained.sweep import NOWHERE, Incidence, assign_in_turn, means_of, random_centres
from sidelight.words import in_words

REPAIRS = 200  # orders tried before a dead end counts: a group without a cluster moves to the front each time


class Start(NamedTuple):
    """Where one start ended."""

    inertia: float
    labels: np.ndarray
    centres: np.ndarray
    converged: bool
    n_iter: int


class DeadEnd(Exception):
    """A group of rows that no cluster can take, with the clusters of the groups before it."""

    def __init__(self, group: int, labels: np.ndarray) -> None:
        self.group, self.labels = group, labels


class COPKMeans(AnswerClusterer):
    """Cluster rows by k-means without breaking any answer.

    Rows that must link move together; in every round a group takes the nearest centre that none of its cannot-links
    forbids. The paper gives up at the first group without a cluster; here such groups come first in the next try, 200
    times. Finding clusters that keep all cannot-links is graph colouring, so a failure does not prove that there are
    none.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_init : int, default=10
        Number of starts; the lowest inertia wins.
    max_iter : int, default=100
        Most rounds of a start.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts and of the order of rows.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row; keeps every answer but triplets answered "none", which are not used.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The mean of each cluster; ``predict`` takes the nearest.
    inertia_ : float
        Sum of squared distances to the centres.
    violated_ : dict
        ``"pairs"`` and ``"triplets"``: the numbers of the answers that ``labels_`` breaks.
    n_iter_ : int
        Rounds of the best start.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    References
    ----------
    K. Wagstaff, C. Cardie, S. Rogers and S. Schroedl, "Constrained k-means clustering with background knowledge",
    ICML 2001.

    Examples
    --------
    >>> import sidelight as sl
    >>> pairs = sl.Pairs.from_table([(0, 1, "different"), (1, 2, "same")], n_rows=4)
    >>> labels = sl.peers.COPKMeans(2, random_state=0).fit([[0.0], [0.1], [5.0], [5.1]], pairs=pairs).labels_
    >>> bool(labels[0] != labels[1] == labels[2])
    True
    """

    def __init__(self, n_clusters: int = 8, *, n_init: int = 10, max_iter: int = 100, random_state: Any = None) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self) -> None:
        for name in ("n_init", "max_iter"):
            check_number(self, name, getattr(self, name), integer=True, low=1)

    def _learn(self, X: Any, pairs: Pairs, triplets: Triplets, generator: np.random.Generator) -> None:
        links = Links.of(pairs, triplets)
        links.check_consistent(type(self).__name__)
        graph = GroupGraph.of(links)
        tell, starts, dead_end = reporting("constrained k-means"), [], None
        with one_blas_thread():
            for turn in range(self.n_init):
                tell(turn, self.n_init, "")
                try:
                    starts.append(self._start(X, graph, generator))
                except DeadEnd as stuck:
                    dead_end = stuck
        if not starts:
            assert dead_end is not None  # n_init is at least 1
            raise self._refusal(dead_end, graph, links)
        best = min(starts, key=lambda start: start.inertia)
        self._warn_unless(best.converged, self.max_iter)
        self.labels_, self.cluster_centers_ = best.labels, best.centres
        self.inertia_, self.n_iter_ = best.inertia, best.n_iter

    def _start(self, X: Any, graph: GroupGraph, generator: np.random.Generator) -> Start:
        centres = random_centres(X, self.n_clusters, generator)
        order = graph.bound[generator.permutation(len(graph.bound))]
        labels, converged, n_iter = np.full(X.shape[0], NOWHERE, dtype=np.intp), False, 0
        while n_iter < self.max_iter and not converged:
            costs = graph.members @ squared_distances(X, centres)
            before, (group_labels, order) = labels, graph.assign(costs, order)
            labels = group_labels[graph.groups]
            centres = means_of(X, labels, centres)
            converged, n_iter = bool((labels == before).all()), n_iter + 1
        gaps = squared_distances(X, centres)
        return Start(float(gaps[np.arange(len(labels)), labels].sum()), labels, centres, converged, n_iter)

    def _refusal(self, dead_end: DeadEnd, graph: GroupGraph, links: Links) -> ConflictingAnswers:
        """Name a row without a cluster, and for each cluster the row that forbids it and the answers that say so."""
        row = int(np.flatnonzero(graph.groups == dead_end.group)[0])
        reasons = []
        for k in range(self.n_clusters):
            other = next(g for g in graph.neighbours(dead_end.group) if dead_end.labels[g] == k)
            there = int(np.flatnonzero(graph.groups == other)[0])
            reasons.append(f"cluster {k} by row {there} ({links.tell(links.facts.explain(row, there))})")
        return ConflictingAnswers(
            f"{type(self).__name__}: no clusters were found that keep all answers. Row {row} may not be in "
            f"{in_words(reasons)}. Ask for more than {self.n_clusters} clusters, drop one of these answers, or choose "
            "a method that weighs answers, such as PCKMeans or DiscriminativeClustering."
        )

    def _distances(self, X: Any) -> np.ndarray:
        return squared_distances(X, self.cluster_centers_)


class GroupGraph(NamedTuple):
    """Groups of rows that must link, and which of them cannot link."""

    groups: np.ndarray
    members: Any  # groups x rows, 1 where a row belongs
    bound: np.ndarray  # the groups with a cannot-link
    incidence: Incidence
    prices: np.ndarray

    @classmethod
    def of(cls, links: Links) -> GroupGraph:
        """Contract the links that say alike."""
        groups, n = links.facts.groups, links.n_rows
        n_groups = int(groups.max()) + 1
        edges = np.column_stack(np.divmod(links.facts.apart, max(n, 1))).astype(np.intp)
        members = sp.csr_array((np.ones(n), (groups, np.arange(n))), shape=(n_groups, n))
        return cls(groups, members, np.unique(edges), Incidence.of(edges, n_groups), np.full((len(edges), 1), np.inf))

    def neighbours(self, group: int) -> np.ndarray:
        """Return the groups that a group cannot link with."""
        return self.incidence.others[self.incidence.starts[group] : self.incidence.starts[group + 1]]

    def assign(self, costs: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give every group the cheapest cluster that is left, in ``order``; return also the order that worked."""
        labels = np.asarray(costs.argmin(axis=1), dtype=np.intp)
        prices = np.repeat(self.prices, costs.shape[1], axis=1)
        same = np.zeros(len(prices), dtype=bool)
        stuck = NOWHERE
        for _ in range(REPAIRS):
            labels[self.bound] = NOWHERE
            stuck = assign_in_turn(costs, labels, order, self.incidence, same, prices)
            if stuck == NOWHERE:
                return labels, order
            order = np.concatenate([[stuck], order[order != stuck]])
        raise DeadEnd(stuck, labels)
