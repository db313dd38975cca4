"""The order of rows by what they hold: where starts are drawn at random, no row is drawn for the place it stands at.

The key of a row is a hash of its values, whatever order rows and columns come in, so that a fit that first puts its
rows in the order of their keys finds the same clusters for the same rows in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import is_sparse

Keys = NDArray[np.uint64]
Ints = NDArray[np.intp]
_BLOCK = 1 << 20  # values hashed at a time: 8 MB


def row_keys(X: Any) -> Keys:
    """Return a key for every row: equal rows have equal keys, others as good as never; constant columns say nothing."""
    n, d = X.shape
    if is_sparse(X):
        rows = X.tocsr()
        column, row = rows.indices, np.repeat(np.arange(n), np.diff(rows.indptr))
        hashed = _hash_values(rows.data)
        least, most = np.full(d, ~np.uint64(0)), np.zeros(d, dtype=np.uint64)
        np.minimum.at(least, column, hashed)
        np.maximum.at(most, column, hashed)
        varies = (least < most) | (np.bincount(column, hashed > 0, minlength=d) < n)
        return _sums(_mix(hashed ^ _sums(hashed, column, d)[column]) * ((hashed > 0) & varies[column]), row, n)
    step = max(1, _BLOCK // max(d, 1))
    of_columns, keys, varies = np.zeros(d, dtype=np.uint64), np.zeros(n, dtype=np.uint64), np.zeros(d, dtype=bool)
    parts = [slice(start, start + step) for start in range(0, n, step)]
    for part in parts:
        hashed = _hash_values(X[part])
        of_columns += hashed.sum(axis=0, dtype=np.uint64)
        varies |= (hashed != _hash_values(X[:1])).any(axis=0)
    for part in parts:
        hashed = _hash_values(X[part])
        keys[part] = (_mix(hashed ^ of_columns) * ((hashed > 0) & varies)).sum(axis=1, dtype=np.uint64)
    return keys


def content_order(X: Any, codes: Ints | None = None, n_groups: int = 0) -> Ints:
    """Return the rows in the order of their content; with the numbers of groups, group by group, likewise."""
    keys = row_keys(X)
    if codes is None:
        return np.argsort(keys, kind="stable")
    of_groups = _mix(_sums(_mix(keys), codes, n_groups))[codes]
    return np.lexsort((keys, codes, of_groups))  # groups of equal rows are as they come, but whole


def _hash_values(values: Any) -> Keys:
    """Hash numbers; 0 is 0, so that what a sparse row leaves out adds nothing."""
    bits = np.ascontiguousarray(values, dtype=np.float64) + 0.0  # -0 becomes 0
    return _mix(bits.view(np.uint64))


def _mix(keys: Keys) -> Keys:
    """Mix the bits of every key (splitmix64, which maps 0 to 0)."""
    keys = keys ^ (keys >> np.uint64(30))
    keys = keys * np.uint64(0xBF58476D1CE4E5B9)
    keys = keys ^ (keys >> np.uint64(27))
    keys = keys * np.uint64(0x94D049BB133111EB)
    mixed: Keys = keys ^ (keys >> np.uint64(31))
    return mixed


def _sums(keys: Keys, codes: Any, n: int) -> Keys:
    """Add up the keys of each group, modulo 2^64."""
    sums = np.zeros(n, dtype=np.uint64)
    np.add.at(sums, codes, keys)
    return sums
