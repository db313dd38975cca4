"""Bag margins against their definition, and rows that look scaled without being copied."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler, normalize

from sidelight._models.scaled_rows import column_scaling, scaled_rows
from sidelight.estimators.bags import bag_margin as module
from sidelight.estimators.bags.bag_margin import BagMargin


def problem(seed=0, n=30, d=5, n_bags=8):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, d)) * 3 + 7
    codes = np.concatenate([np.arange(n_bags), generator.integers(0, n_bags, n - n_bags)])
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes))])
    return X, codes, order, starts


def scaled(X, unit=True):
    return scaled_rows(X, *column_scaling(X), unit=unit)


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_scaled_rows_multiply_like_standardised_rows(unit, kind):
    X = problem()[0] * (np.random.default_rng(1).random((30, 5)) < 0.6)
    plain = StandardScaler().fit_transform(X)
    plain = normalize(plain) if unit else plain / np.sqrt(5)  # five columns share a squared length of 1
    rows = scaled(kind(X), unit)
    W, M = np.random.default_rng(2).normal(size=(3, 5)), np.random.default_rng(3).normal(size=(30, 2))
    np.testing.assert_allclose(rows.products(W), plain @ W.T, atol=1e-12)
    np.testing.assert_allclose(rows.combine(M), M.T @ plain, atol=1e-12)


def test_a_constant_column_counts_for_nothing():
    """A mean of equal numbers is rounded, so their deviation is not exactly 0."""
    X = np.column_stack([np.full(1953, -0.021732), np.arange(1953.0)])
    assert column_scaling(X)[1][0] == 0
    assert column_scaling(sp.csr_array(X))[1][0] == 0


def test_witnesses_follow_the_definition(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_ROWS", 7)  # several blocks, some smaller than a bag
    X, codes, order, starts = problem()
    margin = BagMargin(scaled(X), order, starts)
    W = np.random.default_rng(4).normal(size=(3, 5))
    plain = normalize(StandardScaler().fit_transform(X)) @ W.T
    leaning = 1.5 * (plain.max(axis=1) - plain.mean(axis=1))
    witness, cluster, values = margin.witnesses(W)
    for bag in range(8):
        rows = np.flatnonzero(codes == bag)
        assert witness[bag] == rows[np.argmax(leaning[rows])]
        assert cluster[bag] == np.argmax(plain[witness[bag]])
        assert values[bag] == pytest.approx(leaning[rows].max())
    of_clusters = margin.cluster_margins(W)
    np.testing.assert_allclose(of_clusters.max(axis=1), values)


def test_pieces_touch_the_margins_and_lie_below_them():
    X, _, order, starts = problem()
    margin = BagMargin(scaled(X), order, starts)
    generator = np.random.default_rng(5)
    W = generator.normal(size=(4, 5))
    pieces, values = margin.pieces(W)
    np.testing.assert_allclose(pieces.margins(W), values)
    for _ in range(20):
        other = generator.normal(size=(4, 5))
        assert (pieces.margins(other) <= margin.witnesses(other)[2] + 1e-12).all()


def test_combine_is_the_gradient_of_the_pieces():
    X, _, order, starts = problem()
    pieces, _ = BagMargin(scaled(X), order, starts).pieces(np.random.default_rng(6).normal(size=(3, 5)))
    weights, direction = np.random.default_rng(7).random(8), np.random.default_rng(8).normal(size=(3, 5))
    assert weights @ pieces.margins(direction) == pytest.approx(np.sum(pieces.combine(weights) * direction))


def test_the_centre_is_the_sum_of_bag_means():
    X, codes, order, starts = problem()
    plain = normalize(StandardScaler().fit_transform(X))
    means = sum(plain[codes == bag].mean(axis=0) for bag in range(8))
    np.testing.assert_allclose(BagMargin(scaled(X), order, starts).centre(), means)
