"""How many groups a table of counts tells apart."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight._core.interactions import n_interactions


def test_independent_counts_have_none():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        counts = rng.poisson(np.outer(rng.gamma(2.0, 1.0, 80), rng.gamma(2.0, 0.3, 120)))
        assert n_interactions(counts) == 0


@pytest.mark.parametrize("groups", [2, 3, 4])
def test_groups_that_differ_are_counted(groups):
    rng = np.random.default_rng(groups)
    rate = 1.0 + 9.0 * np.eye(groups)
    counts = rng.poisson(rate[rng.integers(groups, size=60)][:, rng.integers(groups, size=40)])
    assert n_interactions(counts) == groups - 1


def test_empty_lines_and_thin_tables_say_nothing():
    assert n_interactions(np.zeros((3, 3))) == 0
    assert n_interactions(np.ones((5, 1))) == 0
