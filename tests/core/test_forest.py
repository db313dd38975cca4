"""Forests against networkx and against plain walks."""

from __future__ import annotations

from itertools import groupby

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight._core import forest
from sidelight._core.forest import components, depths, levels, parents_first, root_forest, spanning_edges
from sidelight.errors import InvalidData


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 9))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=12))
    left, right = np.array(edges, dtype=np.intp).reshape(-1, 2).T
    return left, right, n


@given(graphs())
def test_components_are_those_of_networkx_numbered_by_lowest_node(graph):
    left, right, n = graph
    oracle = nx.Graph()
    oracle.add_nodes_from(range(n))
    oracle.add_edges_from(zip(left, right))
    want = np.empty(n, dtype=int)
    for code, nodes in enumerate(sorted(nx.connected_components(oracle), key=min)):
        want[list(nodes)] = code
    assert components(left, right, n).tolist() == want.tolist()


@given(graphs())
def test_spanning_edges_keep_the_components_and_hang_as_a_forest(graph):
    left, right, n = graph
    keep = spanning_edges(left, right, n)
    left, right = left[keep], right[keep]
    np.testing.assert_array_equal(components(left, right, n), components(*graph[:2], n))
    parents, edges, order = root_forest(left, right, n)
    assert (parents == -1).sum() == n - len(left)
    position = np.argsort(order)
    for v in np.flatnonzero(parents >= 0):
        assert {left[edges[v]], right[edges[v]]} == {v, parents[v]}
        assert position[parents[v]] < position[v]
    assert all(
        v == np.flatnonzero(components(left, right, n) == c)[0] for c, v in enumerate(np.flatnonzero(parents < 0))
    )


@given(graphs())
def test_compiled_and_plain_union_agree(graph):
    left, right, n = *map(np.ascontiguousarray, graph[:2]), graph[2]
    for got, want in zip(forest._unite(left, right, n), forest._unite.py_func(left, right, n)):
        np.testing.assert_array_equal(got, want)


@given(st.integers(1, 12), st.integers(0, 999))
def test_levels_follow_the_parents(n, seed):
    rng = np.random.default_rng(seed)
    relabel = rng.permutation(n)
    parents = np.empty(n, dtype=np.intp)
    for v in range(n):
        above = rng.integers(-1, v) if v else -1
        parents[relabel[v]] = relabel[above] if above >= 0 else -1
    depth = depths(parents)
    for d, nodes in enumerate(levels(parents)):
        assert (depth[nodes] == d).all()
        families = [parent for parent, _ in groupby(parents[nodes])]
        assert len(families) == len(set(families))  # siblings lie together
    assert all(depth[v] == (depth[parents[v]] + 1 if parents[v] >= 0 else 0) for v in range(n))
    assert sorted(parents_first(parents)) == list(range(n))


def test_a_long_chain_needs_no_recursion():
    n = 50_000
    assert depths(np.arange(-1, n - 1))[-1] == n - 1
    assert root_forest(np.arange(n - 1), np.arange(1, n), n).order[-1] == n - 1


def test_no_nodes_at_all():
    assert levels([]) == []
    assert parents_first([]).tolist() == []
    assert components([], [], 0).tolist() == []


def test_cycles_and_strangers_are_named():
    with pytest.raises(InvalidData, match=r"Node [12] is its own ancestor"):
        parents_first([-1, 2, 1, 1])
    with pytest.raises(InvalidData, match="Node 1 has the parent 7"):
        parents_first([-1, 7])
    with pytest.raises(InvalidData, match=r"Edge 2 \(2, 0\) closes a cycle"):
        root_forest([0, 1, 2], [1, 2, 0], 3)
    with pytest.raises(InvalidData, match="Edge 1 ends at node 3"):
        components([0, 1], [1, 3], 3)
