"""Metrics learnt from comparisons of distances: LSML, SCML and a sparse diagonal metric by linear programming."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.optimize import linprog, minimize

from sidelight._core.params import as_seed, check_choice, check_number
from sidelight._core.prototypes import round_by_kmeans
from sidelight._solvers.descent import descend
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import InvalidData
from sidelight.estimators._base import reporting
from sidelight.peers._links import Comparisons, compare, differences, spread_of
from sidelight.peers.metric.base import LearntMetric, map_of, map_of_weights
from sidelight.progress import report

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


# SCML: a metric that is a sparse sum of local discriminative directions (Shi, Bellet and Sha 2014).


SMOOTH = 0.1  # width of the quadratic part that makes the hinge smooth
RIDGE = 0.1  # of the mean spread of near pairs: keeps directions from resting on a few comparisons
SHRINK = 0.3  # further ridge for each feature a comparison, and the least penalty times comparisons: few say little
FEWEST = 10  # comparisons that a region needs


class SCML(LearntMetric):
    """Learn a metric as a sparse, non-negative sum of directions that tell near from far pairs in some region.

    minimised over w >= 0, with M = I / unit + sum_b w_b b b': mean of max(0, 1 + d^2(near) - d^2(far)) + penalty sum_b
    w_b. The paper steps through the comparisons at random; here the hinge is smoothed a little and L-BFGS takes all of
    them at once. Its directions come from class labels, which there are none of: a region's directions are the
    generalised eigenvectors of the spread of its far pairs against that of its near pairs. The Euclidean part, with the
    mean squared distance of far pairs as unit, is ours: without it a few comparisons decide everything.

    Parameters
    ----------
    penalty : float, default=1e-3
        Weight of the sum of w; at least 0.3 divided by the number of comparisons.
    n_basis : int or None, default=None
        Number of directions. None: ten for every feature, at most 400.
    max_iter : int, default=300
        Most steps of L-BFGS.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the regions.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L: learnt distances are Euclidean after ``transform``.
    basis_ : ndarray of shape (n_basis, n_features)
        The directions.
    basis_weights_ : ndarray of shape (n_basis,)
        w; most are 0.
    prior_ : float
        1 / unit, the weight of the Euclidean metric.
    objective_, n_iter_ : float, int
        The objective with the plain hinge, and the steps made.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    References
    ----------
    Y. Shi, A. Bellet and F. Sha, "Sparse compositional metric learning", AAAI 2014.

    Examples
    --------
    >>> import sidelight as sl
    >>> X = [[0.0, 0.0], [0.1, 6.0], [5.0, 0.1], [5.1, 6.1]]
    >>> metric = sl.peers.SCML(random_state=0).fit(X, triplets=[(0, 1, 2, "c"), (2, 3, 0, "c")])
    >>> bool(metric.matrix_[0, 0] > metric.matrix_[1, 1])
    True
    """

    def __init__(
        self,
        *,
        penalty: float = 1e-3,
        n_basis: int | None = None,
        max_iter: int = 300,
        random_state: Any = None,
    ) -> None:
        self.penalty = penalty
        self.n_basis = n_basis
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number(self, "penalty", self.penalty, low=0)
        check_number(self, "n_basis", self.n_basis, integer=True, low=1, none=True)
        check_number(self, "max_iter", self.max_iter, integer=True, low=1)

    def _learn_map(self, X: Any, pairs: Pairs, triplets: Triplets, generator: np.random.Generator) -> np.ndarray | None:
        comparisons, d = compare(pairs, triplets, generator), X.shape[1]
        self.basis_, self.basis_weights_ = np.eye(d), np.ones(d)
        self.prior_, self.objective_, self.n_iter_ = 1.0, 0.0, 1
        if not len(comparisons.near) or not comparisons.weights.sum() > 0:
            return None
        n_basis = min(10 * d, 400) if self.n_basis is None else int(self.n_basis)
        near, far = differences(X, comparisons.near), differences(X, comparisons.far)
        if not (far**2).sum() > 0:
            return None  # rows said to differ are equal: no metric tells them apart
        basis = local_directions(X, comparisons, near, far, n_basis, generator)
        report("learning a metric", 0, 1)
        margins = (near @ basis.T) ** 2 - (far @ basis.T) ** 2
        weights = comparisons.weights / comparisons.weights.sum()
        self.prior_ = 1.0 / float((far**2).sum(axis=1).mean())
        euclidean = self.prior_ * ((near**2).sum(axis=1) - (far**2).sum(axis=1))
        penalty = max(float(self.penalty), SHRINK / len(near))
        result = minimize(
            smooth_objective, np.full(len(basis), 1e-3), args=(margins, euclidean, weights, penalty), jac=True,
            method="L-BFGS-B", bounds=[(0.0, None)] * len(basis), options={"maxiter": self.max_iter},
        )  # fmt: skip
        self.basis_, self.basis_weights_ = basis, result.x
        slack = np.maximum(1.0 + euclidean + margins @ result.x, 0.0)
        self.objective_ = float(weights @ slack + penalty * result.x.sum())
        self.n_iter_ = max(1, int(result.nit))
        return map_of((basis.T * result.x) @ basis + self.prior_ * np.eye(d))


def smooth_objective(
    w: np.ndarray, margins: np.ndarray, euclidean: np.ndarray, weights: np.ndarray, penalty: float
) -> tuple[float, np.ndarray]:
    """Return the smoothed objective and its gradient: quadratic where the hinge is below ``SMOOTH``."""
    slack = 1.0 + euclidean + margins @ w
    value = np.where(slack > SMOOTH, slack - SMOOTH / 2, np.maximum(slack, 0.0) ** 2 / (2 * SMOOTH))
    slope = np.clip(slack / SMOOTH, 0.0, 1.0)
    return float(weights @ value + penalty * w.sum()), (weights * slope) @ margins + penalty


def local_directions(
    X: Any, comparisons: Comparisons, near: np.ndarray, far: np.ndarray, n_basis: int, generator: np.random.Generator
) -> np.ndarray:
    """Return directions in which far pairs differ and near pairs do not: of all comparisons, then of smaller regions.

    Regions are k-means clusters of the rows that comparisons begin with, 1, 2, 4, ... of them.
    """
    d = X.shape[1]
    anchors, found, n_regions, total = X[comparisons.near[:, 0]], [], 1, 0
    while total < n_basis:
        if n_regions == 1:
            regions = np.zeros(len(near), dtype=np.intp)
        else:
            regions = round_by_kmeans(anchors, n_regions, seed=as_seed(generator))
        before = total
        for region in range(n_regions):
            inside = np.flatnonzero(regions == region)
            if len(inside) < min(FEWEST, len(near)):
                continue
            found.append(directions(near[inside], far[inside]))
            total += d
        n_regions *= 2
        if total == before or n_regions > len(near):
            break
    return np.concatenate(found)[:n_basis]


def directions(near: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Return the generalised eigenvectors of far against near pairs, the most telling first."""
    N, F = near.T @ near / len(near), far.T @ far / len(far)
    ridge = (
        (RIDGE + SHRINK * len(N) / len(near)) * np.trace(N) / len(N)
        + 1e-6 * np.trace(F) / len(F)
        + np.finfo(float).tiny
    )
    _, vectors = eigh(F, N + ridge * np.eye(len(N)))
    return np.ascontiguousarray(vectors[:, ::-1].T)


# A sparse metric by linear programming from relative comparisons (Rosales and Fung 2006).


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
