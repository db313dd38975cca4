"""Coordinates in which a softmax-linear objective is round, so that L-BFGS needs half the iterations.

The Hessian of a softmax cross entropy is at most 1/2 (I - 11'/K) kron [X 1]'[X 1] (Bohning 1992). With the Cholesky
factor R of [X 1]'[X 1] / 4 + the penalty, the solver walks in v = R (W, b) and the estimator never notices. The factor
depends on X and the penalty alone, so one of them serves every number of clusters and every step of a fit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from sidelight._core.threads import one_blas_thread

MOST_FEATURES = 1000  # a factor of more features takes longer than the iterations it saves

BLOCK = 8_192  # rows in float64 at a time

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


def _curvature(X: Any, penalty: float) -> np.ndarray:
    """[X 1]'[X 1] / 4 plus the penalty of the weights, made definite."""
    n, d = X.shape
    products = np.empty((d + 1, d + 1))
    square = X.T @ X if X.dtype == np.float64 else _square(X)
    products[:d, :d] = square.toarray() if hasattr(square, "toarray") else square
    products[:d, d] = products[d, :d] = X.T @ np.ones(n, dtype=X.dtype)
    products[d, d] = n
    curvature = 0.25 * products
    curvature[np.arange(d), np.arange(d)] += penalty
    # Constant and repeated features leave the sum singular; a millionth of its scale makes it definite.
    curvature[np.arange(d + 1), np.arange(d + 1)] += 1e-6 * max(np.trace(curvature) / (d + 1), 1e-300)
    return curvature


def _square(X: np.ndarray) -> np.ndarray:
    """X'X of float32 rows in float64, a block at a time: a Cholesky factor needs the precision."""
    total = np.zeros((X.shape[1], X.shape[1]))
    for begin in range(0, X.shape[0], BLOCK):
        rows = X[begin : begin + BLOCK].astype(np.float64)
        total += rows.T @ rows
    return total
