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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:DiscriminativeClustering. not all answers can be true")
@pytest.mark.parametrize("noise", [0.0, 0.25])
def test_learning_how_much_to_doubt_costs_little_where_nothing_is_wrong_and_helps_where_much_is(noise):
    learnt, trusting = (adjusted_rand_index(y, fitted(noise, **kw).labels_) for kw in ({}, {"eps": 0.02}))
    assert learnt >= trusting - 0.05
    if noise:
        assert learnt > trusting
