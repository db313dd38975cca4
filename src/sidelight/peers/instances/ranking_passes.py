"""One pass over the bags for MIMLfast (Huang, Gao and Zhou 2014, algorithm 1): sample, compare, step.

Label l scores a row x by max_k V[l, k] . (W x) and a bag by the largest score of its rows. A step takes a bag, a label
on its list, and labels off the list until one of them scores within 1 of it; the later one is found, the better the
first already ranks, and the smaller the step. The last label is the dummy that parts labels on a list from others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sidelight._core.kernels import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@kernel("Tuple((float64, intp, intp))(float64[:, ::1], float64[:, :, ::1], intp)")
def best_row(Z: Floats, V: Floats, label: int) -> tuple[float, int, int]:
    """Return the largest score of a label over mapped rows, with the row and the sub-concept that have it."""
    best, at_row, at_part = -np.inf, 0, 0
    for i in range(Z.shape[0]):
        for k in range(V.shape[1]):
            score = 0.0
            for j in range(Z.shape[1]):
                score += Z[i, j] * V[label, k, j]
            if score > best:
                best, at_row, at_part = score, i, k
    return best, at_row, at_part


@kernel("void(float64[::1], float64)")
def shorten(vector: Floats, bound: float) -> None:
    """Scale a vector in place so that it is no longer than ``bound``."""
    square = 0.0
    for j in range(len(vector)):
        square += vector[j] ** 2
    if square > bound**2:
        for j in range(len(vector)):
            vector[j] *= bound / np.sqrt(square)


@kernel(
    "float64(float64[:, ::1], intp[::1], intp[::1], boolean[:, ::1], intp[::1], float64[:, ::1], float64[:, ::1], "
    "float64[:, :, ::1], float64, float64, float64, intp)"
)
def ranking_pass(
    X: Floats,
    order: Ints,
    starts: Ints,
    listed: NDArray[np.bool_],
    bags: Ints,
    draws: Floats,
    W: Floats,
    V: Floats,
    step: float,
    decay: float,
    bound: float,
    steps_before: int,
) -> float:
    """Visit the bags in turn, change W and V in place, and return the mean loss.

    ``listed`` has a row for every bag and a column for every label but the dummy; ``draws`` are uniform numbers, one
    row a visit and two columns more than labels.
    """
    n_labels = listed.shape[1]
    dummy = n_labels
    m, d = W.shape
    on, off = np.empty(n_labels + 1, dtype=np.intp), np.empty(n_labels + 1, dtype=np.intp)
    total = 0.0
    for visit in range(len(bags)):
        b = bags[visit]
        n_on = n_off = 0
        for label in range(n_labels):
            if listed[b, label]:
                on[n_on] = label
                n_on += 1
            else:
                off[n_off] = label
                n_off += 1
        on[n_on] = dummy
        label = on[int(draws[visit, 0] * (n_on + 1))]
        if label != dummy:
            off[n_off] = dummy
            n_off += 1
        if n_off == 0:
            continue
        rows = order[starts[b] : starts[b + 1]]
        Z = np.zeros((len(rows), m))
        for i in range(len(rows)):
            for j in range(m):
                for f in range(d):
                    Z[i, j] += W[j, f] * X[rows[i], f]
        score, i, k = best_row(Z, V, label)
        for trial in range(1, n_off + 1):
            drawn = trial - 1 + int(draws[visit, trial] * (n_off - trial + 1))
            off[trial - 1], off[drawn] = off[drawn], off[trial - 1]
            other = off[trial - 1]
            rival, i2, k2 = best_row(Z, V, other)
            if rival <= score - 1.0:
                continue
            weight = 0.0
            for r in range(1, n_off // trial + 1):
                weight += 1.0 / r
            total += weight * (1.0 + rival - score)
            rate = step / (1.0 + decay * step * (steps_before + visit)) * weight
            for j in range(m):
                old, old_rival = V[label, k, j], V[other, k2, j]
                V[label, k, j] += rate * Z[i, j]
                V[other, k2, j] -= rate * Z[i2, j]
                for f in range(d):
                    W[j, f] += rate * (old * X[rows[i], f] - old_rival * X[rows[i2], f])
            shorten(V[label, k], bound)
            shorten(V[other, k2], bound)
            for f in range(d):
                length = 0.0
                for j in range(m):
                    length += W[j, f] ** 2
                if length > bound**2:
                    for j in range(m):
                        W[j, f] *= bound / np.sqrt(length)
            break
    return total / max(len(bags), 1)
