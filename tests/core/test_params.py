"""One sentence for every parameter error."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight._core.params import as_generator, check_choice, check_flag, check_number
from sidelight.errors import InvalidParameter


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3", None, np.nan, np.inf])
def test_a_bad_count_is_refused_with_scikit_learns_sentence(value):
    with pytest.raises(
        InvalidParameter, match=r"The 'k' parameter of Thing must be an int in the range \[1, inf\)\. Got"
    ):
        check_number("Thing", "k", value, integer=True, low=1)


@pytest.mark.parametrize("value", [1, np.int64(3), np.int8(2)])
def test_any_integer_type_is_a_count(value):
    check_number("Thing", "k", value, integer=True, low=1)
    with pytest.raises(InvalidParameter, match=r"\[4, inf\)"):  # for its size, not for its type
        check_number("Thing", "k", value, integer=True, low=4)


def test_open_ends_are_excluded():
    with pytest.raises(InvalidParameter, match=r"\(0, 1\]"):
        check_number("Thing", "share", 0.0, low=0, high=1, open_low=True)
    check_number("Thing", "share", 1.0, low=0, high=1, open_low=True)


def test_a_choice_names_the_nearest():
    with pytest.raises(InvalidParameter, match="Did you mean 'kmeans'"):
        check_choice("Thing", "rounding", "kmean", ("kmeans", "discretize"))


def test_one_is_not_a_flag():
    with pytest.raises(InvalidParameter, match="True or False"):
        check_flag("Thing", "verbose", 1)


def test_an_int_seed_always_gives_the_same_generator():
    assert as_generator(3).integers(1000) == as_generator(3).integers(1000)


def test_a_generator_moves_on():
    generator = np.random.RandomState(0)
    assert as_generator(generator).integers(10**9) != as_generator(generator).integers(10**9)


def test_a_float_seed_is_refused():
    with pytest.raises(InvalidParameter, match="random_state"):
        as_generator(0.5)
