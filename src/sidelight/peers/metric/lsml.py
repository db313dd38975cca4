"""LSML: distances in the right order, by least squares of what is in the wrong one (Liu et al. 2012)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._core.params import check_number
from sidelight._solvers.descent import descend
from sidelight.data.relations import Pairs, Triplets
from sidelight.estimators._base import reporting
from sidelight.peers._links import compare, differences, spread_of
from sidelight.peers.metric.base import LearntMetric

LEAST = 1e-12  # squared distances below this count as 0


class LSML(LearntMetric):
    """Learn a metric by squared residuals of relative comparisons.

    minimised over M = L'L: the mean over comparisons of max(0, d(near) - d(far))^2, plus ``penalty`` times
    (trace(M) - log det M) / n_features, the LogDet divergence from the Euclidean metric. Distances are measured in
    units of the spread of the rows, so that one default serves rows of any unit.

    Parameters
    ----------
    penalty : float, default=0.01
        Weight of the divergence from the Euclidean metric.
    max_iter : int, default=200
        Most steps of L-BFGS.
    tol : float, default=1e-6
        Relative change of the objective at which it has converged.
    random_state : int, RandomState, Generator or None, default=None
        Draws which pairs are compared with which, where answers are about pairs.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        L: learnt distances are Euclidean after ``transform``.
    objective_, n_iter_ : float, int
        The minimised objective, and the steps made.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    References
    ----------
    E. Y. Liu, Z. Guo, X. Zhang, V. Jojic and W. Wang, "Metric learning from relative comparisons by minimizing squared
    residual", ICDM 2012.

    Examples
    --------
    >>> import sidelight as sl
    >>> X = [[0.0, 0.0], [0.1, 6.0], [5.0, 0.1], [5.1, 6.1]]
    >>> metric = sl.peers.LSML().fit(X, triplets=[(0, 1, 2, "c")])
    >>> bool(metric.matrix_[0, 0] > metric.matrix_[1, 1])
    True
    """

    def __init__(
        self, *, penalty: float = 0.01, max_iter: int = 200, tol: float = 1e-6, random_state: Any = None
    ) -> None:
        self.penalty = penalty
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number(self, "penalty", self.penalty, low=0, open_low=True)
        check_number(self, "max_iter", self.max_iter, integer=True, low=1)
        check_number(self, "tol", self.tol, low=0)

    def _learn_map(self, X: Any, pairs: Pairs, triplets: Triplets, generator: np.random.Generator) -> np.ndarray | None:
        comparisons = compare(pairs, triplets, generator)
        self.objective_, self.n_iter_ = 0.0, 1
        unit = np.sqrt(spread_of(X))
        if not len(comparisons.near) or unit == 0 or not comparisons.weights.sum() > 0:
            return None
        near, far = differences(X, comparisons.near) / unit, differences(X, comparisons.far) / unit
        weights, d = comparisons.weights / comparisons.weights.sum(), X.shape[1]

        def objective(theta: np.ndarray) -> tuple[Any, np.ndarray]:
            L = theta.reshape(d, d)
            value, G = lsml_objective(L, near, far, weights)
            sign, log_det = np.linalg.slogdet(L)
            if sign == 0:
                return np.inf, np.zeros(d * d)
            divergence = ((L**2).sum() - 2.0 * log_det) / d
            G = G + self.penalty * 2.0 / d * (L - np.linalg.inv(L).T)
            return value + self.penalty * divergence, G.ravel()

        tell = reporting("learning a metric")
        solution = descend(objective, np.eye(d).ravel(), max_iter=self.max_iter, tol=self.tol, report=tell)
        self.objective_, self.n_iter_ = solution.value, max(1, solution.n_iter)
        return solution.parameters.reshape(d, d).copy()


def lsml_objective(L: np.ndarray, near: np.ndarray, far: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """Return sum_m weights_m max(0, |L near_m| - |L far_m|)^2, and its gradient in L."""
    A, B = near @ L.T, far @ L.T
    a, b = np.sqrt(np.maximum((A**2).sum(axis=1), LEAST)), np.sqrt(np.maximum((B**2).sum(axis=1), LEAST))
    wrong = np.maximum(a - b, 0.0)
    pull = 2.0 * weights * wrong
    return float(weights @ wrong**2), ((pull / a)[:, None] * A).T @ near - ((pull / b)[:, None] * B).T @ far
