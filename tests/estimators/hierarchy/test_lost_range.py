"""The share of lost labels: a range where gaps are no forgetting, and links that neither count nor fill gaps."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import LabelsOverlap, ignore_warnings
from sidelight.estimators.hierarchy.candidates import known_tree
from sidelight.estimators.hierarchy.evidence import implausible, lost_range

RNG = np.random.default_rng(0)


def rows(n=600, overlap=0.6, lost=0.0):
    """Return features and two labels: the second with the first on a share of its rows, by the features."""
    child = np.arange(n) % 2 == 0
    inside = RNG.random(n) < overlap
    parent = np.where(child, inside, RNG.random(n) < 0.3)
    X = np.column_stack([parent, child]) * 4.0 + RNG.normal(size=(n, 2))
    seen = parent & (RNG.random(n) >= lost)
    return X, np.column_stack([seen, child]).astype(np.int8)


def a_range(Z, p_value, scores):
    chosen = known_tree(Z, np.array([-1, 0]))
    return lost_range(Z, chosen, np.array([np.nan, p_value]), lambda: scores)


def test_features_say_that_nothing_was_lost():
    X, Z = rows()
    low, high = a_range(Z, 1e-6, X)
    assert high == pytest.approx(0.4, abs=0.06)
    assert low < 0.06


def test_features_leave_what_was_lost():
    X, Z = rows(overlap=1.0, lost=0.3)
    low, high = a_range(Z, 1e-6, X)
    assert high == pytest.approx(0.3, abs=0.06)
    assert low > 0.24


def test_where_nothing_speaks_against_it_there_is_one_number():
    X, Z = rows()
    for p_value in (0.5, np.nan):
        low, high = a_range(Z, p_value, X)
        assert low == high


def test_without_features_a_refuted_link_loses_nothing():
    _, Z = rows()
    assert a_range(Z, 1e-6, None)[0] == 0.0


def test_links_that_do_not_count_are_refuted_and_mostly_unseen():
    for overlap, p_value, features, is_cut in (
        (0.4, 1e-3, False, True), (0.4, 0.2, False, False), (0.6, 1e-3, True, False), (0.4, 0.2, True, True),
    ):  # fmt: skip
        X, Z = rows(overlap=overlap)
        chosen, p_values = known_tree(Z, np.array([-1, 0])), np.array([np.nan, p_value])
        found = implausible(Z, chosen, p_values, lambda X=X, features=features: X if features else None)
        assert found.tolist() == [False, is_cut]
    X, Z = rows(overlap=1.0, lost=0.55)  # forgotten more often than not, but at random
    chosen = known_tree(Z, np.array([-1, 0]))
    assert not implausible(Z, chosen, np.array([np.nan, 0.2]), lambda: X).any()


def test_a_link_of_overlapping_labels_is_left_out_and_fills_nothing():
    """A true tree of three labels, and one label that comes with its parent on four rows in ten, by the features."""
    rng = np.random.default_rng(1)
    sample = sl.data.make_label_tree(900, n_labels=8, missing=0.0, random_state=3)
    Y = np.asarray(sample.Y)
    top = Y[:, 0] if Y[:, 0].mean() > 0.2 else Y[:, Y.sum(axis=0).argmax()]
    where = rng.random(900) < np.where(top == 1, 0.4, 0.25)
    X = np.column_stack([sample.X, top * 3.0 + rng.normal(size=900)])
    Z = np.column_stack([Y, where]).astype(np.int8)
    with ignore_warnings():
        model = sl.LatentHierarchyClassifier().fit(X, Z)
    assert model.alpha_range_[0] <= model.alpha_
    assert model.alpha_range_[0] < 0.05
    filled = (model.complete(X, Z) == 1) & (Z == 0)
    assert filled.sum() < 0.1 * where.sum()


def test_a_range_is_said_in_python():
    overlaps = [rows(overlap=0.62) for _ in range(4)]
    X = np.hstack([X for X, _ in overlaps] * 2)[:, :8]
    tree = [-1, 0, -1, 2, -1, 4, -1, 6]
    Z = np.hstack([Z for _, Z in overlaps])
    with pytest.warns(LabelsOverlap, match="alpha_range_"):
        model = sl.LatentHierarchyClassifier(tree=tree).fit(X, Z)
    assert model.alpha_range_[0] < 0.1 < model.alpha_range_[1] == model.alpha_


def test_forgetting_at_random_keeps_its_number():
    sample = sl.data.make_label_tree(800, n_labels=10, missing=0.3, random_state=1)
    model = sl.LatentHierarchyClassifier().fit(sample.X, sample.Y_incomplete)
    assert model.alpha_range_.tolist() == pytest.approx([model.alpha_, model.alpha_], abs=0.06)


@pytest.mark.slow
def test_a_true_tree_is_rarely_doubted():
    heard = []
    for seed, missing in [*((seed, 0.3) for seed in range(6)), (0, 0.5)]:
        sample = sl.data.make_label_tree(500, missing=missing, random_state=seed)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            sl.LatentHierarchyClassifier().fit(sample.X, sample.Y_incomplete)
        heard += [one for one in told if issubclass(one.category, LabelsOverlap)]
    assert not heard
