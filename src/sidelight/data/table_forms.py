"""How tables of counts are written down: arrays of codes, event tables whole or in pieces, matrices.

Every reader returns (axes, coords, counts, shape, labels), the parameters of
:class:`~sidelight.data.cooccurrence.CoOccurrence`, which checks what all of them have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidelight._core.params import as_sequence, is_sparse
from sidelight.data.counting import EventCounter, as_codes, column_names, count_table, plain_name
from sidelight.data.names import as_frame, as_list, encode, is_missing, sorted_names
from sidelight.errors import InvalidData, UnknownName, WrongKind, nearest


def checked_axes(axes: Sequence[str]) -> tuple[str, ...]:
    """Return the axis names as a tuple: two or more different, non-empty strings."""
    names = tuple(as_sequence("CoOccurrence", "axes", axes, "a sequence of names"))
    for name in names:
        if not isinstance(name, str) or not name:
            raise InvalidData(f"CoOccurrence: the name of an axis must be a non-empty string, got {name!r}.")
    doubled = [name for i, name in enumerate(names) if name in names[:i]]
    if doubled:
        raise InvalidData(f"CoOccurrence: axis {doubled[0]!r} is named twice. Give every axis a name of its own.")
    if len(names) < 2:
        raise InvalidData(
            f"CoOccurrence: things occur together on at least two axes, got {len(names)}"
            f"{' (' + repr(names[0]) + ')' if names else ''}. Name another axis."
        )
    return names


def checked_sizes(names: Sequence[str], shape: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes of the axes as a tuple of ints, each at least 1."""
    sizes = tuple(as_sequence("CoOccurrence", "shape", shape, "a sequence of sizes"))
    if len(sizes) != len(names):
        raise InvalidData(f"CoOccurrence: {len(names)} axes but {len(sizes)} sizes. Bring one size per axis.")
    for name, size in zip(names, sizes):
        whole = isinstance(size, (int, np.integer)) and not isinstance(size, (bool, np.bool_))
        if not whole or size < 1 or size > np.iinfo(np.intp).max:
            raise InvalidData(f"CoOccurrence: axis {name!r} has size {size!r}; a size is an int of at least 1.")
    return tuple(int(size) for size in sizes)


def checked_counts(counts: Any, *, flat: bool = True, places: Any = None) -> NDArray[np.float64]:
    """Return counts as float64: finite and not negative; ``places`` are the coordinates of cells kept in a list."""
    try:
        values = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(
            f"CoOccurrence: counts must be numbers, got {type(counts).__name__}: {error}. "
            "Is this a table of events? Then use CoOccurrence.from_table."
        ) from None
    if flat and values.ndim != 1:
        raise InvalidData(f"CoOccurrence: counts must be one-dimensional, got shape {values.shape}.")
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        where = np.argwhere(bad)[0]
        place = int(where[0]) if flat and places is None else tuple(int(i) for i in where)
        if places is not None:
            place = tuple(int(codes[where[0]]) for codes in places)
        kind = "negative" if values[tuple(where)] < 0 else "not finite"
        raise InvalidData(
            f"CoOccurrence: count {place} is {kind} ({values[tuple(where)]:g}). Counts are finite and >= 0."
        )
    if values.size and not np.isfinite(values.sum()):
        raise InvalidData("CoOccurrence: the counts add up to infinity. Divide them by their largest first.")
    return values


def frame_names(table: Any) -> tuple[tuple[Any, ...] | None, tuple[Any, ...] | None]:
    """Return the names of the rows and of the columns of a data frame; None for what has none."""
    frame = as_frame(table)
    if frame is None:
        return None, None
    import narwhals.stable.v1 as nw  # only where there is a frame

    index = nw.maybe_get_index(frame)
    rows = None if index is None or hasattr(index, "step") else tuple(index)  # a range of numbers names nothing
    return rows, tuple(frame.columns)


