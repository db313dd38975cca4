"""Points of the probability simplex, along the last axis: from logits to P and back, and how uncertain P is.

Everything accepts leading axes (rows, starts, particles). Logarithms are natural. Where a probability is exactly 0 its
logarithm stays finite in ``log_P`` (it comes from the logits), so nothing here divides by P or takes log P.

Passes over a block of posteriors read and write every number once. NumPy keeps the exponential, which it vectorises;
each operator around it would take a pass over memory of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidelight._core.kernels import kernel

Floats = NDArray[np.float64]

FEW, MANY = 8, 1000  # up to FEW columns of an array of MANY numbers are folded one by one: numpy is slow there


def log_softmax(logits: ArrayLike) -> Floats:
    """Return log P with P = exp(logits) / sum(exp(logits)) along the last axis, for logits of any size."""
    logits = np.asarray(logits, dtype=np.float64)
    shifted = logits - _fold(np.maximum, logits)
    shifted -= np.log(_fold(np.add, np.exp(shifted)))
    return shifted


def softmax(logits: ArrayLike) -> Floats:
    """Return P = exp(logits) / sum(exp(logits)) along the last axis, for logits of any size."""
    logits = np.asarray(logits, dtype=np.float64)
    P = np.exp(logits - _fold(np.maximum, logits))
    P /= _fold(np.add, P)
    return P


def entropy(P: ArrayLike, log_P: ArrayLike | None = None) -> Floats:
    """Compute -sum_k P log P along the last axis, in nats; ``log_P`` saves the logarithms where it is at hand."""
    if log_P is None:
        return -_fold(np.add, xlogx(P))[..., 0]
    return -np.einsum("...k,...k->...", np.asarray(P, dtype=np.float64), np.asarray(log_P, dtype=np.float64))


def binary_entropy(p: ArrayLike) -> Floats:
    """Compute -p log p - (1 - p) log(1 - p) entry by entry, in nats."""
    p = np.asarray(p, dtype=np.float64)
    return -xlogx(p) - xlogx(1.0 - p)


def xlogx(x: ArrayLike) -> Floats:
    """Compute x log x entry by entry, 0 at 0; integers (counts) are welcome."""
    return xlogy(x, x)


def xlogy(x: ArrayLike, y: ArrayLike) -> Floats:
    """Compute x log y entry by entry, 0 wherever x is 0."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    with np.errstate(divide="ignore"):  # log 0 = -inf is meant wherever x > 0
        return x * np.log(np.where(x == 0, 1.0, y))


def normalised(weights: ArrayLike) -> Floats:
    """Divide non-negative weights by their sum along the last axis; all-zero weights become uniform."""
    weights = np.asarray(weights, dtype=np.float64)
    total = _fold(np.add, weights)
    uniform: Any = 1.0 / max(weights.shape[-1], 1)
    return np.where(total > 0, weights / np.where(total > 0, total, 1.0), uniform)


def _fold(operation: np.ufunc, x: Floats) -> Floats:
    """Reduce the last axis and keep it; several times as fast as numpy where that axis is short."""
    if x.ndim < 2 or x.size < MANY or not 0 < x.shape[-1] <= FEW:
        return np.asarray(operation.reduce(x, axis=-1, keepdims=True))
    result = x[..., 0].copy()
    for k in range(1, x.shape[-1]):
        operation(result, x[..., k], out=result)
    return result[..., None]


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
