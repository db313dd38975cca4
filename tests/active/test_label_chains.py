"""Chains over labels: what they visit against all labelings counted out, and what a label costs."""

from __future__ import annotations

import itertools

import numpy as np

from sidelight.active.label_chains import NU, contract, draw_kernel, sweep_chains

ANSWERS = np.array([(0, 1, 1), (1, 2, 1), (2, 3, 1), (0, 4, -1), (3, 4, -1), (0, 3, -1)])  # they contradict each other


def problem(n: int = 5, n_kernels: int = 2):
    generator = np.random.default_rng(0)
    C = np.stack([np.linalg.inv(np.cov(generator.normal(size=(n, 3 * n)))) for _ in range(n_kernels)])
    A = np.zeros((n, n))
    A[ANSWERS[:, 0], ANSWERS[:, 1]] = ANSWERS[:, 2]
    return np.ascontiguousarray(C), generator.normal(size=n_kernels), A + A.T


def sweep(Z, C, log_prior, A, *, price=0.0, n_free=0, n_sweeps=1, D=1.5, n_labels=3, trust=1.2, seed=1):
    ends = np.ascontiguousarray(ANSWERS[:, :2], dtype=np.intp)
    uniforms = np.random.default_rng(seed).random((len(Z), 1 + n_sweeps * (len(ends) + 2 * Z.shape[1])))
    return sweep_chains(
        Z, C, log_prior, A, ends, np.full(len(Z), trust), n_labels, D, price, n_free, n_sweeps, uniforms
    )


def kernel_terms(z, C, log_prior, D):
    n = len(z)
    alike = z[:, None] == z
    V = 1.0 - sum(np.mean(z == k) ** 2 for k in np.unique(z))
    return np.array([
        prior - D * (n - 1) / 2 * np.log((K[alike].sum() + NU * np.trace(K) / n) / (V + NU / n))
        for K, prior in zip(C, log_prior)
    ])  # fmt: skip


def by_hand(C, log_prior, A, *, n_labels, price, n_free=0, D=1.5, trust=1.2):
    """Return all labelings and their probabilities, summed over kernels."""
    labelings = np.array(list(itertools.product(range(n_labels), repeat=len(A))), dtype=np.intp)
    upper = np.triu(A, 1)
    log_p = np.array([
        trust * upper[z[:, None] == z].sum()
        + np.logaddexp.reduce(kernel_terms(z, C, log_prior, D))
        - price * max(len(np.unique(z)) - n_free, 0)
        for z in labelings
    ])  # fmt: skip
    p = np.exp(log_p - log_p.max())
    return labelings, p / p.sum()


def test_chains_visit_labelings_as_often_as_they_are_probable():
    for n_labels, price, n_free in [(2, 0.0, 2), (3, 0.0, 0), (3, 1.5, 0), (3, 1.5, 2)]:
        C, log_prior, A = problem()
        labelings, p = by_hand(C, log_prior, A, n_labels=n_labels, price=price, n_free=n_free)
        Z = np.zeros((1500, len(A)), dtype=np.intp)
        visits = np.zeros(len(labelings))
        number = n_labels ** np.arange(len(A))[::-1]
        n_rounds, n_first = 60, 10
        for round_ in range(n_rounds):
            sweep(Z, C, log_prior, A, n_labels=n_labels, price=price, n_free=n_free, seed=round_)
            if round_ >= n_first:
                visits += np.bincount(Z @ number, minlength=len(labelings))
        share = visits / visits.sum()
        by_chance = np.sqrt(2 * p / np.pi / visits.sum()).sum() / 2  # total variation of as many independent draws
        assert np.abs(share - p).sum() / 2 < 1.5 * by_chance
        assert p.max() < 0.9  # there is something to sample


def test_conditionals_are_those_of_the_formula():
    C, log_prior, A = problem(n_kernels=1)
    z = np.array([0, 1, 2, 0, 1], dtype=np.intp)
    labelings, p = by_hand(C, log_prior, A, n_labels=3, price=0.7)
    conditionals = sweep(z[None].copy(), C, log_prior, A, price=0.7, n_sweeps=0)
    for i in range(len(z)):
        others = np.delete(np.arange(len(z)), i)
        here = (labelings[:, others] == z[others]).all(axis=1)
        np.testing.assert_allclose(conditionals[0, i], p[here] / p[here].sum())


