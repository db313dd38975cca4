"""Where numbers part into two heaps: the cut with the largest variance between the two sides (Otsu 1979)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def cut_between(values: NDArray[np.float64]) -> float:
    """Return the number half-way between the two heaps; infinity where all values are the same.

    Parameters
    ----------
    values : array of float
        The numbers, in any order and shape.
    """
    values = np.sort(values, axis=None)
    n = len(values)
    if n < 2 or values[-1] == values[0]:
        return np.inf
    below = np.cumsum(values)[:-1]
    count = np.arange(1, n)
    means = below / count, (values.sum() - below) / (n - count)
    between = count * (n - count) * (means[1] - means[0]) ** 2
    between[values[1:] == values[:-1]] = -np.inf  # equal values stay together
    cut = int(np.argmax(between))
    return float((values[cut] + values[cut + 1]) / 2)
