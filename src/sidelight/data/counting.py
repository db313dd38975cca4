"""Counting events piece by piece, in memory that grows with the different combinations and not with the rows.

A piece is reduced to its distinct combinations at once (by the data frame's own engine, or by integer keys), and the
reduced pieces are merged whenever they outweigh what has been merged so far: each cell is merged O(log pieces) times.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidelight._core.names import codes_of_array, codes_of_objects, first_unhashable
from sidelight._core.params import check_number
from sidelight.data.names import is_missing, plain, sorted_names
from sidelight.errors import InvalidData, UnknownName, nearest
from sidelight.progress import report

_MERGE_AFTER = 1 << 20  # reduced cells kept aside before a merge; about 32 MB for two axes
_COUNT = "sidelight count"  # a column name that no event table is likely to have


class EventCounter:
    """Counts of combinations over ``axes``, fed with pieces of an event table."""

    def __init__(self, axes: Sequence[str], *, weights: str | None = None) -> None:
        self.axes, self.weights = tuple(axes), weights
        self.n_rows = 0
        self._known: list[dict[Any, int]] = [{} for _ in self.axes]  # per axis: name -> code, in order of arrival
        self._merged: tuple[tuple[NDArray[np.intp], ...], NDArray[np.float64]] | None = None
        self._aside: list[tuple[tuple[NDArray[np.intp], ...], NDArray[np.float64]]] = []
        self._n_aside = 0

    def add(self, piece: Any) -> None:
        """Count the rows of one piece: a data frame, or a mapping of columns."""
        columns, weights, n_rows = _arrays(piece, self.axes, self.weights, self.n_rows)
        codes = [self._encode(name, column, known) for name, column, known in zip(self.axes, columns, self._known)]
        reduced = coalesce(codes, weights, self._sizes())
        self.n_rows += n_rows
        self._aside.append(reduced)
        self._n_aside += len(reduced[1])
        if self._n_aside > max(_MERGE_AFTER, len(self._merged[1]) if self._merged else 0):
            self._merge()
        report("counting rows", self.n_rows)

    def result(self) -> tuple[list[NDArray[np.intp]], NDArray[np.float64], dict[str, tuple[Any, ...]]]:
        """Return coords, counts and the names of the codes, in sorted order."""
        if not self.n_rows:
            raise InvalidData("CoOccurrence: the table has no rows. Bring at least one event.")
        self._merge()
        assert self._merged is not None  # _merge always leaves something once a piece was added
        coords, counts = self._merged
        names_of = [sorted_names(known) for known in self._known]
        renumbered = []
        for codes, known, names in zip(coords, self._known, names_of):
            place = {name: i for i, name in enumerate(names)}
            renumbered.append(np.fromiter((place[name] for name in known), np.intp, len(known))[codes])
        return renumbered, counts, dict(zip(self.axes, names_of))

    def _encode(self, axis: str, column: NDArray[Any], known: dict[Any, int]) -> NDArray[np.intp]:
        names, inverse = _codes(axis, column, self.n_rows)
        codes = np.fromiter((known.setdefault(name, len(known)) for name in names), np.intp, len(names))
        return codes[inverse]

    def _sizes(self) -> list[int]:
        return [max(1, len(known)) for known in self._known]

    def _merge(self) -> None:
        pieces = ([self._merged] if self._merged else []) + self._aside
        coords = [np.concatenate([piece[0][i] for piece in pieces]) for i in range(len(self.axes))]
        counts = np.concatenate([piece[1] for piece in pieces])
        self._merged, self._aside, self._n_aside = coalesce(coords, counts, self._sizes()), [], 0


def count_table(counter: EventCounter, table: Any, batch_rows: int) -> None:
    """Feed ``table`` to ``counter`` in slices of ``batch_rows`` rows."""
    check_number("CoOccurrence.from_table", "batch_rows", batch_rows, integer=True, low=1)
    if isinstance(table, Mapping):
        wanted = [*counter.axes, *([counter.weights] if counter.weights is not None else [])]
        table = {name: _flat(_column(table, name), name) for name in wanted}
        _check_lengths(table)
        n_rows = len(table[counter.axes[0]])
        for start in range(0, n_rows, batch_rows):
            counter.add({name: column[start : start + batch_rows] for name, column in table.items()})
    else:
        frame = _frame(table)
        for start in range(0, len(frame), batch_rows):
            counter.add(frame[start : start + batch_rows])


def column_names(table: Any) -> list[str]:
    """Return the names of the columns of a data frame or mapping."""
    return list(table) if isinstance(table, Mapping) else list(_frame(table).columns)


def coalesce(
    coords: Sequence[NDArray[np.intp]], counts: NDArray[np.float64] | None, sizes: Sequence[int]
) -> tuple[tuple[NDArray[np.intp], ...], NDArray[np.float64]]:
    """Add up the counts of equal cells (1 each for None); return the cells that are not zero in lexicographic order."""
    n_cells = math.prod(sizes)
    if n_cells > np.iinfo(np.int64).max:
        return _coalesce_sorted(coords, np.ones(len(coords[0])) if counts is None else counts)
    keys = np.ravel_multi_index(tuple(coords), tuple(sizes))
    if n_cells <= max(4 * len(keys), 1 << 16):  # a dense row of sums is cheaper than sorting keys
        cells = np.arange(n_cells)
        sums = add_up(keys, counts, n_cells)
    elif counts is None:  # sorting keys alone is several times faster than sorting with an index
        cells, times = np.unique(keys, return_counts=True)
        sums = times.astype(np.float64)
    else:
        cells, inverse = np.unique(keys, return_inverse=True)
        sums = add_up(inverse, counts, len(cells))
    cells, sums = cells[sums > 0], sums[sums > 0]
    return tuple(np.ascontiguousarray(c, dtype=np.intp) for c in np.unravel_index(cells, tuple(sizes))), sums


def add_up(codes: NDArray[np.intp], counts: NDArray[np.float64] | None, size: int) -> NDArray[np.float64]:
    """Return the sum of ``counts`` (1 each for None) for each code from 0 to ``size - 1``."""
    return np.asarray(np.bincount(codes, weights=counts, minlength=size), dtype=np.float64)


def as_codes(codes: ArrayLike, axis: str) -> NDArray[np.intp]:
    """Return ``codes`` as a one-dimensional array of intp; raise unless they are whole numbers from 0 on."""
    array = np.asarray(codes)
    if array.ndim != 1:
        raise InvalidData(f"CoOccurrence: the codes of axis {axis!r} must be one-dimensional, got shape {array.shape}.")
    if array.size and array.dtype.kind not in "iu":
        raise InvalidData(
            f"CoOccurrence: the codes of axis {axis!r} must be integers from 0 on, got {array.dtype}. "
            "Names are counted by CoOccurrence.from_table."
        )
    if array.size and array.min() < 0:
        place = int(array.argmin())
        raise InvalidData(f"CoOccurrence: code {array[place]} of axis {axis!r} (position {place}) is negative.")
    if array.size and int(array.max()) >= np.iinfo(np.intp).max:
        raise InvalidData(f"CoOccurrence: code {array.max()} of axis {axis!r} is too large for an index.")
    return array.astype(np.intp)


def plain_name(name: Any) -> Any:
    """Return a name as a plain Python value, so that it can be written as JSON."""
    if isinstance(name, np.datetime64):
        return str(name)
    return plain(name)


def _coalesce_sorted(
    coords: Sequence[NDArray[np.intp]], counts: NDArray[np.float64]
) -> tuple[tuple[NDArray[np.intp], ...], NDArray[np.float64]]:
    """Coalesce when the cells are too many for one integer key."""
    order = np.lexsort(tuple(coords)[::-1])
    cells = np.stack([array[order] for array in coords])
    new = np.ones(cells.shape[1], dtype=bool)
    new[1:] = (cells[:, 1:] != cells[:, :-1]).any(axis=0)
    sums = np.add.reduceat(counts[order], np.flatnonzero(new)) if new.size else counts
    kept = cells[:, new][:, sums > 0]
    return tuple(np.ascontiguousarray(row) for row in kept), sums[sums > 0]


def _arrays(
    piece: Any, axes: Sequence[str], weights: str | None, start: int
) -> tuple[list[NDArray[Any]], NDArray[np.float64] | None, int]:
    """Return one array per axis, what each position counts for (1 each for None), and how many rows there were.

    ``start`` is the row of the whole table at which the piece begins, for the messages.
    """
    if isinstance(piece, Mapping):
        columns = {name: _flat(_column(piece, name), name) for name in axes}
        if weights is not None:
            columns[weights] = _flat(_column(piece, weights), weights)
        _check_lengths(columns)
        n_rows = len(columns[axes[0]])
        counts = None if weights is None else _checked_weights(columns[weights], weights, start)
        return [columns[name] for name in axes], counts, n_rows
    frame = _frame(piece)
    import narwhals as nw  # only where there is a frame

    for name in (*axes, *([weights] if weights is not None else [])):
        if name not in frame.columns:
            raise UnknownName(f"CoOccurrence: the table has no column {name!r}. {nearest(name, frame.columns)}")
    _check_no_gaps(frame, axes, start)
    if weights is None:
        counted = nw.len().alias(_COUNT)
    else:
        _checked_weights(frame[weights].to_numpy(), weights, start)
        counted = nw.col(weights).cast(nw.Float64).sum().alias(_COUNT)
    groups = frame.group_by(list(axes)).agg(counted)
    values = np.asarray(groups[_COUNT].to_numpy(), dtype=np.float64)
    return [_native_array(groups[name]) for name in axes], values, len(frame)


def _native_array(series: Any) -> NDArray[Any]:
    """Return a column as numbers, or as objects where it holds anything else."""
    import narwhals as nw  # only where there is a frame

    if series.dtype.is_integer() or series.dtype == nw.Boolean:
        return np.asarray(series.to_numpy())
    out = np.empty(len(series), dtype=object)
    out[:] = series.to_list()
    return out


def _check_no_gaps(frame: Any, axes: Sequence[str], start: int) -> None:
    for name in axes:
        series = frame[name]
        gaps = series.is_null()
        if series.dtype.is_float():
            gaps = gaps | series.is_nan().fill_null(True)
        if gaps.any():
            row = int(np.flatnonzero(np.asarray(gaps.to_numpy(), dtype=bool))[0])
            raise _gap(name, start + row)


def _gap(axis: str, row: int) -> InvalidData:
    return InvalidData(
        f"CoOccurrence: column {axis!r} has a missing value (row {row}, counted from 0). "
        "Drop such rows, or give the gap a name of its own."
    )


def _codes(axis: str, column: NDArray[Any], start: int) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the distinct names of ``column`` and the position of each row's name among them."""
    kind = column.dtype.kind
    if kind in "fcmM" and column.size and (gaps := np.isnan(column) if kind in "fc" else np.isnat(column)).any():
        raise _gap(axis, start + int(gaps.argmax()))
    if kind != "O":
        codes, names = codes_of_array(column)
        return [plain_name(name) for name in names], codes
    values = [plain_name(value) for value in column.tolist()]
    try:
        codes, names = codes_of_objects(values)
    except TypeError:
        row = first_unhashable(values) or 0
        raise InvalidData(
            f"CoOccurrence: column {axis!r} holds {values[row]!r} (row {start + row}, counted from 0), which cannot be "
            "a name: names must be hashable."
        ) from None
    gap_codes = np.flatnonzero([is_missing(name) for name in names])
    if gap_codes.size:
        raise _gap(axis, start + int(np.flatnonzero(np.isin(codes, gap_codes))[0]))
    return list(names), codes


