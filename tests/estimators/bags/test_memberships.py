"""The threshold between margins of members and of others, against plain enumeration of every cut."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.estimators.bags.max_margin import members, membership_threshold


def best_cut(values):
    """Try every cut between two different values and weigh both sides by their sizes."""
    values = np.sort(values)
    worth = {}
    for i in range(1, len(values)):
        if values[i] > values[i - 1]:
            low, high = values[:i], values[i:]
            worth[(values[i - 1] + values[i]) / 2] = len(low) * len(high) * (high.mean() - low.mean()) ** 2
    return max(worth, key=worth.get)


def test_the_threshold_maximises_the_weighted_variance_between():
    for seed in range(20):
        generator = np.random.default_rng(seed)
        few, many = generator.normal(0.9, 0.1, size=6), generator.normal(-0.5, 0.4, size=54)  # heaps of unequal size
        margins = np.concatenate([few, many]).reshape(20, 3)
        assert membership_threshold(margins) == pytest.approx(best_cut(np.minimum(margins, 1.0).ravel()))


def test_sizes_matter():
    values = np.array([-3.0] + [-0.5] * 30 + [0.9] * 29)  # without weights the lone value would be cut off
    assert membership_threshold(values.reshape(30, 2)) == pytest.approx(0.2)


def test_a_bag_always_belongs_to_its_best_cluster():
    assert members(np.array([[0.1, -1.0]]), np.inf).tolist() == [[True, False]]
