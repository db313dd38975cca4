"""C and balance without labels: the values whose clusters come back when bags are left out, and stay even in size.

[Z09] picks both by comparing with the truth. Here every grid point is judged by what can be seen:
stability (agreement of the clusters with those learnt from part of the bags), evenness (entropy of the cluster sizes)
and margin (what bags reach of the margin of 1). The guide says how far this is from the choice by truth.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from sidelight._core.content import content_order
from sidelight._core.params import as_generator, as_seed, as_sequence, check_number
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags
from sidelight.errors import InvalidParameter, ignore_warnings
from sidelight.estimators._base import all_or_nothing, checks_y, rows_to_fit
from sidelight.estimators.bags._bags import BagClusterer, check_bag_clusters
from sidelight.estimators.bags.max_margin import MaxMarginBagClustering
from sidelight.progress import progress, report

SHARE = 0.8  # of the bags in each resample


class MaxMarginBagClusteringCV(BagClusterer):
    """Maximum margin clustering of bags with ``C`` and ``balance`` chosen without labels.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    Cs : sequence of float, default=(1.0, 4.0, 16.0, 64.0)
        Values of ``C`` to try.
    balances : sequence of float, default=(0.0, 0.1, 1.0, 5.0)
        Values of ``balance`` to try; it only matters for ``margin="paper"``.
    n_resamples : int, default=5
        How often four of five bags are clustered for the stability.
    margin, scale, init, n_init, tol, inner_tol, max_iter : various
        As in :class:`MaxMarginBagClustering`.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the resamples and starts.

    Attributes
    ----------
    best_params_ : dict
        The chosen ``C`` and ``balance``.
    best_score_ : float
        Their score: stability * evenness * margin, at most 1.
    best_estimator_ : MaxMarginBagClustering
        Fitted on all bags with them.
    cv_results_ : dict of ndarray
        For every grid point: ``C``, ``balance``, ``stability``, ``evenness``, ``margin``, ``score``, ``objective``.
    bag_labels_, labels_, witnesses_, bag_margins_ : ndarray
        Those of ``best_estimator_``.
    n_iter_ : int
        Outer steps of ``best_estimator_``.
    n_features_in_, data_fingerprint_
        As everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.1, 0.0], [5.0, 0.2], [0.0, 0.2], [4.0, 0.0], [0.2, 0.1], [0.1, 5.0], [0.0, 4.0], [0.3, 0.2]])
    >>> search = sl.estimators.MaxMarginBagClusteringCV(2, Cs=[1.0, 8.0], balances=[0.1], random_state=0)
    >>> sorted(search.fit(X, bags=[0, 0, 1, 1, 2, 2, 3, 3]).best_params_)
    ['C', 'balance']
    """

    RETIRED: ClassVar[dict[str, Any]] = {"share": SHARE}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        Cs: Any = (1.0, 4.0, 16.0, 64.0),
        balances: Any = (0.0, 0.1, 1.0, 5.0),
        n_resamples: int = 5,
        margin: str = "rest",
        scale: str = "whitened",
        init: str = "spread",
        n_init: int = 5,
        tol: float = 0.01,
        inner_tol: float = 0.01,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.Cs = Cs
        self.balances = balances
        self.n_resamples = n_resamples
        self.margin = margin
        self.scale = scale
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.inner_tol = inner_tol
        self.max_iter = max_iter
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, bags: Any = None) -> MaxMarginBagClusteringCV:
        """Try every pair of ``C`` and ``balance``, and keep the clusters of the best.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : Bags, optional
            May carry the bags instead of ``bags``; anything else is ignored.
        bags : Bags or sequence of bag ids, optional
            The bag of each row; without it every row is a bag of its own.
        """
        grid = self._check_grid()
        X = rows_to_fit(self, X)
        bags = as_bags(bags, n_rows=X.shape[0], y=y)
        check_bag_clusters(self, self.n_clusters, bags)
        generator = as_generator(self.random_state)
        order = content_order(X, bags.codes, bags.n_bags)
        rows, own = X[order], bags[order]
        resamples = [self._resample(own, generator) for _ in range(self.n_resamples)]
        tried = []
        for number, (C, balance) in enumerate(grid):
            report("grid", number, len(grid), f"C = {C:g}, balance = {balance:g}")
            with progress(None):
                tried.append(self._judge(rows, own, resamples, C, balance, as_seed(generator)))
        return self._publish(grid, tried, X, bags)

    def decision_function(self, X: Any, *, bags: Any = None) -> np.ndarray:
        """Return the margin of every bag for every cluster; see :class:`MaxMarginBagClustering`."""
        bags, rows = self._judged(X, bags)
        return self.best_estimator_.decision_function(rows, bags=bags)

    def predict_bag_proba(self, X: Any, bags: Any = None) -> np.ndarray:
        """Return how surely each bag belongs to each cluster; see :class:`MaxMarginBagClustering`."""
        found, rows = self._judged(X, bags)
        return self.best_estimator_.predict_bag_proba(rows, found)

    def memberships(self, X: Any, *, bags: Any = None, threshold: float | None = None) -> np.ndarray:
        """Return which clusters each bag belongs to, maybe several; see :class:`MaxMarginBagClustering`."""
        bags, rows = self._judged(X, bags)
        return self.best_estimator_.memberships(rows, bags=bags, threshold=threshold)

    @checks_y
    def score(self, X: Any, y: Any = None, *, bags: Any = None, sample_weight: Any = None) -> float:
        """Return minus the mean missed margin of the bags; see :class:`MaxMarginBagClustering`."""
        rows = self._rows(X)
        bags = as_bags(bags, n_rows=rows.shape[0], y=y)
        return self.best_estimator_.score(rows, bags=bags, sample_weight=sample_weight)

    def _judge(
        self, X: Any, bags: Bags, resamples: list[np.ndarray], C: float, balance: float, seed: int
    ) -> tuple[MaxMarginBagClustering, dict[str, float]]:
        """Fit one grid point on all bags and on every resample, and say what can be seen of it."""
        point = MaxMarginBagClustering(
            self.n_clusters,
            C=C,
            margin=self.margin,
            balance=balance,
            scale=self.scale,
            init=self.init,
            n_init=self.n_init,
            tol=self.tol,
            inner_tol=self.inner_tol,
            max_iter=self.max_iter,
            random_state=seed,
        )
        with ignore_warnings():  # a bad grid point is no news; its score says it
            partial = [point.fit(X[rows], bags=bags[rows]).predict_bag_clusters(X, bags) for rows in resamples]
            point.fit(X, bags=bags)
        stability = np.mean([adjusted_rand_score(point.bag_labels_, labels) for labels in partial])
        shares = np.bincount(point.bag_labels_) / bags.n_bags
        shares = shares[shares > 0]
        evenness = float(-(shares * np.log(shares)).sum() / np.log(max(self.n_clusters, 2)))
        margin = float(np.clip(point.bag_margins_, 0.0, 1.0).mean())
        seen = {"stability": max(0.0, float(stability)), "evenness": evenness, "margin": margin}
        return point, {**seen, "score": float(np.prod(list(seen.values()))), "objective": point.objective_}

    def _resample(self, bags: Bags, generator: np.random.Generator) -> np.ndarray:
        """Draw whole bags without putting them back, and return their rows."""
        count = min(bags.n_bags, max(self.n_clusters, round(SHARE * bags.n_bags)))
        kept = np.zeros(bags.n_bags, dtype=bool)
        kept[generator.choice(bags.n_bags, count, replace=False)] = True
        return np.flatnonzero(kept[bags.codes])

    def _publish(
        self,
        grid: list[tuple[float, float]],
        tried: list[tuple[MaxMarginBagClustering, dict[str, float]]],
        X: Any,
        bags: Bags,
    ) -> MaxMarginBagClusteringCV:
        results: dict[str, np.ndarray] = {
            "C": np.array([C for C, _ in grid]),
            "balance": np.array([balance for _, balance in grid]),
        }
        for key in tried[0][1]:
            results[key] = np.array([seen[key] for _, seen in tried])
        best = int(np.argmax(results["score"]))
        self.cv_results_ = results
        self.best_params_ = {"C": float(grid[best][0]), "balance": float(grid[best][1])}
        self.best_score_ = float(results["score"][best])
        with ignore_warnings():
            self.best_estimator_ = clone(tried[best][0]).fit(X, bags=bags)  # the same, told of rows as they came
        for name in ("bag_labels_", "labels_", "witnesses_", "bag_margins_", "n_iter_"):
            setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def _bag_labels(self, X: Any, bags: Bags) -> np.ndarray:
        return self.best_estimator_.predict_bag_clusters(X, bags)

    def _check_grid(self) -> list[tuple[float, float]]:
        check_number(self, "n_resamples", self.n_resamples, integer=True, low=1)
        Cs, balances = (
            as_sequence(self, name, getattr(self, name), "a sequence of numbers") for name in ("Cs", "balances")
        )
        if self.margin != "paper":
            balances = balances[:1]
        grid = [(C, balance) for C in Cs for balance in balances]
        if not grid:
            raise InvalidParameter(
                f"{type(self).__name__} has nothing to try: Cs={self.Cs!r}, balances={self.balances!r}. "
                "Give at least one value of each."
            )
        for C, balance in grid:
            check_number(self, "Cs", C, low=0, open_low=True)
            check_number(self, "balances", balance, low=0)
        return grid
