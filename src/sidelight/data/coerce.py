"""From what users pass to supervision objects: the only place that guesses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from sidelight.data.bags import Bags
from sidelight.data.label_matrix import LabelMatrix
from sidelight.data.names import as_array, as_frame, as_series, is_missing
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import InvalidData, warn
from sidelight.words import counted

A = TypeVar("A", Pairs, Triplets)


def as_bags(bags: Any, *, n_rows: int, y: Any = None, classes: Any = None) -> Bags:
    """Return the bags of ``n_rows`` rows.

    Parameters
    ----------
    bags : Bags, sequence of bag ids, or None
        None: ``y``, when that is a Bags object, else every row is its own unlabelled bag.
    n_rows : int
        How many rows there are.
    y : object, default=None
        What the estimator got as ``y``; anything but Bags is ignored.
    classes : sequence, default=None
        Put the labels into these classes, in this order.
    """
    if isinstance(y, Bags):
        if bags is not None and bags is not y and as_bags(bags, n_rows=n_rows) != y:
            raise InvalidData("Got two different answers to which bag a row is in: y and bags. Pass one of them.")
        bags = y
    if bags is None:
        bags = np.arange(n_rows)
    found = bags if isinstance(bags, Bags) else Bags(bags, classes=classes)
    if found.n_rows != n_rows:
        raise InvalidData(
            f"X has {n_rows} rows but bags has {found.n_rows}. Give one bag id for each row of X, in the same order."
        )
    return found if classes is None or tuple(classes) == found.classes else found.with_classes(classes)


def warn_if_more_than_lists(owner: object, bags: Bags) -> None:
    """Say that a method that knows lists alone takes no notice of counts, shares, maybes and inner kinds."""
    n = len(bags.said)
    if n:
        warn(
            f"{type(owner).__name__} reads lists alone: of {counted(n, 'bag')} that say more (counts, shares, maybe, "
            "absent, kinds above a label) it takes the labels that are surely there, and calls those lists partial "
            "where that is not all. CoverageClustering takes all of it.",
            stacklevel=4,
        )


def as_pairs(pairs: Any, *, n_rows: int, y: Any = None) -> Pairs:
    """Return the answers about pairs of ``n_rows`` rows.

    Parameters
    ----------
    pairs : Pairs, list of (row, row, answer), data frame, or None
        None: ``y``, when that is a Pairs object, else no answers.
    n_rows : int
        How many rows there are.
    y : object, default=None
        What the estimator got as ``y``; anything but Pairs is ignored.
    """
    return _as_answers(Pairs, pairs, n_rows, y)


def as_triplets(triplets: Any, *, n_rows: int, y: Any = None) -> Triplets:
    """Return the answers about triplets of ``n_rows`` rows.

    Parameters
    ----------
    triplets : Triplets, list of (row, row, row, answer), data frame, or None
        None: ``y``, when that is a Triplets object, else no answers.
    n_rows : int
        How many rows there are.
    y : object, default=None
        What the estimator got as ``y``; anything but Triplets is ignored.
    """
    return _as_answers(Triplets, triplets, n_rows, y)


def as_label_matrix(Y: Any, *, n_rows: int | None = None, names: Sequence[str] | None = None) -> LabelMatrix:
    """Return the labels of rows.

    Parameters
    ----------
    Y : LabelMatrix, matrix, data frame or sequence
        A matrix of 1, 0 and -1 or NaN, dense or sparse; a data frame of such columns, named by them; a data frame whose
        cells hold names of labels (empty cells hold none); one collection of names a row; or one name a row.
    n_rows : int, optional
        How many rows there must be.
    names : sequence of str, optional
        Put the labels into these columns, in this order.
    """
    labels = Y if isinstance(Y, LabelMatrix) else _read_labels(Y, names)
    if n_rows is not None and labels.n_rows != n_rows:
        raise InvalidData(
            f"X has {n_rows} rows but the labels have {labels.n_rows}. Give the labels of each row of X, in the same "
            "order."
        )
    return labels if names is None else labels.with_names(names)


def _read_labels(Y: Any, names: Sequence[str] | None) -> LabelMatrix:
    if isinstance(Y, Bags) and Y.n_bags == Y.n_rows:
        return LabelMatrix.from_sets([Y.labels[name] for name in Y], Y.classes)
    if isinstance(Y, (Bags, Pairs, Triplets)):
        raise InvalidData(f"Expected the labels of rows as y, one set a row. Got {type(Y).__name__}.")
    if sparse.issparse(Y):
        return LabelMatrix(Y)
    frame, series = as_frame(Y), as_series(Y)
    if frame is not None:
        import narwhals.stable.v1 as nw  # only where there is a frame

        if all(kind.is_numeric() or kind == nw.Boolean for kind in frame.schema.values()):
            columns = [np.asarray(frame.get_column(name).cast(nw.Float64).to_numpy()) for name in frame.columns]
            return LabelMatrix(np.column_stack(columns) if columns else np.empty((len(frame), 0)), frame.columns)
        return LabelMatrix.from_sets(_named_cells(frame.rows()), names)
    if series is not None:
        Y = np.array([*series.to_list(), None], dtype=object)[:-1]  # the None keeps lists in cells apart
    if isinstance(Y, (str, bytes, Mapping)) or not (hasattr(Y, "__array__") or isinstance(Y, Iterable)):
        raise InvalidData(f"Expected labels of rows: a matrix, a data frame or a sequence. Got {Y!r}.")
    if not hasattr(Y, "__array__"):
        Y = list(Y)
        if any(isinstance(row, (set, frozenset)) or row is None for row in Y) or _has_named_rows(Y):
            return LabelMatrix.from_sets(Y, names)
    array = as_array(Y, "Labels of rows")
    if array.ndim == 1:
        one_each = [
            None if _says_nothing(name) else name if _is_collection(name) else (name,) for name in array.tolist()
        ]
        return LabelMatrix.from_sets(one_each, names)
    if array.ndim == 2 and array.dtype.kind in "OUS" and not _is_numeric(array):
        return LabelMatrix.from_sets(_named_cells(array.tolist()), names)
    return LabelMatrix(array)


def _named_cells(rows: Iterable[Sequence[Any]]) -> list[list[Any] | None]:
    """Read rows of cells that hold names; a row of empty cells has no labels."""
    return [[cell for cell in row if not _says_nothing(cell)] for row in rows]


def _has_named_rows(rows: list[Any]) -> bool:
    return any(isinstance(row, (list, tuple)) and any(isinstance(name, str) for name in row) for row in rows)


def _is_collection(name: Any) -> bool:
    return isinstance(name, (list, tuple, set, frozenset))


def _is_numeric(array: np.ndarray) -> bool:
    return all(is_missing(cell) or isinstance(cell, (bool, int, float, np.number)) for cell in array.ravel().tolist())


def _says_nothing(cell: Any) -> bool:
    return is_missing(cell) or (isinstance(cell, str) and not cell.strip())


def _as_answers(kind: type[A], answers: Any, n_rows: int, y: Any) -> A:
    name = kind.__name__.lower()
    if isinstance(y, kind):
        if answers is not None and answers is not y and _as_answers(kind, answers, n_rows, None) != y:
            raise InvalidData(f"Got two different sets of answers: y and {name}. Pass one of them, or their sum.")
        answers = y
    if answers is None:
        return kind.empty(n_rows)
    if isinstance(answers, (Bags, Pairs, Triplets)) and not isinstance(answers, kind):
        other = type(answers).__name__
        raise InvalidData(f"Expected {kind.__name__} as {name}=. Got {other}: pass them as {other.lower()}=.")
    found = answers if isinstance(answers, kind) else kind.from_table(answers, n_rows=n_rows)
    if found.n_rows != n_rows:
        raise InvalidData(
            f"X has {n_rows} rows but {name} is about {found.n_rows}. Make it with n_rows={n_rows}, "
            f"or select the same rows of both: {name}[rows]."
        )
    return found
