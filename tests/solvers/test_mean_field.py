"""Mean field over answers: the fixed point of [P17] (3.10), a bound that never drops, and hard answers."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight._core.simplex import log_softmax, xlogx
from sidelight._solvers.mean_field import infer
from sidelight.estimators.relations.answered import pair_truths, triplet_truths

NO_PAIRS, NO_TRIPLETS = np.zeros((0, 2), dtype=np.intp), np.zeros((0, 3), dtype=np.intp)
NONE = np.zeros(0, dtype=np.intp)
RNG = np.random.default_rng(0)


def bound(q, log_P, pairs, same, triplets, odd, gain_pair, gain_triplet):
    kept = pair_truths(q, pairs)[np.arange(len(same)), same].sum() * gain_pair
    kept += triplet_truths(q, triplets)[np.arange(len(odd)), odd].sum() * gain_triplet
    return kept + (q * log_P - xlogx(q)).sum()


def draw(n=12, K=3):
    log_P = log_softmax(RNG.normal(size=(n, K)))
    pairs = np.array([RNG.choice(n, 2, replace=False) for _ in range(10)])
    triplets = np.array([RNG.choice(n, 3, replace=False) for _ in range(10)])
    return log_P, pairs, RNG.integers(2, size=10), triplets, RNG.integers(4, size=10)


def test_each_sweep_raises_the_bound():
    for _ in range(10):
        log_P, pairs, same, triplets, odd = draw()
        gains = {"gain_pair": 3.0, "gain_triplet": 4.0}
        values = [
            bound(infer(log_P, pairs, same, triplets, odd, max_sweeps=s, tol=0, **gains), log_P, pairs, same, triplets,
                  odd, 3.0, 4.0)
            for s in range(6)
        ]  # fmt: skip
        assert (np.diff(values) >= -1e-9).all()


def test_the_end_is_a_fixed_point_of_the_update():
    log_P, pairs, same, triplets, odd = draw()
    gains = {"gain_pair": 1.0, "gain_triplet": 1.5}
    q = infer(log_P, pairs, same, triplets, odd, max_sweeps=500, tol=1e-12, **gains)
    for i in range(len(q)):
        # the derivative of the expected answers in q_i is what (3.10) adds to log p_i
        scores = np.empty(3)
        for k in range(3):
            fixed = q.copy()
            fixed[i] = np.eye(3)[k]
            mine_p, mine_t = (pairs == i).any(axis=1), (triplets == i).any(axis=1)
            kept = 1.0 * pair_truths(fixed, pairs[mine_p])[np.arange(mine_p.sum()), same[mine_p]].sum()
            kept += 1.5 * triplet_truths(fixed, triplets[mine_t])[np.arange(mine_t.sum()), odd[mine_t]].sum()
            scores[k] = log_P[i, k] + kept
        np.testing.assert_allclose(q[i], np.exp(log_softmax(scores)), atol=1e-6)


def test_a_chain_of_different_does_not_oscillate():
    log_P = log_softmax(np.tile([0.1, 0.0], (6, 1)))
    pairs = np.array([[i, i + 1] for i in range(5)])
    q = infer(log_P, pairs, np.zeros(5, np.intp), NO_TRIPLETS, NONE, gain_pair=3.0, gain_triplet=0.0)
    labels = q.argmax(axis=1)
    assert (labels[1:] != labels[:-1]).all()


def test_hard_answers_leave_only_the_labels_that_agree_most():
    log_P = np.log([[0.9, 0.05, 0.05], [0.3, 0.4, 0.3]])
    pairs = np.array([[0, 1]])
    alike = infer(log_P, pairs, np.array([1]), NO_TRIPLETS, NONE, gain_pair=np.inf, gain_triplet=np.inf)
    np.testing.assert_array_equal(alike.argmax(axis=1), [1, 1])  # row 0 goes first, to what row 1 believes
    assert ((alike == 0) | (alike == 1)).all()


@pytest.mark.parametrize("K", [2, 4])
def test_rows_without_answers_keep_their_belief(K):
    log_P = log_softmax(RNG.normal(size=(5, K)))
    q = infer(log_P, np.array([[0, 1]]), np.array([1]), NO_TRIPLETS, NONE, gain_pair=2.0, gain_triplet=2.0)
    np.testing.assert_allclose(q[2:], np.exp(log_P[2:]))
