"""Label sets of rows as one matrix that keeps "off" apart from "nobody looked".

An entry is 1 (seen), 0 (not seen) or -1 (nobody looked). What 0 means is for the model to say: an answer, or perhaps a
gap. A label that nobody looked at must not be counted as 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sidelight._core.params import as_sequence
from sidelight.data.frozen import Frozen, read_only
from sidelight.data.names import is_missing, plain, sorted_names
from sidelight.data.summaries import html_table
from sidelight.errors import InvalidData, UnknownName, nearest
from sidelight.words import counted

Entries = NDArray[np.int8]
UNKNOWN = -1
_ONE_NAME = "a sequence with one name a column"


class LabelMatrix(Frozen):
    """Which labels were seen on which rows, and where nobody looked.

    Parameters
    ----------
    values : array-like or sparse matrix of shape (n_rows, n_labels)
        1 seen, 0 not seen, -1 or NaN nobody looked. In a sparse matrix what is not stored is 0.
    names : sequence, optional
        A name for each column, all different; ``"0"``, ``"1"``, ... by default.

    Attributes
    ----------
    values : ndarray of int8, shape (n_rows, n_labels)
        1, 0 and -1.
    names : tuple of str
    has_names : bool
        Whether the names were given, or are only numbers of columns.
    n_rows, n_labels : int
    is_seen, is_known : ndarray of bool, shape (n_rows, n_labels)
        Where a label was seen; where somebody looked.

    Examples
    --------
    >>> import sidelight as sl
    >>> sl.LabelMatrix([[1, 0, -1], [0, 1, 1]], names=["bird", "wren", "frog"])
    LabelMatrix(2 rows, 3 labels; 3 seen, 1 unknown)
    >>> sl.LabelMatrix.from_sets([{"bird"}, {"bird", "wren"}, None]).values.tolist()
    [[1, 0], [1, 1], [-1, -1]]
    """

    values: Entries
    names: tuple[str, ...]
    has_names: bool
    _fields = ("values", "names", "has_names")

    def __init__(self, values: Any, names: Iterable[Any] | None = None) -> None:
        entries = _as_entries(values)
        has_names = names is not None
        chosen = _as_names(range(entries.shape[1]) if names is None else names, entries.shape[1])
        self.__setstate__({"values": entries, "names": chosen, "has_names": has_names})

    @classmethod
    def from_sets(cls, sets: Iterable[Any], names: Iterable[Any] | None = None) -> Self:
        """Make a matrix from one collection of label names a row.

        Parameters
        ----------
        sets : iterable of collections of names
            An empty collection: none of the labels was seen. None: nobody looked at this row. A bare string is one
            name.
        names : sequence, optional
            All labels in their order; what occurs, sorted, by default.
        """
        listed = as_sequence("LabelMatrix.from_sets", "sets", sets, "a sequence with one collection of names a row")
        rows = [_members(members, row) for row, members in enumerate(listed)]
        used = {name for members in rows if members is not None for name in members}
        order = sorted_names(used) if names is None else tuple(as_sequence("LabelMatrix", "names", names, _ONE_NAME))
        columns = _as_names(order, len(order))
        if not columns:
            raise InvalidData("LabelMatrix: no row has any label. Give at least one row a label, or pass names=.")
        column_of = {name: column for column, name in enumerate(columns)}
        values = np.zeros((len(rows), len(columns)), dtype=np.int8)
        for row, members in enumerate(rows):
            if members is None:
                values[row] = UNKNOWN
                continue
            for name in members:
                if str(name) not in column_of:
                    raise UnknownName(
                        f"LabelMatrix: row {row} has the label {name!r}, which is not among the names. "
                        f"{nearest(name, columns)}"
                    )
                values[row, column_of[str(name)]] = 1
        return cls(values, columns)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.values.shape[0])

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return int(self.values.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and labels."""
        return self.n_rows, self.n_labels

    @property
    def ndim(self) -> int:
        """Always 2."""
        return 2

    @cached_property
    def is_seen(self) -> NDArray[np.bool_]:
        """Where a label was seen."""
        return read_only(self.values == 1)

    @cached_property
    def is_known(self) -> NDArray[np.bool_]:
        """Which entries were checked."""
        return read_only(self.values != UNKNOWN)

    def with_names(self, names: Sequence[str]) -> Self:
        """Return the same labels as columns in the order of ``names``.

        Columns without names of their own are taken in their order. A label that ``names`` lacks is an error; one that
        is only in ``names`` becomes a column that nobody looked at.
        """
        wanted = tuple(as_sequence("LabelMatrix.with_names", "names", names, "a sequence of names of labels"))
        for name in wanted:
            if not isinstance(name, str):
                raise InvalidData(f"LabelMatrix.with_names: the names of labels are texts. Got {name!r:.80}.")
        if self.names == wanted and self.has_names:
            return self
        if not self.has_names:
            if len(wanted) != self.n_labels:
                raise InvalidData(
                    f"LabelMatrix: expected {len(wanted)} columns, one for each of the labels {_some(wanted)}. "
                    f"Got {self.n_labels}."
                )
            return type(self)._make(values=self.values, names=wanted, has_names=True)
        place = {name: column for column, name in enumerate(wanted)}
        for name in self.names:
            if name not in place:
                raise UnknownName(f"LabelMatrix: the label {name!r} is not known here. {nearest(name, wanted)}")
        values = np.full((self.n_rows, len(wanted)), UNKNOWN, dtype=np.int8)
        values[:, [place[name] for name in self.names]] = self.values
        return type(self)._make(values=values, names=wanted, has_names=True)

    def to_table(self) -> dict[str, list[int | None]]:
        """Return one column a label, None where nobody looked, for any data frame library."""
        return {
            name: [None if value == UNKNOWN else int(value) for value in self.values[:, column]]
            for column, name in enumerate(self.names)
        }

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, key: Any) -> LabelMatrix:
        rows = key[0] if isinstance(key, tuple) else key
        if isinstance(key, tuple) and any(part is not Ellipsis and part != slice(None) for part in key[1:]):
            raise InvalidData("LabelMatrix: select rows only, as in labels[rows]; labels.values is a plain array.")
        if isinstance(rows, (int, np.integer)):
            raise InvalidData(
                f"LabelMatrix: labels[{rows}] is one row; select [{rows}:{rows + 1}] or use labels.values."
            )
        return type(self)._make(values=self.values[rows], names=self.names, has_names=self.has_names)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype) if copy or dtype is not None else self.values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelMatrix):
            return NotImplemented
        return self.names == other.names and np.array_equal(self.values, other.values)

    __hash__ = None  # type: ignore[assignment]  # compared by value, and values are arrays

    def __repr__(self) -> str:
        unknown = int((~self.is_known).sum())
        more = f", {unknown} unknown" if unknown else ""
        rows, labels = counted(self.n_rows, "row"), counted(self.n_labels, "label")
        return f"LabelMatrix({rows}, {labels}; {int(self.is_seen.sum())} seen{more})"

    def _repr_html_(self) -> str:
        seen = self.is_seen.sum(axis=0)
        order = np.argsort(-seen, kind="stable")[:12]
        shown = ", ".join(f"{self.names[i]} ({seen[i]})" for i in order)
        facts = {
            "rows": self.n_rows,
            "labels": self.n_labels,
            "seen": int(seen.sum()),
            "nobody looked": int((~self.is_known).sum()),
            "rows with each label": shown + (f" and {self.n_labels - 12} more" if self.n_labels > 12 else ""),
        }
        return html_table("LabelMatrix", facts)

    def __archive__(self) -> dict[str, Any]:
        """Return arrays and plain values from which :meth:`__unarchive__` makes an equal matrix."""
        return {"values": self.values, "names": list(self.names) if self.has_names else None}

    @classmethod
    def __unarchive__(cls, state: Mapping[str, Any]) -> Self:
        """Make the matrix that :meth:`__archive__` described."""
        return cls(state["values"], state["names"])


