"""What clusterers with a softmax-linear rule share: starts from k-means, the way down, and judging new rows.

A family brings its terms; the rule, its parameters and its predictions are the same for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import as_generator, as_seed, check_number
from sidelight._models.objective import Objective, Term
from sidelight._models.softmax_linear import SoftmaxLinear
from sidelight._solvers.descent import descend
from sidelight._solvers.rounding import round_by_kmeans
from sidelight._terms.fit import CrossEntropy
from sidelight.estimators._base import reporting, rows_to_judge


class LinearRule(ClusterMixin, BaseEstimator):
    """Clusters by P(k | x) = softmax(W'x + b); a subclass stores the parameters read below and writes ``fit``."""

    n_clusters: int
    tau: float
    penalty: float
    n_init: int
    max_iter: int
    tol: float
    random_state: Any

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return P, the probability of each cluster for each row of X."""
        return np.exp(self._log_posterior(X))

    def _learn(self, X: Any, terms: Sequence[tuple[float, Term]]) -> Self:
        """Minimise the terms plus ``penalty * |W|^2`` from several starts and publish the best."""
        model = SoftmaxLinear(X.shape[1], self.n_clusters)
        objective = Objective(model, X, list(terms), self.penalty)
        generator = as_generator(self.random_state)
        starts = [self._start(model, X, as_seed(generator)) for _ in range(self.n_init)]
        roads = [
            descend(objective, start, max_iter=self.max_iter, tol=self.tol, report=reporting(f"start {i + 1}"))
            for i, start in enumerate(starts)
        ]
        best = min(roads, key=lambda road: road.value)
        W, b = model.unpack(best.parameters)
        self.weights_, self.intercept_ = W.copy(), b.copy()
        self.objective_, self.trace_, self.n_iter_ = best.value, best.trace, best.n_iter
        self.labels_ = np.argmax(model.log_posterior(best.parameters, X), axis=1)
        return self

    def _start(self, model: SoftmaxLinear, X: Any, seed: int) -> np.ndarray:
        """Learn the start from a k-means clustering, as [P17] 3.2.4.3 does."""
        targets = np.eye(self.n_clusters)[round_by_kmeans(X, self.n_clusters, seed=seed)]
        supervised = Objective(model, X, [(1.0 / X.shape[0], CrossEntropy(targets))], self.penalty)
        return descend(supervised, np.zeros(model.n_parameters), max_iter=100, tol=1e-4).parameters

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
