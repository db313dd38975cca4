"""MIMLfast and the wrapper that gives classifiers novel labels: against a plain reference, and on rectangles."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight._core.heaps import cut_between
from sidelight.errors import InvalidInput
from sidelight.metrics import hamming_loss
from sidelight.peers.instances.fast_miml import best_row, ranking_pass


def plain_pass(X, order, starts, listed, bags, draws, W, V, step, decay, bound, before):
    """Algorithm 1 of Huang, Gao and Zhou (2014) with arrays, one visit after the other."""
    n_labels, total = listed.shape[1], 0.0
    for visit, b in enumerate(bags):
        on = [*np.flatnonzero(listed[b]), n_labels]
        off = list(np.flatnonzero(~listed[b]))
        label = on[int(draws[visit, 0] * len(on))]
        if label != n_labels:
            off.append(n_labels)
        rows = X[order[starts[b] : starts[b + 1]]]
        scores = np.einsum("ij,lkj->lik", rows @ W.T, V)
        for trial in range(1, len(off) + 1):
            drawn = trial - 1 + int(draws[visit, trial] * (len(off) - trial + 1))
            off[trial - 1], off[drawn] = off[drawn], off[trial - 1]
            other = off[trial - 1]
            if scores[other].max() <= scores[label].max() - 1:
                continue
            (i, k), (i2, k2) = (np.unravel_index(scores[a].argmax(), scores[a].shape) for a in (label, other))
            weight = sum(1 / r for r in range(1, len(off) // trial + 1))
            total += weight * (1 + scores[other].max() - scores[label].max())
            rate = step / (1 + decay * step * (before + visit)) * weight
            old, rival = V[label, k].copy(), V[other, k2].copy()
            V[label, k] += rate * (W @ rows[i])
            V[other, k2] -= rate * (W @ rows[i2])
            W += rate * (np.outer(old, rows[i]) - np.outer(rival, rows[i2]))
            for vector in (V[label, k], V[other, k2]):
                vector *= min(1.0, bound / np.linalg.norm(vector))
            W *= np.minimum(1.0, bound / np.linalg.norm(W, axis=0))
            break
    return total / len(bags)


@pytest.mark.parametrize("bound", [10.0, 0.8])
def test_a_pass_is_that_of_the_algorithm(bound):
    generator = np.random.default_rng(0)
    X, codes = generator.normal(size=(30, 4)), np.arange(30) % 7
    bags = sl.Bags(codes)
    listed = generator.random((7, 3)) < 0.5
    listed[listed.all(axis=1), 0] = False
    W, V = generator.normal(size=(5, 4)), generator.normal(size=(4, 2, 5))
    visits, draws = generator.permutation(7), generator.random((7, 5))
    plain_W, plain_V = W.copy(), V.copy()
    order, starts = np.array(bags.order), np.array(bags.starts)
    plain = plain_pass(X, order, starts, listed, visits, draws, plain_W, plain_V, 0.1, 0.5, bound, 3)
    ours = ranking_pass(X, order, starts, listed, visits, draws, W, V, 0.1, 0.5, bound, 3)
    assert ours == pytest.approx(plain)
    np.testing.assert_allclose(W, plain_W)
    np.testing.assert_allclose(V, plain_V)


def test_the_best_row_of_a_label_is_found():
    generator = np.random.default_rng(1)
    Z, V = generator.normal(size=(6, 3)), generator.normal(size=(2, 4, 3))
    scores = Z @ V[1].T
    assert best_row(Z, V, 1) == (pytest.approx(scores.max()), *np.unravel_index(scores.argmax(), scores.shape))


def kinds(n_bags=80, seed=0, n_kinds=4):
    """Bags of four rows, each row near the centre of its kind; returns rows, bags and kinds."""
    generator = np.random.default_rng(seed)
    y = generator.integers(n_kinds, size=4 * n_bags)
    X = 4.0 * np.eye(n_kinds)[y] + generator.normal(size=(len(y), n_kinds))
    codes = np.arange(len(y)) // 4
    names = np.array(list("abcdefgh"))
    labels = {b: set(names[y[codes == b]]) for b in range(n_bags)}
    return X, sl.Bags(codes, labels=labels), y


def test_new_bags_and_rows_are_told():
    X, bags, y = kinds()
    new, new_bags, new_y = kinds(seed=1)
    model = sl.peers.FastMIML(random_state=0).fit(X, bags=bags)
    names = np.array(model.label_names_)
    assert np.mean(names[np.argmax(model.predict_proba(new), axis=1)] == np.array(list("abcd"))[new_y]) > 0.85
    assert np.mean(names[model.labels_] == np.array(list("abcd"))[y]) > 0.9
    Y = new_bags.label_matrix.toarray()
    told = model.bag_decision_function(new, new_bags)
    assert hamming_loss(Y, told > 0) < 0.15 < hamming_loss(Y, np.zeros_like(Y))
    assert model.trace_[-1] < 0.5 * model.trace_[0]


def test_rows_that_no_label_wants_are_novel_and_told_apart():
    X, bags, y = kinds(n_bags=150)
    told = bags.without_classes(["c", "d"])
    model = sl.peers.NovelLabels(sl.peers.FastMIML(random_state=0), n_novel=2, random_state=0).fit(X, bags=told)
    score = model.novelty_score(X)
    assert np.mean(score[y >= 2]) > np.mean(score[y < 2]) + 0.3
    novel = model.labels_ >= 2
    rows = np.flatnonzero(novel & (y >= 2))
    assert len(rows) > 100
    assert sl.metrics.adjusted_rand_index(y[rows], model.labels_[rows]) > 0.9


def test_the_wrapper_takes_other_classifiers_and_refuses_what_is_none():
    X, bags, _ = kinds()
    for inner in (sl.peers.OredLogisticRegression(tol=1e-3), sl.peers.NovelClassLogisticRegression(tol=1e-3)):
        model = sl.peers.NovelLabels(inner, n_novel=2, random_state=0).fit(X, bags=bags)
        P = model.predict_proba(X)
        assert P.shape == (len(X), 6)
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
    with pytest.raises(InvalidInput, match="predict_proba"):
        sl.peers.NovelLabels(5).fit(X, bags=bags)


def test_bags_without_lists_and_empty_lists_are_said():
    X, bags, _ = kinds()
    with pytest.raises(InvalidInput, match="label lists of bags"):
        sl.peers.FastMIML(random_state=0).fit(X, bags=list(bags))
    with pytest.raises(InvalidInput, match="nothing novel is allowed"):
        sl.peers.FastMIML(random_state=0).fit(X, bags=bags.with_labels({0: set()}, classes=bags.classes))


def test_heaps_are_parted_between_them():
    assert 1.0 < cut_between(np.array([0.9, 1.0, 5.0, 5.1])) < 5.0
    assert cut_between(np.ones(4)) == np.inf
