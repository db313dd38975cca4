"""Runs of rows: every reduction agrees with a plain loop over the runs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight._core.segments import (
    group_rows,
    segment_argmax,
    segment_ids,
    segment_max,
    segment_sum,
)
from sidelight.errors import InvalidData


@st.composite
def runs(draw):
    sizes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=8))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    width = draw(st.sampled_from([(), (1,), (3,)]))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    values = rng.integers(-3, 4, size=(starts[-1], *width)).astype(float)  # small integers, so that ties happen
    values[rng.random(values.shape) < draw(st.sampled_from([0.0, 0.3]))] = -np.inf
    return values, starts


def parts(values, starts):
    return [values[a:b] for a, b in itertools.pairwise(starts)]


@given(runs())
def test_sum_and_max_agree_with_a_loop(case):
    values, starts = case
    want_sum = [part.sum(axis=0) for part in parts(values, starts)]
    want_max = [part.max(axis=0, initial=-np.inf) for part in parts(values, starts)]
    np.testing.assert_array_equal(segment_sum(values, starts), want_sum)
    np.testing.assert_array_equal(segment_max(values, starts), want_max)


@given(runs())
def test_argmax_is_the_first_row_of_the_largest_value(case):
    values, starts = case
    got = segment_argmax(values, starts)
    for s, part in enumerate(parts(values, starts)):
        want = part.argmax(axis=0) + starts[s] if len(part) else np.full(values.shape[1:], -1)
        np.testing.assert_array_equal(got[s], want)


def test_counts_stay_integers_and_flags_are_counted():
    assert segment_sum([True, True, False], [0, 2, 2, 3]).tolist() == [2, 0, 0]
    assert segment_sum(np.array([2**60, 1]), [0, 2]).tolist() == [2**60 + 1]


def test_a_nan_is_found_as_numpy_finds_it():
    assert segment_argmax([1.0, np.nan, 3.0, 2.0], [0, 3, 4]).tolist() == [1, 3]


@given(st.lists(st.integers(0, 5), max_size=30))
def test_grouping_keeps_the_old_order_inside_each_code(codes):
    order, starts = group_rows(np.array(codes, dtype=np.intp), 6)
    assert [codes[i] for i in order] == sorted(codes)
    assert segment_ids(starts).tolist() == sorted(codes)
    for a, b in itertools.pairwise(starts):
        assert list(order[a:b]) == sorted(order[a:b])


def test_grouping_into_more_codes_than_sixteen_bits_hold():
    codes = np.array([70_000, 3, 70_000, 65_539])
    order, starts = group_rows(codes, 70_001)
    assert order.tolist() == [1, 3, 0, 2]
    assert starts[-1] == 4


@pytest.mark.parametrize("starts", [[0, 2], [1, 3], [0, 2, 1, 3], []])
def test_starts_that_do_not_cover_the_rows_are_refused(starts):
    with pytest.raises(InvalidData, match="starts"):
        segment_sum([1.0, 2.0, 3.0], starts)
