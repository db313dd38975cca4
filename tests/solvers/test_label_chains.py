"""Chains over labels: energies against the formula, and what a label costs."""

from __future__ import annotations

import numpy as np

from sidelight._solvers.label_chains import NU, sweep_chains


def problem(n: int = 9, n_kernels: int = 3):
    generator = np.random.default_rng(0)
    C = np.stack([np.linalg.inv(np.cov(generator.normal(size=(n, 3 * n)))) for _ in range(n_kernels)])
    return np.ascontiguousarray(C), generator.normal(size=n_kernels)


def sweep(Z, C, log_prior, *, price=0.0, n_free=0, n_sweeps=0, D=1.5, n_labels=4):
    n = Z.shape[1]
    uniforms = np.random.default_rng(1).random((len(Z), 1 + n_sweeps * n))
    return sweep_chains(
        Z, C, log_prior, np.zeros((n, n)), np.ones(len(Z)), n_labels, D, price, n_free, 1.0, 1.0, n_sweeps, uniforms
    )


def test_energies_are_summed_over_kernels():
    C, log_prior = problem()
    z = np.array([[0, 1, 2, 0, 1, 2, 0, 0, 1]], dtype=np.intp)
    n, D = z.shape[1], 1.5
    alike = z[0][:, None] == z[0]
    V = 1.0 - sum(np.mean(z[0] == k) ** 2 for k in range(3))
    by_hand = [
        prior - D * (n - 1) / 2 * np.log((K[alike].sum() + NU * np.trace(K) / n) / (V + NU / n))
        for K, prior in zip(C, log_prior)
    ]
    energies, _, views = sweep(z.copy(), C, log_prior)
    np.testing.assert_allclose(energies, np.logaddexp.reduce(by_hand))
    np.testing.assert_allclose(views[0], np.exp(by_hand - np.logaddexp.reduce(by_hand)))


def test_a_price_keeps_labels_few():
    C, log_prior = problem()
    start = np.tile(np.arange(9, dtype=np.intp) % 4, (20, 1))
    used = []
    for price in (0.0, 20.0):
        Z = start.copy()
        sweep(Z, C, log_prior, price=price, n_sweeps=30)
        used.append(np.mean([len(np.unique(z)) for z in Z]))
    assert used[1] < used[0]


def test_labels_that_are_free_cost_nothing():
    C, log_prior = problem()
    z = np.array([[0, 1, 2, 0, 1, 2, 0, 0, 1]], dtype=np.intp)
    free, one_paid, none = (sweep(z.copy(), C, log_prior, price=5.0, n_free=n_free)[0][0] for n_free in (3, 2, 0))
    np.testing.assert_allclose([free - one_paid, free - none], [5.0, 15.0])


def test_the_compiled_loop_equals_the_plain_one():
    C, log_prior = problem()
    Z = np.tile(np.arange(9, dtype=np.intp) % 3, (4, 1))
    uniforms = np.random.default_rng(1).random((4, 1 + 2 * 9))
    arguments = (C, log_prior, np.zeros((9, 9)), np.ones(4), 4, 1.5, 0.7, 1, 1.5, 1.0, 2, uniforms)
    plain, compiled = Z.copy(), Z.copy()
    for one, other in zip(sweep_chains.py_func(plain, *arguments), sweep_chains(compiled, *arguments)):
        np.testing.assert_allclose(one, other)
    np.testing.assert_array_equal(plain, compiled)
