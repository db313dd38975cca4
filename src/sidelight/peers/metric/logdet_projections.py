"""Bregman projections of a matrix onto bounds of distances: the algorithm of ITML (Davis et al. 2007, algorithm 1).

Each pair asks for v'Av <= u (alike) or v'Av >= l (differing). A projection onto one bound is a change of rank one, so a
pass over the pairs costs O(pairs x features^2).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sidelight._core.kernels import kernel

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
