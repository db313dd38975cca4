"""The passes over a block of posteriors, each reading and writing every number once.

NumPy keeps the exponential, which it vectorises; each operator around it would take a pass over memory of its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sidelight._core.kernels import kernel

Floats = NDArray[np.float64]


def posteriors_of(scores: Floats, b: Floats, P: Floats) -> Floats:
    """Turn scores into log P in their place and fill P; returns the sum of P over the rows.

    Parameters
    ----------
    scores : array of shape (n_rows, n_clusters)
        Scores without intercept; log P afterwards.
    b : array of shape (n_clusters,)
        The intercept.
    P : array of shape (n_rows, n_clusters)
        Filled with the posteriors.
    """
    _shift_rows(scores, np.ascontiguousarray(b))
    np.exp(scores, out=P)
    total = np.empty(P.shape[1])
    _normalise_rows(scores, P, total)
    return total


@kernel("void(float64[:, ::1], float64[::1])")
def _shift_rows(scores: Floats, b: Floats) -> None:  # pragma: no cover - compiled
    """Add the intercept and take the largest score off every row, so that no exponential overflows."""
    n, K = scores.shape
    for i in range(n):
        top = -np.inf
        for k in range(K):
            scores[i, k] += b[k]
            top = max(top, scores[i, k])
        for k in range(K):
            scores[i, k] -= top


@kernel("void(float64[:, ::1], float64[:, ::1], float64[::1])")
def _normalise_rows(log_P: Floats, P: Floats, total: Floats) -> None:  # pragma: no cover - compiled
    """Divide every row by its sum, here and in logarithms, and add the rows up."""
    n, K = P.shape
    for k in range(K):
        total[k] = 0.0
    for i in range(n):
        mass = 0.0
        for k in range(K):
            mass += P[i, k]
        shift, factor = np.log(mass), 1.0 / mass
        for k in range(K):
            P[i, k] *= factor
            log_P[i, k] -= shift
            total[k] += P[i, k]


@kernel("float64(float64[:, ::1], float64[:, ::1], float64, float64[:, ::1])")
def add_confidence(P: Floats, log_P: Floats, weight: float, G: Floats) -> float:  # pragma: no cover - compiled
    """Add -weight * P * (log P + 1) to G, and return -weight * sum(P * log P)."""
    n, K = P.shape
    value = 0.0
    for i in range(n):
        of_row = 0.0
        for k in range(K):
            product = P[i, k] * log_P[i, k] if P[i, k] > 0.0 else 0.0
            of_row += product
            G[i, k] -= weight * (product + P[i, k])
        value += of_row
    return -weight * value


@kernel("void(float64[:, ::1], float64[:, ::1], float64[::1])")
def pull_back(P: Floats, G: Floats, total: Floats) -> None:  # pragma: no cover - compiled
    """Turn d value / d log P into d value / d scores, G - P * G.sum(-1), in its place, and add the rows up."""
    n, K = P.shape
    for k in range(K):
        total[k] = 0.0
    for i in range(n):
        mass = 0.0
        for k in range(K):
            mass += G[i, k]
        for k in range(K):
            G[i, k] -= P[i, k] * mass
            total[k] += G[i, k]