def test_kernels_are_drawn_by_their_probability():
    C, log_prior, _ = problem()
    z = np.array([0, 1, 2, 0, 1], dtype=np.intp)
    terms = kernel_terms(z, C, log_prior, 1.5)
    p = np.exp(terms - np.logaddexp.reduce(terms))
    floor = np.array([NU * np.trace(K) / len(z) for K in C])
    sizes, half = np.bincount(z).astype(float), 1.5 * (len(z) - 1) / 2.0
    points = (np.arange(1000) + 0.5) / 1000
    drawn = [draw_kernel(z, C, log_prior, floor, sizes, half, u) for u in points]
    np.testing.assert_allclose(np.bincount(drawn, minlength=len(C)) / 1000, p, atol=0.0011)


def test_a_price_keeps_labels_few():
    C, log_prior, A = problem()
    used = []
    for price in (0.0, 20.0):
        Z = np.tile(np.arange(5, dtype=np.intp) % 4, (20, 1))
        sweep(Z, C, log_prior, A, price=price, n_sweeps=30, n_labels=4)
        used.append(np.mean([len(np.unique(z)) for z in Z]))
    assert used[1] < used[0]


def test_a_block_behind_a_wrong_answer_moves_at_once():
    """Twelve rows in two chains of sure answers, joined by one: row by row no chain would ever separate them."""
    n = 12
    links = [(i, i + 1, 1) for i in range(n - 1)] + [(0, 11, -1), (1, 10, -1)]
    A = np.zeros((n, n))
    for i, j, vote in links:
        A[i, j] = A[j, i] = vote
    ends = np.array([link[:2] for link in links], dtype=np.intp)
    Z = np.zeros((200, n), dtype=np.intp)
    generator = np.random.default_rng(0)
    C, trust = np.eye(n)[None] - 1.0 / n, np.full(200, 4.0)
    for _ in range(20):
        sweep_chains(
            Z, C, np.zeros(1), A, ends, trust, 2, 0.1, 0.0, 2, 1, generator.random((200, 1 + len(ends) + 2 * n))
        )
    kept = (Z[:, ends[:, 0]] == Z[:, ends[:, 1]]) == (np.array([link[2] for link in links]) > 0)
    assert np.median((~kept).sum(axis=1)) == 1  # one of the eleven gives way, not two


def test_the_compiled_loop_equals_the_plain_one():
    C, log_prior, A = problem()
    Z = np.tile(np.arange(5, dtype=np.intp) % 3, (4, 1))
    ends = np.ascontiguousarray(ANSWERS[:, :2], dtype=np.intp)
    uniforms = np.random.default_rng(1).random((4, 1 + 2 * (len(ends) + 10)))
    arguments = (C, log_prior, A, ends, np.ones(4), 4, 1.5, 0.7, 1, 2, uniforms)
    plain, compiled = Z.copy(), Z.copy()
    np.testing.assert_allclose(sweep_chains.py_func(plain, *arguments), sweep_chains(compiled, *arguments))
    np.testing.assert_array_equal(plain, compiled)


def plain_contract(W, most):
    """Join the two groups of largest total weight while that is positive or there are too many."""
    groups = [[i] for i in range(len(W))]
    while len(groups) > 1:
        totals = {
            pair: sum(W[i, j] for i in pair[0] for j in pair[1])
            for pair in itertools.combinations(map(tuple, groups), 2)
        }
        (one, other), best = max(totals.items(), key=lambda item: item[1])
        if best <= 0 and len(groups) <= most:
            break
        groups = [group for group in groups if tuple(group) not in (one, other)] + [[*one, *other]]
    return {frozenset(group) for group in groups}


def test_groups_are_joined_while_that_pays_or_there_are_too_many():
    for most in [1, 2, 4, 7]:
        for seed in range(6):
            W = np.random.default_rng(seed).normal(size=(7, 7)) - 0.3
            W = W + W.T
            z = contract(W, most)
            assert {frozenset(np.flatnonzero(z == k).tolist()) for k in range(z.max() + 1)} == plain_contract(W, most)
        assert contract(np.zeros((3, 3)), 3).tolist() == [0, 1, 2]  # nothing pays
        assert contract(np.zeros((3, 3)), 1).tolist() == [0, 0, 0]
        assert contract(np.zeros((1, 1)), 1).tolist() == [0]
