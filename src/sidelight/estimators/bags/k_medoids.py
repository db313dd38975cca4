"""k-medoids over Hausdorff distances between bags: BAMIC (Zhang and Zhou 2009), and the same with better swaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._core.content import content_order
from sidelight._core.kernels import kernel
from sidelight._core.params import as_generator, check_choice, check_number
from sidelight._core.simplex import log_softmax
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags
from sidelight.errors import ConvergenceWarning, warn
from sidelight.estimators._base import all_or_nothing, checks_y, rows_to_fit
from sidelight.estimators._weights import weights_of_bags
from sidelight.estimators.bags._bags import BagClusterer, check_bag_clusters
from sidelight.estimators.bags.bag_distances import KINDS, METRICS, bag_distances
from sidelight.progress import report

# k-medoids over a table of distances: FasterPAM, and the plain alternation of the BAMIC paper.
#
# FasterPAM (Schubert and Rousseeuw 2021) tries every swap of a medoid for another point in O(n) per candidate, keeping
# for each point its nearest and second nearest medoid, and takes each swap that helps at once. The alternation moves
# each medoid only inside its own cluster, so it stops earlier and, on the same start, never lower.


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
_MOST_PASSES = 100_000  # swaps end long before; what may be asked for is any whole number


@dataclass(frozen=True, slots=True)
class Medoids:
    """The chosen points, the cluster of every point, and the sum of distances to the medoids after every pass."""

    medoids: Ints
    labels: Ints
    trace: Floats
    converged: bool

    @property
    def inertia(self) -> float:
        """The sum of distances to the medoids."""
        return float(self.trace[-1])


def faster_pam(distances: Floats, start: Ints, *, max_iter: int = 100) -> Medoids:
    """Swap medoids as long as a swap lowers the sum of distances.

    Parameters
    ----------
    distances : array of shape (n, n)
        Symmetric and finite.
    start : array of shape (n_clusters,)
        The first medoids, all different.
    max_iter : int
        The most passes over all points.
    """
    if len(start) == 1:  # there is no second nearest medoid; the middle of everything is the optimum
        return alternate(distances, start, max_iter=max_iter)
    distances = np.ascontiguousarray(distances, dtype=np.float64)
    medoids = np.array(start, dtype=np.intp)
    trace = np.empty(min(max_iter, _MOST_PASSES) + 1)
    n_passes, converged = _swap_passes(distances, medoids, trace)
    return Medoids(medoids, nearest_medoid(distances, medoids), trace[: n_passes + 1].copy(), bool(converged))


def alternate(distances: Floats, start: Ints, *, max_iter: int = 100) -> Medoids:
    """Assign every point to its nearest medoid, move every medoid to the middle of its cluster, repeat.

    Parameters
    ----------
    distances, start, max_iter
        As in :func:`faster_pam`.
    """
    medoids = np.array(start, dtype=np.intp)
    labels = nearest_medoid(distances, medoids)
    trace, converged = [_inertia(distances, medoids)], False
    while not converged and len(trace) <= max_iter:
        moved = medoids.copy()
        for cluster in range(len(medoids)):
            members = np.flatnonzero(labels == cluster)
            if len(members):
                totals = distances[np.ix_(members, members)].sum(axis=0)
                moved[cluster] = members[np.argmin(totals)]
        converged = bool((moved == medoids).all())
        medoids = moved
        labels = nearest_medoid(distances, medoids)
        trace.append(_inertia(distances, medoids))
    return Medoids(medoids, labels, np.array(trace), converged)


def nearest_medoid(distances: Floats, medoids: Ints) -> Ints:
    """Return the cluster of every point; a medoid is always in its own, even beside a duplicate."""
    labels: Ints = np.argmin(distances[:, medoids], axis=1).astype(np.intp)
    labels[medoids] = np.arange(len(medoids))
    return labels


def _inertia(distances: Floats, medoids: Ints) -> float:
    return float(distances[:, medoids].min(axis=1).sum())


@kernel("float64(float64[:, ::1], intp[::1], intp[::1], float64[::1], float64[::1], float64[::1])")
def _two_nearest(D: Floats, medoids: Ints, near: Ints, d_near: Floats, d_second: Floats, loss: Floats) -> float:
    total = 0.0
    loss[:] = 0.0
    for o in range(D.shape[0]):
        d1, d2, m1 = np.inf, np.inf, 0
        for m in range(medoids.shape[0]):
            d = D[o, medoids[m]]
            if d < d1:
                d2, d1, m1 = d1, d, m
            elif d < d2:
                d2 = d
        near[o], d_near[o], d_second[o] = m1, d1, d2
        loss[m1] += d2 - d1
        total += d1
    return total


@kernel("UniTuple(intp, 2)(float64[:, ::1], intp[::1], float64[::1])")
def _swap_passes(D: Floats, medoids: Ints, trace: Floats) -> tuple[int, int]:
    n, k = D.shape[0], medoids.shape[0]
    near = np.empty(n, np.intp)
    d_near, d_second = np.empty(n), np.empty(n)
    is_medoid = np.zeros(n, np.bool_)
    loss, gain = np.zeros(k), np.zeros(k)  # loss: what removing each medoid costs when nothing replaces it
    for m in range(k):
        is_medoid[medoids[m]] = True
    total = _two_nearest(D, medoids, near, d_near, d_second, loss)
    trace[0] = total
    for step in range(trace.shape[0] - 1):
        changed = 0
        for x in range(n):
            if is_medoid[x]:
                continue
            gain[:] = loss
            shared = 0.0
            for o in range(n):
                d = D[o, x]
                if d < d_near[o]:
                    shared += d - d_near[o]
                    gain[near[o]] += d_near[o] - d_second[o]
                elif d < d_second[o]:
                    gain[near[o]] += d - d_second[o]
            best = 0
            for m in range(1, k):
                if gain[m] < gain[best]:
                    best = m
            if shared + gain[best] < -1e-12 * total:  # less is rounding, and would swap duplicates for ever
                is_medoid[medoids[best]] = False
                is_medoid[x] = True
                medoids[best] = x
                total = _two_nearest(D, medoids, near, d_near, d_second, loss)
                changed += 1
        trace[step + 1] = total
        if changed == 0:
            return step + 1, 1
    return trace.shape[0] - 1, 0


METHODS = {"faster_pam": faster_pam, "alternate": alternate}


class BagKMedoids(BagClusterer):
    """Cluster bags around medoid bags by a Hausdorff distance: BAMIC.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    distance : {"average", "minimal", "maximal"}, default="average"
        Which Hausdorff distance, see :func:`~sidelight.estimators.bag_distances`.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        Distance between rows. With "precomputed", ``fit`` takes the distances between all rows and ``predict`` those
        from the new rows to all rows of ``fit``.
    method : {"faster_pam", "alternate"}, default="faster_pam"
        How medoids move: any swap that helps, or the paper's alternation inside clusters.
    n_init : int, default=10
        Number of random starts; the lowest sum of distances wins.
    max_iter : int, default=100
        Most passes a start.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts.

    Attributes
    ----------
    bag_labels_ : ndarray of shape (n_bags,)
        Cluster of each bag, in the order of ``bags.names``.
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row's bag.
    medoids_ : ndarray of shape (n_clusters,)
        The medoid of each cluster: a position in ``bags.names``.
    medoid_rows_ : ndarray
        The rows of ``fit`` that the medoids consist of.
    medoid_codes_ : ndarray
        Which medoid each of ``medoid_rows_`` belongs to.
    medoid_X_ : array or CSR matrix
        These rows; empty for precomputed distances.
    bag_distances_ : ndarray of shape (n_bags,)
        Distance of each bag to its medoid.
    inertia_ : float
        The sum of distances to the medoids.
    trace_ : ndarray
        That sum after each pass of the best start.
    n_iter_ : int
        Passes of the best start.
    n_features_in_, data_fingerprint_
        As everywhere.

    Examples
    --------
    >>> import sidelight as sl
    >>> X = [[0.0], [1.0], [0.5], [9.0], [8.0], [9.5]]
    >>> model = sl.estimators.BagKMedoids(2, random_state=0).fit(X, bags=["a", "a", "b", "c", "c", "d"])
    >>> model.bag_labels_.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        distance: str = "average",
        metric: str = "euclidean",
        method: str = "faster_pam",
        n_init: int = 10,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance = distance
        self.metric = metric
        self.method = method
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, bags: Any = None) -> BagKMedoids:
        """Find the medoids.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows, or their distances of shape (n_rows, n_rows).
        y : Bags, optional
            May carry the bags instead of ``bags``; anything else is ignored.
        bags : Bags or sequence of bag ids, optional
            The bag of each row; without it every row is a bag of its own.
        """
        self._check_parameters()
        X = rows_to_fit(self, X)
        bags = as_bags(bags, n_rows=X.shape[0], y=y)
        check_bag_clusters(self, self.n_clusters, bags)
        D = bag_distances(X, bags, kind=self.distance, metric=self.metric)
        generator = as_generator(self.random_state)
        drawn = [generator.choice(bags.n_bags, self.n_clusters, replace=False) for _ in range(self.n_init)]
        by_content = self._by_content(X, bags)
        starts = [by_content[start] for start in drawn]
        solutions = [self._search(D, start, number) for number, start in enumerate(starts)]
        return self._publish(X, bags, min(solutions, key=lambda one: one.inertia))

    def _by_content(self, X: Any, bags: Bags) -> np.ndarray:
        """Return the bags in the order of what they hold; of precomputed distances, as they came."""
        if self.metric == "precomputed":
            return np.arange(bags.n_bags)
        codes = bags.codes[content_order(X, bags.codes, bags.n_bags)]
        return np.asarray(codes[np.sort(np.unique(codes, return_index=True)[1])])

    @checks_y
    def score(self, X: Any, y: Any = None, *, bags: Any = None, sample_weight: Any = None) -> float:
        """Return minus the mean distance of the bags to their medoids; higher is better.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : Bags, optional
            May carry the bags instead.
        bags : Bags or sequence of bag ids, optional
            The bag of each row.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; a bag counts with the mean weight of its rows.
        """
        rows = self._rows(X)
        bags = as_bags(bags, n_rows=rows.shape[0], y=y)
        weights = weights_of_bags(sample_weight, bags)
        return -float(np.average(self._to_medoids(rows, bags).min(axis=1), weights=weights))

    def predict_bag_proba(self, X: Any, bags: Any = None) -> np.ndarray:
        """Return how surely each bag belongs to each cluster, in the order of ``bags.names``.

        It falls with the squared distance to the medoids, in units of the mean squared distance inside clusters.

        Parameters
        ----------
        X, bags
            As in :meth:`predict_bag_clusters`.
        """
        found, rows = self._judged(X, bags)
        inside = float(np.mean(self.bag_distances_**2))
        squares = self._to_medoids(rows, found) ** 2
        return np.exp(log_softmax(-squares / (2.0 * inside if inside > 0 else 1.0)))

    def _search(self, D: np.ndarray, start: np.ndarray, number: int) -> Medoids:
        report("medoids", number, self.n_init)
        return METHODS[self.method](D, start, max_iter=self.max_iter)

    def _publish(self, X: Any, bags: Bags, best: Medoids) -> BagKMedoids:
        self.medoids_ = best.medoids
        runs = [bags.order[bags.starts[b] : bags.starts[b + 1]] for b in best.medoids]
        self.medoid_rows_ = np.concatenate(runs)
        self.medoid_codes_ = np.repeat(np.arange(self.n_clusters), [len(run) for run in runs])
        self.medoid_X_ = np.empty((0, 0)) if self.metric == "precomputed" else X[self.medoid_rows_]
        self.inertia_, self.trace_, self.n_iter_ = best.inertia, best.trace, len(best.trace) - 1
        distances = self._to_medoids(X, bags)
        self.bag_labels_ = distances.argmin(axis=1)
        self.bag_distances_ = distances.min(axis=1)
        self.labels_ = self.bag_labels_[bags.codes]
        if not best.converged:
            warn(
                f"BagKMedoids stopped after max_iter={self.max_iter} passes. Raise max_iter.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return self

    def _bag_labels(self, X: Any, bags: Bags) -> np.ndarray:
        return self._to_medoids(X, bags).argmin(axis=1)

    def _to_medoids(self, X: Any, bags: Bags) -> np.ndarray:
        medoids = Bags(self.medoid_codes_)
        if self.metric == "precomputed":
            columns = np.ascontiguousarray(X[:, self.medoid_rows_])
            return bag_distances(columns, bags, bags_other=medoids, kind=self.distance, metric="precomputed")
        return bag_distances(X, bags, self.medoid_X_, medoids, kind=self.distance)

    def _check_parameters(self) -> None:
        check_choice(self, "distance", self.distance, KINDS)
        check_choice(self, "metric", self.metric, METRICS)
        check_choice(self, "method", self.method, tuple(METHODS))
        check_number(self, "n_init", self.n_init, integer=True, low=1)
        check_number(self, "max_iter", self.max_iter, integer=True, low=1)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn when X is a table of distances."""
        tags = super().__sklearn_tags__()
        is_table = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise, tags.input_tags.sparse = is_table, not is_table
        return tags
