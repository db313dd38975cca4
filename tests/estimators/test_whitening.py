"""Coordinates in which a softmax-linear objective is round."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.estimators import _linear_rule as module
from sidelight.estimators._linear_rule import ClusterWhitening, Whitening

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 5))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_entering_and_leaving_is_the_identity_and_the_factor_is_that_of_the_curvature(dtype):
    rows = X.astype(dtype)
    walk, theta = Whitening(rows, 1.5), rng.normal(size=6 * 3)
    np.testing.assert_allclose(walk.leave(walk.enter(theta)), theta, atol=1e-10)
    with_one = np.column_stack([rows.astype(np.float64), np.ones(40)])
    wanted = 0.25 * with_one.T @ with_one + np.diag([1.5] * 5 + [0.0])
    np.testing.assert_allclose(walk.factor.T @ walk.factor, wanted, rtol=1e-4)  # a millionth of the scale is added


def test_the_gradient_around_an_objective_is_that_of_the_round_coordinates():
    walk = Whitening(X, 0.1)

    def rounded(v):
        theta = walk.leave(v)
        return 0.5 * theta @ theta, walk.slope(theta)

    v, step = rng.normal(size=6 * 2), 1e-6
    numeric = [(rounded(v + step * e)[0] - rounded(v - step * e)[0]) / (2 * step) for e in np.eye(12)]
    np.testing.assert_allclose(rounded(v)[1], numeric, rtol=1e-5)


def test_coordinates_of_each_cluster_are_round_where_the_rule_is():
    W, b = rng.normal(size=(5, 3)), rng.normal(size=3)
    walk, theta = ClusterWhitening(X, W, b, 1.5, n_rows=400), np.concatenate([W.ravel(), b])
    np.testing.assert_allclose(walk.leave(walk.enter(theta)), theta, atol=1e-10)
    scores = X @ W + b
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p = (p / p.sum(axis=1, keepdims=True))[:, 1]
    with_one = np.column_stack([X, np.ones(40)])
    wanted = 10 * (with_one * (p * (1 - p))[:, None]).T @ with_one + np.diag([1.5] * 5 + [0.0])
    np.testing.assert_allclose(walk.factors[1].T @ walk.factors[1], wanted, rtol=1e-2, atol=1e-2)

    def rounded(v):
        theta = walk.leave(v)
        return 0.5 * theta @ theta, walk.slope(theta)

    v, step = rng.normal(size=6 * 3), 1e-6
    numeric = [(rounded(v + step * e)[0] - rounded(v - step * e)[0]) / (2 * step) for e in np.eye(18)]
    np.testing.assert_allclose(rounded(v)[1], numeric, rtol=1e-4, atol=1e-6)


def test_the_curvature_of_a_rare_cluster_comes_from_the_rows_that_are_uncertain_of_it(monkeypatch):
    many = np.random.default_rng(1).normal(size=(20_000, 4))
    W, b = np.zeros((4, 3)), np.array([0.0, 0.0, -12.0])  # next to no row is uncertain of the last cluster
    W[0, 2] = 4.0
    whole = ClusterWhitening(many, W, b, 0.0, n_rows=20_000).factors[2]
    monkeypatch.setattr(module, "MOST_PRODUCTS", 0.0)
    monkeypatch.setattr(module, "HEAVY", 400)
    part = ClusterWhitening(many, W, b, 0.0, n_rows=20_000).factors[2]
    np.testing.assert_allclose(part.T @ part, whole.T @ whole, rtol=0.05, atol=0.02 * np.trace(whole.T @ whole))
