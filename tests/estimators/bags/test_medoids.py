"""k-medoids: every swap helps, and the compiled loop is the plain one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sidelight.estimators.bags import k_medoids as module
from sidelight.estimators.bags.k_medoids import alternate, faster_pam


def distances(seed=0, n=40):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return cdist(X, X)


@pytest.mark.slow
def test_no_single_swap_lowers_the_result():
    for seed in range(5):
        D = distances(seed)
        found = faster_pam(D, np.arange(4))
        assert found.converged
        assert found.inertia == pytest.approx(D[:, found.medoids].min(axis=1).sum())
        for position in range(4):
            for other in range(len(D)):
                swapped = found.medoids.copy()
                swapped[position] = other
                assert D[:, swapped].min(axis=1).sum() >= found.inertia - 1e-9


def test_finds_the_optimum_of_a_small_table():
    D = distances(3, n=12)
    best = min(D[:, list(chosen)].min(axis=1).sum() for chosen in combinations(range(12), 3))
    starts = [np.random.default_rng(s).choice(12, 3, replace=False) for s in range(5)]
    assert min(faster_pam(D, start).inertia for start in starts) == pytest.approx(best)


def test_the_alternation_never_rises_and_swaps_end_no_higher():
    for seed in range(5):
        D = distances(seed)
        plain = alternate(D, np.arange(5))
        assert (np.diff(plain.trace) <= 1e-12).all()
        assert faster_pam(D, plain.medoids).inertia <= plain.inertia


def test_the_compiled_passes_are_the_plain_ones():
    D = distances(1, n=20)
    compiled, plain = np.arange(3), np.arange(3)
    trace, plain_trace = np.empty(11), np.empty(11)
    assert module._swap_passes(D, compiled, trace) == module._swap_passes.py_func(D, plain, plain_trace)
    np.testing.assert_array_equal(compiled, plain)


def test_duplicates_keep_every_cluster_alive():
    D = np.zeros((6, 6))
    for solve in (faster_pam, alternate):
        assert set(solve(D, np.arange(3)).labels) == {0, 1, 2}


def test_one_medoid_is_the_middle():
    D = distances(2)
    assert faster_pam(D, np.array([7])).medoids[0] == D.sum(axis=0).argmin()
