"""From names (labels, ids, categories) to codes 0, 1, ... in the order of first appearance.

A name is any hashable value except a missing one: None, NaN and NaT name nothing. Callers word what is wrong with a
name; this file only finds it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.intp]
Names = tuple[Hashable, ...]


def codes_of_array(values: NDArray[Any]) -> tuple[Ints, Names]:
    """Return the code of each value of a one-dimensional array without objects, and the distinct values."""
    n = len(values)
    if n and values.dtype.kind in "iub":
        low, high = int(values.min()), int(values.max())
        if high - low <= 4 * n + 1024:  # a table of all values between them costs no more than the rows
            return _codes_by_table(values, low, high)
    distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    # dates stay NumPy scalars: tolist() would turn nanoseconds into plain integers
    names = tuple(distinct[order]) if values.dtype.kind in "mM" else tuple(distinct[order].tolist())
    return rank[inverse.reshape(-1)], names


def codes_of_objects(values: Sequence[Any]) -> tuple[Ints, Names]:
    """Return the code of each value, and the distinct values; a value without a hash is a TypeError."""
    code_of = {name: code for code, name in enumerate(dict.fromkeys(values))}
    return np.fromiter(map(code_of.__getitem__, values), dtype=np.intp, count=len(values)), tuple(code_of)


def plain(name: Any) -> Any:
    """Unwrap a NumPy scalar, so that names look like what the user typed; dates keep their resolution.

    A timestamp of pandas becomes the datetime that it equals, unless it counts nanoseconds.
    """
    if isinstance(name, datetime) and type(name) is not datetime and not getattr(name, "nanosecond", 0):
        return name if is_missing(name) else getattr(name, "to_pydatetime", lambda: name)()
    return name.item() if isinstance(name, np.generic) and name.dtype.kind not in "mM" else name


def is_missing(name: Any) -> bool:
    """Say whether a value names nothing: None, NaN, NaT, pandas' NA, or a tuple that holds one of them."""
    if isinstance(name, tuple):
        return any(is_missing(part) for part in name)
    if name is None or type(name).__name__ == "NAType":
        return True
    different = name != name  # only NaN and NaT differ from themselves
    return isinstance(different, (bool, np.bool_)) and bool(different)


def first_unhashable(values: Sequence[Any]) -> int | None:
    """Return the position of the first value that has no hash."""
    for position, value in enumerate(values):
        try:
            hash(value)
        except TypeError:
            return position
    return None


def _codes_by_table(values: NDArray[Any], low: int, high: int) -> tuple[Ints, Names]:
    n = len(values)
    offset = (values.astype(np.int64) - low) if values.dtype.kind != "u" else (values - np.array(low, values.dtype))
    offset = offset.astype(np.intp)
    first = np.full(high - low + 1, n, dtype=np.intp)
    first[offset[::-1]] = np.arange(n - 1, -1, -1)  # the last assignment stands: the first appearance
    present = np.flatnonzero(first < n)
    present = present[np.argsort(first[present])]
    code_of = np.empty(high - low + 1, dtype=np.intp)
    code_of[present] = np.arange(len(present))
    return code_of[offset], tuple(values[first[present]].tolist())
