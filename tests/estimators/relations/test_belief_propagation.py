"""Belief propagation over answers: exact on trees against enumeration, and close to it where answers close cycles."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sidelight._core.simplex import log_softmax
from sidelight.estimators.relations.answered import posterior

NO_PAIRS, NO_TRIPLETS = np.zeros((0, 2), dtype=np.intp), np.zeros((0, 3), dtype=np.intp)
NO_PAIR_CHANCES, NO_TRIPLET_CHANCES = np.zeros((0, 2)), np.zeros((0, 4))


def odd_one(a: int, b: int, c: int) -> int:
    """Which row of a triplet is odd: 0, 1, 2, or 3 for none."""
    if (a == b) == (b == c) == (a == c):
        return 3
    return 2 if a == b else 1 if a == c else 0


def enumerated(log_P, pairs, pair_chances, triplets, triplet_chances):
    n, K = log_P.shape
    Q = np.zeros((n, K))
    for z in product(range(K), repeat=n):
        weight = np.exp(sum(log_P[i, z[i]] for i in range(n)))
        for (i, j), chances in zip(pairs, pair_chances):
            weight *= chances[int(z[i] == z[j])]
        for (a, b, c), chances in zip(triplets, triplet_chances):
            weight *= chances[odd_one(z[a], z[b], z[c])]
        Q[np.arange(n), z] += weight
    return Q / Q.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("K", [2, 3, 4])
def test_a_tree_of_pairs_and_triplets_is_exact(K):
    rng = np.random.default_rng(K)
    log_P = log_softmax(rng.normal(size=(7, K)))
    pairs, triplets = np.array([[0, 1], [1, 2], [5, 6]]), np.array([[2, 3, 4]])
    chances = rng.uniform(0.01, 1.0, size=(3, 2)), rng.uniform(0.01, 1.0, size=(1, 4))
    Q = posterior(log_P, pairs, chances[0], triplets, chances[1], max_rounds=500, tol=1e-12)
    np.testing.assert_allclose(Q, enumerated(log_P, pairs, chances[0], triplets, chances[1]), atol=1e-8)


def test_cycles_come_close():
    rng = np.random.default_rng(0)
    for _ in range(5):
        log_P = log_softmax(rng.normal(size=(6, 3)))
        z = rng.integers(3, size=6)
        pairs = np.array([[0, 1], [1, 2], [0, 2], [3, 4], [4, 5]])
        chances = np.where((z[pairs[:, 0]] == z[pairs[:, 1]])[:, None], [0.1, 0.9], [0.9, 0.1])
        triplets = np.array([[2, 3, 5]])
        told = np.full((1, 4), 0.05)
        told[0, odd_one(*z[triplets[0]])] = 0.85
        Q = posterior(log_P, pairs, chances, triplets, told)
        exact = enumerated(log_P, pairs, chances, triplets, told)
        without_answers = np.abs(np.exp(log_P) - exact).mean()
        assert np.abs(Q - exact).mean() < 0.5 * without_answers  # an approximation: it hears some answers twice


def test_rows_without_answers_keep_their_belief_and_chains_carry_far():
    log_P = np.log(np.array([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.3, 0.7]]))
    pairs = np.array([[0, 1], [1, 2], [2, 3]])
    chances = np.array([[0.01, 0.99], [0.99, 0.01], [0.01, 0.99]])  # same, different, same
    Q = posterior(log_P, pairs, chances, NO_TRIPLETS, NO_TRIPLET_CHANCES)
    np.testing.assert_array_equal(Q[:4].argmax(axis=1), [0, 0, 1, 1])
    np.testing.assert_allclose(Q[4], [0.3, 0.7])
    Q = posterior(log_P, NO_PAIRS, NO_PAIR_CHANCES, NO_TRIPLETS, NO_TRIPLET_CHANCES)
    np.testing.assert_allclose(Q, np.exp(log_P))
