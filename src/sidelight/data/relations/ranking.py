"""Sorted lists of rows as comparisons of three: the first row, one that is more like it, one that is less."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np

from sidelight._core.params import check_number
from sidelight.data.names import as_list
from sidelight.errors import InvalidData


def comparisons(rankings: Any, n_alike: Any) -> list[tuple[Any, Any, Any]]:
    """Return (first, closer, farther) for the lists; with a line after ``n_alike`` only those that it separates."""
    check_number("Triplets.from_ranking", "n_alike", n_alike, integer=True, low=1, none=True)
    compared = []
    if isinstance(rankings, np.ndarray) and rankings.ndim == 2:
        rankings = rankings.tolist()
    for number, ranking in enumerate(as_list(rankings, "ranking", "question")):
        try:
            anchor, *others = as_list(ranking, "row")
            repeated = len({anchor, *others}) <= len(others)
        except (ValueError, TypeError, InvalidData) as error:
            raise InvalidData(
                f"Triplets.from_ranking: ranking {number} must be a list of rows. Got {ranking!r}."
            ) from error
        if repeated:
            raise InvalidData(f"Triplets.from_ranking: ranking {number} names a row twice: {ranking!r}.")
        if n_alike is None:
            compared += [(anchor, closer, farther) for closer, farther in combinations(others, 2)]
        else:
            compared += [(anchor, closer, farther) for closer, farther in product(others[:n_alike], others[n_alike:])]
    return compared
