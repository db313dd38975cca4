"""Reductions over ragged runs: rows that lie together (the rows of one bag) are summed or compared at once.

A run is ``values[starts[s]:starts[s + 1]]``; ``starts`` begins with 0, never falls and ends with ``len(values)``, so
that every row belongs to exactly one run. Runs may be empty. Values have one row per row and any further axes, which
are left alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidelight.errors import InvalidData

Ints = NDArray[np.intp]
Numbers = NDArray[Any]


def segment_sum(values: ArrayLike, starts: ArrayLike) -> Numbers:
    """Sum every run; an empty one sums to 0. Integers and bools stay integers."""
    values, starts = _as_runs(values, starts)
    if values.dtype == bool:
        values = values.astype(np.intp)
    return _reduce(np.add, values, starts, empty=0)


def segment_max(values: ArrayLike, starts: ArrayLike) -> Numbers:
    """Find the largest value of every run; an empty one has -inf, or the smallest integer there is."""
    values, starts = _as_runs(values, starts)
    empty = -np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).min if values.dtype.kind in "iu" else False
    return _reduce(np.maximum, values, starts, empty=empty)


def segment_argmax(values: ArrayLike, starts: ArrayLike) -> Ints:
    """Find the row (an index into ``values``) of the first largest value of every run; -1 where the run is empty.

    A NaN counts as the largest, as in :func:`numpy.argmax`.
    """
    values, starts = _as_runs(values, starts)
    n = len(values)
    top = segment_max(values, starts)[segment_ids(starts)]
    hit = values == top
    if values.dtype.kind == "f":
        hit |= np.isnan(values)
    rows = np.arange(n, dtype=np.intp).reshape((n,) + (1,) * (values.ndim - 1))
    return _reduce(np.minimum, np.where(hit, rows, n), starts, empty=-1)


def segment_ids(starts: ArrayLike) -> Ints:
    """Tell for every row which run it lies in."""
    starts = np.asarray(starts, dtype=np.intp)
    return np.repeat(np.arange(len(starts) - 1, dtype=np.intp), np.diff(starts))


def group_rows(codes: ArrayLike, n_groups: int) -> tuple[Ints, Ints]:
    """Bring rows of the same code together: ``order`` (rows by code, in their old order) and ``starts`` of the runs.

    ``values[order]`` are contiguous runs for the functions above; run ``s`` holds the rows of code ``s``.
    """
    codes = np.asarray(codes, dtype=np.intp)
    starts = np.zeros(n_groups + 1, dtype=np.intp)
    np.cumsum(np.bincount(codes, minlength=n_groups), out=starts[1:])
    order = np.argsort(codes.astype(np.uint16), kind="stable")  # numpy sorts 16-bit integers in linear time
    for shift in range(16, n_groups.bit_length(), 16):
        order = order[np.argsort((codes[order] >> shift).astype(np.uint16), kind="stable")]
    return order, starts


def _as_runs(values: ArrayLike, starts: ArrayLike) -> tuple[Numbers, Ints]:
    values, starts = np.asarray(values), np.asarray(starts, dtype=np.intp)
    if values.ndim == 0 or starts.ndim != 1 or len(starts) == 0:
        raise InvalidData("Runs need values with at least one axis and a one-dimensional, non-empty array of starts.")
    if starts[0] != 0 or starts[-1] != len(values) or np.any(starts[1:] < starts[:-1]):
        raise InvalidData(
            f"The starts of runs must rise from 0 to the number of rows, {len(values)}. "
            f"Got starts from {starts[0]} to {starts[-1]}{'' if np.all(np.diff(starts) >= 0) else ', out of order'}."
        )
    return values, starts


def _reduce(ufunc: np.ufunc, values: Numbers, starts: Ints, *, empty: float) -> Numbers:
    out = np.full((len(starts) - 1, *values.shape[1:]), empty, dtype=values.dtype)
    full = starts[1:] > starts[:-1]  # reduceat returns a neighbour's value for an empty run
    if full.any():
        out[full] = ufunc.reduceat(values, starts[:-1][full], axis=0)
    return out
