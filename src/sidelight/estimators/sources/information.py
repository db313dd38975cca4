"""Information co-clustering of a two-way table: Dhillon's alternating algorithm, [B04] 1.5.3 and 4.3.7."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.utils.extmath import randomized_svd

from sidelight._core.content import table_orders
from sidelight._core.params import as_generator, as_seed, check_number
from sidelight._core.process import one_thread, without_library_warnings
from sidelight.errors import ConvergenceWarning, warn
from sidelight.estimators._base import all_or_nothing
from sidelight.estimators.sources._coclusterer import (
    Coclusterer,
    Ints,
    JointTable,
    clusters_of_axes,
    labels_to_start,
    random_labels,
    table_to_fit,
)
from sidelight.estimators.sources._sweeps.alternating import Table, follow, race


class InformationCoclustering(Coclusterer):
    r"""Cluster rows and columns of a table so that the cluster table keeps as much mutual information as it can.

    Rows and columns take turns: each goes to the cluster with the nearest profile. The loss never rises. The table
    stays sparse, so a million rows are fine.

    Parameters
    ----------
    n_clusters : int or (int, int), default=3
        Clusters of rows and of columns; one number means both.
    n_init : int, default=10
        Random starts. Three of every ten run to the end, the others for a few rounds, the better half for a few more,
        and so on; the leading three to the end as well. With more than one, the clusters of the leading singular
        vectors are a start as well; where one axis has more clusters, the answer with the smaller number on both axes,
        its clusters split, is: finer clusters then never keep less.
    max_iter : int, default=100
        Most rounds of a start.
    tol : float, default=1e-5
        Gain of a round, as a share of the information kept, at which a start has converged. 0 goes on until nothing
        moves: on classic3 that takes three times the rounds and changes the information in the fifth digit.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of intp
        Cluster of each row and column; -1 where the table has no mass.
    rows_, columns_ : ndarray of bool
        Membership of each bicluster, as scikit-learn's SpectralBiclustering has it.
    axis_labels_ : dict of str to ndarray
        The same labels by axis name.
    cluster_table_ : ndarray
        Joint probability of row and column clusters.
    information_, information_loss_, total_information_ : float
        Mutual information kept and lost by the clusters, and that of the table, in nats.
    trace_ : ndarray
        Information kept after each round of the best start; it never falls.
    start_values_ : ndarray of shape (n_starts,)
        Information kept by each start: the random ones, then the others.
    n_iter_ : int
        Rounds of the best start.
    axes_ : tuple of str
        Names of the axes.
    margins_ : dict of str to ndarray
        Mass of every code of every axis.
    n_features_in_ : int
        Number of columns.
    data_fingerprint_ : str
        A short name of the table seen by ``fit``.

    See Also
    --------
    sidelight.estimators.AnnealedCoclustering : Any number of axes; single codes move.
    sidelight.estimators.SpectralContingency : Singular vectors of the normalised table.
    MultiSourceClustering : From channels of numbers to clusters.

    Notes
    -----
    The loss is the mutual information that clusters lose, a relative entropy ([B04] 1.4.2, after Dhillon and others),

    .. math::

        J = I(X; Y) - I(\hat X; \hat Y) = D_{KL}(P \,\|\, Q), \qquad
        Q(x, y) = P(\hat x, \hat y) \frac{P(x)}{P(\hat x)} \frac{P(y)}{P(\hat y)} .

    Examples
    --------
    >>> import sidelight as sl
    >>> P = [[5, 5, 0, 0], [4, 6, 0, 0], [0, 0, 3, 3], [0, 1, 2, 3]]
    >>> co = sl.InformationCoclustering((2, 2), random_state=0).fit(P)
    >>> bool(co.row_labels_[0] == co.row_labels_[1] != co.row_labels_[2] == co.row_labels_[3])
    True
    """

    def __init__(
        self,
        n_clusters: Any = 3,
        *,
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @all_or_nothing
    def fit(self, P: Any, y: Any = None, *, init: Any = None) -> InformationCoclustering:
        """Co-cluster a table.

        Parameters
        ----------
        P : array, CSR matrix, data frame or CoOccurrence with two axes
            Counts or weights, none negative.
        y : ignored
            Present for scikit-learn.
        init : (labels, labels) or dict of axis to labels, optional
            Where to start; None for an axis that should follow the other.
        """
        check_number(self, "n_init", self.n_init, integer=True, low=1)
        check_number(self, "max_iter", self.max_iter, integer=True, low=1)
        check_number(self, "tol", self.tol, low=0)
        joint = table_to_fit(self, P)
        clusters = clusters_of_axes(self, joint)
        joint.two_way(self)  # refuses tables of more axes
        given, orders = joint, table_orders(joint.csr)
        joint = given.in_order(orders)
        table, k = joint.two_way(self), (clusters[0], clusters[1])
        start = labels_to_start(self, init, given, clusters)
        start = [labels if labels is None else labels[order] for labels, order in zip(start, orders)]

        rng = as_generator(self.random_state)
        n_starts = self.n_init if any(labels is None for labels in start) else 1
        informed: list[list[Ints]] = []
        seed = as_seed(rng)  # drawn first and always: the starts of a smaller n_init are among those of a larger one
        if n_starts > 1 and start[0] is None and start[1] is None:
            informed = self._informed_starts(joint, table, k, np.random.default_rng(seed))
        starts = [random_labels(joint, clusters, start, rng) for _ in range(n_starts)]
        if (start[0] is None) != (start[1] is None):
            leader = 0 if start[1] is None else 1
            starts = [list(follow(table, pair[0], pair[1], k, leader=leader)) for pair in starts]
        pairs = [(pair[0], pair[1]) for pair in starts + informed]
        best, values = race(table, pairs, k, max_iter=self.max_iter, tol=self.tol, n_sure=len(informed))

        if not best.converged:
            warn(
                f"InformationCoclustering stopped after max_iter={self.max_iter} rounds before it converged. Raise "
                "max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        found = zip((best.row_labels, best.column_labels), orders)
        self._publish(given, clusters, [labels[np.argsort(order)] for labels, order in found])
        self.trace_, self.start_values_, self.n_iter_ = np.array(best.trace), np.array(values), len(best.trace)
        return self

    def _informed_starts(
        self, joint: JointTable, table: Table, k: tuple[int, int], rng: np.random.Generator
    ) -> list[list[Ints]]:
        """Return the labels of singular vectors, and those of a coarser table, split."""
        few = min(k)
        if few < 2:
            return []
        sure = _spectral(joint, few, rng)
        if k[0] == k[1]:
            return [sure]
        coarse = [random_labels(joint, (few, few), [None, None], rng) for _ in range(_COARSE_STARTS)]
        pairs = [(pair[0], pair[1]) for pair in [*coarse, sure]]
        found, _ = race(table, pairs, (few, few), max_iter=self.max_iter, tol=self.tol, n_sure=1)
        return [[_split(found.row_labels, few, k[0], rng), _split(found.column_labels, few, k[1], rng)]]


_COARSE_STARTS = 2


def _spectral(joint: JointTable, k: int, rng: np.random.Generator) -> list[Ints]:
    """Cluster both sides by their coordinates along the leading singular vectors, quickly: it is a start, no more."""
    table = sp.csr_array(joint.csr)
    over = [1.0 / np.sqrt(np.where(mass > 0, mass, np.inf)) for mass in joint.margins]
    n_vectors = max(1, min(k + 1, *table.shape))
    with one_thread(), without_library_warnings():
        scaled = sp.diags_array(over[0]) @ table @ sp.diags_array(over[1])
        U, values, V = randomized_svd(scaled, n_vectors, n_iter=4, random_state=as_seed(rng))
        labels = []
        for vectors, weight in zip((U, V.T), over):
            points = (vectors * values * weight[:, None])[:, 1:] if n_vectors > 1 else vectors
            kmeans = KMeans(min(k, len(points)), random_state=as_seed(rng))
            labels.append(np.asarray(kmeans.fit_predict(points), dtype=np.intp))
    return labels


def _split(labels: Ints, n_few: int, n_many: int, rng: np.random.Generator) -> Ints:
    """Deal the members of each coarse cluster out to fine ones, at random: a refinement, which keeps no less."""
    parts = [np.arange(c, n_many, n_few) for c in range(n_few)]
    out = labels.copy()
    for c, own in enumerate(parts):
        mine = np.flatnonzero(labels == c)
        out[mine] = own[rng.integers(len(own), size=len(mine))]
    return out
