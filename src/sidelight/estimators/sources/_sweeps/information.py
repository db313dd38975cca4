"""Information in tables of joint probabilities, in nats: sums of x log x over cells and margins.

Everything here works on the cells that are there; a zero cell adds nothing. ``total_correlation`` of a two-way table
is its mutual information, and [B04] eq. (1.2) is the difference of two of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sidelight._core.kernels import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@kernel("float64(float64[::1])")
def sum_xlogx(values: Floats) -> float:
    """Sum x log x, with 0 log 0 = 0, without a temporary array as long as the table."""
    total = 0.0
    for x in values:
        if x > 0.0:
            total += x * np.log(x)
    return total


def total_correlation(cells: Floats, margins: Sequence[Floats]) -> float:
    """Return D(P || product of margins) of a table, from its cells and the margin of every axis.

    sum_x P[x] log P[x] - sum_a sum_i margins[a][i] log margins[a][i]      for cells that sum to one
    """
    joint = sum_xlogx(np.ascontiguousarray(cells, dtype=np.float64).ravel())
    return float(joint - sum(sum_xlogx(np.ascontiguousarray(m, dtype=np.float64)) for m in margins))


def table_information(table: Floats) -> float:
    """Return the total correlation of a dense table of joint probabilities with any number of axes."""
    return total_correlation(table, [margin(table, axis) for axis in range(table.ndim)])


def margin(table: Floats, axis: int) -> Floats:
    """Sum a dense table over every axis but one."""
    others = tuple(a for a in range(table.ndim) if a != axis)
    return np.asarray(table.sum(axis=others), dtype=np.float64)
