"""The order of rows by what they hold: where starts are drawn at random, no row is drawn for the place it stands at.

The key of a row is a hash of the ranks of its values in their columns. It says the same whatever order rows and columns
come in and whatever units columns are in, so that a fit that first puts its rows in the order of their keys finds the
same clusters for the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import is_sparse

Keys = NDArray[np.uint64]
Ints = NDArray[np.intp]


def row_keys(X: Any) -> Keys:
    """Return a key for every row: equal rows have equal keys, others as good as never; constant columns say nothing."""
    n = X.shape[0]
    keys = np.zeros(n, dtype=np.uint64)  # all sums are modulo 2^64, which arrays wrap without a word
    of_zeros = np.zeros(1, dtype=np.uint64)
    for rows, ranks, rank_of_zero in _columns(X):
        hashed = _mix(ranks.astype(np.uint64) + np.uint64(1))
        of_column = hashed.sum(dtype=np.uint64, keepdims=True)
        if rank_of_zero < 0:  # all values are there
            keys[rows] += _mix(hashed ^ of_column)
            continue
        zero = _mix(np.array([rank_of_zero + 1], dtype=np.uint64))
        of_column += zero * np.uint64(n - len(rows))
        zero = _mix(zero ^ of_column)
        keys[rows] += _mix(hashed ^ of_column) - zero
        of_zeros += zero
    return keys + of_zeros


def content_order(X: Any, codes: Ints | None = None, n_groups: int = 0) -> Ints:
    """Return the rows in the order of their content; with the numbers of groups, group by group, likewise."""
    keys = row_keys(X)
    if codes is None:
        return np.argsort(keys, kind="stable")
    of_groups = np.zeros(n_groups, dtype=np.uint64)
    np.add.at(of_groups, codes, _mix(keys))
    return np.lexsort((keys, codes, _mix(of_groups)[codes]))  # groups of equal rows are as they come, but whole


def table_orders(table: Any) -> tuple[Ints, Ints]:
    """Return the rows and the columns of a CSR table of counts in the order of their content, in one pass."""
    cells = table.tocoo()
    at = np.asarray(cells.row), np.asarray(cells.col)
    hashed = _mix(np.ascontiguousarray(cells.data, dtype=np.float64).view(np.uint64) + np.uint64(1))
    sums = [np.zeros(n, dtype=np.uint64) for n in table.shape]
    for of_axis, codes in zip(sums, at):
        np.add.at(of_axis, codes, hashed)
    keys = [np.zeros(n, dtype=np.uint64) for n in table.shape]
    for of_axis, codes, others in zip(keys, at, (sums[1][at[1]], sums[0][at[0]])):
        np.add.at(of_axis, codes, _mix(hashed ^ others))
    rows, columns = (np.argsort(of_axis, kind="stable") for of_axis in keys)
    return rows, columns


def _columns(X: Any) -> Iterator[tuple[Any, Ints, int]]:
    """Yield of every column that varies: rows, the ranks of their values, and that of the zeros elsewhere (or -1)."""
    n, d = X.shape
    if not is_sparse(X):
        for j in range(d):
            ranks = _ranks(X[:, j])
            if n and ranks.any():
                yield slice(None), ranks, -1
        return
    columns = X.tocsc()
    for j in range(d):
        part = slice(columns.indptr[j], columns.indptr[j + 1])
        rows, values = columns.indices[part], columns.data[part]
        are_all = len(rows) == n
        ranks = _ranks(values if are_all else np.append(values, 0.0))
        if ranks.any():
            yield rows, ranks if are_all else ranks[:-1], -1 if are_all else int(ranks[-1])


def _ranks(values: Any) -> Ints:
    """Return how many different values are smaller than each."""
    order = np.argsort(values)
    in_order = np.asarray(values)[order]
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.concatenate([[0], np.cumsum(in_order[1:] != in_order[:-1])])[: len(order)]
    return ranks


def _mix(keys: Keys) -> Keys:
    """Mix the bits of every key (splitmix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Keys = keys ^ (keys >> np.uint64(31))
    return mixed
