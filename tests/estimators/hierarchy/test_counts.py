"""Counts of pairs, rates of loss, edges: each against a plain version."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import mutual_info_score

import sidelight as sl
from sidelight.estimators.hierarchy import candidates as loss_rates
from sidelight.estimators.hierarchy import edges
from sidelight.estimators.hierarchy.counts import association, count_pairs, mutual_information, unique_rows


def labels(seed=0, n=200, k=5):
    return np.random.default_rng(seed).choice([-1, 0, 1], size=(n, k), p=[0.2, 0.5, 0.3]).astype(np.int8)


def test_pairs_are_counted_over_rows_where_both_were_looked_at(monkeypatch):
    monkeypatch.setattr("sidelight.estimators.hierarchy.counts._BLOCK", 37)
    Z = labels()
    counts = count_pairs(Z)
    for p in range(5):
        for c in range(5):
            both_known = (Z[:, p] >= 0) & (Z[:, c] >= 0)
            assert counts.rows[p, c] == both_known.sum()
            assert counts.both[p, c] == ((Z[:, p] == 1) & (Z[:, c] == 1)).sum()
            assert counts.child[p, c] == (both_known & (Z[:, c] == 1)).sum()
            assert counts.parent[p, c] == (both_known & (Z[:, p] == 1)).sum()


def test_without_gaps_the_short_cut_counts_the_same():
    Z = np.abs(labels(1))
    padded = np.vstack([Z, np.full((1, 5), -1, dtype=np.int8)])
    for one, other in zip(count_pairs(Z), count_pairs(padded)):
        np.testing.assert_array_equal(one, other)


def test_information_equals_scikit_learn():
    Z = np.abs(labels(2))
    counts = count_pairs(Z)
    for p in range(5):
        for c in range(5):
            if p != c:
                expected = len(Z) * mutual_info_score(Z[:, p], Z[:, c])
                assert mutual_information(counts)[p, c] == pytest.approx(expected, abs=1e-9)
                positive = counts.is_positive[p, c]
                assert association(counts)[p, c] == pytest.approx(expected if positive else -1, abs=1e-9)


def test_the_part_below_the_spike_is_the_mean_binomial():
    spike, below = loss_rates._spike_and_below(np.array([[7.0]]), np.array([[12.0]]))
    for place in (4, 29, 70):
        q = 1 - loss_rates.GRID[place]
        assert spike[0, place] == pytest.approx(binom.logpmf(7, 12, q))
        shares = (np.arange(20_000) + 0.5) / 20_000 * q
        assert below[0, place] == pytest.approx(np.log(binom.pmf(7, 12, shares).mean()), abs=1e-4)


@pytest.mark.parametrize("missing", [0.1, 0.3, 0.5])
def test_alpha_is_close_before_any_tree(missing):
    sample = sl.data.make_label_tree(3000, n_labels=20, missing=missing, random_state=4)
    assert loss_rates.shared_alpha(count_pairs(sample.Y_incomplete.astype(np.int8))) == pytest.approx(missing, abs=0.03)


def test_certified_entries_are_those_with_a_descendant_seen():
    parents = np.array([-1, 0, 1])
    Z = np.array([[0, 0, 1], [1, 0, 1], [1, 1, 0], [-1, 0, 1], [0, 0, 0]], dtype=np.int8)
    seen, certain = loss_rates.certified(Z, parents)
    assert certain.tolist() == [3, 3, 0]
    assert seen.tolist() == [2, 0, 0]
    assert loss_rates.pooled_rate(seen, certain) == pytest.approx(1 - 2.5 / 7)
    assert loss_rates.pooled_rate(np.zeros(2), np.zeros(2)) is None


def test_rates_differ_only_when_they_do():
    rng = np.random.default_rng(0)
    certain = np.full(10, 500.0)
    equal, unequal = rng.binomial(500, 0.7, 10), rng.binomial(500, np.linspace(0.5, 0.9, 10))
    assert not loss_rates.rates_differ(equal.astype(float), certain)
    assert loss_rates.rates_differ(unequal.astype(float), certain)
    drawn = loss_rates.shrunk_rates(unequal.astype(float), certain)
    np.testing.assert_allclose(drawn, 1 - np.linspace(0.5, 0.9, 10), atol=0.06)


def test_an_edge_gains_the_likelihood_of_two_tables():
    Z = np.abs(labels(3))
    counts, a = count_pairs(Z), 0.3
    p, c = 1, 2
    on, off = Z[Z[:, c] == 1, p], Z[Z[:, c] == 0, p]
    expected = binom_ll(on, 1 - a) + binom_ll(off, off.mean()) - binom_ll(Z[:, p], Z[:, p].mean())
    assert edges.edge_gains(counts, np.full(5, a))[p, c] == pytest.approx(expected)


def binom_ll(z, rate):
    return float((z * np.log(rate) + (1 - z) * np.log(1 - rate)).sum())


def test_the_triple_test_tells_a_child_from_a_sibling():
    rng = np.random.default_rng(5)
    g = rng.random(4000) < 0.6
    p = g & (rng.random(4000) < 0.5)
    child, sibling = p & (rng.random(4000) < 0.5), g & (rng.random(4000) < 0.3)
    Z = (np.column_stack([g, p, child, sibling]) & (rng.random((4000, 4)) >= 0.2)).astype(np.int8)
    counts, alphas = count_pairs(Z), np.full(4, 0.2)
    assert edges.triple_evidence(counts, alphas, True, 2, np.array([1]), 0)[0] > 10
    assert edges.triple_evidence(counts, alphas, True, 3, np.array([1]), 0)[0] < -10
    wrong = np.array([-1, 0, 0, 1])  # the child beside, the sibling below
    settled = edges.settle_triples(counts, wrong, alphas, np.zeros((4, 4)), np.inf, shared=True)
    np.testing.assert_array_equal(settled, [-1, 0, 1, 0])


def test_distinct_rows_are_counted():
    Z = np.array([[1, 0], [0, 1], [1, 0], [-1, 0]], dtype=np.int8)
    rows, counts = unique_rows(Z)
    found = {tuple(row): count for row, count in zip(rows.tolist(), counts)}
    assert found == {(1, 0): 2, (0, 1): 1, (-1, 0): 1}
