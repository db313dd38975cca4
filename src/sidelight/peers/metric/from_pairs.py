"""Metrics learnt from pairs that are alike or not: ITML (Davis et al. 2007) and diagonal MMC (Xing et al. 2003)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from sidelight._core.kernels import kernel
from sidelight._core.params import check_number
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import ConvergenceWarning, warn
from sidelight.peers._links import Links, differences
from sidelight.peers.metric.base import LearntMetric, map_of, map_of_weights
from sidelight.progress import report

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


@kernel("float64(float64[:, ::1], float64[:, ::1], intp[::1], float64[::1], float64[::1], float64[::1], float64)")
def project_once(
    A: Floats, gaps: Floats, signs: Ints, bounds: Floats, duals: Floats, slack: Floats, gamma: float
) -> float:
    """Project ``A`` onto every bound in turn, in place; return the sum of the changes of the dual variables.

    ``signs`` is 1 for an upper and -1 for a lower bound, ``bounds`` moves with the slack, ``slack`` holds each pair's
    weight of gamma.
    """
    n, d = gaps.shape
    Av = np.empty(d)
    moved = 0.0
    for m in range(n):
        p = 0.0
        for i in range(d):
            total = 0.0
            for j in range(d):
                total += A[i, j] * gaps[m, j]
            Av[i] = total
            p += total * gaps[m, i]
        if p <= 0.0:
            continue  # two equal rows: no metric can move them apart
        sign = signs[m]
        weight = gamma * slack[m]
        alpha = min(duals[m], weight / (weight + 1.0) * sign * (1.0 / p - 1.0 / bounds[m]))
        beta = sign * alpha / (1.0 - sign * alpha * p)
        bounds[m] = 1.0 / (1.0 / bounds[m] + sign * alpha / weight)
        duals[m] -= alpha
        moved += abs(alpha)
        for i in range(d):
            step = beta * Av[i]
            for j in range(d):
                A[i, j] += step * Av[j]
    return moved


SAMPLE = 2000  # pairs of rows that the bounds are taken from
LOW, HIGH = 5, 95  # percentiles of distances that alike pairs stay below and differing ones above, as in the paper


class ITML(LearntMetric):
    """Learn a metric by information theory: alike pairs near, differing pairs far, as little change as possible.

    minimised: the LogDet divergence from the identity plus gamma times that of the slack of the bounds. A triplet with
    an odd one out counts as one alike pair and two differing ones.

    Parameters
    ----------
    gamma : float, default=1.0
        Price of slack; large values enforce the bounds.
    max_iter : int, default=1000
        Most passes over the pairs.
    tol : float, default=1e-3
        Relative change of the dual variables at which the passes end.
    random_state : int, RandomState, Generator or None, default=None
        Chooses the rows that the bounds are taken from.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L: learnt distances are Euclidean after ``transform``.
    bounds_ : ndarray of shape (2,)
        Squared distances that alike pairs stay below and differing pairs above.
    n_iter_ : int
        Passes over the pairs.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    References
    ----------
    J. V. Davis, B. Kulis, P. Jain, S. Sra and I. S. Dhillon, "Information-theoretic metric learning", ICML 2007.

    Examples
    --------
    >>> import sidelight as sl
    >>> X = [[0.0, 0.0], [0.1, 6.0], [5.0, 0.1], [5.1, 6.1]]
    >>> metric = sl.peers.ITML().fit(X, pairs=[(0, 1, "same"), (0, 2, "different")])
    >>> bool(metric.matrix_[0, 0] > metric.matrix_[1, 1])
    True
    """

    def __init__(
        self, *, gamma: float = 1.0, max_iter: int = 1000, tol: float = 1e-3, random_state: Any = None
    ) -> None:
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number(self, "gamma", self.gamma, low=0, open_low=True)
        check_number(self, "max_iter", self.max_iter, integer=True, low=1)
        check_number(self, "tol", self.tol, low=0)

    def _learn_map(self, X: Any, pairs: Pairs, triplets: Triplets, generator: np.random.Generator) -> np.ndarray | None:
        links = Links.of(pairs, triplets)
        self.bounds_, self.n_iter_ = distance_bounds(X, generator), 1
        used = np.flatnonzero(links.weights > 0)
        used = np.concatenate([used[links.same[used]], used[~links.same[used]]])  # the paper takes alike pairs first
        if not len(used):
            return None
        gaps, same = differences(X, links.rows[used]), links.same[used]
        A, duals, slack = np.eye(X.shape[1]), np.zeros(len(used)), links.weights[used].copy()
        bounds = np.where(same, self.bounds_[0], self.bounds_[1])
        signs = np.where(same, 1, -1).astype(np.intp)
        for n_iter in range(1, self.max_iter + 1):
            self.n_iter_ = n_iter
            before = np.linalg.norm(duals)
            moved = project_once(A, gaps, signs, bounds, duals, slack, float(self.gamma))
            size = before + np.linalg.norm(duals)
            if size == 0 or moved / size < self.tol:
                break
            if n_iter % 50 == 0:
                report("learning a metric", n_iter, self.max_iter)
        return map_of(A)


def distance_bounds(X: Any, generator: np.random.Generator) -> np.ndarray:
    """Return low and high percentiles of squared distances between random rows."""
    n = X.shape[0]
    ends = generator.integers(n, size=(SAMPLE, 2))
    gaps = (differences(X, ends[ends[:, 0] != ends[:, 1]]) ** 2).sum(axis=1)
    gaps = gaps[gaps > 0]
    return np.percentile(gaps, (LOW, HIGH)) if len(gaps) else np.ones(2)


# Xing's metric, diagonal: alike pairs near on the whole, differing pairs far on the whole (Xing et al. 2002).


class DiagonalMMC(LearntMetric):
    """Learn a weight of each feature: small distances between alike pairs, large ones between differing pairs.

    minimised over weights a >= 0: sum over alike pairs of d^2 - log(sum over differing pairs of d), with d^2 = sum_f
    a_f (x_f - y_f)^2; a convex problem. At its minimum the first sum is 1/2 whatever the answers, so the weights are
    scaled to a mean of 1. Needs alike and differing pairs; with one kind only the metric stays Euclidean.

    Parameters
    ----------
    max_iter : int, default=500
        Most steps of L-BFGS.
    tol : float, default=1e-9
        Relative change of the objective at which it has converged.
    random_state : None
        Nothing here is random; for a uniform interface.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L: learnt distances are Euclidean after ``transform``.
    feature_weights_ : ndarray of shape (n_features,)
        Weight of each feature.
    n_iter_ : int
        Steps made.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    References
    ----------
    E. P. Xing, A. Y. Ng, M. I. Jordan and S. Russell, "Distance metric learning, with application to clustering with
    side-information", NIPS 2002.

    Examples
    --------
    >>> import sidelight as sl
    >>> X = [[0.0, 0.0], [0.1, 6.0], [5.0, 0.1], [5.1, 6.1]]
    >>> metric = sl.peers.DiagonalMMC().fit(X, pairs=[(0, 1, "same"), (0, 2, "different")])
    >>> bool(metric.feature_weights_[0] > metric.feature_weights_[1])
    True
    """

    def __init__(self, *, max_iter: int = 500, tol: float = 1e-9, random_state: Any = None) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number(self, "max_iter", self.max_iter, integer=True, low=1)
        check_number(self, "tol", self.tol, low=0)

    def _learn_map(self, X: Any, pairs: Pairs, triplets: Triplets, generator: np.random.Generator) -> np.ndarray | None:
        links = Links.of(pairs, triplets)
        self.feature_weights_, self.n_iter_ = np.ones(X.shape[1]), 1
        gaps = differences(X, links.rows) ** 2
        near = links.weights[links.same] @ gaps[links.same]
        far, weights = gaps[~links.same], links.weights[~links.same]
        if not near.sum() > 0 or not (weights @ far).sum() > 0:
            return None
        unit = near.sum()  # a start of the right size: the optimum has near . a = 1/2
        result = minimize(
            mmc_objective, np.full(X.shape[1], 0.5 / unit), args=(near, far, weights), jac=True, method="L-BFGS-B",
            bounds=[(0.0, None)] * X.shape[1], options={"maxiter": self.max_iter, "ftol": self.tol, "gtol": 0.0},
        )  # fmt: skip
        if result.status == 1:
            warn(f"DiagonalMMC stopped at max_iter={self.max_iter} before it converged.", ConvergenceWarning, 5)
        self.feature_weights_ = result.x / max(result.x.mean(), np.finfo(float).tiny)
        self.n_iter_ = max(1, int(result.nit))
        return map_of_weights(self.feature_weights_)


def mmc_objective(a: np.ndarray, near: np.ndarray, far: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """Return near . a - log(sum_m weights_m sqrt(far_m . a)), and its gradient."""
    d = np.sqrt(np.maximum(far @ a, np.finfo(float).tiny))
    total = weights @ d
    return float(near @ a - np.log(total)), near - (weights / d) @ far / (2.0 * total)
