"""How often two labellings of the same rows meet: the non-zero cells of their table, in memory O(rows).

Any hashable labels become codes 0, 1, ... in the order of first appearance (:func:`encode`); a table of codes keeps its
non-zero cells only, so a thousand clusters against a million singletons is no larger than the rows themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidelight._core.names import Names, codes_of_array, codes_of_objects, first_unhashable, is_missing
from sidelight._core.segments import segment_argmax, segment_max
from sidelight.errors import InvalidData

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Contingency:
    """The non-zero cells of a table of counts, sorted by row and then by column.

    Attributes
    ----------
    rows, columns : ndarray of intp
        Where each cell lies.
    counts : ndarray
        How much lies there: int64, or float64 when the rows were weighted.
    shape : tuple of int
        The size of the whole table.
    """

    rows: Ints
    columns: Ints
    counts: NDArray[Any]
    shape: tuple[int, int]

    @cached_property
    def row_totals(self) -> NDArray[Any]:
        """The sum of each row."""
        return self._totals(self.rows, self.shape[0])

    @cached_property
    def column_totals(self) -> NDArray[Any]:
        """The sum of each column."""
        return self._totals(self.columns, self.shape[1])

    @cached_property
    def total(self) -> Any:
        """The sum of all cells."""
        return self.counts.sum().item()

    @cached_property
    def row_starts(self) -> Ints:
        """Where the cells of each row begin, and at the end the number of cells."""
        return np.searchsorted(self.rows, np.arange(self.shape[0] + 1)).astype(np.intp)

    def row_largest(self) -> NDArray[Any]:
        """The largest count of each row; 0 where a row is empty."""
        return np.maximum(segment_max(self.counts, self.row_starts), 0)

    def row_favourite(self) -> Ints:
        """The column of the largest count of each row, the lowest among equals; -1 where a row is empty."""
        cell = segment_argmax(self.counts, self.row_starts)
        return np.where(cell >= 0, self.columns[np.maximum(cell, 0)], -1) if len(self.columns) else cell

    def dense(self) -> NDArray[Any]:
        """The whole table; ask for it only where it is known to be small."""
        table = np.zeros(self.shape, dtype=self.counts.dtype)
        table[self.rows, self.columns] = self.counts
        return table

    def sparse(self) -> Any:
        """The whole table as a CSR array."""
        from scipy.sparse import csr_array

        return csr_array((self.counts, (self.rows, self.columns)), shape=self.shape)

    def _totals(self, codes: Ints, n_codes: int) -> NDArray[Any]:
        totals = np.bincount(codes, weights=self.counts, minlength=n_codes)  # float64: exact for counts below 2**53
        return totals.astype(self.counts.dtype)


def contingency(
    row_codes: ArrayLike,
    column_codes: ArrayLike,
    shape: tuple[int, int] | None = None,
    *,
    weights: ArrayLike | None = None,
) -> Contingency:
    """Count how often code ``i`` of the first labelling meets code ``j`` of the second.

    Parameters
    ----------
    row_codes, column_codes : array-like of int
        One non-negative code per row.
    shape : tuple of int, optional
        The size of the table; by default as large as the codes need.
    weights : array-like of float, optional
        What each row counts; by default 1.
    """
    a, b = np.asarray(row_codes, dtype=np.intp), np.asarray(column_codes, dtype=np.intp)
    if a.shape != b.shape or a.ndim != 1:
        raise InvalidData(f"Two labellings of the same rows are needed; got shapes {a.shape} and {b.shape}.")
    if shape is None:
        shape = (int(a.max(initial=-1)) + 1, int(b.max(initial=-1)) + 1)
    for codes, size in zip((a, b), shape):
        if len(codes) and not (codes.min() >= 0 and codes.max() < size):
            raise InvalidData(f"Codes must lie in 0..{size - 1}; got {codes.min()} to {codes.max()}.")
    key = a * shape[1] + b
    w = None if weights is None else np.asarray(weights, dtype=np.float64)
    # A table of this size costs no more than the rows; above it, sorting keeps the memory O(rows).
    if shape[0] * shape[1] <= max(4 * len(key), 1 << 16):
        present = np.bincount(key, minlength=shape[0] * shape[1])
        cells = np.flatnonzero(present)
        counts = present[cells] if w is None else np.bincount(key, weights=w)[cells]
    else:
        cells, inverse, present = np.unique(key, return_inverse=True, return_counts=True)
        counts = present if w is None else np.bincount(inverse, weights=w)
    return Contingency(cells // max(shape[1], 1), cells % max(shape[1], 1), counts, shape)


def encode(labels: Any, *, what: str = "labels") -> tuple[Ints, Names]:
    """Give every row the code of its label, in the order of first appearance.

    Parameters
    ----------
    labels : array-like or iterable of hashable
        One label per row: numbers, strings, tuples, dates, ... (a Series or array of them works too).
    what : str
        What the labels are called in an error message.

    Returns
    -------
    codes : ndarray of intp
    names : tuple
        ``names[codes[i]] == labels[i]``.

    Raises
    ------
    InvalidData
        When a label is missing (NaN, None, NaT), cannot be hashed, or the labels have more than one axis.
    """
    if not hasattr(labels, "__array__"):
        if isinstance(labels, (str, bytes, Set, Mapping)) or not isinstance(labels, Iterable):
            raise InvalidData(f"The {what} must be a list or array, one label per row; got {_short(labels)}.")
        return _encode_objects(list(labels), what)
    values = np.asarray(labels)
    if values.ndim != 1:
        raise InvalidData(f"The {what} must have one axis, one label per row; got an array of shape {values.shape}.")
    if values.dtype.kind in "iub":
        return codes_of_array(values)
    if values.dtype.kind in "fcmM":
        _refuse_missing(np.flatnonzero(values != values), values, what)
        return codes_of_array(values)
    return _encode_objects(values.tolist(), what)


def _encode_objects(values: list[Any], what: str) -> tuple[Ints, Names]:
    try:
        codes, names = codes_of_objects(values)
    except TypeError as error:
        row = first_unhashable(values)
        if row is None:
            raise
        raise InvalidData(
            f"The {what} must be hashable; row {row} holds {values[row]!r} ({type(values[row]).__name__}). "
            "Use numbers, strings or tuples."
        ) from error
    gaps = np.flatnonzero([is_missing(name) for name in names])
    _refuse_missing(np.flatnonzero(np.isin(codes, gaps)), values, what)
    return codes, names


def _refuse_missing(rows: Any, values: Any, what: str) -> None:
    if len(rows):
        others = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        raise InvalidData(
            f"The {what} contain a missing value: row {rows[0]} holds {values[rows[0]]!r}{others}. "
            "Drop these rows or give them a label of their own."
        )


def _short(value: Any) -> str:
    shown = repr(value)
    return f"{type(value).__name__} {shown if len(shown) <= 40 else shown[:37] + '...'}"
