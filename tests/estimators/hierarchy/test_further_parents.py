"""Further parents: found where they were planted, absent in trees, obeyed only by structure="graph"."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.estimators.hierarchy.decoding import closed_upwards, lowered


@pytest.fixture(scope="module")
def planted():
    """Two top labels, children of each, and "both" that implies a child of each."""
    rng = np.random.default_rng(0)
    n = 3000
    a, b = rng.random(n) < 0.5, rng.random(n) < 0.5
    a1, a2, b1, b2 = (top & (rng.random(n) < share) for top, share in ((a, 0.5), (a, 0.4), (b, 0.5), (b, 0.4)))
    both = a1 & b1 & (rng.random(n) < 0.5)
    Y = np.column_stack([a, b, a1, a2, b1, b2, both]).astype(int)
    Z = Y * (rng.random(Y.shape) >= 0.2)
    X = Y @ rng.normal(size=(7, 8)) + rng.normal(size=(n, 8))
    return X, Y, sl.LabelMatrix(Z, names=["a", "b", "a1", "a2", "b1", "b2", "both"])


@pytest.mark.parametrize("structure", ["counts", "graph"])
def test_a_second_parent_is_found_with_its_evidence(planted, structure):
    X, _, Z = planted
    fitted = sl.LatentHierarchyClassifier(structure=structure).fit(X, Z)
    assert len(fitted.extra_parents_) == 1
    parent, child, nats = fitted.extra_parents_[0]
    assert child == "both"
    assert {parent, fitted.tree_.names[fitted.tree_.parents[6]]} == {"a1", "b1"}
    assert nats > 10


def test_only_a_graph_obeys_the_second_parent(planted):
    X, _, Z = planted
    graph = sl.LatentHierarchyClassifier(structure="graph").fit(X, Z)
    tree = sl.LatentHierarchyClassifier().fit(X, Z)
    for threshold in (None, "f1"):
        graph.set_params(threshold=threshold).fit(X, Z)
        for states in (graph.predict(X), graph.complete(X, Z)):
            assert (states[:, 6] <= states[:, 2] * states[:, 4]).all()
            assert graph.tree_.is_consistent(states)
        assert (graph.complete(X, Z) >= Z.values).all()
    complete = tree.complete(X, Z)
    assert (complete[:, 6] > complete[:, 2] * complete[:, 4]).any()


def test_pure_trees_have_hardly_any():
    found = 0
    for seed in range(10):
        sample = sl.data.make_label_tree(2000, n_labels=12, missing=0.2, random_state=seed)
        found += len(sl.LatentHierarchyClassifier().fit(None, sample.Y_incomplete).extra_parents_)
    assert found <= 1


def test_what_was_seen_goes_up_and_what_is_off_goes_down():
    links = [(2, 1), (3, 2)]
    np.testing.assert_array_equal(closed_upwards(np.array([[0, 1, 0, 0]], dtype=np.int8), links), [[0, 1, 1, 1]])
    parents, order = np.array([-1, 0, -1, -1, 1]), np.array([0, 2, 3, 1, 4])
    low = lowered(np.array([[1.0, 0.9, 0.8, 0.3, 0.7]]), links, parents, order)
    np.testing.assert_allclose(low, [[1.0, 0.3, 0.3, 0.3, 0.3]])
    assert closed_upwards(low, []) is low
