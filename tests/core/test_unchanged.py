"""Rows that stay as they are are checked and prepared once; everywhere else every method looks again."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight._core.unchanged import made_once, passed_before, remember_passed, unchanged_rows
from sidelight.errors import InvalidData


def test_an_array_is_known_by_itself_and_by_its_check_inside_the_block_only():
    X = np.zeros((3, 2))
    with unchanged_rows():
        assert not passed_before(X, "finite")
        remember_passed(X, "finite")
        assert passed_before(X, "finite")
        assert not passed_before(X, "huge")
        assert not passed_before(X.copy(), "finite")
    assert not passed_before(X, "finite")
    remember_passed(X, "finite")
    assert not passed_before(X, "finite")


def test_what_is_made_of_rows_is_made_once_for_each_maker():
    X, first, second = np.zeros(2), object(), object()
    with unchanged_rows():
        made = made_once(X, first, lambda: X + 1)
        assert made_once(X, first, lambda: X + 2) is made
        assert made_once(X, second, lambda: X + 2) is not made
        assert made_once(X.copy(), first, lambda: X + 2) is not made
    assert made_once(X, first, lambda: 5) == 5


def test_a_model_looks_again_at_rows_that_its_user_may_have_changed():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = sl.Standardized(sl.DiscriminativeClustering(2, random_state=0)).fit(X)
    X[3, 1] = np.nan
    with pytest.raises(InvalidData):
        model.predict(X)
