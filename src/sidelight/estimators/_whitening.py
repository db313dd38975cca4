"""Coordinates in which a softmax-linear objective is round, so that L-BFGS needs half the iterations.

The Hessian of a softmax cross entropy is at most 1/2 (I - 11'/K) kron [X 1]'[X 1] (Bohning 1992). With the Cholesky
factor R of [X 1]'[X 1] / 4 + the penalty, the solver walks in v = R (W, b) and the estimator never notices. The factor
depends on X and the penalty alone, so one of them serves every number of clusters and every step of a fit.

Where a solution of a sample is known, the curvature of each cluster there says more than the bound, and a climb over
all rows takes a quarter of the evaluations (:class:`ClusterWhitening`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from sidelight._core.simplex import log_softmax
from sidelight._core.threads import one_blas_thread

MOST_FEATURES = 1000  # a factor of more features takes longer than the iterations it saves

BLOCK = 8_192  # rows in float64 at a time
MOST_PRODUCTS = 1e10  # multiplications for the curvature of all clusters: a second or two
HEAVY = 5_000  # rows that show the curvature of a cluster where all of them would take longer than that

ValueAndGradient = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class Whitening:
    """A change of coordinates for softmax-linear rules on one X; the identity when X has too many features."""

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
        return (
            v
            if self.factor is None
            else np.asarray(solve_triangular(self.factor, self._table(v), check_finite=False)).ravel()
        )

    def around(self, objective: ValueAndGradient) -> ValueAndGradient:
        """The same objective as a function of the round coordinates."""
        if self.factor is None:
            return objective

        def rounded(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            value, gradient = objective(self.leave(v))
            return value, np.asarray(
                solve_triangular(self.factor, self._table(gradient), trans="T", check_finite=False)
            ).ravel()

        return rounded

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

    def around(self, objective: ValueAndGradient) -> ValueAndGradient:
        """The same objective as a function of the round coordinates."""

        def rounded(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            value, gradient = objective(self.leave(v))
            return value, self._solve(gradient, "T")

        return rounded

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
