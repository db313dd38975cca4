"""Discriminative clustering by regularised information maximisation, [P17] chapter 3.

Without answers the objective (3.6) is tau * I(Y, X; W) - penalty * |W|^2: clusters that are even in size, that know
their rows, and that a simple linear rule explains. Answers about pairs and triplets will join as further terms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import as_generator, as_seed, check_n_clusters, check_number
from sidelight._models.objective import Objective
from sidelight._models.softmax_linear import SoftmaxLinear
from sidelight._solvers.descent import descend
from sidelight._solvers.rounding import round_by_kmeans
from sidelight._solvers.trace import Road
from sidelight._terms.fit import CrossEntropy
from sidelight._terms.information import Balance, Confidence
from sidelight.estimators._base import all_or_nothing, reporting, rows_to_fit, rows_to_judge


class DiscriminativeClustering(ClusterMixin, BaseEstimator):
    """Cluster rows by a softmax-linear rule that maximises information, [P17] eq. (3.6).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    tau : float, default=1.0
        Weight of the information I(Y, X; W).
    penalty : float, default=0.015625
        The paper's lambda, the weight of ``|W|^2``. The paper searches 2^-10 to 2^-2 on standardised features; smaller
        values allow sharper boundaries.
    n_init : int, default=4
        Number of k-means starts; the one with the lowest objective wins.
    max_iter : int, default=300
        Most L-BFGS iterations a start.
    tol : float, default=1e-6
        Relative change of the objective at which a start has converged.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    weights_ : ndarray of shape (n_features, n_clusters)
        W of the softmax rule.
    intercept_ : ndarray of shape (n_clusters,)
        b of the softmax rule.
    objective_ : float
        Value of the minimised objective, ``-tau * I + penalty * |W|^2``.
    trace_ : ndarray
        The objective after each iteration of the best start; it never rises.
    n_iter_ : int
        Iterations of the best start.
    n_features_in_ : int
        Number of features seen by ``fit``.
    data_fingerprint_ : str
        A short name of the rows seen by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0, 0.1], [0.2, 0.0], [5.0, 5.1], [5.2, 4.9]])
    >>> labels = sl.DiscriminativeClustering(2, random_state=0).fit(X).labels_
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        tau: float = 1.0,
        penalty: float = 2.0**-6,
        n_init: int = 4,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.tau = tau
        self.penalty = penalty
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> DiscriminativeClustering:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : ignored
            Present for scikit-learn.
        """
        self._check_parameters()
        X = rows_to_fit(self, X)
        check_n_clusters(self, self.n_clusters, X.shape[0])
        model = SoftmaxLinear(X.shape[1], self.n_clusters)
        objective = Objective(model, X, [(self.tau, Balance()), (self.tau, Confidence())], self.penalty)

        generator = as_generator(self.random_state)
        starts = [self._start(model, X, as_seed(generator)) for _ in range(self.n_init)]
        roads = [
            descend(objective, start, max_iter=self.max_iter, tol=self.tol, report=reporting(f"start {i + 1}"))
            for i, start in enumerate(starts)
        ]
        return self._publish(model, X, min(roads, key=lambda road: road.value))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable cluster of each row of X."""
        return np.argmax(self._log_posterior(X), axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return P, the probability of each cluster for each row of X."""
        return np.exp(self._log_posterior(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Return I(Y, X; W) of [P17] eq. (3.5) on the rows of X, in nats; higher is better.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows, usually held out.
        y : ignored
            Present for scikit-learn.
        """
        log_P = self._log_posterior(X)
        P = np.exp(log_P)
        return -float(Balance()(P, log_P)[0] + Confidence()(P, log_P)[0])

    def _start(self, model: SoftmaxLinear, X: Any, seed: int) -> np.ndarray:
        """Learn the start from a k-means clustering, as [P17] 3.2.4.3 does."""
        targets = np.eye(self.n_clusters)[round_by_kmeans(X, self.n_clusters, seed=seed)]
        supervised = Objective(model, X, [(1.0 / X.shape[0], CrossEntropy(targets))], self.penalty)
        return descend(supervised, np.zeros(model.n_parameters), max_iter=100, tol=1e-4).parameters

    def _publish(self, model: SoftmaxLinear, X: Any, best: Road) -> DiscriminativeClustering:
        W, b = model.unpack(best.parameters)
        self.weights_, self.intercept_ = W.copy(), b.copy()
        self.objective_, self.trace_, self.n_iter_ = best.value, best.trace, best.n_iter
        self.labels_ = np.argmax(model.log_posterior(best.parameters, X), axis=1)
        return self

    def _log_posterior(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = rows_to_judge(self, X)
        model = SoftmaxLinear(*self.weights_.shape)
        return model.log_posterior(model.pack(self.weights_, self.intercept_), X)

    def _check_parameters(self) -> None:
        check_number(self, "n_clusters", self.n_clusters, integer=True, low=1)
        check_number(self, "tau", self.tau, low=0, open_low=True)
        check_number(self, "penalty", self.penalty, low=0)
        check_number(self, "n_init", self.n_init, integer=True, low=1)
        check_number(self, "max_iter", self.max_iter, integer=True, low=1)
        check_number(self, "tol", self.tol, low=0)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
