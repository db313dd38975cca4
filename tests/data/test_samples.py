"""scikit-learn's digits in bags."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidParameter


@pytest.mark.parametrize(("n_bags", "labels_per_bag"), [(200, 3.0), (10, 2.0), (300, 5.0)])
def test_every_digit_is_used_and_every_bag_holds_what_it_says(n_bags, labels_per_bag):
    digits = sl.data.load_digit_bags(n_bags, labels_per_bag=labels_per_bag)
    assert digits.X.shape == (1797, 64)
    assert digits.bags.n_bags == n_bags
    for name in digits.bags.names:
        assert digits.bags.labels[name] == set(digits.y[digits.bags.rows(name)].tolist())
    assert digits.bags.label_matrix.nnz == n_bags * labels_per_bag


def test_images_are_the_rows():
    digits = sl.data.load_digit_bags()
    assert np.array_equal(digits.images.reshape(1797, 64), digits.X)


def test_novel_digits_are_never_named():
    digits = sl.data.load_digit_bags(novel=(8, 9))
    assert digits.bags.classes == tuple(range(8))
    for name in digits.bags.names:
        assert digits.bags.labels[name] == set(digits.y[digits.bags.rows(name)].tolist()) - {8, 9}


def test_some_bags_may_say_nothing():
    assert sl.data.load_digit_bags(labelled=0.25).bags.is_labelled.sum() == 50


def test_the_sample_is_the_same_every_time_and_another_with_another_seed():
    assert sl.data.load_digit_bags().bags == sl.data.load_digit_bags().bags
    assert sl.data.load_digit_bags().bags != sl.data.load_digit_bags(random_state=1).bags


@pytest.mark.parametrize("bad", [{"n_bags": 5}, {"labels_per_bag": 0}, {"novel": (10,)}, {"labelled": 2}])
def test_bad_parameters_are_refused_by_name(bad):
    with pytest.raises(InvalidParameter, match=next(iter(bad))):
        sl.data.load_digit_bags(**bad)
