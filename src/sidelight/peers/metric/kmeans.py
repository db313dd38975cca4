"""k-means in a metric learnt from answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from sidelight._core.params import as_seed, check_choice, check_number
from sidelight._core.prototypes import kmeans_prototypes, squared_distances
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import InvalidParameter
from sidelight.peers._clusterer import AnswerClusterer
from sidelight.peers.metric.base import LearntMetric
from sidelight.peers.metric.from_comparisons import LSML, SCML, SparseLPMetric
from sidelight.peers.metric.from_pairs import ITML, DiagonalMMC

METRICS: dict[str, type[LearntMetric]] = {
    "itml": ITML,
    "mmc": DiagonalMMC,
    "lsml": LSML,
    "scml": SCML,
    "sparse-lp": SparseLPMetric,
}


class MetricKMeans(AnswerClusterer):
    """Learn a metric from answers, then cluster the rows by k-means in it.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    metric : {"itml", "mmc", "lsml", "scml", "sparse-lp"} or a metric, default="itml"
        Which metric, with its defaults; or :class:`ITML`, :class:`DiagonalMMC`, :class:`LSML`, :class:`SCML` or
        :class:`SparseLPMetric` with settings of their own.
    n_init : int, default=50
        Starts of k-means; [P17] takes 50.
    random_state : int, RandomState, Generator or None, default=None
        Seed of k-means, and of the metric where that has none of its own.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    metric_ : metric
        The fitted metric, a transformer.
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        Centres in the coordinates of the metric.
    violated_ : dict
        ``"pairs"`` and ``"triplets"``: the numbers of the answers that ``labels_`` breaks.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    Examples
    --------
    >>> import sidelight as sl
    >>> X = [[0.0, 0.0], [0.1, 6.0], [5.0, 0.1], [5.1, 6.1]]
    >>> model = sl.peers.MetricKMeans(2, metric="mmc", random_state=0)
    >>> labels = model.fit(X, pairs=[(0, 1, "same"), (0, 2, "different")]).labels_
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    def __init__(
        self, n_clusters: int = 8, *, metric: Any = "itml", n_init: int = 50, random_state: Any = None
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.n_init = n_init
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number(self, "n_init", self.n_init, integer=True, low=1)
        if isinstance(self.metric, LearntMetric):
            return
        if not isinstance(self.metric, str):
            raise InvalidParameter(
                f"The 'metric' parameter of MetricKMeans must be one of {', '.join(map(repr, METRICS))} or a learnt "
                f"metric such as ITML(gamma=2). Got {self.metric!r:.80} instead."
            )
        check_choice(self, "metric", self.metric, tuple(METRICS))

    def _learn(self, X: Any, pairs: Pairs, triplets: Triplets, generator: np.random.Generator) -> None:
        metric = clone(self.metric) if isinstance(self.metric, LearntMetric) else METRICS[self.metric]()
        if metric.random_state is None:
            metric.set_params(random_state=as_seed(generator))
        self.metric_ = metric.fit(X, pairs=pairs, triplets=triplets)
        mapped = self.metric_.transform(X)
        self.cluster_centers_ = kmeans_prototypes(mapped, self.n_clusters, as_seed(generator), n_init=self.n_init)
        self.labels_ = squared_distances(mapped, self.cluster_centers_).argmin(axis=1)

    def _distances(self, X: Any) -> np.ndarray:
        return squared_distances(self.metric_.transform(X), self.cluster_centers_)
