"""Maximum margin clustering of bags, M3IC of [Z09], mended.

Each bag is judged by one row, the witness, that leans most to one cluster. Weights are sought that give every bag a
witness with a margin of 1. The paper bounds how uneven the clusters' scores of mean rows may be; bags of many rows
escape that bound, and all fall into one cluster. By default offsets make the scores of best rows equal on average
instead (:mod:`sidelight.estimators.bags.bag_margin`). The rule has no intercept, so rows are centred; the scaling
happens inside products and X is never copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._core.heaps import cut_between
from sidelight._core.params import as_generator, check_choice, check_number
from sidelight._core.process import one_thread
from sidelight._core.simplex import log_softmax
from sidelight._models.scaled_rows import ScaledRows, column_scaling, scaled_rows, spread_rows, whitening
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags
from sidelight.errors import ConvergenceWarning, EmptyClusters, warn
from sidelight.estimators._base import all_or_nothing, checks_y, rows_to_fit
from sidelight.estimators._weights import weights_of_bags
from sidelight.estimators.bags._bags import BagClusterer, check_bag_clusters
from sidelight.estimators.bags.bag_margin import BagMargin, BagMaxima
from sidelight.estimators.bags.cutting_plane import MarginFit, concave_convex
from sidelight.progress import report

MARGINS = ("rest", "rows", "paper")
SCALES = ("whitened", "standard", "unit", "none")
STARTS = ("spread", "normal")
RIDGE = 0.1  # added to the variances when rows are whitened, as a share of their mean
WIDE = 1000  # features; beyond it whitening would cost more than it tells, and rows are standardised only


class MaxMarginBagClustering(BagClusterer):
    r"""Cluster bags of rows by the margin of one deciding row in each, after M3IC of [Z09].

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A single one takes every bag, with the status "no margin".
    C : float, default=16.0
        Price of a bag whose margin is below 1. The paper searches 2^-4 to 2^4.
    margin : {"rest", "rows", "paper"}, default="rest"
        "rest": a cluster's best row of the bag against the best rows of the others, each less its mean over bags;
        "rows": one row's score for a cluster against its other scores, less the same mean; "paper": as "rows", but
        with the paper's ``balance`` instead of means, under which bags of many rows fall into one cluster.
    balance : float, default=1.0
        For ``margin="paper"``, its l: how far apart two clusters' scores, summed over the mean rows of all bags, may
        be. 0 ties them; large values allow one cluster to take everything. The paper searches 0, 0.001, 0.01, 0.1, 1
        to 5 and 10.
    scale : {"whitened", "standard", "unit", "none"}, default="whitened"
        "standard": every feature gets mean 0 and the same variance, rows a mean squared length of 1, so that C
        means the same for any number of features; "whitened": after that the same for every direction, which keeps a
        few correlated features from deciding alone (beyond 1,000 features: "standard"); "unit": every standardised row
        gets length 1, which helps where only the direction of a row matters and hurts where clutter lies near the
        mean; "none": rows as they are.
    init : {"spread", "normal"}, default="spread"
        First weights: rows drawn far from each other as in k-means++, or independent normal numbers as in the paper.
    n_init : int, default=10
        Number of starts; of those with the fewest empty clusters the one with the lowest objective wins. With
        ``margin="paper"`` it is the lowest objective alone, as the paper says.
    tol : float, default=0.01
        A start has converged when the objective falls by less than this share of itself; the paper's epsilon_1.
    inner_tol : float, default=0.01
        How much the mean missed margin may exceed that of the cuts; the paper's epsilon_2.
    max_iter : int, default=100
        Most outer steps a start.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts.

    Attributes
    ----------
    bag_labels_ : ndarray of shape (n_bags,)
        Cluster of each bag, in the order of ``bags.names``. Cluster 0 is the largest; empty ones come last.
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row's bag.
    witnesses_ : ndarray of shape (n_bags,)
        The row that decided each bag.
    bag_margins_ : ndarray of shape (n_bags,)
        The margin of each witness; below 1 the bag was paid for.
    membership_threshold_ : float
        Margin from which :meth:`memberships` lets a bag into a further cluster, chosen on the training bags.
    weights_ : ndarray of shape (n_clusters, n_features)
        W, for rows scaled by ``mean_`` and ``inverse_scale_`` and turned by ``whitening_``.
    offsets_ : ndarray of shape (n_clusters,)
        The best score of a bag for each cluster, averaged over the training bags; zeros for ``margin="paper"``.
    mean_, inverse_scale_ : ndarray of shape (n_features,)
        The shift and scale of the features; constant features have scale 0.
    whitening_ : ndarray of shape (n_features, n_features) or None
        What multiplies the scaled rows, where they are whitened.
    objective_ : float
        J of the best start.
    trace_ : ndarray
        J after each outer step of the best start; it never rises by more than C * inner_tol.
    start_objectives_ : ndarray of shape (n_init,)
        J at the end of every start.
    n_iter_ : int
        Outer steps of the best start.
    status_ : {"converged", "iteration limit", "empty clusters", "no margin"}
        How the best start ended. "no margin": only W = 0 meets the balance (one cluster, all rows alike, or nothing but
        one feature that the balance ties), so all bags are in cluster 0. "empty clusters": some cluster has no bag:
        raise ``n_init``, or ask for fewer clusters. (One feature can only feed two clusters.) "iteration limit" and
        "empty clusters" come with a warning.
    n_features_in_, data_fingerprint_
        As everywhere.

    See Also
    --------
    MaxMarginBagClusteringCV : Chooses C and balance without labels.
    BagWordClustering : Bags as words; fast, and ahead on most sets.
    sidelight.estimators.BagKMedoids : Distances between bags.

    Notes
    -----
    [Z09] eqs. (4) and (6): the weights minimise

    .. math::

        J(W) = \tfrac12 \lVert W \rVert^2 + \frac{C}{n} \sum_i \max(0, 1 - f_i(W)), \qquad
        f_i(W) = \frac{k}{k-1} \max_j \Big( \max_u w_u \cdot B_{ij} - \tfrac1k \textstyle\sum_v w_v \cdot B_{ij} \Big)

    over the rows j of bag i, by the concave-convex procedure. ``margin="paper"`` adds the balance constraint of eq.
    (4); the others subtract what every bag reaches along a direction.

    Without ``bags`` every row is a bag of its own.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.1, 0], [5, 0.2], [0, 0.2], [4, 0], [0.2, 0.1], [0.1, 5], [0, 4], [0.3, 0.2]])
    >>> bags = sl.Bags(["a", "a", "b", "b", "c", "c", "d", "d"])
    >>> found = sl.MaxMarginBagClustering(2, random_state=0).fit(X, bags=bags)
    >>> bool(found.bag_labels_[0] == found.bag_labels_[1] != found.bag_labels_[2])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        C: float = 16.0,
        margin: str = "rest",
        balance: float = 1.0,
        scale: str = "whitened",
        init: str = "spread",
        n_init: int = 10,
        tol: float = 0.01,
        inner_tol: float = 0.01,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.C = C
        self.margin = margin
        self.balance = balance
        self.scale = scale
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.inner_tol = inner_tol
        self.max_iter = max_iter
        self.random_state = random_state

    @all_or_nothing
    @one_thread()  # the products are thin: threads of BLAS and OpenMP would wait for each other most of the time
    def fit(self, X: Any, y: Any = None, *, bags: Any = None) -> MaxMarginBagClustering:
        """Find the clusters of the bags.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : Bags, optional
            May carry the bags instead of ``bags``; anything else is ignored.
        bags : Bags or sequence of bag ids, optional
            The bag of each row. Labels on bags are not looked at.
        """
        self._check_parameters()
        X = rows_to_fit(self, X)
        bags = as_bags(bags, n_rows=X.shape[0], y=y)
        check_bag_clusters(self, self.n_clusters, bags)
        self._learn_by_content(X, bags, self._learn)
        return self

    _of_bags = ("bag_labels_", "witnesses_", "bag_margins_")

    def _learn(self, X: Any, bags: Bags) -> None:
        self._learn_scaling(X)
        margin = self._margin(X, bags, offsets=None)
        generator = as_generator(self.random_state)
        fits = [self._descend(margin, self._start(margin.rows, generator), number) for number in range(self.n_init)]
        self._publish(margin, fits)

    def decision_function(self, X: Any, *, bags: Any = None) -> np.ndarray:
        """Return the margin of every bag for every cluster, of shape (n_bags, n_clusters).

        It is that of the bag's row which leans most to the cluster; the best cluster of a bag is its label.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        bags : Bags or sequence of bag ids, optional
            The bag of each row; without it every row is a bag of its own.
        """
        bags, rows = self._judged(X, bags)
        return self._margin(rows, bags, self.offsets_).cluster_margins(self.weights_)

    def predict_bag_proba(self, X: Any, bags: Any = None) -> np.ndarray:
        """Return how surely each bag belongs to each cluster: the softmax of its margins, in the order of bags.

        Parameters
        ----------
        X, bags
            As in :meth:`decision_function`.
        """
        return np.exp(log_softmax(self.decision_function(X, bags=bags)))

    def memberships(self, X: Any, *, bags: Any = None, threshold: float | None = None) -> np.ndarray:
        """Return which clusters each bag belongs to, maybe several, as booleans of shape (n_bags, n_clusters).

        Parameters
        ----------
        X, bags
            As in :meth:`decision_function`.
        threshold : float, optional
            The margin that suffices; by default ``membership_threshold_``. A bag's best cluster is always among them.
        """
        check_number(self, "threshold", threshold, none=True)
        chosen = self.__dict__.get("membership_threshold_", np.inf) if threshold is None else threshold
        return members(self.decision_function(X, bags=bags), chosen)

    @checks_y
    def score(self, X: Any, y: Any = None, *, bags: Any = None, sample_weight: Any = None) -> float:
        """Return minus the mean missed margin of the bags: 0 when every bag reaches 1; higher is better.

        Parameters
        ----------
        X, bags
            As in :meth:`decision_function`.
        y : Bags, optional
            May carry the bags instead.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; a bag counts with the mean weight of its rows.
        """
        rows = self._rows(X)
        bags = as_bags(bags, n_rows=rows.shape[0], y=y)
        missed = np.maximum(0.0, 1.0 - self._margin(rows, bags, self.offsets_).witnesses(self.weights_)[2])
        weights = weights_of_bags(sample_weight, bags)
        return -float(np.average(missed, weights=weights))

    def _bag_labels(self, X: Any, bags: Bags) -> np.ndarray:
        return self._margin(X, bags, self.offsets_).witnesses(self.weights_)[1]

    def _learn_scaling(self, X: Any) -> None:
        n_features = X.shape[1]
        self.whitening_ = None
        self.mean_, self.inverse_scale_ = np.zeros(n_features), np.ones(n_features)
        if self.scale != "none":
            self.mean_, self.inverse_scale_ = column_scaling(X)
        if self.scale == "whitened" and n_features <= WIDE:
            rows = scaled_rows(X, self.mean_, self.inverse_scale_, unit=False)
            covariance = rows.second_moments() / rows.n_rows
            T = whitening(covariance, RIDGE)
            length = float(np.einsum("ij,ik,jk->", covariance, T, T))  # the mean squared length of a whitened row
            self.whitening_ = T / np.sqrt(length) if length > 0 else T

    def _margin(self, X: Any, bags: Bags, offsets: np.ndarray | None) -> BagMargin | BagMaxima:
        rows = scaled_rows(X, self.mean_, self.inverse_scale_, unit=self.scale == "unit", turn=self.whitening_)
        order, starts = np.asarray(bags.order), np.asarray(bags.starts)
        if self.margin == "paper":
            return BagMargin(rows, order, starts)
        return BagMaxima(rows, order, starts, self.margin == "rest", offsets)

    def _start(self, rows: ScaledRows, generator: np.random.Generator) -> np.ndarray:
        if self.init == "normal":
            return generator.standard_normal((self.n_clusters, len(self.mean_)))
        return spread_rows(rows, self.n_clusters, generator)

    def _descend(self, margin: BagMargin | BagMaxima, start: np.ndarray, number: int) -> MarginFit:
        return concave_convex(
            margin,
            start,
            C=self.C,
            centre=margin.centre() if isinstance(margin, BagMargin) else np.zeros(start.shape[1]),
            balance=self.balance if self.margin == "paper" else np.inf,
            tol=self.tol,
            inner_tol=self.inner_tol,
            max_iter=self.max_iter,
            report=lambda step, J: report(f"start {number + 1} of {self.n_init}", step, self.max_iter, f"J = {J:.4g}"),
        )

    def _publish(self, margin: BagMargin | BagMaxima, fits: list[MarginFit]) -> None:
        self.start_objectives_ = np.array([fit.objective for fit in fits])
        best = min(fits, key=lambda fit: (self._n_empty(margin, fit), fit.objective))
        self.objective_, self.trace_, self.n_iter_ = best.objective, best.objectives, len(best.objectives)
        sizes = np.bincount(margin.witnesses(best.W)[1], minlength=self.n_clusters)
        self.weights_ = best.W[
            np.argsort(-sizes, kind="stable")
        ]  # empty clusters last: the numbers in use have no gaps
        self.offsets_ = np.zeros(self.n_clusters)
        if isinstance(margin, BagMaxima):
            self.offsets_ = margin.mean_maxima(self.weights_)
        self.witnesses_, self.bag_labels_, self.bag_margins_ = margin.witnesses(self.weights_)
        self.membership_threshold_ = membership_threshold(margin.cluster_margins(self.weights_))
        self.status_ = self._status(best)

    def _n_empty(self, margin: BagMargin | BagMaxima, fit: MarginFit) -> int:
        """Count the clusters that a start left empty: ours prefers few of them; in the paper the lowest J wins."""
        if isinstance(margin, BagMargin):
            return 0
        return self.n_clusters - len(np.unique(margin.witnesses(fit.W)[1]))

    def _status(self, best: MarginFit) -> str:
        if not best.converged:
            warn(
                f"MaxMarginBagClustering stopped after max_iter={self.max_iter} steps. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
            return "iteration limit"
        if self.bag_margins_.max() < 1e-6:  # margins are of order one; the solver stops at 1e-8
            return "no margin"
        used = len(np.unique(self.bag_labels_))
        if used == self.n_clusters:
            return "converged"
        why = (
            " The balance of [Z09] bounds the mean rows of bags and cannot prevent this where bags have many rows."
            if self.margin == "paper"
            else ""
        )
        warn(
            EmptyClusters(
                f"only {used} of {self.n_clusters} clusters have bags.{why}",
                who=type(self).__name__,
                do="Try BagWordClustering, more starts or fewer clusters.",
            ),
            stacklevel=4,
        )
        return "empty clusters"

    def _check_parameters(self) -> None:
        check_number(self, "C", self.C, low=0, open_low=True)
        check_number(self, "balance", self.balance, low=0, advice="0 ties the clusters, larger values loosen them.")
        check_choice(self, "margin", self.margin, MARGINS)
        check_choice(self, "scale", self.scale, SCALES)
        check_choice(self, "init", self.init, STARTS)
        check_number(self, "n_init", self.n_init, integer=True, low=1)
        check_number(self, "tol", self.tol, low=0)
        check_number(self, "inner_tol", self.inner_tol, low=0, open_low=True)
        check_number(self, "max_iter", self.max_iter, integer=True, low=1)


# More than one cluster per bag: the threshold above which a margin counts as belonging, found without labels.
#
# [Z09] section 5 leaves this open. Margins of clusters that a bag has a row for gather near 1, where training pushes
# them, and the others lie well below: two heaps, which are parted where the variance between them is greatest (Otsu).


def membership_threshold(margins: np.ndarray) -> float:
    """Return the margin that parts the two heaps of ``margins``, of shape (n_bags, n_clusters).

    Every bag's own cluster is a member anyway, so only the other margins are cut; those above 1 count as 1, because
    training does not care how far above 1 they are. Where nothing can be parted, no second cluster is let in.
    """
    if margins.shape[1] < 2 or len(margins) == 0:
        return np.inf
    capped = np.minimum(margins, 1.0)
    if float(np.ptp(capped)) < 1e-9:  # all alike: margins are of order one, so this is rounding
        return np.inf
    return cut_between(capped)


def members(margins: np.ndarray, threshold: float) -> np.ndarray:
    """Return which clusters each bag belongs to: its best one, and all whose margin reaches ``threshold``."""
    belongs = margins >= threshold
    belongs[np.arange(len(margins)), margins.argmax(axis=1)] = True
    return belongs