def _frame(table: Any) -> Any:
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(table, arrow.RecordBatch):
        table = arrow.Table.from_batches([table])
    import narwhals as nw  # a quarter of a second, which mappings of columns need not wait for

    try:
        return nw.from_native(table, eager_only=True)
    except TypeError:
        raise InvalidData(
            "CoOccurrence: a table is a data frame (pandas, polars, arrow) or a mapping of columns, "
            f"got {type(table).__name__}."
        ) from None


def _column(table: Mapping[Any, Any], name: str) -> Any:
    if name not in table:
        raise UnknownName(f"CoOccurrence: the table has no column {name!r}. {nearest(name, table)}")
    return table[name]


def _flat(column: Any, name: str) -> NDArray[Any]:
    array = column if isinstance(column, np.ndarray) else _from_sequence(column)
    if array.ndim != 1:
        raise InvalidData(f"CoOccurrence: column {name!r} must be one-dimensional, got shape {array.shape}.")
    return array


def _from_sequence(column: Any) -> NDArray[Any]:
    """Turn a list into an array without letting NumPy turn numbers beside strings into strings."""
    if not isinstance(column, (list, tuple)):
        return np.asarray(column)
    if len({type(value) for value in column}) == 1 and isinstance(column[0], (str, int, float, np.generic)):
        array = np.asarray(column)
        if array.dtype.kind != "f" or isinstance(column[0], (float, np.floating)):  # ints beyond 64 bits become floats
            return array
    out = np.empty(len(column), dtype=object)
    for i, value in enumerate(column):
        out[i] = value
    return out


def _check_lengths(columns: Mapping[str, NDArray[Any]]) -> None:
    (first, reference), *rest = columns.items()
    for name, column in rest:
        if len(column) != len(reference):
            raise InvalidData(
                f"CoOccurrence: column {first!r} has {len(reference)} rows but column {name!r} has {len(column)}."
            )


def _checked_weights(column: Any, name: str, start: int) -> NDArray[np.float64]:
    try:
        values = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidData(f"CoOccurrence: the weights in column {name!r} must be numbers.") from None
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise InvalidData(
            f"CoOccurrence: the weight in column {name!r}, row {start + row} (counted from 0), is {values[row]:g}. "
            "Weights are finite and >= 0."
        )
    return values
