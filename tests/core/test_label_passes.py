"""Passes over trees of labels with gaps, against the enumeration of all label sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import expit

from sidelight._core import label_passes
from sidelight._core.label_passes import as_inputs, best_states, edge_targets, pair_sums, pair_targets, posterior


def random_tree(n: int, rng: np.random.Generator) -> np.ndarray:
    """Every label under the root or under one that was placed before; numbers shuffled, so order is no accident."""
    shuffled = rng.permutation(n)
    parents = np.full(n, -1)
    for place in range(1, n):
        if rng.random() < 0.8:
            parents[shuffled[place]] = shuffled[rng.integers(place)]
    return parents


def enumerate_row(scores, z, alpha, parents, eps):
    """All label sets of one row with their joint probability with z."""
    g = expit(scores)
    sets = np.array(list(itertools.product([0, 1], repeat=len(scores))))
    weights = np.ones(len(sets))
    for c, p in enumerate(parents):
        on = g[c] if p < 0 else np.where(sets[:, p] == 1, g[c], eps)
        weights *= np.where(sets[:, c] == 1, on, 1 - on)
        if z[c] >= 0:
            seen = np.where(sets[:, c] == 1, 1 - alpha[c], 0.0)
            weights *= seen if z[c] == 1 else 1 - seen
    return sets, weights


def problem(n: int, seed: int, n_rows: int = 5):
    rng = np.random.default_rng(seed)
    parents = random_tree(n, rng)
    scores = rng.normal(scale=2, size=(n_rows, n))
    Z = rng.choice([-1, 0, 1], size=(n_rows, n), p=[0.2, 0.5, 0.3]).astype(np.int8)
    return scores, Z, rng.uniform(0.05, 0.6, n), parents


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("eps", [0.05, 1e-3])
def test_posteriors_equal_enumeration(n, eps):
    scores, Z, alpha, parents = problem(n, seed=n)
    tree = as_inputs(alpha, parents, eps)
    Q = posterior(scores, Z, tree)
    edges = edge_targets(scores, Z, tree)
    for i in range(len(scores)):
        sets, weights = enumerate_row(scores[i], Z[i], alpha, parents, eps)
        share = weights / weights.sum()
        np.testing.assert_allclose(Q.on[i], share @ sets, atol=1e-10)
        np.testing.assert_allclose(Q.log_likelihood[i], np.log(weights.sum()), atol=1e-10)
        above = np.where(parents >= 0, sets[:, parents], 1)
        np.testing.assert_allclose(edges.both[i], share @ (sets * above), atol=1e-10)
        np.testing.assert_allclose(edges.parent[i], share @ above, atol=1e-10)


def test_weighted_sums_are_those_of_repeated_rows(monkeypatch):
    monkeypatch.setattr(label_passes, "_ENTRIES", 16)
    scores, Z, alpha, parents = problem(6, seed=9, n_rows=12)
    tree, weights = as_inputs(alpha, parents, 0.01), np.arange(1, 13)
    both, parent, value = label_passes.weighted_targets(scores[0].copy(), Z, weights.astype(float), tree)
    repeated = edge_targets(np.tile(scores[0], (weights.sum(), 1)), np.repeat(Z, weights, axis=0), tree)
    np.testing.assert_allclose(both, repeated.both.sum(axis=0))
    np.testing.assert_allclose(parent, repeated.parent.sum(axis=0))
    assert value == pytest.approx(repeated.log_likelihood.sum())


def test_sums_over_all_pairs_equal_enumeration():
    for n in range(2, 9):
        scores, Z, alpha, parents = problem(n, seed=100 + n, n_rows=11)
        tree = as_inputs(alpha, parents, 0.02)
        newer = scores + np.random.default_rng(0).normal(size=scores.shape)
        sums, weighted = pair_sums(posterior(scores, Z, tree), newer, tree)
        expected, expected_weighted = np.zeros((2, n, n))
        for i in range(len(scores)):
            sets, weights = enumerate_row(scores[i], Z[i], alpha, parents, 0.02)
            pairs = (sets * (weights / weights.sum())[:, None]).T @ sets
            expected += pairs
            expected_weighted += pairs * newer[i]
        off_diagonal = ~np.eye(n, dtype=bool)
        np.testing.assert_allclose(sums[off_diagonal], expected[off_diagonal], atol=1e-9)
        np.testing.assert_allclose(weighted[off_diagonal], expected_weighted[off_diagonal], atol=1e-9)


@pytest.mark.parametrize("n", [3, 6, 8])
def test_pairs_of_another_tree_equal_enumeration(n):
    scores, Z, alpha, parents = problem(n, seed=200 + n)
    tree = as_inputs(alpha, parents, 0.05)
    other = random_tree(n, np.random.default_rng(5))
    both = pair_targets(posterior(scores, Z, tree), tree, other)
    for i in range(len(scores)):
        sets, weights = enumerate_row(scores[i], Z[i], alpha, parents, 0.05)
        above = np.where(other >= 0, sets[:, other], 1)
        np.testing.assert_allclose(both[i], (weights / weights.sum()) @ (sets * above), atol=1e-10)


def test_best_states_are_the_heaviest_consistent_label_set():
    for n in range(1, 9):
        scores, Z, alpha, parents = problem(n, seed=300 + n, n_rows=20)
        states = best_states(scores, Z, as_inputs(alpha, parents, 0.0))
        for i in range(len(scores)):
            sets, weights = enumerate_row(scores[i], Z[i], alpha, parents, 0.0)
            np.testing.assert_array_equal(states[i], sets[weights.argmax()])


def test_hard_trees_and_extreme_scores_stay_finite():
    parents = np.array([-1, 0, 1, 1])
    Z = np.array([[0, 0, 1, 1], [1, -1, 0, 0], [0, 0, 0, 0]], dtype=np.int8)
    for size in (800.0, -800.0):
        for alpha in (0.0, 0.3):
            Q = posterior(np.full((3, 4), size), Z, as_inputs(alpha, parents, 0.0))
            assert np.isfinite(Q.on).all()
            assert np.isfinite(Q.log_likelihood).all()
            assert ((Q.on >= 0) & (Q.on <= 1)).all()


def test_a_label_with_very_many_children_does_not_underflow():
    n = 3000
    parents = np.concatenate([[-1], np.zeros(n - 1, dtype=np.intp)])
    Q = posterior(np.full((1, n), -3.0), np.zeros((1, n), dtype=np.int8), as_inputs(0.5, parents, 1e-3))
    assert np.isfinite(Q.log_likelihood).all()
    assert 0 <= Q.on[0, 0] < 1e-6  # 2999 children that nobody saw speak against it


def test_threads_and_blocks_change_nothing(monkeypatch):
    scores, Z, alpha, parents = problem(7, seed=1, n_rows=300)
    tree = as_inputs(alpha, parents, 0.01)
    whole = posterior(scores, Z, tree)
    monkeypatch.setattr(label_passes, "_ENTRIES", 64)
    for one, other in zip(whole, posterior(scores, Z, tree)):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "name", ["_posterior", "_edge_targets", "_weighted_targets", "_best_states", "_pair_sums", "_pair_targets"]
)
def test_compiled_loops_equal_their_plain_versions(name, monkeypatch):
    scores, Z, alpha, parents = problem(6, seed=2, n_rows=9)
    tree = as_inputs(alpha, parents, 0.01)

    def run():
        Q = posterior(scores, Z, tree)
        edges = edge_targets(scores, Z, tree)
        other = np.array([-1, 0, 1, 0, 2, 2])
        weighted = label_passes.weighted_targets(scores[0].copy(), Z, np.ones(len(Z)), tree)
        return [
            *Q,
            *edges,
            *weighted,
            best_states(scores, Z, tree),
            *pair_sums(Q, scores, tree),
            pair_targets(Q, tree, other),
        ]

    compiled = run()
    monkeypatch.setattr(label_passes, name, getattr(label_passes, name).py_func)
    for one, other in zip(compiled, run()):
        np.testing.assert_allclose(one, other, atol=1e-12)