def _as_entries(values: Any) -> Entries:
    """Return 1, 0 and -1 as int8, or say which entry is something else."""
    if sparse.issparse(values):
        stored = sparse.coo_array(values)
        stored.sum_duplicates()
        entries = np.zeros(stored.shape, dtype=np.int8)
        entries[stored.row, stored.col] = _checked(np.asarray(stored.data), (stored.row, stored.col))
        _ask_about_minus_one(entries)
        return entries
    try:
        array = np.asarray(values)
        if array.dtype == object:
            array = np.where(_missing_cells(array), np.nan, array).astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidData(
            f"LabelMatrix: expected rows of 0, 1 and -1 (nobody looked). Got a {type(values).__name__} that is no such "
            "table. For names of labels use LabelMatrix.from_sets."
        ) from error
    if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in "biuf":
        raise InvalidData(
            "LabelMatrix: expected a (rows x labels) matrix of 0, 1 and -1 (nobody looked). "
            f"Got an array of shape {array.shape} of {array.dtype}."
        )
    entries = _checked(array, None)
    _ask_about_minus_one(entries)
    return entries


def _checked(array: NDArray[Any], places: Any) -> Entries:
    if array.dtype.kind == "b":
        return array.astype(np.int8)
    unknown = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, dtype=bool)
    wrong = ~(unknown | (array == 0) | (array == 1) | (array == UNKNOWN))
    if wrong.any():
        at = np.argwhere(wrong)[0]
        row, column = at if places is None else (axis[at[0]] for axis in places)
        raise InvalidData(
            f"LabelMatrix: row {row}, column {column} is {array[tuple(at)]:g}; a label is 1 (seen), 0 (not seen), or "
            "-1 or NaN (nobody looked)."
        )
    entries: Entries = np.where(unknown, UNKNOWN, array).astype(np.int8)
    return entries


