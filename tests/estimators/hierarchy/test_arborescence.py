"""The heaviest arborescence, against networkx and against every choice of parents."""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import up_to

from sidelight._core.forest import depths
from sidelight.errors import InvalidData
from sidelight.estimators.hierarchy import edges as arborescence
from sidelight.estimators.hierarchy.edges import maximum_arborescence


def total(weights, parents):
    children = np.flatnonzero(parents >= 0)
    return weights[parents[children], children].sum()


def is_tree(parents, root):
    depths(parents)  # raises on a cycle
    return (np.flatnonzero(parents < 0) == [root]).all()


@given(st.integers(1, 4), st.integers(0, 9999))
def test_no_choice_of_parents_weighs_more(n, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(-4, 5, size=(n, n)).astype(float)  # small integers: ties are common
    root = int(rng.integers(n))
    parents = maximum_arborescence(weights, root)
    assert is_tree(parents, root)
    best = -np.inf
    for choice in product(range(n), repeat=n):
        candidate = np.array(choice)
        candidate[root] = -1
        try:
            depths(candidate)
        except InvalidData:
            continue
        best = max(best, total(weights, candidate))
    assert total(weights, parents) == best


@settings(max_examples=up_to(30))
@given(st.integers(2, 14), st.integers(0, 9999), st.sampled_from([0.0, 0.6]))
def test_weighs_as_much_as_networkx_finds(n, seed, missing):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(n, n))
    weights[rng.random((n, n)) < missing] = -np.inf
    weights[0, 1:] = np.where(np.isinf(weights[0, 1:]), -50.0, weights[0, 1:])  # every node can be reached
    oracle = nx.DiGraph()
    oracle.add_nodes_from(range(n))
    for p, c in product(range(n), range(1, n)):
        if p != c and np.isfinite(weights[p, c]):
            oracle.add_edge(p, c, weight=weights[p, c])
    want = nx.maximum_spanning_arborescence(oracle, preserve_attrs=True).size(weight="weight")
    parents = maximum_arborescence(weights, 0)
    assert is_tree(parents, 0)
    assert total(weights, parents) == pytest.approx(want)


def test_nested_cycles_are_unpacked_as_networkx_does():
    # Blocks of strong cycles inside stronger ones: many levels of contraction.
    n = 33
    weights = np.full((n, n), -1000.0)
    for size in (2, 4, 8, 16, 32):
        for block in range(1, n, size):
            for v in range(block, block + size):
                weights[v, block + (v - block + size // 2) % size] = 100.0 / size + v / 1000
    weights[0, 1:] = -np.arange(1, n)
    oracle = nx.DiGraph()
    oracle.add_weighted_edges_from((p, c, weights[p, c]) for p, c in product(range(n), range(1, n)) if p != c)
    want = nx.maximum_spanning_arborescence(oracle).size(weight="weight")
    assert total(weights, maximum_arborescence(weights, 0)) == pytest.approx(want)


def test_compiled_and_plain_kernel_agree():
    inward = np.random.default_rng(3).normal(size=(30, 30))
    np.fill_diagonal(inward, -np.inf)
    inward[4] = -np.inf
    got, want = arborescence._edmonds(inward.copy(), 4), arborescence._edmonds.py_func(inward.copy(), 4)
    np.testing.assert_array_equal(got[0], want[0])
    assert got[1] == want[1] == -1


def test_the_given_matrix_is_left_alone():
    weights = np.random.default_rng(0).normal(size=(6, 6))
    before = weights.copy()
    maximum_arborescence(weights, 2)
    np.testing.assert_array_equal(weights, before)


def test_bad_matrices_are_named():
    weights = np.zeros((3, 3))
    weights[:, 2] = -np.inf
    with pytest.raises(InvalidData, match="Node 2 cannot be reached"):
        maximum_arborescence(weights)
    weights[0, 2] = np.nan
    with pytest.raises(InvalidData, match="edge from 0 to 2 has the weight nan"):
        maximum_arborescence(weights)
    with pytest.raises(InvalidData, match="root must be"):
        maximum_arborescence(np.zeros((3, 3)), 3)
    with pytest.raises(InvalidData, match="square"):
        maximum_arborescence(np.zeros((3, 2)))
