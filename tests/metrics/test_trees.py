"""The distance of label trees, against sets of edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sidelight as sl
from sidelight.errors import InvalidData
from sidelight.metrics import robinson_foulds


@st.composite
def two_trees(draw):
    n = draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 9999)))

    def tree():
        relabel = rng.permutation(n)
        parents = np.full(n, -1)
        for v in range(1, n):
            above = rng.integers(-1, v)
            parents[relabel[v]] = relabel[above] if above >= 0 else -1
        return parents

    return tree(), tree(), rng.permutation(n)


def edges(parents, directed):
    if directed:
        return {(int(p), c) for c, p in enumerate(parents)}
    return {frozenset((int(p), c)) for c, p in enumerate(parents) if p >= 0}


@pytest.mark.parametrize("directed", [True, False])
@given(trees=two_trees())
def test_distance_counts_the_edges_of_one_tree_only(directed, trees):
    a, b, _ = trees
    want = len(edges(a, directed) - edges(b, directed)) + len(edges(b, directed) - edges(a, directed))
    assert robinson_foulds(a, b, directed=directed) == robinson_foulds(b, a, directed=directed) == want
    assert robinson_foulds(a, a.tolist(), directed=directed) == 0


@pytest.mark.parametrize("directed", [True, False])
@given(trees=two_trees())
def test_named_trees_are_compared_by_name(directed, trees):
    a, b, order = trees
    names = [f"label {i}" for i in range(len(a))]
    shuffled = np.empty_like(b)
    shuffled[order] = np.where(b >= 0, order[b], -1)
    shuffled_names = [names[i] for i in np.argsort(order)]
    got = robinson_foulds(
        sl.LabelTree(a, names),
        sl.LabelTree(shuffled, shuffled_names),
        directed=directed,
    )
    assert got == robinson_foulds(a, b, directed=directed)


def test_trees_that_cannot_be_compared_are_refused():
    with pytest.raises(InvalidData, match="2 and 3 labels"):
        robinson_foulds([-1, 0], [-1, 0, 0])
    with pytest.raises(InvalidData, match="its own ancestor"):
        robinson_foulds([1, 0], [-1, 0])
    with pytest.raises(InvalidData, match="one integer per label"):
        robinson_foulds([-1.0, np.nan], [-1, 0])
    with pytest.raises(InvalidData, match="'owl' is in tree_pred only"):
        robinson_foulds(sl.LabelTree([-1], ["wren"]), sl.LabelTree([-1], ["owl"]))
