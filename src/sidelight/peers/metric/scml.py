"""SCML: a metric that is a sparse sum of local discriminative directions (Shi, Bellet and Sha 2014)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize

from sidelight._core.params import as_seed, check_number
from sidelight._solvers.rounding import round_by_kmeans
from sidelight.data.relations import Pairs, Triplets
from sidelight.peers._links import Comparisons, compare, differences
from sidelight.peers.metric.base import LearntMetric, map_of
from sidelight.progress import report

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
