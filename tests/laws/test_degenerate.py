"""Rows that hardly vary: every estimator fits them or refuses them in our words, and what it then says is a number."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from sklearn.base import clone
from tests.examples import but_slow
from tests.laws.registry import CASES, Case, each

import sidelight as sl
from sidelight.errors import InvalidInput, SidelightError

ROWS = {
    "equal": np.ones_like,
    "zero": np.zeros_like,
    "one cell": lambda X: np.where(np.arange(X.size).reshape(X.shape) == 0, 1.0, 0.0),
    "tiny": lambda X: X * 1e-200,
    "all but nothing": lambda X: X * 1e-310,
    "one column": lambda X: X[:, :1] * np.ones_like(X),
    "two rows": lambda X: np.repeat(X[:2], len(X) // 2, axis=0),
    "far from 0": lambda X: X + 1e9,
}


@pytest.mark.parametrize("rows", but_slow(ROWS, "equal"))
@each([case for case in CASES if case.name != "Standardized"])
@pytest.mark.filterwarnings("ignore::sidelight.errors.SidelightWarning")
def test_rows_that_hardly_vary_are_fitted_or_refused(case: Case, rows: str):
    X = ROWS[rows](case.rows())
    for estimator in (clone(case.estimator), sl.Standardized(clone(case.estimator))):
        try:
            estimator.fit(X, case.target(), **case.side())
        except SidelightError:
            continue
        for name in ("predict", "predict_proba", "transform"):
            with contextlib.suppress(SidelightError):
                found = np.asarray(getattr(estimator, name, lambda X: 0)(X))
                assert found.dtype.kind not in "fc" or np.isfinite(found).all(), f"{name} of {estimator}"


@each([case for case in CASES if case.needs_lists])
def test_more_labels_than_tables_can_hold_are_refused_with_the_number(case: Case):
    """20,400 names once took a hundred seconds and gigabytes, and came to no end."""
    n = 10_200
    bags = sl.Bags(np.arange(n), labels={bag: {f"a{bag}", f"b{bag}"} for bag in range(n)})
    with pytest.raises(InvalidInput, match="20,400 labels"):
        clone(case.estimator).fit(np.zeros((n, 2)), bags=bags)
