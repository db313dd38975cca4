"""Sums through one tree have the same bits however the leaves are shared out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sidelight._core.tree_sum import Node, joined, nodes_of, tree_sum, whole_sum


def leaves(n):
    generator = np.random.default_rng(n)
    scale = 10.0 ** generator.integers(-8, 8, size=n)  # of very different sizes: every other order would show
    return [(s * generator.standard_normal(), s * generator.standard_normal(3)) for s in scale]


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 65, 100])
@pytest.mark.parametrize("n_runs", [1, 2, 7, 65])
def test_the_same_bits_for_any_number_of_runs(n, n_runs):
    all_of_them = leaves(n)
    value, row = tree_sum(all_of_them)
    cuts = np.unique(np.linspace(0, n, n_runs + 1).astype(int)).tolist()
    nodes = [node for a, z in itertools.pairwise(cuts) for node in nodes_of(a, all_of_them[a:z])]
    shuffled = [nodes[i] for i in np.random.default_rng(0).permutation(len(nodes))]
    for some in (nodes, shuffled, joined(shuffled)):
        again = whole_sum(some, n)
        assert again[0] == value
        assert np.array_equal(again[1], row)


def test_the_sum_is_the_sum():
    assert tree_sum([(float(i),) for i in range(13)]) == (78.0,)


def test_a_run_hands_on_a_few_nodes_only():
    assert len(nodes_of(5, [(1.0,)] * 1000)) <= 2 * 10


@pytest.mark.parametrize("nodes", [[], [Node(0, 0, (1.0,))], [Node(0, 0, (1.0,)), Node(0, 2, (1.0,))]])
def test_a_missing_leaf_is_never_a_wrong_sum(nodes):
    with pytest.raises(ValueError, match=r"leaves|leaf"):
        whole_sum(nodes, 3)


def test_a_leaf_that_comes_twice_is_never_a_wrong_sum():
    with pytest.raises(ValueError, match=r"leaves|leaf"):
        whole_sum([Node(0, 0, (1.0,)), Node(0, 0, (1.0,))], 2)
