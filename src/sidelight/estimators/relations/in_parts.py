"""Discriminative clustering of rows that are read part by part.

The objective is the mean likelihood of the answers plus information over at most ``max_rows`` rows, drawn at random: of
very many rows, nothing else is looked at. So one pass collects the rows that answers are about and the drawn ones, and
the fit is the one of rows in memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sidelight.data.bag_lists import bag_keys
from sidelight.data.parts import PartedRows
from sidelight.progress import report

Ints = NDArray[np.intp]


def collect_rows(parts: PartedRows, answered: Ints, n_rows: int) -> tuple[NDArray[np.float64], Ints]:
    """Return the rows that answers are about and about ``n_rows`` others, with their numbers among all rows.

    Parameters
    ----------
    parts : PartedRows
        The rows.
    answered : array of int
        The numbers of the rows that must be there.
    n_rows : int
        How many rows to draw, by a hash of their numbers: which ones does not depend on the files.
    """
    below = np.uint64(min(n_rows / parts.n_rows, 0.9999) * 2.0**64)
    collected, numbers = [], []
    recipes = parts.without_bags().parts()
    for part in recipes:
        report("collecting rows", part.number, len(recipes))
        own = part.numbers()
        chosen = np.isin(own, answered) | (bag_keys(own) < below) | (n_rows >= parts.n_rows)
        if chosen.any():
            collected.append(np.asarray(part.rows(), dtype=np.float64)[chosen])
            numbers.append(own[chosen])
    found = np.concatenate(numbers)
    order = np.argsort(found, kind="stable")
    return np.concatenate(collected)[order], found[order]