def checked_coords(
    names: Sequence[str], coords: Sequence[ArrayLike], sizes: Sequence[int], n_counts: int
) -> list[NDArray[np.intp]]:
    """Return one array of codes per axis, each inside its axis and as long as the counts."""
    if len(coords) != len(names):
        raise InvalidData(f"CoOccurrence: {len(names)} axes but {len(coords)} arrays of codes. Bring one per axis.")
    arrays = [as_codes(array, name) for name, array in zip(names, coords)]
    for name, array, size in zip(names, arrays, sizes):
        if len(array) != n_counts:
            raise InvalidData(f"CoOccurrence: axis {name!r} has {len(array)} codes but there are {n_counts} counts.")
        if n_counts and array.max() >= size:
            place = int(array.argmax())
            raise InvalidData(
                f"CoOccurrence: code {array[place]} of axis {name!r} (position {place}) is out of range: "
                f"the axis has {size} codes, 0 to {size - 1}."
            )
    return arrays


def checked_labels(
    names: Sequence[str], sizes: Sequence[int], labels: Mapping[str, Sequence[Any]]
) -> Mapping[str, tuple[Any, ...] | None]:
    """Return the names of the codes of every axis, None where there are none."""
    if not isinstance(labels, Mapping):
        raise WrongKind(f"CoOccurrence: labels must map the name of an axis to its names. Got {labels!r:.80}.")
    for axis in labels:
        axis_index(names, axis)
    checked: dict[str, tuple[Any, ...] | None] = {}
    for name, size in zip(names, sizes):
        given = labels.get(name)
        if given is None:
            checked[name] = None
            continue
        if isinstance(given, (str, bytes, Set)) or not isinstance(given, Iterable):
            raise InvalidData(f"CoOccurrence: the labels of axis {name!r} must be a list of names, got {given!r}.")
        values = tuple(plain_name(value) for value in given)
        if len(values) != size:
            raise InvalidData(f"CoOccurrence: axis {name!r} has {size} codes but {len(values)} labels.")
        try:
            distinct = len(set(values))
        except TypeError:
            raise InvalidData(f"CoOccurrence: the labels of axis {name!r} must be hashable.") from None
        gaps = [code for code, value in enumerate(values) if is_missing(value)]
        if gaps:
            raise InvalidData(f"CoOccurrence: the label of code {gaps[0]} of axis {name!r} is {values[gaps[0]]!r}.")
        if distinct != size:
            twice = next(value for i, value in enumerate(values) if value in values[:i])
            raise InvalidData(f"CoOccurrence: label {twice!r} names two codes of axis {name!r}. Make labels unique.")
        checked[name] = values
    return MappingProxyType(checked)


def axis_index(names: Sequence[str], axis: Any) -> int:
    """Return the position of an axis, or say which was probably meant."""
    if isinstance(axis, str) and axis in names:
        return list(names).index(axis)
    raise UnknownName(f"CoOccurrence has no axis {axis!r}. {nearest(axis, names)}")


def check_equal_lengths(arrays: Mapping[str, NDArray[np.intp]]) -> None:
    """Raise unless every axis has a code for every event."""
    (first, reference), *rest = arrays.items()
    for name, array in rest:
        if len(array) != len(reference):
            raise InvalidData(
                f"CoOccurrence.from_codes: axis {first!r} has {len(reference)} events but axis {name!r} has "
                f"{len(array)}. One event is one code on every axis."
            )


def axis_size(name: str, codes: NDArray[np.intp], sizes: Mapping[str, int], labels: Mapping[str, Sequence[Any]]) -> int:
    """Return how many codes an axis has: as told, as labelled, or as seen."""
    if name in sizes:
        return sizes[name]
    if labels.get(name) is not None:
        return len(labels[name])
    return int(codes.max()) + 1 if len(codes) else 1


def as_clusters(axis: str, of_code: ArrayLike, size: int) -> tuple[NDArray[np.intp], tuple[Any, ...] | None]:
    """Turn clusters of codes into (cluster number per code, names or None)."""
    items = as_list(of_code, "cluster", "code")
    if len(items) != size:
        raise InvalidData(
            f"CoOccurrence.aggregate: axis {axis!r} has {size} codes but {len(items)} clusters. "
            "Bring one cluster per code."
        )
    if all(isinstance(item, (int, np.integer)) and not isinstance(item, bool) for item in items):
        return as_codes(items, axis), None
    codes, _ = encode(items, f"cluster on axis {axis!r}", "code")
    names = sorted_names(codes)
    number = {name: i for i, name in enumerate(names)}
    return np.array([number[name] for name in items], dtype=np.intp), names


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
