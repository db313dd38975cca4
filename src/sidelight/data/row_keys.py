"""The keys that select rows of supervision: integer arrays, masks, slices and scikit-learn's ``(key, ...)``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.data.names import as_array, plain
from sidelight.errors import InvalidData, OutOfRange


def as_row_index(key: Any, n_rows: int, who: str, what: str = "row") -> NDArray[np.intp]:
    """Return the selected rows (or answers) as non-negative positions, in the order of the key."""
    if isinstance(key, tuple):
        key = _without_ellipsis(key, who)
    if key is Ellipsis:
        key = slice(None)
    if isinstance(key, slice):
        return np.arange(n_rows, dtype=np.intp)[key]
    array = as_array(key, who)
    if array.ndim != 1:
        got = f"{key!r}" if array.ndim == 0 else f"the shape {array.shape}"
        raise InvalidData(f"{who}: {what}s are selected by integers, a mask or a slice. Got {got}.")
    if array.dtype == bool:
        if len(array) != n_rows:
            raise OutOfRange(f"{who}: a mask must be as long as the {what}s ({n_rows}). Got {len(array)} values.")
        return np.flatnonzero(array)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InvalidData(f"{who}: {what}s are selected by integers, a mask or a slice. Got {plain(array[0])!r}.")
    index = array.astype(np.intp)
    outside = (index < -n_rows) | (index >= n_rows)
    if outside.any():
        raise OutOfRange(f"{who}: there are {n_rows} {what}s, so there is no {what} {index[outside][0]}.")
    return np.where(index < 0, index + n_rows, index)


def is_one_row(key: Any) -> bool:
    """Say whether a key picks a single row, not a selection of rows."""
    return isinstance(key, (int, np.integer)) and not isinstance(key, bool)


def _without_ellipsis(key: tuple[Any, ...], who: str) -> Any:
    kept = [part for part in key if part is not Ellipsis]
    if len(kept) > 1:
        raise InvalidData(f"{who} has one axis, its rows. Got a key with {len(kept)} parts.")
    return kept[0] if kept else slice(None)
