"""A sparse metric by linear programming from relative comparisons (Rosales and Fung 2006)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from sidelight._core.params import check_choice, check_number
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import InvalidData
from sidelight.peers._links import compare, differences
from sidelight.peers.metric.base import LearntMetric, map_of, map_of_weights

MOST_FEATURES = 20  # a full matrix has features^2 variables; with more features "auto" takes a diagonal one


class SparseLPMetric(LearntMetric):
    """Learn a sparse metric from triplets, as the solution of a linear program.

    minimised over M and slack >= 0: mean of slack + penalty sum_ij abs(M_ij), with d^2(far) - d^2(near) >= 1 - slack.
    M is symmetric and diagonally dominant, M_ii >= sum over j of abs(M_ij), which makes it positive semidefinite
    without any semidefinite programming; or diagonal. Squared differences are divided by their mean first, so that one
    penalty serves rows of any unit.

    Parameters
    ----------
    penalty : float, default=0.01
        Weight of the sum of absolute entries.
    structure : {"auto", "dominant", "diagonal"}, default="auto"
        Shape of M; "auto": dominant up to 20 features, diagonal beyond.
    random_state : int, RandomState, Generator or None, default=None
        Draws which pairs are compared with which, where answers are about pairs.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L: learnt distances are Euclidean after ``transform``.
    objective_ : float
        The minimum of the linear program.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    References
    ----------
    R. Rosales and G. Fung, "Learning sparse metrics via linear programming", KDD 2006.

    Examples
    --------
    >>> import sidelight as sl
    >>> X = [[0.0, 0.0], [0.1, 6.0], [5.0, 0.1], [5.1, 6.1]]
    >>> metric = sl.peers.SparseLPMetric().fit(X, triplets=[(0, 1, 2, "c")])
    >>> bool(metric.matrix_[0, 0] > metric.matrix_[-1, -1])
    True
    """

    def __init__(self, *, penalty: float = 0.01, structure: str = "auto", random_state: Any = None) -> None:
        self.penalty = penalty
        self.structure = structure
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number(self, "penalty", self.penalty, low=0)
        check_choice(self, "structure", self.structure, ("auto", "dominant", "diagonal"))

    def _learn_map(self, X: Any, pairs: Pairs, triplets: Triplets, generator: np.random.Generator) -> np.ndarray | None:
        comparisons, d = compare(pairs, triplets, generator), X.shape[1]
        self.objective_ = 0.0
        if not len(comparisons.near) or not comparisons.weights.sum() > 0:
            return None
        near, far = differences(X, comparisons.near), differences(X, comparisons.far)
        unit = (near**2).sum(axis=1).mean() + (far**2).sum(axis=1).mean()
        if unit == 0:
            return None
        near, far = near / np.sqrt(unit), far / np.sqrt(unit)
        weights = comparisons.weights / comparisons.weights.sum()
        is_diagonal = self.structure == "diagonal" or (self.structure == "auto" and d > MOST_FEATURES)
        self.objective_, M = (diagonal_metric if is_diagonal else dominant_metric)(near, far, weights, self.penalty)
        if not np.diag(M).sum() > 0:
            return None  # no comparison is worth its price
        return map_of_weights(np.diag(M)) if is_diagonal else map_of(M)


def diagonal_metric(near: np.ndarray, far: np.ndarray, weights: np.ndarray, penalty: float) -> tuple[float, np.ndarray]:
    """Return the minimum and M of the program with a diagonal M."""
    gains = far**2 - near**2
    value, solution = _solve(gains, np.full(gains.shape[1], penalty), weights)
    return value, np.diag(solution)


def dominant_metric(near: np.ndarray, far: np.ndarray, weights: np.ndarray, penalty: float) -> tuple[float, np.ndarray]:
    """Return the minimum and M of the program with a diagonally dominant M.

    Variables are the diagonal and the positive and negative parts of the entries above it.
    """
    d = near.shape[1]
    i, j = np.triu_indices(d, 1)
    beside = 2.0 * (far[:, i] * far[:, j] - near[:, i] * near[:, j])
    gains = np.hstack([far**2 - near**2, beside, -beside])
    n_above = len(i)
    # sum over j of |M_ij| - M_ii <= 0
    ends = (np.concatenate([i, j]), np.tile(np.arange(n_above), 2))
    incidence = sp.csr_array((np.ones(2 * n_above), ends), shape=(d, n_above))
    dominance = sp.hstack([-sp.eye_array(d), incidence, incidence])
    prices = np.concatenate([np.full(d, penalty), np.full(2 * n_above, 2.0 * penalty)])
    value, solution = _solve(gains, prices, weights, dominance)
    M = np.diag(solution[:d])
    M[i, j] = M[j, i] = solution[d : d + n_above] - solution[d + n_above :]
    return value, M


def _solve(gains: np.ndarray, prices: np.ndarray, weights: np.ndarray, rows: Any = None) -> tuple[float, np.ndarray]:
    """Minimise weights . slack + prices . m over m, slack >= 0 with gains m >= 1 - slack and rows m <= 0."""
    n, n_variables = gains.shape
    A = sp.hstack([-sp.csr_array(gains), -sp.eye_array(n)])
    b = -np.ones(n)
    if rows is not None:
        A = sp.vstack([A, sp.hstack([rows, sp.csr_array((rows.shape[0], n))])])
        b = np.concatenate([b, np.zeros(rows.shape[0])])
    result = linprog(np.concatenate([prices, weights]), A_ub=sp.csr_array(A), b_ub=b, method="highs")
    if result.x is None:
        raise InvalidData(f"SparseLPMetric: the linear program has no solution ({result.message}). Scale the rows.")
    return float(result.fun), result.x[:n_variables]
