"""What the families share: the doors for rows and for ``y``, a ``fit`` that succeeds whole or changes nothing, and
methods that name the file when a model that was read from one does not work.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _num_samples, check_array, validate_data

from sidelight._core.archive import READ_FROM, read_from
from sidelight._core.params import settled_csr
from sidelight._core.unchanged import passed_before, remember_passed
from sidelight._solvers.descent import Reporter
from sidelight.data.bags import Bags
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.data.hierarchy import LabelTree
from sidelight.data.parts import PartedRows
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import (
    InvalidData,
    SidelightError,
    TargetIgnored,
    UnsafeArchive,
    WrongKind,
    as_invalid_data,
    warn,
)
from sidelight.progress import report

Method = TypeVar("Method", bound=Callable[..., Any])
# The keyword of ``fit`` for each kind of side information; ``y`` may hold it too.
SIDES: dict[str, type] = {"bags": Bags, "pairs": Pairs, "triplets": Triplets}
KINDS = (*SIDES.values(), CoOccurrence, LabelTree)
ROWS = {"accept_sparse": "csr", "dtype": "float64", "order": "C", "ensure_all_finite": False}  # gaps: in our own words
HUGE = 1e150  # squares of larger numbers are infinite in float64
_JUDGING = ("predict", "predict_proba", "predict_log_proba", "predict_labels", "predict_bags", "predict_bags_proba",
            "transform", "decision_function", "score_samples")  # fmt: skip


class Estimator(BaseEstimator):
    """scikit-learn's, whose methods say so when a model file holds arrays that do not fit together."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in _JUDGING:
            method = inspect.getattr_static(cls, name, None)
            if inspect.isfunction(method) and not hasattr(method, "names_file"):
                setattr(cls, name, naming_file(method))


