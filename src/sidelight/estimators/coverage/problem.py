"""One fit as a problem: the rule, the terms, and the two ways up the likelihood."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from sidelight._affinity.neighbours import nearest_rows
from sidelight._core.threads import one_blas_thread
from sidelight._models.feature_map import FeatureMap
from sidelight._models.objective import Term
from sidelight._models.softmax_linear import SoftmaxLinear
from sidelight._solvers.em import alternate
from sidelight._solvers.trace import Solution
from sidelight._terms.fit import CrossEntropy
from sidelight._terms.information import Balance, Confidence
from sidelight.estimators._base import reporting
from sidelight.estimators._labelled_bags.coverage import BagPlan
from sidelight.estimators._labelled_bags.layout import Layout
from sidelight.estimators._linear_rule import RuleFit
from sidelight.estimators.coverage.neighbour_term import Smoothness
from sidelight.estimators.coverage.starts import random_start
from sidelight.estimators.coverage.term import Coverage

N_NEIGHBOURS = 10
_ASIDE = 12  # starts beside a saddle: half of them may run to where classes have changed places
_SADDLE = 1e-6  # of the gradient beside zero: below this the gradient at zero is rounding
M_STEPS = 10  # L-BFGS iterations of one M-step: more fit posteriors that the next round will change anyway


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows, bags and clusters of one fit; the objective is minus the penalised log likelihood.

    Rows go in and come out in the caller's order. Inside, dense rows are arranged bag by bag, so that the objective can
    visit them in blocks of whole bags; ``order`` says where they come from, None that they were not moved.
    """

    options: Any
    fit: RuleFit
    plan: BagPlan
    layout: Layout
    coverage: Coverage
    others: tuple[tuple[float, Term], ...]
    order: np.ndarray | None

    @classmethod
    def of(
        cls, options: Any, X: Any, plan: BagPlan, layout: Layout, penalty: float, generator: np.random.Generator
    ) -> Problem:
        """Put together what the estimator's parameters (``options``) ask for, with a penalty that is settled."""
        others: list[tuple[float, Term]] = []
        # Even clusters are a guess about how common each kind is. It weighs at most the rows with side information.
        weight = options.information * np.count_nonzero(plan.is_told)
        if weight > 0:
            others += [(weight, Balance()), (weight, Confidence(n_rows=X.shape[0]))]
        order = None
        in_blocks = not issparse(X) and options.neighbours == 0
        if in_blocks and not plan.is_arranged:
            order = plan.order
            X, plan = X[order], plan.arranged()
        if options.neighbours > 0 and X.shape[0] > 1:
            others.append((options.neighbours, Smoothness(_near_graph(X, generator))))
        fit = RuleFit.whitened(X, penalty, plan.starts if in_blocks else None)
        return cls(options, fit, plan, layout, _coverage(options, plan, layout), tuple(others), order)

    @classmethod
    def of_all(
        cls,
        options: Any,
        X: Any,
        feature_map: FeatureMap | None,
        plan: BagPlan,
        layout: Layout,
        penalty: float,
        generator: np.random.Generator,
    ) -> Problem:
        """The problem of very many rows, whose features are never projected: the rule's weights are."""
        if feature_map is None:
            return cls.of(options, X, plan, layout, penalty, generator)
        with one_blas_thread():
            columns = feature_map.unprojected(X)
        problem = cls.of(options, columns, plan, layout, penalty, generator)
        return replace(problem, fit=replace(problem.fit, feature_map=feature_map))

    @property
    def model(self) -> SoftmaxLinear:
        """The rule that is fitted."""
        return self.fit.model(self.layout.n_clusters)

    def first_starts(self) -> list[np.ndarray]:
        """Return where a fit without symmetries begins: at zero, or at several random places where zero is a saddle.

        At W = 0 all rows of a bag share one posterior, so the gradient of W adds up the rows of each bag. Where rows
        were centred within their bags it is zero whatever the lists say, and W would never move.
        """
        zero = np.zeros(self.model.n_parameters)
        generator = np.random.default_rng(0)
        first = random_start(self.model, self.fit.X, generator)
        objective = self.fit.objective([(1.0, self.coverage)], self.layout.n_clusters)
        at_zero, beside = (np.linalg.norm(self.model.unpack(objective(theta)[1])[0]) for theta in (zero, first))
        if at_zero > _SADDLE * beside:
            return [zero]
        return [first, *(random_start(self.model, self.fit.X, generator) for _ in range(_ASIDE - 1))]

    def climb(self, start: np.ndarray, max_iter: int, stage: str, *, tol: float | None = None) -> Solution:
        """Climb the likelihood from one start."""
        tol = self.options.tol if tol is None else tol
        if self.options.solver == "em":
            return self._by_em(start, max_iter, stage, tol)
        return self._down([(1.0, self.coverage), *self.others], start, max_iter, tol, stage)

    def refine(self, theta: np.ndarray, sample: Any, stage: str) -> Solution:
        """Climb from where a sample of the features has ended, in coordinates that are round there."""
        near = replace(self, fit=self.fit.near(theta, sample))
        return near.climb(theta, self.options.max_iter, stage)

    def posteriors(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return Q of the rows given the bags, and the log likelihood of each bag."""
        Q, values = self._posteriors(theta)
        if self.order is not None:
            arranged, Q = Q, np.empty_like(Q)
            Q[self.order] = arranged
        return Q, values

    def given_bags(self, P: np.ndarray, log_P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the same for rows whose posteriors are known, in the caller's order."""
        if self.order is None:
            return self.coverage.posteriors(P, log_P)
        Q = np.empty_like(P)
        Q[self.order], values = self.coverage.posteriors(P[self.order], log_P[self.order])
        return Q, values

    def coarse_posteriors(self, coarse: Layout) -> np.ndarray:
        """Fit one cluster a class, roughly, and return its posteriors: what starts split."""
        coverage = _coverage(self.options, self.plan, coarse)
        rough = replace(self, layout=coarse, coverage=coverage, others=())
        solution = rough._down([(1.0, coverage)], None, 60, 1e-4, "one cluster a class")
        return rough.posteriors(solution.parameters)[0]

    def fit_targets(self, targets: np.ndarray) -> np.ndarray:
        """Return parameters whose posteriors are near the targets."""
        targets = targets if self.order is None else targets[self.order]
        return self._down([(1.0, CrossEntropy(targets))], None, 15, 1e-3, "fitting a start").parameters

    @one_blas_thread()
    def _posteriors(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        log_P = self.model.log_posterior(theta, self.fit.X)
        return self.coverage.posteriors(np.exp(log_P), log_P)

    def _down(
        self, terms: list[tuple[float, Term]], start: np.ndarray | None, max_iter: int, tol: float, stage: str
    ) -> Solution:
        return self.fit.minimise(terms, self.layout.n_clusters, start, max_iter=max_iter, tol=tol, stage=stage)

    def _by_em(self, start: np.ndarray, max_iter: int, stage: str, tol: float) -> Solution:
        objective = self.fit.objective([(1.0, self.coverage), *self.others], self.layout.n_clusters)

        def expect(theta: np.ndarray) -> tuple[float, np.ndarray]:
            return float(objective(theta)[0]), self._posteriors(theta)[0]

        def maximise(theta: np.ndarray, Q: np.ndarray) -> np.ndarray:
            terms: list[tuple[float, Term]] = [(1.0, CrossEntropy(Q)), *self.others]
            return self._down(terms, theta, M_STEPS, tol, stage).parameters

        return alternate(expect, maximise, start, max_iter=max_iter, tol=tol, report=reporting(stage))


def _coverage(options: Any, plan: BagPlan, layout: Layout) -> Coverage:
    return Coverage(plan, layout.class_of, options.wrong, options.forgotten, options.cap)


def _near_graph(X: Any, generator: np.random.Generator) -> Any:
    """Return the symmetric graph of nearest rows; every row's weights sum to about one."""
    from scipy.sparse import csr_array

    n = X.shape[0]
    k = min(N_NEIGHBOURS, n - 1)
    near = nearest_rows(X, k, generator=generator).indices
    W = csr_array((np.full(n * k, 0.5 / k), near.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return (W + W.T).tocsr()
