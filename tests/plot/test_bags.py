"""Pictures of clustered bags."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidData
from sidelight.plot import BagMarginDisplay, BagWitnessDisplay, BalanceSizesDisplay


@pytest.fixture(scope="module")
def fitted():
    X, bags, _ = sl.data.make_overlapping_bags(n_bags=24, n_clusters=3, overlap=0.0, random_state=0)
    return sl.MaxMarginBagClustering(3, n_init=2, random_state=0).fit(X, bags=bags), X, bags


def test_every_bag_has_a_coloured_witness(fitted):
    model, X, bags = fitted
    drawn = BagWitnessDisplay.from_estimator(model, X, bags=bags).plot()
    dots = [len(group.get_offsets()) for group in drawn.ax_.collections[1:]]
    assert dots[0] == len(X)
    assert sum(dots[1:]) == bags.n_bags


def test_other_bags_are_refused(fitted):
    model, X, _ = fitted
    with pytest.raises(InvalidData, match="Pass the rows and bags that fit saw"):
        BagWitnessDisplay.from_estimator(model, X)


def test_the_histogram_counts_every_bag(fitted):
    drawn = BagMarginDisplay.from_estimator(fitted[0]).plot()
    assert round(sum(bar.get_height() for bar in drawn.ax_.patches)) == 24


def test_sizes_add_up_for_every_balance(fitted):
    model, X, bags = fitted
    drawn = BalanceSizesDisplay.from_estimator(model, X, bags=bags, balances=[0.0, 1.0]).plot()
    np.testing.assert_array_equal(drawn.sizes.sum(axis=1), [24, 24])
    assert "in use" in drawn.ax_.get_xticklabels()[1].get_text()
