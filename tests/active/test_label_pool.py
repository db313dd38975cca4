"""The pool of chains: what it weighs, how it is numbered, and how often it says what is probable."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import beta

from sidelight.active import chains
from sidelight.active.chains import (
    NOISES,
    LabelPool,
    _centred_inverses,
    _Problem,
    chance_of_new,
    effective_number,
    most_agreed,
)
from sidelight.active.label_chains import NU

LINKS = np.array([(0, 1, 1), (1, 2, 1), (0, 2, 0), (3, 4, 1), (2, 3, 0), (0, 1, 1)], dtype=np.intp)
SEEN = np.random.default_rng(3).normal(size=(2, 5, 4))
KERNELS = np.stack([view @ view.T for view in SEEN])
WEIGHTS, LOG_PRIOR = np.array([[0.5, 0.5], [1.0, 0.0]]), np.log([1.0, 0.4])


def pool_of(n_clusters, labels):
    pool = LabelPool(n_clusters)
    pool.start(np.array(labels))
    return pool


def problem_of(pool, n_met=2, **options):
    return pool._problem(LINKS, KERNELS, WEIGHTS, LOG_PRIOR, n_met, **options)


@pytest.mark.parametrize(("labels", "chance"), [([0], 0.75), ([0, 0], 1 / 6), ([0, 1, 1, 2], 2.5 / 5)])
def test_the_chance_of_a_new_cluster_is_that_of_good_and_turing(labels, chance):
    assert chance_of_new(np.array(labels)) == pytest.approx(chance)


def test_the_labeling_that_agrees_most_is_that_of_the_most_common_pairs():
    Z = np.array([[0, 1, 2, 0], [1, 1, 0, 0], [0, 0, 1, 1], [2, 2, 0, 0], [0, 0, 0, 1]])
    assert most_agreed(Z) in (1, 2, 3)
    assert effective_number(np.array([0, 0, 1, 1, 2, 2])) == pytest.approx(3.0)


def test_kernels_are_inverted_and_centred_one_by_one():
    D = 1.7
    C, prior = _centred_inverses(KERNELS, WEIGHTS, LOG_PRIOR, D)
    expected = []
    for number, (weights, noise) in enumerate(itertools.product(WEIGHTS, NOISES)):
        K = weights[0] * KERNELS[0] + weights[1] * KERNELS[1] + noise * np.eye(5)
        inverse = np.linalg.inv(K)
        total = inverse.sum()
        centred = inverse - np.outer(inverse.sum(axis=1), inverse.sum(axis=0)) / total
        np.testing.assert_allclose(C[number], centred, atol=1e-9)
        log_det = -np.linalg.slogdet(K)[1]
        expected.append(D / 2 * (log_det - np.log(total)) + LOG_PRIOR[number // len(NOISES)])
    np.testing.assert_allclose(prior, np.array(expected) - max(expected))


def test_answers_that_a_chain_breaks_are_counted_and_those_that_break_many_are_not_heeded():
    problem = problem_of(pool_of(2, [0, 0, 1, 1, 0]))
    Z = np.array([[0, 0, 1, 1, 1], [0, 0, 0, 1, 1], [0, 1, 0, 0, 1]])
    np.testing.assert_array_equal(problem.broken(Z), [[0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1]])
    assert problem.violated(Z).tolist() == [2, 1, 6]
    assert problem.heed(Z).tolist() == [True, True, False]  # 0.3 of six and two more are allowed
    assert problem.heed(Z[2:]).tolist() == [True]  # all where none does
    ten = _Problem(
        problem.C, problem.log_prior, problem.votes, np.repeat(LINKS[:1], 10, axis=0), problem.ends, 2, 1.0, 0.0, 2
    )
    assert ten.violated(np.array([[0, 1, 0, 0, 0]])).tolist() == [10]
    five = np.array([*[(0, 1, 1)] * 5, *[(0, 2, 1)] * 5])
    five = _Problem(problem.C, problem.log_prior, problem.votes, five, problem.ends, 2, 1.0, 0.0, 2)
    assert five.heed(np.array([[0, 1, 0, 0, 0], [0, 0, 0, 0, 0]])).tolist() == [True, True]  # 5 of 10: at the bound
    assert problem.expected_error(Z) == pytest.approx(np.mean([(0.3 + v) / (6.3 + 6) for v in (2, 1, 6)]))


def test_trust_is_drawn_from_the_share_of_broken_answers():
    problem = problem_of(pool_of(2, [0, 0, 1, 1, 0]))
    Z = np.repeat([[0, 0, 1, 1, 1], [0, 1, 0, 0, 1]], 4000, axis=0)
    trust = problem.draw_trust(Z, np.random.default_rng(0)).reshape(2, -1)
    for drawn, v in zip(trust, (2, 6)):
        eps = np.clip(beta(0.3 + v, 6 + 6 - v).ppf((np.arange(2000) + 0.5) / 2000), 1e-4, 0.3)
        assert drawn.mean() == pytest.approx(np.clip(np.log((1 - eps) / eps), 0, 6.5).mean(), abs=0.05)


def plain_chances(pool):
    """Return how probable it is that two rows are alike, over all labelings, kernels and shares of wrong answers."""
    problem = problem_of(pool)
    eps = beta(0.3, 6.0).ppf((np.arange(400) + 0.5) / 400).clip(1e-4, 0.3)
    alike, total = np.zeros((5, 5)), 0.0
    for z in itertools.product(range(2), repeat=5):
        z = np.array(z)
        v, same = problem.violated(z[None])[0], z[:, None] == z
        V = 1.0 - sum(np.mean(z == k) ** 2 for k in range(2))
        half = problem.D * 4 / 2
        looks = sum(
            np.exp(prior - half * np.log((C[same].sum() + NU * np.trace(C) / 5) / (V + NU / 5)))
            for C, prior in zip(problem.C, problem.log_prior)
        )
        p = looks * np.mean((1 - eps) ** (6 - v) * eps**v)
        alike, total = alike + p * same, total + p
    return alike / total


@pytest.mark.parametrize("begun", [[0, 0, 1, 1, 0], None])
def test_the_pool_says_how_probable_it_is_that_rows_are_alike(begun):
    pool, generator = LabelPool(2), np.random.default_rng(0)
    pool.add(5)
    if begun:
        pool.start(np.array(begun))
    visits, wrong, eps = np.zeros((5, 5)), np.zeros(6), []
    for _ in range(60):
        placed = pool.open_row_chances(LINKS, KERNELS, WEIGHTS, LOG_PRIOR, generator)
        visits += (pool.Z[:, :, None] == pool.Z[:, None]).mean(axis=0) / 60
        wrong += placed.wrong / 60
        eps.append(placed.eps)
        np.testing.assert_allclose(placed.q.sum(axis=1), 1.0)
        assert placed.n_clusters == len(np.unique(placed.labels))
    expected = plain_chances(pool)
    np.testing.assert_allclose(visits, expected, atol=0.06)
    broken = [1 - expected[a, b] if same else expected[a, b] for a, b, same in LINKS]
    np.testing.assert_allclose(wrong, broken, atol=0.06)
    assert np.mean(eps) == pytest.approx((0.3 + sum(broken)) / 12.3, abs=0.01)


def test_answers_are_sampled_by_what_they_weigh():
    links, generator = np.array([(0, 1, 1), (0, 1, 0)], dtype=np.intp), np.random.default_rng(0)
    shares = []
    for weights in ([2.0, 0.1], [0.1, 2.0]):
        pool = pool_of(2, [0, 0, 1, 1, 0])
        for _ in range(10):
            placed = pool.open_row_chances(
                links, KERNELS, WEIGHTS, LOG_PRIOR, generator, answer_weights=np.array(weights)
            )
        shares.append(placed.q[0, placed.labels[1]])
    assert shares[0] > shares[1] + 0.2


# -- how many labels -------------------------------------------------------------------------------------------------


def test_labels_keep_the_numbers_that_were_shown():
    pool = pool_of(2, [1, 1, 0, 0, 0])
    links = np.array([(0, 1, 1), (2, 3, 1), (3, 4, 1), (0, 2, 0), (1, 4, 0)], dtype=np.intp)
    for seed in range(3):
        placed = pool.open_row_chances(links, KERNELS, WEIGHTS, LOG_PRIOR, np.random.default_rng(seed))
        assert placed.labels.tolist() == [1, 1, 0, 0, 0]
        assert placed.q.shape == (5, 3)
        assert placed.q[np.arange(5), placed.labels].min() > 0.5


def test_labels_that_together_keep_every_answer_come_before_the_likeliest_of_each_row():
    """Rows 0 and 1 are alike, and each alone is likeliest elsewhere: the labels together are shown."""
    pool = pool_of(3, [0, 0, 1])
    links = np.array([(0, 1, 1)], dtype=np.intp)
    kernels = np.stack([np.eye(3)] * 2)
    problem = pool._problem(links, kernels, WEIGHTS, LOG_PRIOR, 2)
    Q = np.zeros((chains.N_CHAINS, 3, 3))
    Q[:, 0], Q[:, 1], Q[:, 2] = [0.4, 0.0, 0.6], [0.6, 0.0, 0.4], [0.0, 1.0, 0.0]
    placed = pool._agree(Q, problem)
    assert placed.labels[0] == placed.labels[1] != placed.labels[2]
    broken = pool._problem(np.array([(0, 1, 1), (0, 2, 1)]), kernels, WEIGHTS, LOG_PRIOR, 2)
    pool = pool_of(3, [0, 0, 1])
    assert pool._agree(Q, broken).labels.tolist() == [2, 0, 1]  # no labels keep all: each row has its likeliest
    kept = pool_of(3, [0, 0, 1])
    Q[:, 0] = [0.6, 0.0, 0.4]
    placed = kept._agree(Q, problem)
    np.testing.assert_allclose(placed.q, [[0.6, 0.0, 0.4], [0.6, 0.0, 0.4], [0.0, 1.0, 0.0]])
    assert placed.n_clusters == 2


def test_a_number_of_clusters_that_is_not_known_is_settled_in_rounds():
    y = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    links = np.array([(a, b, int(y[a] == y[b])) for a in range(9) for b in range(a)], dtype=np.intp)
    view = 3.0 * np.eye(3)[y] + 0.1 * np.random.default_rng(0).normal(size=(9, 3))
    pool = LabelPool(None)
    pool.add(9)
    placed = pool.open_row_chances(
        links, np.stack([view @ view.T]), np.ones((1, 1)), np.zeros(1), np.random.default_rng(0)
    )
    assert placed.n_clusters == 3
    assert all(len(set(placed.labels[y == k])) == 1 for k in range(3))
