"""SSSVaD: k-means with a weight for every feature of every cluster, learnt from relative comparisons.

N. Kumar and K. Kummamuru 2008, [58] of [P17]. With g the squared difference of a feature, cluster k measures by weights
w_k on the simplex, the minimiser of

    sum_f w_kf (gap_kf + trade * wrong_kf) + delta_k sum_f w_kf log w_kf,

gap the mean g between rows and centre, wrong the mean of g(near) - g(far) over the comparisons in cluster k that its
weights get wrong. So w_kf is proportional to exp(-(gap_kf + trade wrong_kf) / delta_k).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sidelight._core.params import check_number
from sidelight._core.process import one_blas_thread
from sidelight._core.simplex import log_softmax
from sidelight.data.relations import Pairs, Triplets
from sidelight.estimators._base import reporting
from sidelight.peers._clusterer import AnswerClusterer
from sidelight.peers._links import Comparisons, compare, differences, squares
from sidelight.peers.constrained.mpck_means import Metrics
from sidelight.peers.constrained.sweep import means_of, random_centres


class Start(NamedTuple):
    """Where one start ended."""

    share_wrong: float
    objective: float
    labels: np.ndarray
    centres: np.ndarray
    weights: np.ndarray
    n_iter: int


class SSSVaD(AnswerClusterer):
    """Cluster rows while learning which features matter in each cluster, from triplets with an odd one out.

    The paper gives delta_k no value; here it is ``softness`` times the mean gap of a feature in the cluster. Pairs are
    compared with each other at random, and triplets answered "none" are not used.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    trade : float, default=1.0
        How much wrong comparisons count against the spread of the clusters.
    softness : float, default=1.0
        How evenly features are weighed; large values weigh all alike.
    n_init : int, default=10
        Number of starts; the one with the fewest wrong comparisons wins, among equals the tightest.
    max_iter : int, default=30
        Rounds of a start; they end early when no row moves.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The mean of each cluster.
    feature_weights_ : ndarray of shape (n_clusters, n_features)
        Weight of each feature in each cluster; they sum to the number of features.
    violated_ : dict
        ``"pairs"`` and ``"triplets"``: the numbers of the answers that ``labels_`` breaks.
    share_wrong_ : float
        The share of comparisons that the learnt distances get wrong.
    n_iter_ : int
        Rounds of the best start.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    References
    ----------
    N. Kumar and K. Kummamuru, "Semisupervised clustering with metric learning using relative comparisons", IEEE
    Transactions on Knowledge and Data Engineering 20 (4), 2008.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> y = np.arange(60) % 2
    >>> first, second = (np.random.default_rng(seed).normal(size=60) for seed in (0, 1))
    >>> X = np.column_stack([4 * y + first, 3 * second])
    >>> model = sl.peers.SSSVaD(2, random_state=0).fit(X, triplets=sl.Triplets.sample(y, 40, random_state=0))
    >>> bool((model.feature_weights_[:, 0] > model.feature_weights_[:, 1]).all())
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        trade: float = 1.0,
        softness: float = 1.0,
        n_init: int = 10,
        max_iter: int = 30,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.trade = trade
        self.softness = softness
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number(self, "trade", self.trade, low=0)
        check_number(self, "softness", self.softness, low=0, open_low=True)
        for name in ("n_init", "max_iter"):
            check_number(self, name, getattr(self, name), integer=True, low=1)

    def _learn(self, X: Any, pairs: Pairs, triplets: Triplets, generator: np.random.Generator) -> None:
        comparisons = compare(pairs, triplets, generator)
        starts, tell = [], reporting("clusters and their features")
        with one_blas_thread():
            for turn in range(self.n_init):
                tell(turn, self.n_init, "")
                starts.append(self._start(X, comparisons, random_centres(X, self.n_clusters, generator)))
        best = min(starts, key=lambda start: (start.share_wrong, start.objective))
        self.labels_, self.cluster_centers_, self.feature_weights_ = best.labels, best.centres, best.weights
        self.share_wrong_, self.n_iter_ = best.share_wrong, best.n_iter

    def _start(self, X: Any, comparisons: Comparisons, centres: np.ndarray) -> Start:
        """Alternate between clusters, centres and weights."""
        X2, (n, d) = squares(X), X.shape
        margins = differences(X, comparisons.near) ** 2 - differences(X, comparisons.far) ** 2  # wrong where above 0
        weights = np.ones((self.n_clusters, d))
        labels, moved, n_iter = np.full(n, -1), True, 0
        while moved and n_iter < self.max_iter:
            before = labels
            labels = Metrics(weights).distances(X, X2, centres).argmin(axis=1)
            centres = means_of(X, labels, centres)
            weights = self._weigh(X2, labels, centres, comparisons, margins, weights)
            moved, n_iter = bool((labels != before).any()), n_iter + 1
        gaps = Metrics(weights).distances(X, X2, centres)[np.arange(n), labels]
        wrong = (margins * weights[labels[comparisons.near[:, 0]]]).sum(axis=1) > 0
        share = float(np.average(wrong, weights=comparisons.weights)) if len(wrong) else 0.0
        return Start(share, float(gaps.sum()), labels, centres, weights, n_iter)

    def _weigh(
        self,
        X2: Any,
        labels: np.ndarray,
        centres: np.ndarray,
        comparisons: Comparisons,
        margins: np.ndarray,
        weights: np.ndarray,
    ) -> np.ndarray:
        """Return the weights of features in every cluster; see the head of this file."""
        member = np.eye(self.n_clusters)[labels]
        sizes = np.maximum(member.sum(axis=0), 1.0)[:, None]
        gap = np.maximum(np.asarray((X2.T @ member).T) / sizes - centres**2, 0.0)
        where = labels[comparisons.near[:, 0]]
        wrong = (margins * weights[where]).sum(axis=1) > 0
        cost = np.zeros_like(gap)
        np.add.at(cost, where[wrong], comparisons.weights[wrong, None] * margins[wrong])
        counts = np.bincount(where[wrong], weights=comparisons.weights[wrong], minlength=self.n_clusters)
        cost /= np.maximum(counts, 1.0)[:, None]
        delta = self.softness * np.maximum(gap.mean(axis=1, keepdims=True), np.finfo(float).tiny)
        delta = np.maximum(delta, np.abs(gap + self.trade * cost).max(axis=1, keepdims=True) / 500)  # exp stays finite
        return gap.shape[1] * np.exp(log_softmax(-(gap + self.trade * cost) / delta))

    def _distances(self, X: Any) -> np.ndarray:
        return Metrics(self.feature_weights_).distances(X, squares(X), self.cluster_centers_)
