"""Gradient ascent over logistic row and column weights: [B04] chapter 3, Algorithm 4, vectorised.

Where we leave the print: W^r and W^c are swapped in both derivatives of 3.1.1; P(x^)P(y^) are the margins of P-hat, as
(3.10) has them; the multipliers are minimised over, not maximised; (3.7) is an inequality, so its multiplier stays
<= 0; and the multipliers start at zero, so that information leads and the constraints follow.

A property worth knowing: when weights need not sum to one, P-hat has mass s < 1, and its "information" is
s * I - s log s, which is largest at s = exp(I - 1). Below one nat of information the objective itself prefers to
leave mass out, and rows end unassigned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from sidelight.progress import report

Floats = NDArray[np.float64]

CONSTRAINTS = ("unique", "assigned", "filled")  # (3.3), (3.5), (3.7)
PATIENCE = 0.01  # multipliers move this much slower than weights; faster ones freeze weights before they mean anything
RESTS = 0.01  # share of the information that may still move in twenty epochs: clusters no longer change then
TINY = 1e-300  # the log of an empty cell stays finite; its weight is zero


@dataclass(frozen=True, slots=True)
class Weights:
    """Converged weights (rows x clusters, columns x clusters) and the information after every epoch."""

    rows: Floats
    columns: Floats
    trace: list[float]
    converged: bool


@dataclass(slots=True)
class Multipliers:
    """The Lagrange multipliers of one side: lambda and xi per row, zeta per cluster."""

    unique: Floats
    assigned: Floats
    filled: Floats

    @classmethod
    def zeros(cls, n: int, k: int) -> Multipliers:
        return cls(np.zeros(n), np.zeros(n), np.zeros(k))


def weighted_information(P: Any, R: Floats, C: Floats) -> tuple[float, Floats, Floats]:
    """Return I(X^; Y^) of P-hat = R' P C and its gradients in R and C, [B04] eq. (3.10) and (3.11).

    d I / d R[x, u] = sum_v (P C)[x, v] * (log(P-hat[u, v] / (P-hat[u] P-hat[v])) - 1)
    """
    by_column_cluster, by_row_cluster = P @ C, P.T @ R
    T = R.T @ by_column_cluster
    log_ratio = np.log(np.maximum(T, TINY))
    log_ratio -= np.log(np.maximum(T.sum(axis=1, keepdims=True), TINY))
    log_ratio -= np.log(np.maximum(T.sum(axis=0, keepdims=True), TINY))
    slope = log_ratio - 1.0
    return float((T * log_ratio).sum()), by_column_cluster @ slope.T, by_row_cluster @ slope


def penalty(W: Floats, multipliers: Multipliers) -> tuple[float, Floats]:
    """Return the constraint terms of the Lagrangian (3.9) for one side, and their gradient in W."""
    sums = W.sum(axis=1)
    overlap = 0.5 * (sums**2 - (W**2).sum(axis=1))
    value = multipliers.unique @ overlap + multipliers.assigned @ (sums - 1.0)
    value += multipliers.filled @ (W.sum(axis=0) - 1.0)
    gradient = multipliers.unique[:, None] * (sums[:, None] - W)
    gradient += multipliers.assigned[:, None] + multipliers.filled[None, :]
    return float(value), gradient


def ascend(
    P: Any,
    R: Floats,
    C: Floats,
    *,
    constraints: tuple[str, ...] = ("unique",),
    n_epochs: int = 1000,
    rate: float = 1.0,
    tol: float = 1e-9,
    stage: str = "weights",
) -> Weights:
    """Climb the Lagrangian from weights R (rows x clusters) and C (columns x clusters), strictly inside (0, 1).

    Steps are taken per unit of row mass, so that one ``rate`` fits tables of any size; ``tol`` is the smallest change
    of information that counts as movement, watched over twenty epochs.
    """
    g_rows, g_columns = logit(R), logit(C)
    on_rows, on_columns = Multipliers.zeros(*R.shape), Multipliers.zeros(*C.shape)
    trace: list[float] = []
    for epoch in range(n_epochs):
        if epoch % 50 == 0:
            report(stage, epoch, n_epochs)
        R, C = expit(g_rows), expit(g_columns)
        value, d_rows, d_columns = weighted_information(P, R, C)
        trace.append(value)
        for g, W, slope, multipliers in ((g_rows, R, d_rows, on_rows), (g_columns, C, d_columns, on_columns)):
            step = rate * len(W)
            g += step * (slope - penalty(W, multipliers)[1]) * W * (1.0 - W)
            np.clip(g, -30.0, 30.0, out=g)  # beyond this the logistic function has no slope left in float64
            _tighten(multipliers, W, constraints, rate)
        if epoch > 40 and abs(trace[-1] - trace[-21]) < tol:
            return Weights(expit(g_rows), expit(g_columns), trace, True)
    rests = len(trace) > 20 and abs(trace[-1] - trace[-21]) <= RESTS * abs(trace[-1])
    return Weights(expit(g_rows), expit(g_columns), trace, rests)


def _tighten(multipliers: Multipliers, W: Floats, constraints: tuple[str, ...], rate: float) -> None:
    """Minimise the Lagrangian over the multipliers by one step, in the units of a row's share of the information."""
    sums, step = W.sum(axis=1), PATIENCE * rate / len(W)
    if "unique" in constraints:
        multipliers.unique += step * 0.5 * (sums**2 - (W**2).sum(axis=1))
    if "assigned" in constraints:
        multipliers.assigned += step * (sums - 1.0)
    if "filled" in constraints:
        multipliers.filled[:] = np.minimum(0.0, multipliers.filled + step * (W.sum(axis=0) - 1.0))
