"""The thesis' EM: the bound never falls at fixed eps, its edge weights are expectations, and what it does not do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from tests.core.test_label_passes import enumerate_row, problem

import sidelight as sl
from sidelight._core.label_passes import as_inputs, posterior
from sidelight._models.label_logits import LabelLogits, one_scale
from sidelight._models.scaled_rows import ScaledRows
from sidelight.errors import ConvergenceWarning
from sidelight.estimators.hierarchy.counts import count_pairs
from sidelight.estimators.hierarchy.weights import edge_weights, joint_em, starts


@pytest.fixture(scope="module")
def sample():
    return sl.data.make_label_tree(300, n_labels=7, n_features=5, missing=0.3, random_state=3)


@pytest.fixture(scope="module")
def model(sample):
    return LabelLogits(ScaledRows(sample.X, *one_scale(sample.X), np.ones(300)), 300, 7, penalty=1.0)


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("eps", [0.05, 0.001])
@pytest.mark.parametrize("tree_first", [False, True])
def test_the_bound_never_falls_at_fixed_eps(sample, model, number, eps, tree_first):
    Z = sample.Y_incomplete.astype(np.int8)
    Z[::9, 2] = -1
    start = starts(count_pairs(Z), "several", 4, np.random.default_rng(0))[number]
    options = {"least_eps": eps, "eps": eps, "decay": 1.0, "max_iter": 25, "tol": 0.0}
    fit = joint_em(model, Z, start, learn_tree=True, tree_first=tree_first, **options)
    assert (np.diff(fit.trace) >= -1e-8 * abs(fit.trace[0])).all()
    assert fit.trace[-1] > fit.trace[0]


def test_edge_weights_are_the_expected_log_probabilities():
    scores, Z, alpha, parents = problem(5, seed=7, n_rows=6)
    tree = as_inputs(alpha, parents, 0.05)
    weights = edge_weights(posterior(scores, Z, tree), scores, tree)
    expected = np.zeros((6, 6))
    for i in range(len(scores)):
        sets, share = enumerate_row(scores[i], Z[i], alpha, parents, 0.05)
        share = share / share.sum()
        g = expit(scores[i])
        for c in range(5):
            for p in range(-1, 5):
                above = np.ones(len(sets)) if p < 0 else sets[:, p]
                on = np.where(above == 1, g[c], 0.05)
                expected[p + 1, c + 1] += share @ np.log(np.where(sets[:, c] == 1, on, 1 - on))
    for c in range(5):
        for p in range(-1, 5):
            if p != c:
                assert weights[p + 1, c + 1] == pytest.approx(expected[p + 1, c + 1], abs=1e-9)


def test_starts_are_a_star_chow_liu_and_random_trees(sample):
    made = starts(count_pairs(sample.Y_incomplete.astype(np.int8)), "several", 5, np.random.default_rng(0))
    assert (made[0] == -1).all()
    np.testing.assert_array_equal(made[1], sl.peers.ChowLiuTree().fit(None, sample.Y_incomplete).tree_.parents)
    assert len({tuple(parents) for parents in made}) == 5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sidelight.errors.LabelsOverlap")  # a random start may end in a doubtful tree
def test_joint_em_is_an_estimator_like_the_default(sample):
    model = sl.LatentHierarchyClassifier(structure="joint", init="random", n_init=2, max_iter=200, random_state=0)
    fitted = model.fit(sample.X, sample.Y_incomplete)
    assert fitted.source_ == "joint"
    assert fitted.tree_.is_consistent(fitted.predict(sample.X))
    assert 0 < fitted.alpha_ < 0.5


def test_a_known_tree_is_kept_and_the_thesis_rate_learned(sample):
    """GT of [P17] 5.5.2; its alpha stays below the truth, as figure 5.5 shows."""
    model = sl.LatentHierarchyClassifier(structure="joint", tree=sample.tree.parents, max_iter=200)
    fitted = model.fit(sample.X, sample.Y_incomplete)
    np.testing.assert_array_equal(fitted.tree_.parents, sample.tree.parents)
    assert 0.1 < fitted.alpha_ < 0.3


def test_too_few_rounds_are_said_so(sample):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        sl.LatentHierarchyClassifier(structure="joint", n_init=1, max_iter=2).fit(sample.X, sample.Y_incomplete)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        sl.LatentHierarchyClassifier(max_iter=1).fit(sample.X, sample.Y_incomplete)


@pytest.mark.slow
@pytest.mark.parametrize(("init", "distance"), [("zero", 0), ("star", 16)])
def test_weights_of_zero_find_the_tree_and_weights_that_fit_a_star_keep_the_star(init, distance):
    sample = sl.data.make_label_tree(800, n_labels=10, missing=0.2, random_state=1)
    fitted = sl.LatentHierarchyClassifier(structure="joint", init=init, max_iter=200)
    fitted.fit(sample.X, sample.Y_incomplete)
    assert sl.metrics.robinson_foulds(sample.tree.parents, fitted.tree_.parents) == distance


@pytest.mark.parametrize("tree_first", [False, True])
def test_a_tree_is_kept_unless_it_is_to_be_learnt_and_rounds_are_counted(sample, model, tree_first):
    Z = sample.Y_incomplete.astype(np.int8)
    start = np.array([1, 2, 3, 4, 5, 6, -1])
    options = {"least_eps": 0.01, "tol": 0.0, "tree_first": tree_first}
    kept = joint_em(model, Z, start, learn_tree=False, max_iter=3, **options)
    np.testing.assert_array_equal(kept.parents, start)
    assert len(kept.trace) == 4
    assert not kept.converged
    moved = joint_em(model, Z, start, learn_tree=True, max_iter=3, **options)
    assert (moved.parents != start).any() == tree_first  # weights that fit a tree hardly leave it
    assert len(joint_em(model, Z, start, learn_tree=True, max_iter=1, **options).trace) == 2