def _ask_about_minus_one(entries: Entries) -> None:
    """Refuse -1 beside 1 without a single 0: it may mean "off" or "nobody looked"."""
    if entries.size and (entries == UNKNOWN).any() and (entries == 1).any() and not (entries == 0).any():
        raise InvalidData(
            "LabelMatrix: the labels hold only -1 and 1. If -1 means off, pass (Y > 0). If -1 means that nobody "
            "looked, no label was ever found absent, and nothing can be learned from that."
        )


def _missing_cells(array: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([is_missing(cell) for cell in array.ravel()], dtype=bool).reshape(array.shape)


def _members(members: Any, row: int) -> list[str] | None:
    """Return the label names of one row as text; None when nobody looked."""
    if is_missing(members):
        return None
    if isinstance(members, str):
        members = [members]
    if isinstance(members, (bytes, Mapping)) or not isinstance(members, Iterable):
        raise InvalidData(
            f"LabelMatrix: row {row} must be a collection of label names, or None where nobody looked. Got {members!r}."
        )
    names = [plain(name) for name in members]
    for name in names:
        if is_missing(name):
            raise InvalidData(f"LabelMatrix: row {row} has the label {name!r}, which names nothing.")
    return [str(name) for name in names]


def _as_names(names: Iterable[Any], n_labels: int) -> tuple[str, ...]:
    chosen = tuple(str(plain(name)) for name in as_sequence("LabelMatrix", "names", names, _ONE_NAME))
    if len(chosen) != n_labels:
        raise InvalidData(f"LabelMatrix: {n_labels} columns but {len(chosen)} names. Bring one name a column.")
    for place, name in enumerate(chosen):
        if not name or name != name.strip() or len(name.splitlines()) != 1:
            raise InvalidData(
                f"LabelMatrix: label {place} is named {name!r}; a name is one line of text without spaces around it."
            )
    if len(set(chosen)) < len(chosen):
        twice = next(name for place, name in enumerate(chosen) if name in chosen[:place])
        raise InvalidData(f"LabelMatrix: the name {twice!r} appears more than once. Make names unique.")
    return chosen


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
