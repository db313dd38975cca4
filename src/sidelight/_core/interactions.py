"""How many ways two sides of a table of counts depend on each other: what chance alone would not show.

Under independence the residuals (count - expected) / sqrt(expected) have variance about 1, and the largest singular
value of such a table is near sqrt(rows) + sqrt(columns) (Marchenko and Pastur). Each one clearly above is a way in
which groups of rows differ in the columns that they occur with; m of them take m + 1 groups.
"""

from __future__ import annotations

import numpy as np

_CLEARLY = 1.05  # times the edge: with few expected counts the largest values scatter by some percent


def n_interactions(counts: np.ndarray) -> int:
    """Return how many singular values of the residuals are clearly above what chance shows.

    Parameters
    ----------
    counts : ndarray of shape (n_rows, n_columns)
        How often each pair occurred.
    """
    counts = np.asarray(counts, dtype=float)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(counts.shape) < 2:
        return 0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    values = np.linalg.svd((counts - expected) / np.sqrt(expected), compute_uv=False)
    edge = np.sqrt(counts.shape[0]) + np.sqrt(counts.shape[1])
    return int((values > _CLEARLY * edge).sum())
