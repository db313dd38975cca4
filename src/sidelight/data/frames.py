"""Data frames and series of any library, through narwhals, which is imported only when something may be one."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import narwhals.stable.v1 as nw

_PLAIN = (np.ndarray, list, tuple, range, str, bytes, Mapping, Set, int, float, type(None))


def as_frame(table: Any) -> nw.DataFrame[Any] | None:
    """Return a data frame that is in memory, as narwhals sees it; None for anything else."""
    if isinstance(table, _PLAIN):
        return None
    import narwhals.stable.v1 as nw  # a quarter of a second, which lists and arrays need not wait for

    frame = nw.from_native(table, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def as_series(values: Any) -> nw.Series[Any] | None:
    """Return a series as narwhals sees it; None for anything else."""
    if isinstance(values, _PLAIN):
        return None
    import narwhals.stable.v1 as nw  # as above

    series = nw.from_native(values, series_only=True, pass_through=True)
    return series if isinstance(series, nw.Series) else None
