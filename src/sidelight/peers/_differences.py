"""Differences between pairs of rows, dense or sparse, and products with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def differences(X: Any, rows: Ints) -> Floats:
    """Return X[a] - X[b] for every pair (a, b) of ``rows``, as a dense array."""
    gaps = X[rows[:, 0]] - X[rows[:, 1]]
    return np.ascontiguousarray(gaps.toarray() if sp.issparse(gaps) else gaps, dtype=np.float64)


def squares(X: Any) -> Any:
    """Return every number squared; sparse rows stay sparse."""
    return sp.csr_array(X).multiply(X).tocsr() if sp.issparse(X) else X**2


def spread_of(X: Any) -> float:
    """Return the mean squared distance of a row to the mean row."""
    if sp.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        return max(float(X.multiply(X).sum() / X.shape[0] - mean @ mean), 0.0)
    return float(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
