"""Mean and standard deviation of columns, also of numbers whose squares float64 cannot hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_LARGE = 1e100  # the square of a larger number might overflow in a sum


def mean_and_scale(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of every column; a column that never changes has the scale 1."""
    largest = np.asarray(abs(X).max(axis=0).todense() if sp.issparse(X) else np.abs(X).max(axis=0)).ravel()
    unit = np.where(largest > _LARGE, largest, 1.0)
    if sp.issparse(X):
        small = sp.csr_array(X @ sp.diags_array(1.0 / unit))
        mean = np.asarray(small.mean(axis=0)).ravel()
        variance = np.asarray(small.multiply(small).mean(axis=0)).ravel() - mean**2
    else:
        small = X / unit if (unit != 1.0).any() else X
        mean, variance = small.mean(axis=0), small.var(axis=0)
    scale = np.sqrt(np.maximum(variance, 0.0))
    constant = scale <= 1e-12 * np.maximum(1.0, np.abs(mean))  # rounding noise of a constant column is not a scale
    return mean * unit, np.where(constant, 1.0, scale) * unit


def scaled(X: Any, mean: NDArray[np.float64], scale: NDArray[np.float64]) -> Any:
    """Centre and scale dense columns; sparse ones are scaled only, for centring would fill them."""
    if sp.issparse(X):
        return sp.csr_array(X @ sp.diags_array(1.0 / scale))
    return X / scale - mean / scale  # divided first: the difference of two numbers near 1e308 has no value


def standardised(X: Any, mean: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centre and scale columns, dense whatever came."""
    rows = scaled(X, mean, scale)
    return rows.toarray() - mean / scale if sp.issparse(rows) else rows
