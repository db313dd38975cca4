"""MPCK-Means: PCK-Means that also learns how to measure distances (Bilenko, Basu and Mooney 2004).

minimised: sum_i (|x_i - centre|^2_A - log det A), A the metric of row i's cluster, plus for broken answers
    alike rows apart        weight (|x_i - x_j|^2_A + |x_i - x_j|^2_B) / 2, with the metrics of both clusters
    differing rows together weight (D_A - |x_i - x_j|^2_A), D_A the squared distance of the farthest rows under A
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sidelight._core.params import check_flag, check_number
from sidelight._core.process import one_blas_thread
from sidelight.data.relations import Pairs, Triplets
from sidelight.estimators._base import reporting
from sidelight.peers._clusterer import AnswerClusterer
from sidelight.peers._links import LEAST_SPREAD, Links, differences, spread_of, squares
from sidelight.peers.constrained.sweep import (
    Incidence,
    assign_in_turn,
    broken_links,
    centres_from_groups,
    means_of,
    price_of_broken,
    random_centres,
)

LEAST_VARIANCE = 1e-3  # of the mean variance of a feature: keeps a metric finite where a cluster is flat


class Metrics(NamedTuple):
    """One diagonal metric for each cluster: ``A[k, f]`` weighs feature f in cluster k."""

    A: np.ndarray

    def distances(self, X: Any, X2: Any, centres: np.ndarray) -> np.ndarray:
        """Return |x - centre|^2 under each cluster's metric."""
        gaps = X2 @ self.A.T - 2.0 * (X @ (self.A * centres).T) + (self.A * centres**2).sum(axis=1)
        return np.maximum(np.asarray(gaps), 0.0)

    @property
    def log_det(self) -> np.ndarray:
        """Log det A of each cluster."""
        return np.asarray(np.log(self.A).sum(axis=1))


class Start(NamedTuple):
    """Where one start ended."""

    objective: float
    labels: np.ndarray
    centres: np.ndarray
    metrics: Metrics
    trace: np.ndarray
    converged: bool


