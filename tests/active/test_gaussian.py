"""Gaussian processes over views against the formulas written out, with no product shared between them."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight._core.simplex import softmax
from sidelight.active import gaussian
from sidelight.active.gaussian import LIGHT, NOISES, SLOPES, LabelProcess

N, ROWS = 14, [3, 0, 7, 12, 5, 9]
VIEWS = [
    np.random.default_rng(seed).normal(size=(N, d)).astype(np.float32) / d**0.5 for seed, d in enumerate((2, 5, 9))
]
LABELS = np.array([0, 1, 1, 2, 0, 0])
DOUBT = np.array([1.0, 2.0, 1.0, 1.5, 3.0, np.inf])  # the last has no label


def fitted(labels=LABELS, doubt=DOUBT, rows=ROWS, **options):
    process = LabelProcess(VIEWS, np.random.default_rng(0))
    process.add(*rows[:2])
    process.add(*rows[2:])
    process.fit(np.eye(max(labels) + 1)[labels], np.array(doubt), **options)
    return process


def kernel(weights, A=range(N), B=range(N)):
    return sum(w * view[list(A)].astype(float) @ view[list(B)].T.astype(float) for w, view in zip(weights, VIEWS))


def plain_mixtures(process):
    """Score every mixture of views, noise and slope as the head of the file says."""
    has = np.isfinite(DOUBT)
    rows, labels, doubt = np.array(ROWS)[has], LABELS[has], DOUBT[has]
    T, k = np.eye(3)[labels], 3
    scored = []
    for v, weights in enumerate(process.weights):
        prior = np.log(1.0 if v == 0 else 1 / 3)
        for noise in NOISES:
            C = kernel(weights, rows, rows) + noise * np.diag(doubt)
            centred = T - 1 / k
            fit = np.trace(centred.T @ np.linalg.solve(C, centred)) / (k * len(rows))
            evidence = -k / 2 * (len(rows) * np.log(fit) + np.linalg.slogdet(C)[1])
            foretold = []
            for slope in SLOPES:
                total = 0.0
                for t in range(len(rows)):
                    others = np.arange(len(rows)) != t
                    if (labels == labels[t]).sum() > 1:  # a row alone in its cluster cannot be left out
                        field = C[t, others] @ np.linalg.solve(C[np.ix_(others, others)], T[others])
                        total += np.log(softmax(slope * field)[labels[t]]) / doubt[t]
                foretold.append(total)
            for slope, total in zip(SLOPES, foretold):
                scored.append((total - max(foretold) + evidence + prior, tuple(weights), noise, slope))
    top = max(score for score, *_ in scored)
    p = [(np.exp(score - top), *rest) for score, *rest in scored]
    best = sorted(p, key=lambda one: -one[0])[:5]
    best = [one for one in best if one[0] > LIGHT * sum(one[0] for one in p)]
    return [(one[0] / sum(other[0] for other in best), *one[1:]) for one in best]


def test_views_noise_and_slope_are_weighed_by_their_evidence():
    process = fitted()
    expected = plain_mixtures(process)
    assert 1 < len(expected) <= 5
    for mixture, (weight, views, noise, slope) in zip(process.mixtures, expected, strict=True):
        assert mixture.weight == pytest.approx(weight, rel=1e-4)
        assert (tuple(mixture.views), mixture.noise, mixture.slope) == (views, noise, slope)
    np.testing.assert_allclose(process.mix, sum(m.weight * m.views for m in process.mixtures))
    assert process.noise == pytest.approx(sum(m.weight * m.noise for m in process.mixtures))


def test_with_one_cluster_or_when_told_so_views_are_not_weighed():
    assert len(fitted(weigh=False).mixtures) == 1
    assert len(fitted(labels=np.zeros(6, dtype=int)).mixtures) == 1
    assert len(fitted(labels=np.array([0, 0, 0, 1, 1, 1])).mixtures) > 1


def plain_posterior(process, rows):
    has = np.isfinite(DOUBT)
    known, P = np.array(ROWS)[has], 0.0
    for mixture in process.mixtures:
        C = kernel(mixture.views, known, known) + mixture.noise * np.diag(DOUBT[has])
        field = kernel(mixture.views, rows, known) @ np.linalg.solve(C, np.eye(3)[LABELS[has]])
        P = P + mixture.weight * softmax(mixture.slope * field)
    return P


def plain_covariance(process, known, doubt):
    C = kernel(process.mix, known, known) + process.noise * np.diag(doubt)
    K = kernel(process.mix, range(N), known)
    return kernel(process.mix) - K @ np.linalg.solve(C, K.T)


def test_the_posterior_of_candidates_of_given_rows_and_of_rows_asked_about_is_one_formula():
    process = fitted()
    P = plain_posterior(process, range(N))
    np.testing.assert_allclose(process.posterior(), P, atol=1e-5)
    np.testing.assert_allclose(process.posterior([view[4:9] for view in VIEWS]), P[4:9], atol=1e-5)
    np.testing.assert_allclose(process.of_asked()[0], P[ROWS], atol=1e-5)


def test_novelty_is_the_variance_that_the_labels_leave(monkeypatch):
    process, has = fitted(), np.isfinite(DOUBT)
    left = np.diag(plain_covariance(process, np.array(ROWS)[has], DOUBT[has])) / np.diag(kernel(process.mix))
    np.testing.assert_allclose(process.novelty(), left, atol=1e-5)
    np.testing.assert_allclose(process.of_asked()[1], left[ROWS], atol=1e-5)
    monkeypatch.setattr(gaussian, "CANDIDATES", 4)  # rows are taken in parts
    np.testing.assert_allclose(process.novelty([view[1:] for view in VIEWS]), left[1:], atol=1e-5)


@pytest.mark.parametrize("block", [[2], [1, 4]])
def test_without_their_labels_rows_are_as_the_others_foretell(block):
    process = fitted()
    rest = [t for t in range(5) if t not in block]
    rows, left_out = np.array(ROWS)[rest], np.array(ROWS)[block]
    C = kernel(process.mix, rows, rows) + process.noise * np.diag(DOUBT[rest])
    field = kernel(process.mix, left_out, rows) @ np.linalg.solve(C, np.eye(3)[LABELS[rest]])
    slope = sum(mixture.weight * mixture.slope for mixture in process.mixtures)
    np.testing.assert_allclose(process.without(np.array(block)), softmax(slope * field), atol=1e-5)
    left = np.diag(plain_covariance(process, rows, DOUBT[rest]))[left_out]
    novelty = left / np.diag(kernel(process.mix))[left_out]
    np.testing.assert_allclose(process.novelty_without(np.array(block)), novelty, atol=1e-5)


def plain_influence(process, known, doubt, weights, row):
    covariance = plain_covariance(process, known, doubt)
    reference = process.candidates[process.reference]
    return (covariance[row, reference] ** 2 @ weights) / (max(covariance[row, row], 0) + process.noise)


def test_influence_is_the_variance_that_one_more_label_would_take_away():
    process, weights = fitted(), np.linspace(0.1, 2.0, N)
    gains = process.influence(weights.astype(np.float32))
    has = np.isfinite(DOUBT)
    for row in range(N):  # of a row with a label: what it would tell if it had none
        others = [t for t in range(6) if has[t] and ROWS[t] != row]
        expected = plain_influence(process, np.array(ROWS)[others], DOUBT[others], weights, row)
        assert gains[row] == pytest.approx(expected, rel=1e-3), row
    empty = LabelProcess(VIEWS, np.random.default_rng(0))
    expected = [plain_influence(empty, np.zeros(0, dtype=int), np.zeros(0), weights, row) for row in range(N)]
    np.testing.assert_allclose(empty.influence(weights.astype(np.float32)), expected, rtol=1e-3)


def test_a_branch_grows_alone_and_one_begun_anew_has_no_labels():
    process = fitted()
    branch, anew = process.branch(), process.anew()
    branch.add(1)
    assert (process.rows, branch.rows, anew.rows) == (ROWS, [*ROWS, 1], [])
    assert process.kernels.shape == (3, 6, 6)
    assert len(anew.mixtures) == 1


def test_of_many_rows_some_are_candidates_each_once_and_in_order(monkeypatch):
    monkeypatch.setattr(gaussian, "CANDIDATES", 9)
    monkeypatch.setattr(gaussian, "REFERENCE", 5)
    for seed in range(3):
        process = LabelProcess(VIEWS, np.random.default_rng(seed))
        assert len(process.candidates) == len(set(process.candidates.tolist())) == 9
        assert (np.diff(process.candidates) > 0).all()
        assert len(process.reference) == len(set(process.reference.tolist())) == 5
        assert [process.position[row] for row in process.candidates] == list(range(9))
        assert (process.position >= 0).sum() == 9
        row = next(row for row in range(N) if process.position[row] < 0)
        process.add(row)
        process.fit(np.ones((1, 1)), np.ones(1))
        assert np.isfinite(process.influence(np.ones(5, dtype=np.float32))).all()  # row is no candidate
        assert process.posterior().shape == (9, 1)
