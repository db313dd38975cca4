"""What families with a softmax-linear rule share: the fit of the rule, starts from k-means, and judging new rows.

A family brings its terms; the rule, its parameters, its coordinates and its predictions are the same for all of them.

The coordinates make the objective round, so that L-BFGS needs half the iterations. The Hessian of a softmax cross
entropy is at most 1/2 (I - 11'/K) kron [X 1]'[X 1] (Bohning 1992). With the Cholesky factor R of [X 1]'[X 1] / 4 + the
penalty, the solver walks in v = R (W, b) and the estimator never notices. The factor depends on X and the penalty
alone, so one of them serves every number of clusters and every step of a fit. Where a solution of a sample is known,
the curvature of each cluster there says more than the bound, and a climb over all rows takes a quarter of the
evaluations (:class:`ClusterWhitening`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import as_generator, as_seed, check_number
from sidelight._core.process import one_blas_thread
from sidelight._core.prototypes import round_by_kmeans
from sidelight._core.simplex import log_softmax
from sidelight._models.objective import (
    BlockedObjective,
    Objective,
    SoftmaxLinear,
    Term,
    block_cuts,
    can_be_blocked,
)
from sidelight._solvers.descent import Solution, ValueAndGradient, Watch, best, descend, race
from sidelight._terms.information import CrossEntropy
from sidelight.errors import ConvergenceWarning, warn
from sidelight.estimators._base import Estimator, reporting, rows_to_judge
from sidelight.estimators._columns import ProbabilityColumns

MOST_FEATURES = 1000  # a factor of more features takes longer than the iterations it saves


BLOCK = 8_192  # rows in float64 at a time


MOST_PRODUCTS = 1e10  # multiplications for the curvature of all clusters: a second or two


HEAVY = 5_000  # rows that show the curvature of a cluster where all of them would take longer than that


class Whitening:
    """A change of coordinates for softmax-linear rules on one X; the identity when X has too many features."""

    is_round = False  # it is a bound: a full step is often too short

    def __init__(self, X: Any, penalty: float) -> None:
        self.n_features = X.shape[1]
        self._X, self._penalty = X, penalty

    @cached_property
    def factor(self) -> np.ndarray | None:
        """R, made when a solver first walks: rows that are only judged never need it."""
        n, d = self._X.shape
        if d > MOST_FEATURES or n == 0:
            return None
        with one_blas_thread():  # at a few hundred features two threads of BLAS take more time than one
            return cholesky(_curvature(self._X, self._penalty))

    def enter(self, theta: np.ndarray) -> np.ndarray:
        """From the model's parameters to the round coordinates."""
        return theta if self.factor is None else (self.factor @ self._table(theta)).ravel()

    def leave(self, v: np.ndarray) -> np.ndarray:
        """From the round coordinates back to the model's parameters."""
        if self.factor is None:
            return v
        return np.asarray(solve_triangular(self.factor, self._table(v), check_finite=False)).ravel()

    def slope(self, gradient: np.ndarray) -> np.ndarray:
        """From a gradient by the parameters to one by the round coordinates."""
        if self.factor is None:
            return gradient
        return np.asarray(solve_triangular(self.factor, self._table(gradient), trans="T", check_finite=False)).ravel()

    def _table(self, theta: np.ndarray) -> np.ndarray:
        # W (d x K) followed by b (K) is already the table (d + 1) x K, row by row.
        return theta.reshape(self.n_features + 1, -1)


class ClusterWhitening:
    """A change of coordinates around one rule: v_k = R_k (W_k, b_k) with a factor for each cluster.

    R_k'R_k = n / m * sum_i P_ik (1 - P_ik) [x_i 1]'[x_i 1] + penalty        over a sample of m of the n rows

    Parameters
    ----------
    X : array of shape (m, n_features)
        Features of the sample.
    W, b : arrays of shape (n_features, n_clusters) and (n_clusters,)
        The rule.
    penalty : float
        The penalty of W.
    n_rows : int
        n, the number of all rows.
    """

    is_round = True

    def __init__(self, X: Any, W: np.ndarray, b: np.ndarray, penalty: float, n_rows: int) -> None:
        self.n_features = X.shape[1]
        with one_blas_thread():
            P = np.exp(log_softmax(np.asarray(X @ W.astype(X.dtype, copy=False), dtype=np.float64) + b))
            self.factors = [self._factor(X, P[:, k], penalty, n_rows, P.shape[1]) for k in range(P.shape[1])]

    @staticmethod
    def _factor(X: Any, p: np.ndarray, penalty: float, n_rows: int, n_clusters: int) -> np.ndarray:
        m, d = X.shape
        weight = p * (1.0 - p)
        weight = np.maximum(weight, 1e-3 * max(float(weight.mean()), 1e-6))  # a certain row may be moved, too
        weight *= n_rows / m
        if float(m) * n_clusters * (d + 1) ** 2 > MOST_PRODUCTS:
            rows, weight = _heaviest(weight, max(HEAVY, 5 * d))
            X = X[rows]
        scaled = X * np.sqrt(weight)[:, None].astype(X.dtype, copy=False)
        curvature = np.empty((d + 1, d + 1))
        curvature[:d, :d] = scaled.T @ scaled
        curvature[:d, d] = curvature[d, :d] = X.T @ weight.astype(X.dtype, copy=False)
        curvature[d, d] = weight.sum()
        return cholesky(definite(curvature, penalty))

    def enter(self, theta: np.ndarray) -> np.ndarray:
        """From the model's parameters to the round coordinates."""
        table = self._table(theta)
        return np.stack([R @ table[:, k] for k, R in enumerate(self.factors)], axis=1).ravel()

    def leave(self, v: np.ndarray) -> np.ndarray:
        """From the round coordinates back to the model's parameters."""
        return self._solve(v, "N")

    def slope(self, gradient: np.ndarray) -> np.ndarray:
        """From a gradient by the parameters to one by the round coordinates."""
        return self._solve(gradient, "T")

    def _solve(self, v: np.ndarray, trans: str) -> np.ndarray:
        table = self._table(v)
        columns = [
            solve_triangular(R, table[:, k], trans=trans, check_finite=False) for k, R in enumerate(self.factors)
        ]
        return np.stack(columns, axis=1).ravel()

    def _table(self, theta: np.ndarray) -> np.ndarray:
        return theta.reshape(self.n_features + 1, -1)


