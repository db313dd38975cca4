"""Whether what is said to be sure is right as often."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from sidelight.errors import InvalidData
from sidelight.metrics._checks import as_array, check_lengths

_MOST_BINS = 1_000_000


def expected_calibration_error(said: Any, right: Any, *, n_bins: int = 10) -> float:
    """Compute the mean gap between how sure answers are said to be and how often they are right.

    Answers are put into bins of equal width by ``said``; the gap of each bin is weighed by its answers. Few answers
    leave gaps by chance: some .05 with 200 of them in 10 bins.

    Parameters
    ----------
    said : array-like of shape (n_answers,)
        The probability that each answer is said to have, such as the largest of a row.
    right : array-like of shape (n_answers,)
        Whether it is right.
    n_bins : int, default=10
        How many bins there are between 0 and 1.

    Returns
    -------
    float
        0 where all bins are as right as they are sure.
    """
    said = as_array("expected_calibration_error", "said", said)
    right = as_array("expected_calibration_error", "right", right)
    if said.ndim != 1 or said.dtype.kind not in "fiub" or not ((said >= 0) & (said <= 1 + 1e-9)).all():  # rounding
        raise InvalidData("expected_calibration_error needs said as one probability from 0 to 1 for each answer.")
    if right.ndim != 1 or right.dtype.kind not in "fiub":
        raise InvalidData("expected_calibration_error needs right as one yes or no, or 1 or 0, for each answer.")
    check_lengths("expected_calibration_error", said=said, right=right)
    if not isinstance(n_bins, Integral) or not 1 <= n_bins <= _MOST_BINS:
        raise InvalidData(
            f"expected_calibration_error needs n_bins of 1 or more, to {_MOST_BINS:,}; got {n_bins!r:.40}."
        )
    place = np.minimum((said * n_bins).astype(np.intp), n_bins - 1)
    gaps = np.bincount(place, weights=said - right.astype(np.float64), minlength=n_bins)
    return float(np.abs(gaps).sum() / len(said))
