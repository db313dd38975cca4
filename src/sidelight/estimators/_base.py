"""What the families share: the door for rows, and a ``fit`` that succeeds whole or changes nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.utils.validation import validate_data

from sidelight._core.fingerprint import fingerprint
from sidelight._solvers.trace import Reporter
from sidelight.progress import report

Method = TypeVar("Method", bound=Callable[..., Any])


def all_or_nothing(method: Method) -> Method:
    """Let a method that fails or is cancelled leave its estimator exactly as it was."""

    @functools.wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return guarded  # type: ignore[return-value] # same signature, which functools.wraps cannot express


def rows_to_fit(estimator: Any, X: Any, **options: Any) -> Any:
    """Validate the rows that ``fit`` was given (dense or CSR, float64) and remember their fingerprint."""
    X = validate_data(estimator, X, accept_sparse="csr", dtype="float64", order="C", **options)
    estimator.data_fingerprint_ = fingerprint(X)
    return X


def rows_to_judge(estimator: Any, X: Any, **options: Any) -> Any:
    """Validate the rows that a fitted estimator was given; they must have the columns of ``fit``."""
    return validate_data(estimator, X, accept_sparse="csr", dtype="float64", order="C", reset=False, **options)


def reporting(stage: str) -> Reporter:
    """Bind a solver's ``report=`` to whoever listens through ``sidelight.progress``."""

    def told(done: int, total: int, note: str = "") -> None:
        report(stage, done, total, note)

    return told
