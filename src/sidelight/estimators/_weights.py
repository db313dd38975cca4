"""Weights of rows, and what they make of bags: one meaning everywhere.

A bag counts with the mean weight of its rows. So equal weights change nothing, however many rows a bag has, and weights
that are the same inside each bag are the weights of the bags.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.data.bags import Bags
from sidelight.errors import InvalidData, as_invalid_data


def weights_of_rows(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return one weight for each row, 1 where none are given."""
    if sample_weight is None:
        return np.ones(n_rows)
    with as_invalid_data("sample_weight"):
        weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise InvalidData(f"X has {n_rows} rows but sample_weight has shape {weights.shape}. Give one for each row.")
    usable = np.isfinite(weights) & (weights >= 0)
    if not usable.all():
        row = int(np.flatnonzero(~usable)[0])
        raise InvalidData(f"sample_weight must not be negative, infinite or NaN. Row {row} has {weights[row]:g}.")
    if n_rows and not weights.any():
        raise InvalidData("Every row has sample_weight 0. Give some of them a weight above 0.")
    return weights


def weights_of_bags(sample_weight: Any, bags: Bags) -> np.ndarray:
    """Return the weight of each bag, in the order of ``bags.names``: the mean weight of its rows, 1 without weights."""
    weights = weights_of_rows(sample_weight, bags.n_rows)
    return np.bincount(bags.codes, weights, minlength=bags.n_bags) / np.maximum(bags.sizes, 1)