def _heaviest(weight: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that weigh most, and some of the others with the weight of all others, and their weights.

    Rows of which a cluster is uncertain make its curvature; most rows are certain and add next to nothing. An
    even sample of all rows would hold few of the uncertain ones.
    """
    order = np.argpartition(-weight, min(most, len(weight)) - 1)
    heavy, light = np.sort(order[:most]), np.sort(order[most:])
    some = light[:: max(1, 2 * len(light) // most)]
    of_light = weight[some] * (len(light) / max(len(some), 1))
    return np.concatenate([heavy, some]), np.concatenate([weight[heavy], of_light])


def definite(curvature: np.ndarray, penalty: float) -> np.ndarray:
    """Add the penalty of the weights and, as constant features leave a sum singular, a millionth of its scale."""
    d = len(curvature) - 1
    curvature[np.arange(d), np.arange(d)] += penalty
    curvature[np.arange(d + 1), np.arange(d + 1)] += 1e-6 * max(np.trace(curvature) / (d + 1), 1e-300)
    return curvature


def _curvature(X: Any, penalty: float) -> np.ndarray:
    """[X 1]'[X 1] / 4 plus the penalty of the weights, made definite."""
    n, d = X.shape
    products = np.empty((d + 1, d + 1))
    square = X.T @ X if X.dtype == np.float64 else _square(X)
    products[:d, :d] = square.toarray() if hasattr(square, "toarray") else square
    products[:d, d] = products[d, :d] = X.T @ np.ones(n, dtype=X.dtype)
    products[d, d] = n
    return definite(0.25 * products, penalty)


def _square(X: np.ndarray) -> np.ndarray:
    """X'X of float32 rows in float64, a block at a time: a Cholesky factor needs the precision."""
    total = np.zeros((X.shape[1], X.shape[1]))
    for begin in range(0, X.shape[0], BLOCK):
        rows = X[begin : begin + BLOCK].astype(np.float64)
        total += rows.T @ rows
    return total


@dataclass(frozen=True, slots=True)
class RuleFit:
    """Softmax-linear rules on one X under one penalty; the whitening of X is made once, for all of them.

    ``whitening`` serves objectives that sum over rows; None walks in the parameters themselves. ``starts`` says where
    bags of consecutive rows begin: terms that allow it are then visited in blocks of whole bags, in threads.
    """

    X: Any
    penalty: float
    whitening: Whitening | None = None
    starts: np.ndarray | None = None

    @classmethod
    def whitened(cls, X: Any, penalty: float, starts: np.ndarray | None = None) -> RuleFit:
        """Fit rules in coordinates in which the sum over the rows of X is round."""
        return cls(X, penalty, Whitening(X, penalty), starts)

    def model(self, n_clusters: int) -> SoftmaxLinear:
        """The rule with so many clusters."""
        return SoftmaxLinear(self.X.shape[1], n_clusters)

    def objective(self, terms: Sequence[tuple[float, Term]], n_clusters: int) -> ValueAndGradient:
        """The weighted terms plus ``penalty * |W|^2 / 2``, as a function of the parameters of so many clusters."""
        model = self.model(n_clusters)
        if self.starts is not None and can_be_blocked(terms):
            return BlockedObjective(model, self.X, list(terms), self.penalty, block_cuts(self.starts, n_clusters))
        return Objective(model, self.X, list(terms), self.penalty)

    def minimise(
        self,
        terms: Sequence[tuple[float, Term]],
        n_clusters: int,
        start: np.ndarray | None = None,
        *,
        max_iter: int,
        tol: float,
        stage: str,
        watch: Watch | None = None,
    ) -> Solution:
        """Minimise the weighted terms plus ``penalty * |W|^2 / 2`` from ``start``, or from equal weights."""
        return descend(
            self.objective(terms, n_clusters),
            np.zeros(self.model(n_clusters).n_parameters) if start is None else start,
            coordinates=self.whitening,
            max_iter=max_iter,
            tol=tol,
            resolution=float(np.finfo(self.X.dtype).eps),  # curved features are of single precision
            watch=watch,
            report=reporting(stage),
        )


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
