"""The best one-to-one assignment between the rows and the columns of a table, for instance of clusters to classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidelight._core.contingency import Contingency
from sidelight._core.segments import group_rows, segment_argmax

Ints = NDArray[np.intp]
_DENSE_CELLS = 4_000_000  # 32 MB; above it a table of counts is mostly zeros and the sparse matching is faster too


def match_rows(gains: ArrayLike | Contingency) -> Ints:
    """Give rows different columns so that the sum of the chosen entries is as large as it can be.

    Parameters
    ----------
    gains : array-like of shape (n_rows, n_columns) or Contingency
        What pairing a row with a column is worth; a contingency table must not hold negative counts.

    Returns
    -------
    columns : ndarray of intp, shape (n_rows,)
        The column of each row, -1 for rows that are left over. A dense table matches as many rows as it has columns;
        a large sparse one may leave rows out whose match would be worth nothing.
    """
    if isinstance(gains, Contingency):
        if gains.shape[0] * gains.shape[1] > _DENSE_CELLS:
            return _match_sparse(gains)
        gains = gains.dense()
    from scipy.optimize import linear_sum_assignment

    table = np.asarray(gains)
    matched = np.full(table.shape[0], -1, dtype=np.intp)
    rows, columns = linear_sum_assignment(table, maximize=True)
    matched[rows] = columns
    return matched


def _match_sparse(table: Contingency) -> Ints:
    """Match each connected part of the table by itself, through its non-zero cells only."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n_rows, n_columns = table.shape
    n_nodes = n_rows + n_columns
    graph = csr_array((np.ones(len(table.rows)), (table.rows, n_rows + table.columns)), shape=(n_nodes, n_nodes))
    n_parts, part_of = connected_components(graph, directed=False)
    order, starts = group_rows(part_of[table.rows], n_parts)
    matched = np.full(n_rows, -1, dtype=np.intp)
    # A part with one row or one column takes its largest cell; good clusterings consist of little else.
    widths = np.bincount(part_of[n_rows:], minlength=n_parts), np.bincount(part_of[:n_rows], minlength=n_parts)
    is_star = (np.minimum(*widths) == 1) & (np.diff(starts) > 0)
    best = order[segment_argmax(table.counts[order], starts)[is_star]]
    matched[table.rows[best]] = table.columns[best]
    for part in np.flatnonzero(np.minimum(*widths) > 1):
        cells = order[starts[part] : starts[part + 1]]
        rows, row_codes = np.unique(table.rows[cells], return_inverse=True)
        columns, column_codes = np.unique(table.columns[cells], return_inverse=True)
        matched[rows] = _match_part(columns, row_codes, column_codes, table.counts[cells], len(rows))
    return matched


def _match_part(columns: Ints, i: Ints, j: Ints, counts: NDArray[Any], n_rows: int) -> Ints:
    """Match the rows of one connected part; every row may also take a column of its own that is worth nothing."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    own = np.arange(n_rows)
    # Every row takes one column, so adding 1 everywhere changes no choice and keeps "nothing" apart from absent.
    worth = np.concatenate([counts, np.zeros(n_rows)]) + 1.0
    places = np.concatenate([i, own]), np.concatenate([j, len(columns) + own])
    graph = csr_array((worth, places), shape=(n_rows, len(columns) + n_rows))
    graph.indices, graph.indptr = graph.indices.astype(np.int32), graph.indptr.astype(np.int32)  # SciPy < 1.15 insists
    _, chosen = min_weight_full_bipartite_matching(graph, maximize=True)
    return np.where(chosen < len(columns), columns[np.minimum(chosen, len(columns) - 1)], -1)
