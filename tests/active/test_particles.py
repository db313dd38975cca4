"""The thesis' belief against enumeration and differences, and its criteria against all pairs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.datasets import load_iris

import sidelight as sl
from sidelight.active.particle_belief import (
    PairForest,
    ParticleBelief,
    Prior,
    best_labels,
    log_likelihood,
    move,
    pair_marginals,
)
from sidelight.active.strategies import CriterionStrategy

RNG = np.random.default_rng(0)
X, Y = load_iris(return_X_y=True)
LEFT, RIGHT, SAME = np.array([0, 1, 3, 1]), np.array([1, 2, 4, 5]), np.array([1, 0, 0, 1])


def enumerate_labels(P, eps):
    n, K = P.shape
    total, q, best = 0.0, np.zeros((n, K)), (-1.0, None)
    for labels in product(range(K), repeat=n):
        weight = np.prod([P[i, k] for i, k in enumerate(labels)])
        for a, b, same in zip(LEFT, RIGHT, SAME):
            weight *= 1 - eps if (labels[a] == labels[b]) == bool(same) else eps
        total += weight
        q[np.arange(n), labels] += weight
        best = max(best, (weight, labels))
    return q / total, np.log(total), best[1]


@pytest.mark.parametrize("K", [2, 3])
def test_marginals_and_best_labels_equal_enumeration(K):
    P = RNG.dirichlet(np.ones(K), size=6)
    forest = PairForest.of(LEFT, RIGHT, SAME.astype(bool), 6)
    q, log_Z = pair_marginals(P, forest, 0.1)
    wanted_q, wanted_log_Z, wanted_best = enumerate_labels(P, 0.1)
    np.testing.assert_allclose(q, wanted_q, atol=1e-12)
    assert log_Z == pytest.approx(wanted_log_Z)
    assert log_likelihood(P, forest, 0.1) == pytest.approx(wanted_log_Z)
    assert tuple(best_labels(P, forest, 0.1)) == wanted_best


def belief(**changes):
    return ParticleBelief(X[::5], Prior(3, **{"n_particles": 16, **changes}), np.random.default_rng(0))


def test_the_gradient_of_the_joint_agrees_with_differences():
    b = belief(penalty=1.0)
    b.left, b.right, b.same = LEFT, RIGHT, SAME
    centre = b.centres[1]
    W = centre + 0.1 * RNG.normal(size=centre.size)
    error = check_grad(
        lambda w: float(b.negative_log_joint(w, centre)[0]), lambda w: b.negative_log_joint(w, centre)[1], W
    )
    assert error < 1e-4


def test_slice_sampling_keeps_a_known_posterior():
    # N(0, 1) times exp(-x^2 / 2) is N(0, 1/2)
    particles = move(np.zeros((4000, 1)), np.zeros(1), 1.0, lambda w: -0.5 * w[:, 0] ** 2, 8, np.random.default_rng(0))
    assert particles.mean() == pytest.approx(0, abs=0.05)
    assert particles.var() == pytest.approx(0.5, abs=0.05)


def test_the_printed_prior_clusters_nothing_until_something_is_answered():
    b = belief(centre="zero")
    np.testing.assert_allclose(b.best_rule(), 0, atol=1e-6)


def test_the_best_rule_leaves_the_saddle_of_the_printed_prior():
    generator = np.random.default_rng(0)
    y = np.arange(90) % 3
    rows = generator.normal(size=(90, 4)) + 6 * np.eye(4)[y]
    b = ParticleBelief(rows, Prior(3, centre="zero", penalty=0.1, n_particles=8), generator)
    for k in range(1, 40):
        a = int(generator.integers(k))
        b.tell(a, k, bool(y[a] == y[k]), generator)
    zero = b.centres[0]
    value, gradient = b.negative_log_joint(zero, zero)
    np.testing.assert_allclose(gradient, 0, atol=1e-9)  # by symmetry, whatever was answered
    assert b.negative_log_joint(b.best_rule(), zero)[0] < value - 1
    assert sl.metrics.adjusted_rand_index(y, b.partition(generator)) > 0.9


@pytest.mark.parametrize(("asked_about", "n_answers", "part"), [(0, 4, 1), (1, 30, 0)])
def test_answers_decide_between_the_printed_prior_and_a_start(asked_about, n_answers, part):
    # k-means goes by the kind that three columns show; people may mean it, or the other one
    generator = np.random.default_rng(0)
    kinds = generator.integers(2, size=(120, 2))
    rows = 6.0 * kinds[:, [0, 0, 0, 1]] + generator.normal(size=(120, 4))
    y = kinds[:, asked_about]
    b = ParticleBelief(rows, Prior(2, n_particles=64), generator)
    np.testing.assert_array_equal(np.bincount(b.parts), [32, 32])
    for k in range(n_answers):
        b.tell(2 * k, 2 * k + 1, bool(y[2 * k] == y[2 * k + 1]), generator)
    assert sl.metrics.adjusted_rand_index(y, b.partition(generator)) > 0.9
    assert (b.parts == part).mean() > 0.7


def test_questions_never_close_a_cycle():
    session = sl.BayesianActiveClustering(3, n_particles=16, random_state=0).start(X[::3])
    session.run(sl.Oracle(Y[::3]), budget=10)
    assert len(session._belief.left) == 10  # none was left out


@pytest.mark.parametrize("criterion", ["info", "uncertain"])
def test_sampled_candidates_come_near_the_best_of_all_pairs(criterion):
    b = belief()
    every, some = CriterionStrategy(criterion), CriterionStrategy(criterion, n_candidates=200)
    _, best = every.choose(b, lambda a, c: False, np.random.default_rng(0))
    _, sampled = some.choose(b, lambda a, c: False, np.random.default_rng(0))
    assert best >= sampled >= 0.8 * best


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["info", "uncertain"])
def test_the_gain_of_400_rows_is_within_5_percent_of_all_pairs(criterion):
    rows = np.random.default_rng(0).normal(size=(400, 4)) + 2.0 * (np.arange(400) % 3)[:, None]
    b = ParticleBelief(rows, Prior(3, n_particles=32), np.random.default_rng(0))
    every, default = CriterionStrategy(criterion, n_candidates=400 * 399 // 2), CriterionStrategy(criterion)
    _, best = every.choose(b, lambda a, c: False, np.random.default_rng(0))
    for seed in range(3):
        _, gain = default.choose(b, lambda a, c: False, np.random.default_rng(seed))
        assert gain >= 0.95 * best


def test_answers_help():
    from sklearn.metrics import adjusted_rand_score

    estimator = sl.BayesianActiveClustering(3, penalty=1.0, random_state=0)
    without = estimator.fit(X).labels_
    with_answers = estimator.fit(X, pairs=sl.Pairs.sample(Y, 100, random_state=0)).labels_
    assert adjusted_rand_score(Y, with_answers) > adjusted_rand_score(Y, without)


def test_answers_that_close_a_cycle_are_counted():
    fitted = sl.BayesianActiveClustering(3, random_state=0).fit(
        X, pairs=[(0, 1, "same"), (1, 2, "same"), (0, 2, "same")]
    )
    assert fitted.n_dropped_ == 1
