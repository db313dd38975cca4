"""Candidate trees: likelihoods against enumeration, weights against repeated rows, and every bound at the bound."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

import sidelight as sl
from sidelight._models.label_logits import LabelLogits
from sidelight.estimators.hierarchy import candidates, edges, evidence
from sidelight.estimators.hierarchy import candidates as loss_rates
from sidelight.estimators.hierarchy.counts import count_pairs, unique_rows
from sidelight.estimators.hierarchy.weights import closed_start

RATES = np.array([0.05, 0.5, 0.3, 0.1, 0.2, 0.4])


def seen_labels(n=1500, rates=0.25, seed=0, unknown=0.1):
    """Label sets of a tree with losses, some entries of which nobody looked at."""
    sample = sl.data.make_label_tree(n, n_labels=6, missing=0.0, random_state=seed)
    rng = np.random.default_rng(seed)
    Z = (sample.Y * (rng.random(sample.Y.shape) >= rates)).astype(np.int8)
    Z[rng.random(Z.shape) < unknown] = -1
    return Z, np.asarray(sample.tree.parents)


def test_weights_are_repeated_rows():
    for kind, rates in [("auto", 0.25), ("auto", RATES), ("shared", RATES), ("label", 0.25)]:
        Z, parents = seen_labels(rates=rates)
        few, times = unique_rows(Z)
        whole, weighted = (
            candidates.best_candidate(rows, 1e-3, rates=kind, weights=some) for rows, some in ((Z, None), (few, times))
        )
        assert [one.source for one in whole[1]] == [one.source for one in weighted[1]]
        for one, other in zip((whole[0], *whole[1]), (weighted[0], *weighted[1])):
            np.testing.assert_array_equal(one.parents, other.parents)
            np.testing.assert_allclose(one.alphas, other.alphas)
            assert (one.gate, one.shared) == (other.gate, other.shared)
            assert one.value == pytest.approx(other.value)
            assert one.alpha == pytest.approx(other.alpha)
        given, counted = (
            candidates.known_tree(rows, parents, rates=kind, weights=some) for rows, some in ((Z, None), (few, times))
        )
        np.testing.assert_allclose(given.alphas, counted.alphas)
        is_label = kind == "label" or (kind == "auto" and np.ndim(rates) > 0)
        assert given.shared != is_label
        wanted = {"gate 4", "gate 6", "ungated"} if kind != "label" else set()
        wanted |= {"per label", "per label, ungated"} if is_label else set()
        assert {one.source for one in whole[1]} == wanted


def test_a_given_tree_without_anything_certain_loses_nothing():
    Z = np.eye(3, dtype=np.int8)
    for kind in ("auto", "label"):
        star = candidates.known_tree(Z, np.full(3, -1), rates=kind)
        assert (star.alpha, star.shared, star.alphas.tolist()) == (0.0, True, [0.0, 0.0, 0.0])
    line = candidates.known_tree(np.ones((4, 2), dtype=np.int8), np.array([-1, 0]))
    assert line.alpha == pytest.approx(1 - 4.5 / 5)
    np.testing.assert_allclose(line.alphas, line.alpha)
    rare = candidates.known_tree(np.ones((4000, 2), dtype=np.int8), np.array([-1, 0]))
    np.testing.assert_allclose(rare.alphas, loss_rates.LEAST)


def test_the_likelihood_of_labels_is_that_of_enumeration():
    Z, parents = seen_labels(12)
    patterns, times = unique_rows(Z)
    alphas, eps = np.linspace(0.1, 0.4, 6), 0.02
    value, theta = candidates.label_likelihood(patterns, times, parents, alphas, eps, max_iter=1)
    expected = 0.0
    for z, n in zip(patterns, times):
        total = 0.0
        for y in product([0, 1], repeat=6):
            p = 1.0
            for c in range(6):
                on = 0.3 if parents[c] < 0 or y[parents[c]] else eps
                p *= on if y[c] else 1 - on
                p *= 1.0 if z[c] < 0 else (1 - alphas[c]) * y[c] if z[c] else 1 - (1 - alphas[c]) * y[c]
            total += p
        expected += n * np.log(total)
    assert value == pytest.approx(expected)
    later, _ = candidates.label_likelihood(patterns, times, parents, alphas, eps)
    assert later > value
    assert ((theta > 0) & (theta < 1)).all()


def test_every_further_rate_costs_half_a_log_of_the_rows():
    Z, parents = seen_labels(300)
    patterns, times = unique_rows(Z)
    one = candidates.Candidate("a", parents, np.full(6, 0.2), 0.2, True, 4.0)
    own = replace(one, shared=False)
    n_inner = len(set(parents[parents >= 0].tolist()))
    assert n_inner > 1
    values = [candidates._value(candidate, patterns, times, 1e-3) for candidate in (one, own)]
    assert values[0] - values[1] == pytest.approx(0.5 * (n_inner - 1) * np.log(300))


def test_labels_move_only_to_parents_that_the_gate_allows():
    rng = np.random.default_rng(5)
    g = rng.random(4000) < 0.6
    p = g & (rng.random(4000) < 0.5)
    child, sibling = p & (rng.random(4000) < 0.5), g & (rng.random(4000) < 0.3)
    Z = (np.column_stack([g, p, child, sibling]) & (rng.random((4000, 4)) >= 0.2)).astype(np.int8)
    counts, alphas = count_pairs(Z), np.full(4, 0.2)
    short = np.zeros((4, 4))
    short[1, 2], short[0, 3] = 2.0, 3.0  # down below the sibling p, up to the grandparent g

    def settled(gate):
        return edges.settle_triples(counts, np.array([-1, 0, 0, 1]), alphas, short, gate, shared=True).tolist()

    assert settled(3.0) == [-1, 0, 1, 0]
    assert settled(2.5) == [-1, 0, 1, 1]
    assert settled(2.0) == [-1, 0, 1, 1]
    assert settled(1.9) == [-1, 0, 0, 1]


def test_rates_of_two_labels_change_what_a_sibling_is_expected_to_show():
    Z, _ = seen_labels(600, RATES)
    counts = count_pairs(Z)
    p = np.array([2, 3])
    for g, shared in ((0, True), (0, False), (-1, True)):
        found = edges.triple_evidence(counts, RATES, shared, 1, p, g)
        for place, label in enumerate(p.tolist()):
            a = RATES[label]
            if g < 0:
                u = (Z[:, label] == 1).sum() / (Z[:, label] >= 0).sum()
            else:
                known = (Z[:, label] >= 0) & (Z[:, g] >= 0)
                u = (1 - a) * (known & (Z[:, label] == 1)).sum() / (known & (Z[:, g] == 1)).sum()
                u *= 1.0 if shared else (1 - RATES[g]) / (1 - a)
            on = (Z[:, 1] == 1) & (Z[:, label] >= 0)
            k, n = (on & (Z[:, label] == 1)).sum(), on.sum()
            assert found[place] == pytest.approx(k * np.log((1 - a) / u) + (n - k) * np.log(a / (1 - u)))


def test_a_lift_is_tested_as_two_shares():
    z = (8 / 10 - 3 / 12) / np.sqrt(0.5 * 0.5 * (1 / 10 + 1 / 12))
    assert evidence._p_value_of_lift(8, 10, 3, 12) == pytest.approx(norm.sf(z))
    assert evidence._p_value_of_lift(0, 0, 3, 12) == evidence._p_value_of_lift(8, 10, 0, 0) == 1.0
    assert evidence._p_value_of_lift(10, 10, 12, 12) == 1.0


def test_a_link_whose_parent_is_seen_no_more_often_with_its_child_is_refuted():
    rng = np.random.default_rng(0)
    parent = rng.random(900) < 0.5
    implied, unrelated = parent & (rng.random(900) < 0.5), rng.random(900) < 0.3
    Z = np.column_stack([parent & (rng.random(900) < 0.8), implied, unrelated]).astype(np.int8)
    Z[::9, 0] = -1
    tree = candidates.Candidate("a", np.array([-1, 0, 0]), np.full(3, 0.2), 0.2, True, 4.0)
    assert evidence.unsupported(Z, tree, np.full(3, np.nan)).tolist() == [False, False, True]
    assert evidence.unsupported(Z, tree, np.array([np.nan, 1e-4, 0.5])).tolist() == [False, True, True]
    assert evidence.unsupported(Z, tree, np.array([np.nan, evidence.NOT_RANDOM, 0.5])).tolist() == [False, False, True]


def test_evidence_is_that_of_the_triple_and_counts_those_of_the_rows_looked_at():
    Z, parents = seen_labels(600)
    counts = count_pairs(Z)
    for shared in (True, False):
        tree = candidates.Candidate("a", parents, RATES, 0.2, shared, 4.0)
        nats, seen = evidence.edge_evidence(counts, tree)
        for c, p in enumerate(parents.tolist()):
            if p < 0:
                assert np.isnan(nats[c])
                assert seen[c].tolist() == [0, (Z[:, c] == 1).sum()]
            else:
                own = edges.triple_evidence(counts, RATES, shared, c, np.array([p]), int(parents[p]))[0]
                assert nats[c] == pytest.approx(own)
                on = (Z[:, c] == 1) & (Z[:, p] >= 0)
                assert seen[c].tolist() == [(on & (Z[:, p] == 1)).sum(), on.sum()]


def test_rates_of_a_given_tree_are_those_that_labels_were_lost_at():
    Z, parents = seen_labels(8000, RATES)
    found = candidates.known_tree(Z, parents, rates="label")
    inner = np.unique(parents[parents >= 0])
    np.testing.assert_allclose(found.alphas[inner], RATES[inner], atol=0.05)


def test_first_weights_are_shares_of_closed_labels():
    """Of a tree 2 -> 0 -> 1 without features: every ancestor of a label that was seen is on."""
    Z = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 1, 1]], dtype=np.int8)
    parents = np.array([2, 0, -1])
    start = closed_start(LabelLogits(None, 5, 3, 1.0), Z, parents)
    on = np.array([[1, 1, 1], [1, 0, 1], [0, 0, 1], [0, 0, 0], [1, 1, 1]])
    shares = [on[on[:, 2] == 1, 0].mean(), on[on[:, 0] == 1, 1].mean(), on[:, 2].mean()]
    np.testing.assert_allclose(1 / (1 + np.exp(-start)), shares, atol=1e-3)
    times = np.array([2.0, 1.0, 3.0, 1.0, 2.0])
    weighed = closed_start(LabelLogits(None, 9, 3, 1.0), Z, parents, times)
    again = closed_start(LabelLogits(None, 9, 3, 1.0), np.repeat(Z, times.astype(int), axis=0), parents)
    np.testing.assert_allclose(weighed, again)
