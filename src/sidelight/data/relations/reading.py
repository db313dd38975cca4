"""From what users wrote down to columns of numbers; every complaint names the answer it is about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.data.names import Names, as_array, as_frame, as_list, encode, is_missing, plain, table_columns
from sidelight.errors import InvalidData, OutOfRange, UnknownName, WrongKind, close_names, nearest

Ints = NDArray[np.intp]
MAX_ROWS = 2**31  # two rows fit into one int64 key
EXTRAS = ("weight", "annotator", "time")
# What columns of people are called.
ANNOTATORS = ("annotator", "person", "rater", "labeller", "labeler", "coder", "worker")


def column_of(extra: str, columns: Sequence[str]) -> str | None:
    """Return the column that holds weights, annotators or times by its name, without case; None where there is none."""
    called = ANNOTATORS if extra == "annotator" else (extra,)
    by_name = {str(column).strip().lower(): column for column in reversed(columns)}
    return next((by_name[name] for name in called if name in by_name), None)


def answer_columns(
    table: Any, columns: Sequence[str | None], extra: dict[str, str | None], who: str
) -> tuple[list[list[Any]], list[list[Any] | None]]:
    """Return the wanted columns of a table, and those of weights, annotators and times that it has.

    In a data frame the optional columns go by their names, in a list of tuples by their positions.
    """
    frame = as_frame(table)
    if frame is not None:
        by_place = dict(enumerate(frame.columns))
        own = {by_place.get(place) if name is None else name for place, name in enumerate(columns)}
        further = [name for name in frame.columns if name not in own]
        wanted = [extra[name] or column_of(name, further) for name in EXTRAS]
        present = [name for name in wanted if name is not None]
        found = list(table_columns(table, [*columns, *present], who))
        more = [found[len(columns) + present.index(name)] if name is not None else None for name in wanted]
        return found[: len(columns)], more
    if type(table).__module__.startswith("scipy.sparse"):  # not imported for it: a small table needs no SciPy
        raise WrongKind(
            f"{who}: expected a list of answers such as (0, 1, 'same'), or a data frame with a row an answer. Got a "
            f"{type(table).__name__} of shape {table.shape}: its numbers name no rows. List the rows of each answer."
        )
    if isinstance(table, np.ndarray):
        table = list(np.atleast_1d(table))
    try:
        width = min(max(len(table[0]), len(columns)), len(columns) + len(EXTRAS))
    except (TypeError, IndexError, KeyError):
        width = len(columns)
    found = list(table_columns(table, [None] * width, who))
    return found[: len(columns)], [*found[len(columns) :], None, None, None][: len(EXTRAS)]


def as_n_rows(n_rows: Any, who: str) -> int:
    """Return the number of rows."""
    is_int = isinstance(n_rows, (int, np.integer)) and not isinstance(n_rows, bool)
    if not is_int or not 0 <= n_rows < MAX_ROWS:
        raise InvalidData(f"{who}: n_rows must be the number of rows, an int from 0 to {MAX_ROWS - 1}. Got {n_rows!r}.")
    return int(n_rows)


def as_rows(columns: Sequence[Any], n_rows: int, who: str, ids: Names | None = None) -> Ints:
    """Return the rows of each answer, shape (n_answers, width); all there, all different within an answer.

    With ``ids``, complaints call the rows by these.
    """
    arrays = [_whole(as_array(column, who)) for column in columns]
    if len({array.shape for array in arrays}) > 1 or arrays[0].ndim != 1:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise InvalidData(f"{who}: expected columns of row numbers, equally long. Got the shapes {shapes}.")
    for column, array in zip(columns, arrays):
        if array.size and array.dtype.kind not in "iu":
            items = [plain(item) for item in column]
            answer = next((i for i, item in enumerate(items) if type(item) is not int or abs(item) >= 2**63), 0)
            raise InvalidData(
                f"{who}: answer {answer} is about row {items[answer]!r}, but rows are numbered 0 to {n_rows - 1}. For "
                f"other names use {who}.from_table(table, ids=names), such as ids=X.index."
            )
    outside = np.array([(array < 0) | (array >= n_rows) for array in arrays]).T
    if outside.any():
        answer, side = (int(place[0]) for place in outside.nonzero())
        raise OutOfRange(f"{who}: answer {answer} is about row {arrays[side][answer]}, but there are {n_rows} rows.")
    rows = np.ascontiguousarray(np.stack(arrays, axis=1).astype(np.intp))
    ordered = np.sort(rows, axis=1)
    repeated = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if len(repeated):
        asked = tuple(rows[repeated[0]].tolist())
        asked = asked if ids is None else tuple(ids[row] for row in asked)
        raise InvalidData(f"{who}: answer {repeated[0]} is about the rows {asked}; they must all differ.")
    return rows


def _whole(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return integers that come as objects as numbers; anything else as it is."""
    if numbers.dtype != object or not all(type(plain(one)) is int and abs(one) < 2**63 for one in numbers.flat):
        return numbers
    return numbers.astype(np.int64)


