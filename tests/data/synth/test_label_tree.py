"""Labels with gaps from a hidden hierarchy."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import sidelight as sl
from sidelight.errors import InvalidParameter


def test_labels_obey_the_tree_and_only_ever_go_missing():
    for seed in range(3):
        sample = sl.data.make_label_tree(800, missing=0.4, random_state=seed)
        assert sample.tree.n_labels == 12
        assert sample.tree.is_consistent(sample.Y)
        assert (sample.Y_incomplete <= sample.Y).all()
        assert not sample.tree.is_consistent(sample.Y_incomplete)
        assert 1 - sample.Y_incomplete.sum() / sample.Y.sum() == pytest.approx(0.4, abs=0.05)  # 3 sigma is about 0.03
        assert (sample.Y.sum(axis=0) > 0).all()


def test_features_decide_about_a_label_where_its_parent_is_on():
    sample = sl.data.make_label_tree(2000, missing=0, random_state=0)
    assert np.array_equal(sample.Y, sample.Y_incomplete)
    for label in (0, 3):
        parent = sample.tree.parents[label]
        rows = np.ones(2000, dtype=bool) if parent < 0 else sample.Y[:, parent] == 1
        y = sample.Y[rows, label]
        accuracy = LogisticRegression().fit(sample.X[rows], y).score(sample.X[rows], y)
        assert accuracy > max(y.mean(), 1 - y.mean()) + 0.15


def test_a_given_tree_is_used():
    tree = sl.LabelTree.from_text("bird\n  wren\nfrog")
    sample = sl.data.make_label_tree(50, tree=tree, random_state=0)
    assert sample.tree is tree
    assert sample.Y.shape == (50, 3)


def test_the_same_seed_draws_the_same_sample():
    first, again = (sl.data.make_label_tree(20, random_state=0) for _ in range(2))
    assert first.tree == again.tree
    assert np.array_equal(first.Y_incomplete, again.Y_incomplete)


@pytest.mark.parametrize("bad", [{"missing": 1.0}, {"n_labels": 0}, {"tree": [-1, 0]}, {"sharpness": -1}])
def test_bad_parameters_are_refused_by_name(bad):
    with pytest.raises(InvalidParameter, match=next(iter(bad))):
        sl.data.make_label_tree(**bad)
