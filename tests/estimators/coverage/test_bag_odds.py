"""The correction of the odds of bags: its gradient, the plain product, and what it learns."""

from __future__ import annotations

import numpy as np

from sidelight._solvers.descent import descend
from sidelight.estimators.coverage.held_out import BagOdds, correction, log_odds


def test_plain_odds_are_the_product_over_rows():
    P = np.random.default_rng(0).dirichlet(np.ones(4), size=6)
    order, starts = np.array([3, 0, 1, 5, 2, 4]), np.array([0, 2, 6])
    evidence = log_odds(P, order, starts)
    expected = [1 - np.prod(1 - P[order[a:b]], axis=0) for a, b in ((0, 2), (2, 6))]
    np.testing.assert_allclose(BagOdds.plain(3).probability(evidence), expected, rtol=1e-12)


def test_certainty_stays_finite():
    evidence = log_odds(np.array([[1.0, 0.0]]), np.array([0]), np.array([0, 1]))
    assert np.isfinite(evidence).all()
    np.testing.assert_allclose(BagOdds.plain(2).probability(evidence), [[1.0, 0.0]], atol=1e-8)


def test_the_gradient_of_the_correction():
    rng = np.random.default_rng(1)
    objective, start = correction(rng.normal(size=(20, 3)), (rng.random((20, 3)) < 0.3).astype(float))
    theta = start + rng.normal(size=len(start))
    steps = 1e-6 * np.eye(len(theta))
    numeric = [(objective(theta + step)[0] - objective(theta - step)[0]) / 2e-6 for step in steps]
    np.testing.assert_allclose(objective(theta)[1], numeric, rtol=1e-5, atol=1e-6)


def test_a_correction_is_found_again():
    rng = np.random.default_rng(2)
    evidence = rng.normal(scale=3.0, size=(4000, 4))
    truth = BagOdds(0.5, np.array([-2.0, -1.5, -1.0, -2.5]))
    listed = (rng.random(evidence.shape) < truth.probability(evidence)).astype(float)
    learnt = BagOdds.unpack(descend(*correction(evidence, listed), tol=1e-8).parameters)
    np.testing.assert_allclose(learnt.slope, truth.slope, rtol=0.1)
    np.testing.assert_allclose(learnt.offsets, truth.offsets, atol=0.25)
    assert learnt.probability(evidence).mean() - listed.mean() < 0.01