def as_codes(said: Any, words: tuple[str, ...], aliases: dict[Any, str], n_answers: int, who: str) -> Ints:
    """Return the position of each answer among the words; an alias is taken for its word."""
    code_of: dict[Any, int] = {(str, word): code for code, word in enumerate(words)}
    code_of |= {(type(alias), alias): words.index(word) for alias, word in aliases.items()}
    items = [plain(item) for item in as_list(said, "answer", "question")]
    if len(items) != n_answers:
        raise InvalidData(f"{who}: {n_answers} questions but {len(items)} answers. Give one answer for each.")
    codes = np.empty(n_answers, dtype=np.intp)
    for answer, word in enumerate(items):
        code = code_of.get((type(word), word)) if isinstance(word, (str, bool, int)) else None
        if code is None:
            hint = nearest(word, words)
            if word == "unsure" or is_missing(word):
                hint = "An unsure or missing answer says nothing about the rows: leave it out."
            elif not close_names(word, words):
                hint = (
                    f"As values of another kind: {', '.join(f'{alias!r} ({word})' for alias, word in aliases.items())}."
                )
            raise UnknownName(f"{who}: answer {answer} is {word!r}, not one of {', '.join(map(repr, words))}. {hint}")
        codes[answer] = code
    return codes


def as_weights(weights: Any, n_answers: int, who: str) -> NDArray[np.float64]:
    """Return a weight for each answer; 1 where none is given."""
    numbers = _numbers(weights, n_answers, 1.0, who, "weight")
    wrong = np.flatnonzero(~((numbers >= 0) & np.isfinite(numbers)))
    if len(wrong):
        raise InvalidData(f"{who}: the weight of answer {wrong[0]} is {numbers[wrong[0]]}; weights are 0 or more.")
    return numbers


def as_times(times: Any, n_answers: int, who: str) -> NDArray[np.float64]:
    """Return a time for each answer in seconds (dates: since 1970, UTC unless they say otherwise), or NaN."""
    return _numbers(times, n_answers, np.nan, who, "time")


def as_annotators(annotators: Any, n_answers: int, who: str) -> tuple[Names, Ints]:
    """Return the names of the annotators, and for each answer the position of its annotator or -1."""
    codes = np.full(n_answers, -1, dtype=np.intp)
    if annotators is None:
        return (), codes
    items = as_list(annotators, "annotator", "answer")
    if len(items) != n_answers:
        raise InvalidData(f"{who}: {n_answers} answers but {len(items)} annotators. Give one for each, or None.")
    known = np.array([not is_missing(item) for item in items], dtype=bool)
    names, codes[known] = encode([item for item, is_known in zip(items, known) if is_known], "annotator", "answer")
    return names, codes


def still_used(names: Names, codes: Ints) -> tuple[Names, Ints]:
    """Drop the names that no code stands for, and number the others by first appearance; -1 stays."""
    used, first = np.unique(codes, return_index=True)
    by_appearance = used[np.argsort(first)]
    by_appearance = by_appearance[by_appearance >= 0]
    renumbered = np.full(len(names) + 1, -1, dtype=np.intp)  # the last entry is for -1
    renumbered[by_appearance] = np.arange(len(by_appearance))
    return tuple(names[code] for code in by_appearance.tolist()), renumbered[codes]


def _numbers(values: Any, n_answers: int, default: float, who: str, what: str) -> NDArray[np.float64]:
    if values is None:
        return np.full(n_answers, default)
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        values = values.astype("datetime64[us]").astype(object)
    items = as_list(values, what, "answer")
    if len(items) != n_answers:
        raise InvalidData(f"{who}: {n_answers} answers but {len(items)} {what}s. Give one for each, or None.")
    numbers = np.empty(n_answers)
    for answer, item in enumerate(items):
        if is_missing(item):
            item = default
        elif isinstance(item, datetime) and what == "time":
            item = (item if item.tzinfo else item.replace(tzinfo=UTC)).timestamp()
        if isinstance(item, bool) or not isinstance(item, (int, float, np.number)):
            raise InvalidData(f"{who}: the {what} of answer {answer} is {item!r}; expected a number, or None.")
        try:
            numbers[answer] = item
        except OverflowError as error:
            raise InvalidData(f"{who}: the {what} of answer {answer} is too large.") from error
    return numbers
