"""Messages on forests, against the enumeration of every configuration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from sidelight._core.messages import sum_product
from sidelight.errors import InvalidData


@st.composite
def forests(draw):
    n, K = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    relabel = rng.permutation(n)
    parents = np.full(n, -1)
    for v in range(1, n):
        above = rng.integers(-1, v)
        parents[relabel[v]] = relabel[above] if above >= 0 else -1
    batch = draw(st.sampled_from([((), ()), ((2,), (2,)), ((2,), ()), ((), (2,)), ((3, 1), (1, 2))]))
    nodes, edges = rng.normal(size=(*batch[0], n, K)) * 3, rng.normal(size=(*batch[1], n, K, K)) * 3
    if K > 1 and draw(st.booleans()):
        edges[..., K - 1, 0] = -np.inf  # a hard zero, as in a hierarchy that is always obeyed
        nodes[..., 0, 0] = -np.inf
    return nodes, edges, parents


def enumerate_weights(nodes, edges, parents):
    n, K = nodes.shape
    configurations = list(product(range(K), repeat=n))
    logs = [
        sum(nodes[v, s[v]] + (edges[v, s[parents[v]], s[v]] if parents[v] >= 0 else 0.0) for v in range(n))
        for s in configurations
    ]
    return np.array(configurations), np.array(logs)


def each_batch_entry(nodes, edges):
    batch = np.broadcast_shapes(nodes.shape[:-2], edges.shape[:-3])
    nodes = np.broadcast_to(nodes, batch + nodes.shape[-2:])
    edges = np.broadcast_to(edges, batch + edges.shape[-3:])
    for index in np.ndindex(*batch):
        yield index, nodes[index], edges[index]


@given(forests())
def test_marginals_equal_enumeration(case):
    nodes, edges, parents = case
    got = sum_product(nodes, edges, parents)
    for index, node, edge in each_batch_entry(nodes, edges):
        states, logs = enumerate_weights(node, edge, parents)
        log_z = logsumexp(logs)
        assert got.log_partition[index] == pytest.approx(log_z)
        weight = np.exp(logs - log_z)
        for v, a in np.ndindex(node.shape):
            assert got.nodes[(*index, v, a)] == pytest.approx(weight[states[:, v] == a].sum(), abs=1e-12)  # rounding
            for b in range(node.shape[1]):
                both = (states[:, parents[v]] == a) & (states[:, v] == b) if parents[v] >= 0 else np.zeros(1, bool)
                want = weight[both].sum() if parents[v] >= 0 else 0.0
                assert got.edges[(*index, v, a, b)] == pytest.approx(want, abs=1e-12)  # rounding


def test_huge_potentials_do_not_overflow():
    got = sum_product([[800.0, 0.0], [0.0, 900.0]], np.zeros((2, 2, 2)), [-1, 0])
    np.testing.assert_allclose(got.nodes, [[1, 0], [0, 1]])
    assert got.log_partition == pytest.approx(1700.0)


def test_an_impossible_model_is_refused_by_name():
    nodes = np.zeros((3, 2, 2))
    nodes[1, 0] = -np.inf
    with pytest.raises(InvalidData, match=r"batch entry \(1,\)"):
        sum_product(nodes, np.zeros((2, 2, 2)), [-1, 0])
    with pytest.raises(InvalidData, match="No configuration"):
        sum_product(nodes[1], np.zeros((2, 2, 2)), [-1, 0])


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InvalidData, match=r"\(\.\.\., 2, 3, 3\)"):
        sum_product(np.zeros((2, 3)), np.zeros((2, 2, 2)), [-1, 0])
