"""Cutting planes and their dual against a full quadratic program."""

from __future__ import annotations

import numpy as np
import piqp
import pytest

from sidelight._models.scaled_rows import column_scaling, scaled_rows
from sidelight.estimators.bags import cutting_plane
from sidelight.estimators.bags.bag_margin import BagMargin
from sidelight.estimators.bags.cutting_plane import concave_convex, cutting_planes, dual, margin_objective


def bag_margin(seed=0, n_bags=12, d=4, spread=1.0):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 5, n_bags)
    X = generator.normal(size=(sizes.sum(), d)) * spread + generator.normal(size=d)
    rows = scaled_rows(X, *column_scaling(X), unit=False)
    return BagMargin(rows, np.arange(len(X)), np.concatenate([[0], np.cumsum(sizes)]))


def full_qp(pieces, C, centre, balance, shape):
    """Minimise [Z09] eq. (11) as it stands, over W and a slack per bag, with the paper's k (k - 1) balance rows."""
    k, d = shape
    n = pieces.n_bags
    gradients = np.array([pieces.combine(np.eye(n)[i]).ravel() for i in range(n)])
    P = np.diag(np.concatenate([np.ones(k * d), np.zeros(n)]))
    cost = np.concatenate([np.zeros(k * d), np.full(n, C / n)])
    pairs = [(p, q) for p in range(k) for q in range(p)]
    balanced = np.array([np.outer(np.eye(k)[p] - np.eye(k)[q], centre).ravel() for p, q in pairs])
    G = np.vstack([np.hstack([gradients, np.eye(n)]), np.hstack([balanced, np.zeros((len(pairs), n))])])
    low = np.concatenate([np.ones(n), np.full(len(pairs), -balance)])
    high = np.concatenate([np.full(n, np.inf), np.full(len(pairs), balance)])
    x_low = np.concatenate([np.full(k * d, -np.inf), np.zeros(n)])
    solver = piqp.DenseSolver()
    solver.setup(
        np.asfortranarray(P), cost, None, None, np.asfortranarray(G), low, high, x_low, np.full(len(cost), np.inf)
    )
    assert solver.solve() == piqp.PIQP_SOLVED
    return solver.result.x[: k * d].reshape(k, d)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize(("C", "balance"), [(0.5, 1e-3), (4.0, 0.0), (4.0, 2.0), (50.0, 0.5)])
def test_cuts_reach_the_optimum_of_the_full_program(k, C, balance):
    margin = bag_margin(seed=k)
    centre = margin.centre()
    pieces, _ = margin.pieces(np.random.default_rng(k).normal(size=(k, 4)))
    tol = 1e-4
    W, _ = cutting_planes(pieces, C=C, centre=centre, balance=balance, tol=tol, like=np.zeros((k, 4)))
    best = full_qp(pieces, C, centre, max(balance, 1e-9), (k, 4))
    least = margin_objective(best, pieces.margins(best), C)
    reached = margin_objective(W, pieces.margins(W), C)
    assert least - 1e-6 <= reached <= least + C * tol + 1e-6
    leaning = W @ centre
    assert np.ptp(leaning) <= balance + 1e-6
    if reached <= least + 1e-9:
        np.testing.assert_allclose(W, best, atol=1e-3)


def test_the_dual_of_many_equal_cuts_is_solved():
    gram, shares = np.ones((6, 6)), np.full(6, 0.5)
    alpha, _, _ = dual(gram, shares, 10.0)
    assert alpha.sum() == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("C", [0.5, 8.0])
def test_the_objective_never_rises_beyond_the_inner_tolerance(seed, C):
    margin = bag_margin(seed=seed, n_bags=40)
    start = np.random.default_rng(seed).normal(size=(3, 4))
    fit = concave_convex(margin, start, C=C, centre=margin.centre(), balance=0.1, tol=0.0, inner_tol=0.01, max_iter=30)
    assert (np.diff(fit.objectives) <= C * 0.01 + 1e-9).all()
    _, values = margin.pieces(fit.W)
    assert fit.objective == pytest.approx(margin_objective(fit.W, values, C))


def test_rounds_stay_few_when_the_price_is_high():
    """Cuts that are dropped too early come back for ever."""
    margin = bag_margin(seed=1, n_bags=60, spread=5.0)
    start = np.random.default_rng(0).normal(size=(3, 4))
    fit = concave_convex(
        margin, start, C=100.0, centre=margin.centre(), balance=1.0, tol=0.01, inner_tol=0.01, max_iter=50
    )
    assert fit.converged
    assert fit.rounds.max() < 300


def test_one_direction_that_is_balanced_away_leaves_no_weights():
    X = np.full((6, 1), 2.0)
    rows = scaled_rows(X, np.zeros(1), np.ones(1), unit=False)
    margin = BagMargin(rows, np.arange(6), np.arange(7))
    fit = concave_convex(
        margin, np.ones((2, 1)), C=1.0, centre=margin.centre(), balance=0.0, tol=0.01, inner_tol=0.01, max_iter=9
    )
    np.testing.assert_allclose(fit.W, 0.0, atol=1e-9)


def test_steps_and_rounds_end_at_their_limits(monkeypatch):
    margins = bag_margin()
    how = {"C": 8.0, "centre": margins.centre(), "balance": 0.3, "tol": 0.0, "inner_tol": 1e-3}
    start = np.random.default_rng(1).normal(size=(3, 4))
    for max_iter in (1, 2):
        fit = concave_convex(margins, start, max_iter=max_iter, **how)
        assert len(fit.rounds) == len(fit.objectives) == max_iter
        assert not fit.converged
    pieces, _ = margins.pieces(start)
    monkeypatch.setattr(cutting_plane, "_MAX_CUTS", 2)
    assert cutting_planes(pieces, C=8.0, centre=margins.centre(), balance=0.3, tol=1e-9, like=start)[1] == 2
