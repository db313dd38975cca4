"""Bags that list more labels than they have rows, and the labels that no row got."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from sidelight.data.bags import Bags


def left_uncovered(bags: Bags, required: np.ndarray, row_class: np.ndarray) -> tuple[tuple[Hashable, Any], ...]:
    """Name the bags that were asked to carry only some of their labels, and the labels that no row got."""
    starts, listed = bags.label_matrix.indptr, bags.label_matrix.indices
    short = np.flatnonzero(bags.whole & (required < np.diff(starts)))
    uncovered = []
    for b in short.tolist():
        carried = set(row_class[bags.order[bags.starts[b] : bags.starts[b + 1]]].tolist())
        missing = tuple(bags.classes[c] for c in listed[starts[b] : starts[b + 1]].tolist() if c not in carried)
        uncovered.append((bags.names[b], missing))
    return tuple(uncovered)
