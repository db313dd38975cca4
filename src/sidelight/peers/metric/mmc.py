"""Xing's metric, diagonal: alike pairs near on the whole, differing pairs far on the whole (Xing et al. 2002)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from sidelight._core.params import check_number
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import ConvergenceWarning, warn
from sidelight.peers._links import Links, differences
from sidelight.peers.metric.base import LearntMetric, map_of_weights


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
