"""Where the descent begins: a k-means clustering of some coordinates, learnt by a linear rule.

Several coordinates are tried, because the objective has many optima and none of them is best everywhere: the rows,
their features, their neighbour graph, and the *agreement space*, in which rows said to be alike lie close together.
That is a canonical correlation analysis of alike rows, minus that of differing ones: with features whitened,
M = mean of sym(z_a z_b') over alike pairs - the same over differing ones, and its leading eigenvectors span the space.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

RIDGE = 0.1  # added to the eigenvalues when whitening, as a share of the largest: keeps rounding from counting
START_RIDGE = 0.3  # of the mean variance of a feature
SHARPNESS = 5.0  # logits a start gives its clusters: sure, but not so sure that the descent cannot move


def agreement_space(features: npt.NDArray[Any], alike: Ints, differing: Ints, n_directions: int) -> Floats:
    """Return coordinates of every row in which answers are kept best."""
    values, vectors = np.linalg.eigh(features.T @ features / len(features))
    Z = features @ (vectors / np.sqrt(values + RIDGE * values[-1]))
    M = np.zeros((Z.shape[1], Z.shape[1]))
    for sign, links in ((1.0, alike), (-1.0, differing)):
        if len(links):
            product = Z[links[:, 0]].T @ Z[links[:, 1]] / len(links)
            M += sign * (product + product.T) / 2.0
    values, vectors = np.linalg.eigh(M)
    kept = max(1, min(n_directions, int((values > 0).sum())))
    return np.asarray(Z @ (vectors[:, -kept:] * np.sqrt(np.maximum(values[-kept:], np.finfo(float).tiny))))


def ridge_start(features: npt.NDArray[Any], labels: Ints, n_clusters: int) -> Floats:
    """Return the parameters of a rule for a clustering of the rows: ridge regression on its indicators, made sharp."""
    Y = np.eye(n_clusters)[labels]
    shares = Y.mean(axis=0)
    covariance = features.T @ features / len(features)
    ridge = START_RIDGE * np.trace(covariance) / len(covariance)
    covariance[np.diag_indices_from(covariance)] += max(ridge, np.finfo(covariance.dtype).tiny)
    W = np.linalg.solve(covariance, features.T @ (Y - shares) / len(features))
    return SHARPNESS * np.concatenate([W.ravel(), shares])
