"""PCK-Means: k-means in which a broken answer has a price (Basu, Banerjee and Mooney 2004)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sidelight._core.params import check_number
from sidelight._core.process import one_blas_thread
from sidelight._core.prototypes import squared_distances
from sidelight.data.relations import Pairs, Triplets
from sidelight.estimators._base import reporting
from sidelight.peers._clusterer import AnswerClusterer
from sidelight.peers._links import Links, spread_of
from sidelight.peers.constrained.sweep import (
    Incidence,
    assign_in_turn,
    centres_from_groups,
    means_of,
    price_of_broken,
    random_centres,
)


class Start(NamedTuple):
    """Where one start ended."""

    objective: float
    labels: np.ndarray
    centres: np.ndarray
    trace: np.ndarray
    converged: bool


class PCKMeans(AnswerClusterer):
    """Cluster rows by k-means, paying a price for every broken answer.

    minimised: sum_i (x_i - centre)^2 + weight (number of broken links), by assigning rows one after the other and
    moving the centres. The first start takes its centres from rows that must link, the others from k-means++.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    weight : float or None, default=None
        Price of a broken link. None: the mean squared distance of a row to the mean row, so that one default serves
        rows of any unit.
    n_init : int, default=5
        Number of starts; the lowest objective wins.
    max_iter : int, default=100
        Most rounds of a start.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts and of the order of rows.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row, by its features and its answers.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The mean of each cluster; ``predict`` takes the nearest.
    violated_ : dict
        ``"pairs"`` and ``"triplets"``: the numbers of the answers that ``labels_`` breaks.
    objective_, trace_, n_iter_ : float, ndarray, int
        The objective, its value after each round (it never rises), and the number of rounds.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    References
    ----------
    S. Basu, A. Banerjee and R. J. Mooney, "Active semi-supervision for pairwise constrained clustering", SDM 2004.

    Examples
    --------
    >>> import sidelight as sl
    >>> pairs = sl.Pairs.from_table([(0, 1, "different"), (1, 2, "same")], n_rows=4)
    >>> model = sl.peers.PCKMeans(2, weight=100, random_state=0).fit([[0.0], [0.1], [5.0], [5.1]], pairs=pairs)
    >>> bool(model.labels_[0] != model.labels_[1] == model.labels_[2])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        weight: float | None = None,
        n_init: int = 5,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weight = weight
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number(self, "weight", self.weight, low=0, none=True)
        for name in ("n_init", "max_iter"):
            check_number(self, name, getattr(self, name), integer=True, low=1)

    def _learn(self, X: Any, pairs: Pairs, triplets: Triplets, generator: np.random.Generator) -> None:
        links = Links.of(pairs, triplets)
        price = spread_of(X) if self.weight is None else float(self.weight)
        prices = price * np.where(links.same, 0.5, 1.0)[:, None] * links.weights[:, None]  # both sides of a cut pay
        prices = np.repeat(prices, self.n_clusters, axis=1)
        starts, tell = [], reporting("k-means with prices")
        with one_blas_thread():
            for turn in range(self.n_init):
                tell(turn, self.n_init, "")
                if turn == 0 and links.same.any():
                    centres = centres_from_groups(X, links.facts.groups, self.n_clusters, generator)
                else:
                    centres = random_centres(X, self.n_clusters, generator)
                starts.append(descend(X, centres, links, prices, self.max_iter, generator))
        best = min(starts, key=lambda start: start.objective)
        self._warn_unless(best.converged, self.max_iter)
        self.labels_, self.cluster_centers_ = best.labels, best.centres
        self.objective_, self.trace_, self.n_iter_ = best.objective, best.trace, len(best.trace)

    def _distances(self, X: Any) -> np.ndarray:
        return squared_distances(X, self.cluster_centers_)


def descend(
    X: Any, centres: np.ndarray, links: Links, prices: np.ndarray, max_iter: int, generator: np.random.Generator
) -> Start:
    """Assign rows in turn and move the centres until no row moves."""
    n = X.shape[0]
    incidence, bound = Incidence.of(links.rows, n), np.unique(links.rows)
    labels = np.asarray(squared_distances(X, centres).argmin(axis=1), dtype=np.intp)
    trace: list[float] = []
    converged = False
    while len(trace) < max_iter and not converged:
        costs = squared_distances(X, centres)
        before = labels
        labels = np.asarray(costs.argmin(axis=1), dtype=np.intp)
        labels[bound] = before[bound]  # rows with answers change only in turn, so that the objective never rises
        assign_in_turn(costs, labels, generator.permutation(bound), incidence, links.same, prices)
        centres = means_of(X, labels, centres)
        gaps = squared_distances(X, centres)[np.arange(n), labels].sum()
        trace.append(float(gaps) + price_of_broken(labels, links.rows, links.same, prices))
        converged = len(trace) > 1 and bool((labels == before).all())
    return Start(trace[-1], labels, centres, np.array(trace), converged)
