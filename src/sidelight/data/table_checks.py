"""What must hold before a table of counts may exist; every complaint names the axis and the place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidelight._core.params import as_sequence
from sidelight.data.counting import as_codes, plain_name
from sidelight.data.frames import as_frame
from sidelight.data.names import as_list, encode, is_missing, sorted_names
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
