"""What families with a softmax-linear rule share: the fit of the rule, starts from k-means, and judging new rows.

A family brings its terms; the rule, its parameters, its coordinates and its predictions are the same for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import as_generator, as_seed, check_number
from sidelight._core.threads import one_blas_thread
from sidelight._models.feature_map import FeatureMap
from sidelight._models.objective import (
    BlockedObjective,
    Objective,
    Term,
    UnprojectedObjective,
    block_cuts,
    can_be_blocked,
)
from sidelight._models.part_work import Passes
from sidelight._models.parted import PartedObjective, RawColumns, TermsOfPart
from sidelight._models.softmax_linear import SoftmaxLinear
from sidelight._solvers.descent import ValueAndGradient, descend
from sidelight._solvers.race import best, race
from sidelight._solvers.rounding import round_by_kmeans
from sidelight._solvers.trace import Solution
from sidelight._terms.fit import CrossEntropy
from sidelight.errors import ConvergenceWarning, warn
from sidelight.estimators._base import Estimator, reporting, rows_to_judge
from sidelight.estimators._columns import ProbabilityColumns
from sidelight.estimators._whitening import ClusterWhitening, Whitening


@dataclass(frozen=True, slots=True)
class RuleFit:
    """Softmax-linear rules on one X under one penalty; the whitening of X is made once, for all of them.

    ``whitening`` serves objectives that sum over rows; None walks in the parameters themselves. ``starts`` says where
    bags of consecutive rows begin: terms that allow it are then visited in blocks of whole bags, in threads. With a
    ``feature_map``, X holds the columns of the map before its projection, and rules are about its features.
    """

    X: Any
    penalty: float
    whitening: Whitening | ClusterWhitening | None = field(default=None)
    starts: np.ndarray | None = field(default=None)
    feature_map: FeatureMap | None = field(default=None)

    @classmethod
    def whitened(cls, X: Any, penalty: float, starts: np.ndarray | None = None) -> RuleFit:
        """Fit rules in coordinates in which the sum over the rows of X is round."""
        return cls(X, penalty, Whitening(X, penalty), starts)

    @staticmethod
    def over(passes: Passes, penalty: float, feature_map: FeatureMap | None = None) -> PartedRuleFit:
        """Fit rules to rows that an engine reads part by part."""
        return PartedRuleFit(passes, penalty, feature_map)

    def near(self, theta: np.ndarray, sample: Any) -> RuleFit:
        """The same fit in coordinates that are round near a rule, as a sample of the features shows it."""
        W, b = SoftmaxLinear(self.n_features, theta.size // (self.n_features + 1)).unpack(theta)
        return replace(self, whitening=ClusterWhitening(sample, W, b, self.penalty, self.X.shape[0]))

    @property
    def n_features(self) -> int:
        """How many features rules are about."""
        return int(self.X.shape[1]) if self.feature_map is None else self.feature_map.n_features

    def model(self, n_clusters: int) -> SoftmaxLinear:
        """The rule with so many clusters."""
        return SoftmaxLinear(self.n_features, n_clusters)

    @property
    def _resolution(self) -> float:
        """Relative rounding of an objective on these rows; curved features are of single precision."""
        return float(np.finfo(self.X.dtype).eps)

    def objective(self, terms: Sequence[tuple[float, Term]], n_clusters: int) -> ValueAndGradient:
        """The weighted terms plus ``penalty * |W|^2 / 2``, as a function of the parameters of so many clusters."""
        model, penalty = SoftmaxLinear(self.X.shape[1], n_clusters), self.penalty if self.feature_map is None else 0.0
        objective: Objective | BlockedObjective = Objective(model, self.X, list(terms), penalty)
        if self.starts is not None and can_be_blocked(terms):
            objective = BlockedObjective(model, self.X, list(terms), penalty, block_cuts(self.starts, n_clusters))
        if self.feature_map is None:
            return objective
        return UnprojectedObjective(self.model(n_clusters), self.feature_map, objective, self.penalty)

    def minimise(
        self,
        terms: Sequence[tuple[float, Term]],
        n_clusters: int,
        start: np.ndarray | None = None,
        *,
        max_iter: int,
        tol: float,
        stage: str,
    ) -> Solution:
        """Minimise the weighted terms plus ``penalty * |W|^2 / 2`` from ``start``, or from equal weights."""
        model, objective = self.model(n_clusters), self.objective(terms, n_clusters)
        theta = np.zeros(model.n_parameters) if start is None else start
        return _descend(objective, theta, self.whitening, max_iter, tol, self._resolution, stage)


@dataclass(frozen=True, slots=True)
class PartedRuleFit:
    """Softmax-linear rules on rows that an engine reads part by part, from a rule that a sample has found."""

    passes: Passes
    penalty: float
    feature_map: FeatureMap | None = None

    @property
    def columns(self) -> RawColumns:
        """How features come from the rows that are read."""
        return RawColumns(self.passes.look, self.feature_map)

    def minimise(
        self,
        of_part: TermsOfPart,
        of_all: Sequence[tuple[float, Term]],
        start: np.ndarray,
        sample: Any,
        *,
        max_iter: int,
        tol: float,
        stage: str,
    ) -> Solution:
        """Minimise terms about rows and about their mean posterior plus the penalty, in coordinates round at ``start``.

        Parameters
        ----------
        of_part : TermsOfPart
            The terms about rows, for each part.
        of_all : sequence of (float, Term)
            The terms of the mean posterior.
        start : array
            The rule that the sample has found.
        sample : array of shape (n_sample, n_features)
            Features of the sample, which show how round the objective is.
        max_iter, tol, stage
            As in :meth:`RuleFit.minimise`.
        """
        model = SoftmaxLinear(sample.shape[1], start.size // (sample.shape[1] + 1))
        whitening = ClusterWhitening(sample, *model.unpack(start), self.penalty, self.passes.n_rows)
        objective = PartedObjective(model, self.passes, self.columns, of_part, of_all, self.penalty)
        resolution = float(np.finfo(np.float32).eps)
        return _descend(objective, start, whitening, max_iter, tol, resolution, stage)


def _descend(
    objective: ValueAndGradient,
    theta: np.ndarray,
    whitening: Whitening | ClusterWhitening | None,
    max_iter: int,
    tol: float,
    resolution: float,
    stage: str,
) -> Solution:
    """Go down in the coordinates of a whitening, and come back from them."""
    how: dict[str, Any] = {"max_iter": max_iter, "tol": tol, "resolution": resolution, "report": reporting(stage)}
    if whitening is None:
        return descend(objective, theta, **how)
    is_round = isinstance(whitening, ClusterWhitening)  # the other one is a bound: a full step is often too short
    solution = descend(whitening.around(objective), whitening.enter(theta), is_round=is_round, **how)
    return replace(solution, parameters=whitening.leave(solution.parameters))


class LinearRule(ProbabilityColumns, ClusterMixin, Estimator):
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
        """Minimise the terms plus ``penalty * |W|^2 / 2`` from several starts and publish the best."""
        fit, k = RuleFit(X, self.penalty), self.n_clusters
        generator = as_generator(self.random_state)
        starts = [self._start(fit, as_seed(generator)) for _ in range(self.n_init)]

        def solve(start: np.ndarray, max_iter: int, stage: str) -> Solution:
            return fit.minimise(terms, k, start, max_iter=max_iter, tol=self.tol, stage=stage)

        solution, model = best(race(starts, solve, self.max_iter)), fit.model(k)
        warn_unless_converged(self, solution, "Raise max_iter or tol, or standardise the features.")
        W, b = model.unpack(solution.parameters)
        self.weights_, self.intercept_ = W.copy(), b.copy()
        self.objective_, self.trace_, self.n_iter_ = solution.value, solution.trace, solution.n_iter
        self.labels_ = np.argmax(model.log_posterior(solution.parameters, X), axis=1)
        return self

    def _start(self, fit: RuleFit, seed: int) -> np.ndarray:
        """Learn the start from a k-means clustering, as [P17] 3.2.4.3 does."""
        targets = np.eye(self.n_clusters)[round_by_kmeans(fit.X, self.n_clusters, seed=seed)]
        terms = [(1.0 / fit.X.shape[0], CrossEntropy(targets))]
        return fit.minimise(terms, self.n_clusters, max_iter=100, tol=1e-4, stage="fitting a start").parameters

    @one_blas_thread()  # how a product is cut into threads would show in its last bits
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

    @property
    def _n_features_out(self) -> int:
        return len(self.intercept_)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def warn_unless_converged(estimator: object, solution: Solution, advice: str, *, stacklevel: int = 5) -> None:
    """Warn that the iteration limit ended the fit of ``estimator``."""
    if not solution.converged:
        rounds = f"{solution.n_iter} iteration" + ("s" if solution.n_iter != 1 else "")
        warn(
            f"{type(estimator).__name__} stopped after {rounds} before it converged. {advice}",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
