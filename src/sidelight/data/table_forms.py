"""How tables of counts are written down: arrays of codes, event tables whole or in pieces, matrices.

Every reader returns (axes, coords, counts, shape, labels), the parameters of
:class:`~sidelight.data.cooccurrence.CoOccurrence`, which checks what all of them have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sidelight._core.sparsity import is_sparse
from sidelight.data.counting import EventCounter, as_codes, column_names, count_table
from sidelight.data.table_checks import (
    axis_index,
    axis_size,
    check_equal_lengths,
    checked_axes,
    checked_counts,
    frame_names,
)
from sidelight.errors import InvalidData, WrongKind

Labels = Mapping[str, Sequence[Any]]
Written = tuple[tuple[str, ...], Sequence[ArrayLike], ArrayLike, Sequence[int], Labels | None]


def read_codes(
    codes: Mapping[str, ArrayLike], sizes: Mapping[str, int] | None, weights: ArrayLike | None, labels: Labels | None
) -> Written:
    """Read integer codes recorded together: position ``i`` of every array is one event."""
    if not isinstance(codes, Mapping):
        raise InvalidData(f"CoOccurrence.from_codes needs a mapping of axis name to codes, got {type(codes).__name__}.")
    axes = checked_axes(tuple(codes))
    arrays = [as_codes(codes[axis], axis) for axis in axes]
    check_equal_lengths(dict(zip(axes, arrays)))
    for what, by_axis in (("sizes", sizes), ("labels", labels)):
        _check_by_axis(what, by_axis, axes)
    shape = [axis_size(axis, array, sizes or {}, labels or {}) for axis, array in zip(axes, arrays)]
    if weights is None:
        weights = np.ones(len(arrays[0]))
    elif np.shape(weights) != arrays[0].shape:
        raise InvalidData(
            f"CoOccurrence.from_codes got {len(arrays[0])} events but weights of shape {np.shape(weights)}. "
            "Bring one weight per event."
        )
    return axes, arrays, weights, shape, labels


def read_table(table: Any, axes: Sequence[str] | None, weights: str | None, batch_rows: int) -> Written:
    """Read an event table: one row is one event."""
    counter = _counter_for(table, axes, weights)
    count_table(counter, table, batch_rows)
    return _counted(counter)


def read_batches(batches: Iterable[Any], axes: Sequence[str] | None, weights: str | None) -> Written:
    """Read an event table that comes in pieces and never as a whole."""
    if hasattr(batches, "columns") or isinstance(batches, Mapping):
        raise InvalidData(
            "CoOccurrence.from_batches needs several pieces of a table, got a single table. Use from_table."
        )
    if not isinstance(batches, Iterable) or getattr(batches, "shape", None) == ():
        raise WrongKind(f"CoOccurrence.from_batches needs several pieces of a table, got {batches!r:.80}.")
    counter: EventCounter | None = None
    for batch in batches:
        if counter is None:
            counter = _counter_for(batch, axes, weights)
        counter.add(batch)
    if counter is None:
        raise InvalidData("CoOccurrence.from_batches got no batches. Bring at least one piece of a table.")
    return _counted(counter)


def read_matrix(matrix: Any, axes: Sequence[str] | None, labels: Labels | None) -> Written:
    """Read a matrix or an N-way array of counts; sparse input stays sparse."""
    coords: Sequence[ArrayLike]
    if is_sparse(matrix):
        cells = matrix.tocoo()
        coords, shape = cells.coords, matrix.shape
        counts = checked_counts(cells.data, places=coords)
    else:
        dense = np.atleast_1d(checked_counts(matrix, flat=False))
        coords, shape = np.nonzero(dense), dense.shape
        counts = dense[coords]
    if axes is None:
        axes = ("rows", "columns") if len(shape) == 2 else tuple(f"axis{i}" for i in range(len(shape)))
    axes = checked_axes(axes)
    if len(axes) != len(shape):
        raise InvalidData(
            f"CoOccurrence.from_matrix got {len(shape)} dimensions but {len(axes)} axis names "
            f"({', '.join(map(repr, axes))}). Bring one name per dimension."
        )
    if labels is None:
        labels = {axis: names for axis, names in zip(axes, frame_names(matrix)) if names is not None}
    return axes, coords, counts, shape, labels


def _check_by_axis(what: str, by_axis: Any, axes: Sequence[str]) -> None:
    if by_axis is not None and not isinstance(by_axis, Mapping):
        raise InvalidData(
            f"CoOccurrence.from_codes needs {what} as a mapping from axis names, got {type(by_axis).__name__}."
        )
    for axis in by_axis or ():
        axis_index(axes, axis)


def _counter_for(table: Any, axes: Sequence[str] | None, weights: str | None) -> EventCounter:
    """Return a counter of these columns; of all but ``weights`` when none are named."""
    if axes is None:
        axes = [name for name in column_names(table) if name != weights]
    return EventCounter(checked_axes(axes), weights=weights)


def _counted(counter: EventCounter) -> Written:
    coords, counts, labels = counter.result()
    return counter.axes, coords, counts, [len(labels[axis]) for axis in counter.axes], labels
