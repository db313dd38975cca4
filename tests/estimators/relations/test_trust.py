"""Whether to doubt answers is decided by answers that were held out."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.metrics import adjusted_rand_index

rng = np.random.default_rng(0)
y = rng.integers(3, size=240)
X = rng.normal(size=(240, 4)) + 1.2 * np.eye(3)[y] @ rng.normal(size=(3, 4))  # classes that overlap


def fitted(noise: float, **settings):
    pairs = sl.Pairs.sample(y, 300, noise=noise, random_state=1)
    return sl.DiscriminativeClustering(3, random_state=0, **settings).fit(X, pairs=pairs)


def test_of_five_kinds_of_starts_those_that_served_held_out_answers_are_tried():
    assert len({name.rsplit(" ", 1)[0] for name in fitted(0.0).start_values_}) == 3
    assert len({name.rsplit(" ", 1)[0] for name in fitted(0.0, eps=0.05).start_values_}) == 5


@pytest.mark.filterwarnings("ignore:DiscriminativeClustering. not all answers can be true")
@pytest.mark.parametrize("noise", [0.0, 0.25])
def test_learning_how_much_to_doubt_costs_little_where_nothing_is_wrong_and_helps_where_much_is(noise):
    learnt, trusting = (adjusted_rand_index(y, fitted(noise, **kw).labels_) for kw in ({}, {"eps": 0.02}))
    assert learnt >= trusting - 0.05
    if noise:
        assert learnt > trusting