class MPCKMeans(AnswerClusterer):
    """Cluster rows by k-means with a price on broken answers and a learnt weight of every feature.

    Metrics are diagonal: one for each cluster, or one for all of them.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    weight : float, default=1.0
        Price of a broken link, in units of the paper: it is multiplied by a distance.
    shared : bool, default=True
        One metric for all clusters instead of one for each.
    n_init : int, default=3
        Number of starts; the lowest objective wins.
    max_iter : int, default=50
        Most rounds of a start.
    tol : float, default=1e-4
        Relative change of the objective at which a start has converged.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts and of the order of rows.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row, by its features and its answers.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The mean of each cluster.
    metrics_ : ndarray of shape (n_clusters, n_features)
        Weight of each feature in each cluster.
    violated_ : dict
        ``"pairs"`` and ``"triplets"``: the numbers of the answers that ``labels_`` breaks.
    objective_, trace_, n_iter_ : float, ndarray, int
        The objective, its value after each round, and the number of rounds.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    References
    ----------
    M. Bilenko, S. Basu and R. J. Mooney, "Integrating constraints and metric learning in semi-supervised clustering",
    ICML 2004.

    Examples
    --------
    >>> import sidelight as sl
    >>> X = [[0.0, 0.0], [0.1, 9.0], [5.0, 0.1], [5.1, 9.1]]
    >>> pairs = sl.Pairs.from_table([(0, 1, "same"), (0, 2, "different"), (2, 3, "same")], n_rows=4)
    >>> labels = sl.peers.MPCKMeans(2, random_state=0).fit(X, pairs=pairs).labels_
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        weight: float = 1.0,
        shared: bool = True,
        n_init: int = 3,
        max_iter: int = 50,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weight = weight
        self.shared = shared
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number(self, "weight", self.weight, low=0)
        check_number(self, "tol", self.tol, low=0)
        check_flag(self, "shared", self.shared)
        for name in ("n_init", "max_iter"):
            check_number(self, name, getattr(self, name), integer=True, low=1)

    def _learn(self, X: Any, pairs: Pairs, triplets: Triplets, generator: np.random.Generator) -> None:
        links = Links.of(pairs, triplets)
        starts, tell = [], reporting("k-means with learnt metrics")
        with one_blas_thread():
            for turn in range(self.n_init):
                tell(turn, self.n_init, "")
                if turn == 0 and links.same.any():
                    centres = centres_from_groups(X, links.facts.groups, self.n_clusters, generator)
                else:
                    centres = random_centres(X, self.n_clusters, generator)
                starts.append(self._descend(X, centres, links, generator))
        best = min(starts, key=lambda start: start.objective)
        self._warn_unless(best.converged, self.max_iter)
        self.labels_, self.cluster_centers_, self.metrics_ = best.labels, best.centres, best.metrics.A
        self.objective_, self.trace_, self.n_iter_ = best.objective, best.trace, len(best.trace)

    def _descend(self, X: Any, centres: np.ndarray, links: Links, generator: np.random.Generator) -> Start:
        """Assign rows in turn, move the centres, fit the metrics; repeat."""
        K, (n, d) = self.n_clusters, X.shape
        X2, gaps2 = squares(X), differences(X, links.rows) ** 2
        incidence, bound = Incidence.of(links.rows, n), np.unique(links.rows)
        spread = spread_of(X)
        metrics = Metrics(np.full((K, d), d / spread if spread > LEAST_SPREAD else 1.0))
        floor = LEAST_VARIANCE / metrics.A[0, 0]
        labels = np.asarray(metrics.distances(X, X2, centres).argmin(axis=1), dtype=np.intp)
        trace: list[float] = []
        converged = False
        while len(trace) < self.max_iter and not converged:
            costs = metrics.distances(X, X2, centres) - metrics.log_det
            farthest = farthest_gaps(X, X2, centres.mean(axis=0), metrics)
            prices = self._prices(links, gaps2, farthest, metrics)
            before = labels
            labels = np.asarray(costs.argmin(axis=1), dtype=np.intp)
            labels[bound] = before[bound]
            assign_in_turn(costs, labels, generator.permutation(bound), incidence, links.same, prices)
            centres = means_of(X, labels, centres)
            metrics = self._fit_metrics(X, X2, centres, labels, links, gaps2, farthest, floor)
            costs = metrics.distances(X, X2, centres) - metrics.log_det
            prices = self._prices(links, gaps2, farthest, metrics)
            value = costs[np.arange(n), labels].sum() + price_of_broken(labels, links.rows, links.same, prices)
            trace.append(float(value))
            converged = len(trace) > 1 and abs(trace[-2] - trace[-1]) <= self.tol * abs(trace[-1])
        return Start(trace[-1], labels, centres, metrics, np.array(trace), converged)

    def _prices(self, links: Links, gaps2: np.ndarray, farthest: np.ndarray, metrics: Metrics) -> np.ndarray:
        """Return what each broken link costs in each cluster; see the head of this file."""
        gaps = gaps2 @ metrics.A.T
        most = (farthest * metrics.A).sum(axis=1)
        prices = np.where(links.same[:, None], 0.5 * gaps, np.maximum(most - gaps, 0.0))
        return np.ascontiguousarray(self.weight * links.weights[:, None] * prices)

    def _fit_metrics(
        self,
        X: Any,
        X2: Any,
        centres: np.ndarray,
        labels: np.ndarray,
        links: Links,
        gaps2: np.ndarray,
        farthest: np.ndarray,
        floor: float,
    ) -> Metrics:
        """Return the metrics that minimise the objective for these clusters: the inverse of a sum of squares."""
        K = self.n_clusters
        member = np.eye(K)[labels]
        sizes = member.sum(axis=0)
        # sum (x - c)^2 = sum x^2 - n c^2, for the centres are means
        S = np.asarray((X2.T @ member).T) - sizes[:, None] * np.where(sizes[:, None] > 0, centres, 0.0) ** 2
        broken = np.flatnonzero(broken_links(labels, links.rows, links.same))
        cut, join = broken[links.same[broken]], broken[~links.same[broken]]
        weights = self.weight * links.weights
        for side in (0, 1):
            np.add.at(S, labels[links.rows[cut, side]], 0.5 * weights[cut, None] * gaps2[cut])
        where = labels[links.rows[join, 0]]
        np.add.at(S, where, weights[join, None] * (farthest[where] - gaps2[join]))
        if self.shared:
            S, sizes = np.repeat(S.sum(axis=0, keepdims=True), K, axis=0), np.full(K, sizes.sum())
        variance = np.maximum(S, 0.0) / np.maximum(sizes, 1.0)[:, None]
        variance[sizes == 0] = floor / LEAST_VARIANCE  # an empty cluster measures as at the start
        return Metrics(1.0 / np.maximum(variance, floor))

    def _distances(self, X: Any) -> np.ndarray:
        metrics = Metrics(self.metrics_)
        return metrics.distances(X, squares(X), self.cluster_centers_) - metrics.log_det


def farthest_gaps(X: Any, X2: Any, middle: np.ndarray, metrics: Metrics) -> np.ndarray:
    """Return the squared differences, feature by feature, of two rows about as far apart as any, for each metric.

    The row farthest from the middle, and the row farthest from that one: within a factor of two of the diameter.
    """
    K = len(metrics.A)
    first = metrics.distances(X, X2, np.repeat(middle[None], K, axis=0)).argmax(axis=0)
    ends = X[first]
    ends = ends.toarray() if hasattr(ends, "toarray") else np.asarray(ends)
    second = metrics.distances(X, X2, ends).argmax(axis=0)
    return differences(X, np.column_stack([first, second])) ** 2