def naming_file(method: Method) -> Method:
    """Let a method of an estimator that was read from a file blame the file for what is no error of ours."""
    if getattr(method, "__isabstractmethod__", False):
        return method

    @functools.wraps(method)
    def judging(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except (SidelightError, NotFittedError, MemoryError, Warning):
            raise
        except Exception as error:
            file = read_from(self)
            if not file:
                raise
            inspect.signature(method).bind(self, *args, **kwargs)  # a call with other arguments is a TypeError
            raise UnsafeArchive(
                f"{type(self).__name__} cannot work with what {file!r} holds: {error!r:.200}. Its arrays do not fit "
                "together: the file was changed after sidelight.save wrote it. Save the model again."
            ) from error

    judging.names_file = True  # type: ignore[attr-defined] # so that a subclass does not do it again
    return judging  # type: ignore[return-value] # same signature, which functools.wraps cannot express


def all_or_nothing(method: Method) -> Method:
    """Let a ``fit`` that fails or is cancelled leave its estimator as it was, and refuse a ``y`` that it cannot use."""

    @functools.wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        _check_call(self, args, kwargs)
        before = dict(vars(self))
        try:
            fitted = method(self, *args, **kwargs)
            READ_FROM.pop(self, None)  # what it holds now was not in that file
            return fitted
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return guarded  # type: ignore[return-value] # same signature, which functools.wraps cannot express


def checks_y(method: Method) -> Method:
    """Let a ``score`` refuse a ``y`` that its estimator cannot use."""

    @functools.wraps(method)
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        _check_call(self, args, kwargs)
        return method(self, *args, **kwargs)

    return checked  # type: ignore[return-value] # same signature, which functools.wraps cannot express


def check_y(estimator: Any, y: Any, **sides: Any) -> None:
    """Refuse side information of a kind that ``estimator`` does not take as ``y``, and warn that labels are not used.

    Parameters
    ----------
    estimator : estimator
        Whose ``fit`` or ``score`` was called.
    y : object
        What came.
    **sides : objects
        What came by name; labels of rows as ``y`` beside it are there for scikit-learn's scorers.
    """
    if y is None or isinstance(estimator, (ClassifierMixin, MetaEstimatorMixin)) or _learns_y(estimator):
        return
    who = type(estimator).__name__
    taken = {name: SIDES[name] for name in estimator.get_metadata_routing().fit.requests if name in SIDES}
    if isinstance(y, tuple(taken.values())):
        return
    wanted = " or ".join(kind.__name__ for kind in taken.values()) or "nothing"
    if isinstance(y, KINDS):
        raise InvalidData(
            f"{who} takes {wanted} as side information, but y is {type(y).__name__}. "
            + (f"Pass {' or '.join(f'{name}=' for name in taken)}." if taken else "Leave y out.")
        )
    if isinstance(y, (str, bytes, Mapping)) or (not hasattr(y, "__array__") and not isinstance(y, (list, tuple))):
        raise InvalidData(
            f"{who} cannot use y: expected {wanted}, or one label a row for scikit-learn's scorers. "
            f"Got {type(y).__name__}."
        )
    if isinstance(y, list) and y and all(isinstance(one, tuple) and len(one) > 1 for one in y):
        answers = {kind.__name__: kind.WIDTH + 1 for kind in (Pairs, Triplets) if kind in taken.values()}
        kinds = [name for name, width in answers.items() if width == len(y[0])] or list(answers)
        if kinds:
            made = " or ".join(f"{name.lower()}=sl.{name}.from_table(answers, n_rows=len(X))" for name in kinds)
            raise InvalidData(f"{who} takes answers by name, and y is a list of {len(y)} tuples. Pass {made}.")
    if taken and all(side is None for side in sides.values()):
        warn(
            f"{who} learns from {wanted}; y is {type(y).__name__} and is not used. "
            f"Pass {' or '.join(f'{name}=' for name in taken)}.",
            TargetIgnored,
            stacklevel=5,
        )


def _learns_y(estimator: Any) -> bool:
    """Say whether ``y`` is what the estimator learns; its own door then judges it."""
    return bool(estimator.__sklearn_tags__().target_tags.required)


def _check_call(estimator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    y = args[1] if len(args) > 1 else kwargs.get("y")
    if y is not None:
        check_y(estimator, y, **{name: kwargs.get(name) for name in SIDES})


def refuse_parts(estimator: Any, X: Any) -> None:
    """Refuse rows that are not in memory, by name and with what to do instead."""
    if isinstance(X, PartedRows):
        who = type(estimator).__name__
        raise WrongKind(
            f"{who} cannot be fitted to {X!r}: what it learns is no sum over rows. Fit it to a sample, X, bags = "
            "parts.sample(100_000), and ask about all rows with parts.apply(model.predict). CoverageClustering, "
            "DiscriminativeClustering and LatentHierarchyClassifier can be fitted by parts, BagSpectralClustering and "
            "BagWordClustering by a sample."
        )


def refuse_beside_parts(estimator: Any, **sides: Any) -> None:
    """Refuse side information beside Parts, which bring their own."""
    there = [name for name, side in sides.items() if side is not None]
    if there:
        raise InvalidData(
            f"{type(estimator).__name__} got Parts and {there[0]}=. Parts bring their bags, sequences and lists; name "
            "their columns: Parts.from_parquet(..., bag=..., labels=...)."
        )


def rows_to_fit(estimator: Any, X: Any, *, huge: bool = False, gaps: bool = False, **options: Any) -> Any:
    """Validate the rows that ``fit`` was given (dense or CSR, float64) and remember their fingerprint.

    Parameters
    ----------
    estimator : estimator
        Whose rows they are.
    X : array, CSR matrix or data frame
        The rows.
    huge : bool
        Let numbers pass whose squares are infinite.
    gaps : bool
        Let NaN pass.
    **options : objects
        For ``sklearn.utils.validation.validate_data``.
    """
    refuse_parts(estimator, X)
    X = _checked(estimator, X, huge, gaps, options, reset=True)
    estimator.data_fingerprint_ = fingerprint(X)
    return X


def rows_to_judge(
    estimator: Any, X: Any, *, huge: bool = False, gaps: bool = False, names: bool = True, **options: Any
) -> Any:
    """Validate the rows that a fitted estimator was given; they must have the columns of ``fit``.

    Parameters
    ----------
    estimator, X, huge, gaps, **options : objects
        As in :func:`rows_to_fit`.
    names : bool
        Warn when ``fit`` saw names of columns and X has none, or other ones.
    """
    if isinstance(X, PartedRows):
        raise WrongKind(
            f"{type(estimator).__name__} was asked about {X!r}, which is not in memory. Ask part by part: "
            "parts.apply(model.predict), or any other method that answers for each row."
        )
    return _checked(estimator, X, huge, gaps, options, reset=False, names=names)


def _checked(
    estimator: Any, X: Any, huge: bool, gaps: bool, options: dict[str, Any], *, reset: bool, names: bool = True
) -> Any:
    """Check rows, and whether they have the columns of ``fit``; what cannot have changed is not looked at again."""
    X = settled_csr(X)
    check = f"{huge} {gaps} {sorted(options.items())}"
    is_known = passed_before(X, check)
    with _naming_text(estimator, X), as_invalid_data(type(estimator).__name__):
        if names:
            X = validate_data(estimator, X, reset=reset, skip_check_array=is_known, **{**ROWS, **options})
        elif not is_known:
            X = check_array(X, **{**ROWS, **options}, estimator=estimator)
    if not names and X.shape[1] != estimator.n_features_in_:
        raise InvalidData(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    if not is_known:
        refuse_unusable(estimator, _without_nan(X) if gaps else X, huge)
        remember_passed(X, check)
    return X


def _without_nan(X: Any) -> Any:
    """Return dense rows with 0 for NaN; the same object where there is none, and for sparse rows."""
    return X if sp.issparse(X) or not np.isnan(X).any() else np.where(np.isnan(X), 0.0, X)


@contextmanager
def _naming_text(estimator: Any, X: Any) -> Iterator[None]:
    """Where rows are refused, say which column holds text: NumPy's words name a value and no column."""
    try:
        yield
    except InvalidData as error:
        found = _first_text(X)
        if found is None:
            raise
        row, column, value = found
        raise InvalidData(
            f"{type(estimator).__name__}: X must hold numbers. Column {column} holds text, {value!r:.60} in row {row} "
            "for one. Leave the column out, or turn it into numbers first, with scikit-learn's OneHotEncoder for one."
        ) from error


def _first_text(X: Any) -> tuple[int, str, Any] | None:
    """Return row, column and value of the first cell that is text and no number; None where there is none."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        columns = [(repr(name), frame.get_column(name).to_list()) for name in frame.columns]
    elif isinstance(X, (list, tuple, np.ndarray)) and getattr(X, "dtype", np.dtype(object)).kind in "OUS":
        rows = [row for row in X if isinstance(row, (list, tuple, np.ndarray)) and np.ndim(row) == 1]
        if not rows or len(rows) != len(X) or len({len(row) for row in rows}) > 1:
            return None
        columns = [(f"{number} (counted from 0)", list(cells)) for number, cells in enumerate(zip(*rows))]
    else:
        return None
    for name, cells in columns:
        for row, value in enumerate(cells):
            if isinstance(value, (str, bytes)) and not _is_number(value):
                return row, name, value
    return None


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def count_rows(estimator: Any, X: Any) -> int:
    """Return how many rows X has, before it has passed the door."""
    with as_invalid_data(type(estimator).__name__):
        return int(_num_samples(X))


def refuse_unusable(estimator: Any, X: Any, huge: bool = False) -> None:
    """Refuse gaps and infinite numbers, and numbers whose squares would be infinite unless ``huge`` lets them pass."""
    values = X.data if sp.issparse(X) else X
    most = np.finfo(np.float64).max if huge else HUGE
    if not values.size or max(-values.min(), values.max()) <= most:  # NaN is never <= anything
        return
    cells = X.tocoo() if sp.issparse(X) else X
    bad = ~(np.abs(values if not sp.issparse(X) else cells.data) <= most)
    rows, columns = (cells.row[bad], cells.col[bad]) if sp.issparse(X) else np.nonzero(bad)
    value = (cells.data if sp.issparse(X) else X)[bad][0]
    names = getattr(estimator, "feature_names_in_", None)
    column = f"column {columns[0]} (counted from 0)" if names is None else f"column {str(names[columns[0]])!r}"
    where = f"{type(estimator).__name__}: row {rows[0]}, {column} is "
    n_rows = len(np.unique(rows))
    if np.isnan(value):
        raise InvalidData(
            f"{where}NaN: {n_rows} of {X.shape[0]} rows have such a gap. Fill gaps first, with scikit-learn's "
            "SimpleImputer for one, or leave these rows out."
        )
    if np.isinf(value):
        raise InvalidData(
            f"{where}{'minus ' if value < 0 else ''}infinity. Replace it by a number, or leave the row out."
        )
    raise InvalidData(
        f"{where}{value:g}; the square of such a number is infinite. Divide the column by its scale, or put "
        "sl.Standardized in front."
    )


def reporting(stage: str) -> Reporter:
    """Bind a solver's ``report=`` to the listener of ``sidelight.progress``."""

    def told(done: int, total: int, note: str = "") -> None:
        report(stage, done, total, note)

    return told


# A short name for a table of numbers, so that a model file can say which data it saw.


_ROWS = 1024  # rows that are read; enough to tell tables apart, cheap for a million rows
_CELLS = 100_000  # numbers that are read: a wide table costs no more than a narrow one, and stays sparse


def fingerprint(X: Any) -> str:
    """Return 16 hexadecimal digits from the shape and up to 1024 evenly spaced rows; CSR and dense agree."""
    n = min(X.shape[0], _ROWS, max(1, _CELLS // max(1, X.shape[1])))
    rows = np.unique(np.linspace(0, X.shape[0] - 1, n).astype(np.intp))
    sample = X[rows].toarray() if sp.issparse(X) else np.asarray(X)[rows]
    digest = hashlib.blake2b(repr(tuple(X.shape)).encode(), digest_size=8)
    digest.update(np.ascontiguousarray(sample, dtype=np.float64).tobytes())
    return digest.hexdigest()
