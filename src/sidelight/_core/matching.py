"""The best one-to-one assignment between the rows and the columns of a table, for instance of clusters to classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidelight._core.contingency import Contingency

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
    """Match through the non-zero cells only; every row may also take a column of its own that is worth nothing."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n_rows, n_columns = table.shape
    own = np.arange(n_rows, dtype=np.intp)
    rows = np.concatenate([table.rows, own])
    columns = np.concatenate([table.columns, n_columns + own])
    # Every row takes one column, so adding 1 everywhere changes no choice and keeps "nothing" apart from absent.
    worth: NDArray[Any] = np.concatenate([table.counts, np.zeros(n_rows)]).astype(np.float64) + 1.0
    graph = csr_array((worth, (rows, columns)), shape=(n_rows, n_columns + n_rows))
    chosen_rows, chosen = min_weight_full_bipartite_matching(graph, maximize=True)
    matched = np.full(n_rows, -1, dtype=np.intp)
    matched[chosen_rows] = np.where(chosen < n_columns, chosen, -1)
    return matched
