"""Rows that come with candidates of their own: one set a row, of which exactly one member is true.

The list of a bag says "all of these are there"; candidates say "one of these is it". As bags of one row they differ in
what is demanded: a list of three labels asks for three rows, three candidates ask for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sidelight.data.bags import Bags
from sidelight.errors import InvalidData


def read_candidates(candidates: Any, n_rows: int, *, classes: Any = None) -> Bags:
    """Return a bag of one row for every row, whose list holds the row's candidates; rows without any are unlabelled.

    Parameters
    ----------
    candidates : sequence or mapping
        One set of labels or None for each row, or a mapping from row numbers to sets.
    n_rows : int
        How many rows there are.
    classes : sequence, default=None
        Put the labels into these classes, in this order.
    """
    sets = _by_row(candidates, n_rows)
    for row, labels in sets.items():
        if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
            raise InvalidData(
                f"candidates must hold one set of labels for each row. Row {row} has {labels!r}; write {{{labels!r}}} "
                "for a single label, or pass row_labels= where the label of a row is known."
            )
    labels = {row: set(labels) for row, labels in sets.items()}
    empty = [row for row, some in labels.items() if not some]
    if empty:
        raise InvalidData(
            f"Row {empty[0]} has no candidates, but exactly one of a row's candidates is true. Give None for a row "
            "about which nothing is known."
        )
    return Bags(np.arange(n_rows), labels=labels, classes=classes)


def _by_row(candidates: Any, n_rows: int) -> dict[int, Any]:
    if isinstance(candidates, Mapping):
        for row in candidates:
            if not isinstance(row, (int, np.integer)) or not 0 <= row < n_rows:
                raise InvalidData(f"candidates names row {row!r}, but the rows are 0 to {n_rows - 1}.")
        return {int(row): labels for row, labels in candidates.items() if labels is not None}
    if isinstance(candidates, (str, bytes)) or not hasattr(candidates, "__len__"):
        raise InvalidData(f"candidates must be one set of labels for each row, or a mapping. Got {candidates!r:.60}.")
    if len(candidates) != n_rows:
        raise InvalidData(
            f"X has {n_rows} rows but candidates has {len(candidates)}. Give one set of labels or None for each row."
        )
    return {row: labels for row, labels in enumerate(candidates) if labels is not None}


def candidates_of(bags: Bags) -> list[Any]:
    """Return the sets of rows that :func:`read_candidates` read, row by row."""
    return [bags.labels[name] for name in bags]
