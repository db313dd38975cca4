"""Where the descent begins: a k-means clustering of some coordinates, learnt by a logistic rule.

Three coordinates are tried: the rows, their features, and the *agreement space*, in which rows said to be alike lie close
together. It is a canonical correlation analysis of alike rows, minus that of differing ones: with features whitened,
M = mean of sym(z_a z_b') over alike pairs - the same over differing ones, and its leading eigenvectors span the space.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._models.objective import Objective
from sidelight._models.softmax_linear import SoftmaxLinear
from sidelight._solvers.descent import descend
from sidelight._solvers.rounding import round_by_kmeans
from sidelight._terms.fit import CrossEntropy

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

RIDGE = 0.1  # added to the eigenvalues when whitening, as a share of the largest: keeps rounding from counting
LOGISTIC_STEPS = 40  # a start only has to look like its clustering


def agreement_space(features: Floats, alike: Ints, differing: Ints, n_directions: int) -> Floats:
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


def logistic_start(
    model: SoftmaxLinear, features: Any, coordinates: Any, penalty: float, seed: int, n_init: int
) -> Floats:
    """Cluster the coordinates by k-means and return the parameters of a logistic rule for that clustering."""
    labels = round_by_kmeans(coordinates, model.n_clusters, seed=seed, n_init=n_init)
    targets = np.eye(model.n_clusters)[labels]
    objective = Objective(model, features, [(1.0 / len(targets), CrossEntropy(targets))], penalty)
    zeros = np.zeros(model.n_parameters)
    return descend(objective, zeros, max_iter=LOGISTIC_STEPS, tol=1e-4).parameters
