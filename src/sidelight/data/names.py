"""Names that users bring (ids of bags, rows, classes, annotators) as plain Python values and integer codes.

A name is any hashable value except a missing one: None, NaN and NaT name nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.names import Names, codes_of_array, codes_of_objects, first_unhashable, is_missing, plain
from sidelight.errors import InvalidData, OutOfRange, UnknownName, nearest

if TYPE_CHECKING:
    import narwhals.stable.v1 as nw

__all__ = [
    "Names",
    "as_array",
    "as_list",
    "check_distinct",
    "encode",
    "flags_of",
    "is_missing",
    "look_up",
    "plain",
    "sorted_names",
    "table_columns",
]


# Data frames and series of any library, through narwhals, which is imported only when something may be one.


_PLAIN = (np.ndarray, list, tuple, range, str, bytes, Mapping, Set, int, float, type(None))


def as_frame(table: Any) -> nw.DataFrame[Any] | None:
    """Return a data frame that is in memory, as narwhals sees it; None for anything else."""
    if isinstance(table, _PLAIN):
        return None
    import narwhals.stable.v1 as nw  # a quarter of a second, which lists and arrays need not wait for

    frame = nw.from_native(table, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def as_series(values: Any) -> nw.Series[Any] | None:
    """Return a series as narwhals sees it; None for anything else."""
    if isinstance(values, _PLAIN):
        return None
    import narwhals.stable.v1 as nw  # as above

    series = nw.from_native(values, series_only=True, pass_through=True)
    return series if isinstance(series, nw.Series) else None


def encode(values: Any, what: str, per: str = "row") -> tuple[Names, NDArray[np.intp]]:
    """Return the distinct names in order of first appearance, and the position of each value among them.

    Parameters
    ----------
    values : sequence, array or series
        One name per row.
    what : str
        What a name is called in messages, for example ``"bag id"``.
    per : str
        What has a name each, in messages; ``"place"`` for a plain list of names.
    """
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iu":
        codes, names = codes_of_array(values)
        return names, codes
    items = as_list(values, what, per)
    try:
        codes, names = codes_of_objects(items)
    except TypeError as error:
        raise _unhashable(items, what, per) from error
    if not set(map(type, names)) <= {str, int}:  # the usual names need no second look
        names = tuple(plain(name) for name in names)
        for code, name in enumerate(names):
            if is_missing(name):
                row = int(np.flatnonzero(codes == code)[0])
                raise InvalidData(
                    f"{per.capitalize()} {row} has no {what}: it is {name!r}. Give every {per} a {what}, or drop it."
                )
    return names, codes


def as_list(values: Any, what: str, per: str = "row") -> list[Any]:
    """Return one Python value per row from a list, an array, or a series of any data frame library."""
    wanted = f"Expected one {what} per {per}" if per != "place" else f"Expected {what} names in order"
    wanted += ": a list, an array or a series."
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise InvalidData(f"{wanted} Got an array of shape {values.shape}; use a single column.")
        return list(values) if values.dtype.kind in "mM" else values.tolist()
    if isinstance(values, (list, tuple, range)):
        return list(values)
    if isinstance(values, (str, bytes, Mapping, Set)) or values is None:
        raise InvalidData(f"{wanted} Got {_shown(values)}, which is not a list of them.")
    series = as_series(values)
    if series is not None:
        return series.to_list()
    if hasattr(values, "columns"):  # a frame, also one that is not in memory
        raise InvalidData(f"{wanted} Got a whole table; pick the column that holds the {what}s.")
    try:
        return list(values)
    except TypeError as error:
        raise InvalidData(f"{wanted} Got {_shown(values)}.") from error


def as_array(values: Any, who: str) -> NDArray[Any]:
    """Return an array of what was given; a ragged list is an error."""
    try:
        return np.array(values)
    except ValueError as error:
        raise InvalidData(f"{who}: expected an array. Got {_shown(values)}, whose parts differ in length.") from error


def sorted_names(names: Iterable[Hashable]) -> Names:
    """Sort names; those of types that do not compare are sorted by type and text."""
    names = list(names)
    try:
        return tuple(sorted(names))  # type: ignore[type-var]  # the except below is for names without an order
    except TypeError:
        return tuple(sorted(names, key=lambda name: (type(name).__name__, repr(name))))


def check_distinct(names: Any, what: str) -> Names:
    """Return given names as a tuple; missing or repeated ones are an error."""
    distinct, codes = encode(names, what, per="place")
    if len(distinct) < len(codes):
        first_again = int(np.flatnonzero(np.bincount(codes) > 1)[0])
        raise InvalidData(f"Every {what} must be different, but {distinct[first_again]!r} appears more than once.")
    return distinct


def look_up(name: Any, code_of: Mapping[Hashable, int], who: str, what: str) -> int:
    """Return the code of a name; an unknown one is an error that lists the nearest."""
    try:
        return code_of[name]
    except TypeError as error:
        raise InvalidData(f"{who}: a {what} must be hashable. Got {_shown(name)}; use a tuple for a list.") from error
    except KeyError:
        raise UnknownName(f"{who}: unknown {what} {name!r}. {nearest(name, code_of)}") from None


def flags_of(names: Any, code_of: Mapping[Hashable, int], who: str, what: str = "bag") -> NDArray[np.bool_]:
    """Return True at the codes of the given names."""
    flags = np.zeros(len(code_of), dtype=bool)
    if isinstance(names, (str, bytes, Mapping)) or not isinstance(names, Iterable):
        raise InvalidData(f"{who}: expected a collection of {what} names. Got {names!r}.")
    for name in names:
        flags[look_up(name, code_of, who, what)] = True
    return flags


def table_columns(table: Any, columns: Sequence[str | None], who: str) -> tuple[list[Any], ...]:
    """Return columns of a data frame, or of a sequence of tuples, as lists.

    Parameters
    ----------
    table : data frame or sequence of tuples
        Any frame that narwhals knows, or one tuple per row.
    columns : sequence of str or None
        The names of the wanted columns in a data frame; None takes the column at that position.
    who : str
        Who complains.
    """
    frame = as_frame(table)
    width = len(columns)
    if frame is not None:
        known = frame.columns
        wanted = []
        for position, name in enumerate(columns):
            if name is None and position >= len(known):
                raise InvalidData(f"{who}: expected a table of {width} columns. Got the columns {known}.")
            wanted.append(known[position] if name is None else name)
            if wanted[-1] not in known:
                raise UnknownName(f"{who}: the table has no column {name!r}. {nearest(name, known)}")
        return tuple(frame.get_column(name).to_list() for name in wanted)
    is_one = isinstance(table, np.ndarray) and not table.ndim
    if is_one or isinstance(table, (str, bytes, Mapping, Set)) or not isinstance(table, Iterable):
        raise InvalidData(f"{who}: expected a data frame or a list of {width}-tuples. Got {_shown(table)}.")
    rows = [tuple(row) if isinstance(row, (tuple, list, np.ndarray)) else row for row in table]
    for position, row in enumerate(rows):
        if not isinstance(row, tuple) or len(row) != width:
            raise InvalidData(f"{who}: entry {position} must be a tuple of {width} values. Got {_shown(row)}.")
    return tuple([plain(row[column]) for row in rows] for column in range(width))


def _unhashable(items: list[Any], what: str, per: str) -> InvalidData:
    row = first_unhashable(items)
    if row is None:
        return InvalidData(f"These {what}s cannot be compared with each other.")
    return InvalidData(
        f"{per.capitalize()} {row}: a {what} must be hashable. Got {_shown(items[row])}; use a tuple for a list."
    )


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


def as_row_index(key: Any, n_rows: int, who: str, what: str = "row") -> NDArray[np.intp]:
    """Return the selected rows (or answers) as non-negative positions, in the order of the key."""
    if isinstance(key, tuple):
        key = _without_ellipsis(key, who)
    if key is Ellipsis:
        key = slice(None)
    if isinstance(key, slice):
        return np.arange(n_rows, dtype=np.intp)[key]
    array = as_array(key, who)
    if array.ndim != 1:
        got = f"{key!r}" if array.ndim == 0 else f"the shape {array.shape}"
        raise InvalidData(f"{who}: {what}s are selected by integers, a mask or a slice. Got {got}.")
    if array.dtype == bool:
        if len(array) != n_rows:
            raise OutOfRange(f"{who}: a mask must be as long as the {what}s ({n_rows}). Got {len(array)} values.")
        return np.flatnonzero(array)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InvalidData(f"{who}: {what}s are selected by integers, a mask or a slice. Got {plain(array[0])!r}.")
    index = array.astype(np.intp)
    outside = (index < -n_rows) | (index >= n_rows)
    if outside.any():
        raise OutOfRange(f"{who}: there are {n_rows} {what}s, so there is no {what} {index[outside][0]}.")
    return np.where(index < 0, index + n_rows, index)


def is_one_row(key: Any) -> bool:
    """Say whether a key picks a single row, not a selection of rows."""
    return isinstance(key, (int, np.integer)) and not isinstance(key, bool)


def _without_ellipsis(key: tuple[Any, ...], who: str) -> Any:
    kept = [part for part in key if part is not Ellipsis]
    if len(kept) > 1:
        raise InvalidData(f"{who} has one axis, its rows. Got a key with {len(kept)} parts.")
    return kept[0] if kept else slice(None)
