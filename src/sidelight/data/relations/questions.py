"""Which answers are about the same rows, in whatever order these are listed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.intp]


def question_codes(rows: Ints, n_rows: int) -> Ints:
    """Number the distinct sets of rows; column by column, so that a key never outgrows an int64."""
    ordered = np.sort(rows, axis=1)
    codes = ordered[:, 0]
    for column in ordered.T[1:]:
        _, codes = np.unique(codes * n_rows + column, return_inverse=True)
    return codes.reshape(-1).astype(np.intp)
