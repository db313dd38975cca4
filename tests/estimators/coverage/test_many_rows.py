"""At the border from which on a sample settles a fit in memory: few long bags, many short ones, rare labels."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.data.bag_lists import EACH, Draw
from sidelight.estimators.coverage import clustering, many_rows
from sidelight.metrics import adjusted_rand_index

LEAST = 4_000
BORDER = many_rows.MANY * LEAST


@pytest.fixture(autouse=True)
def _low_border(monkeypatch):
    move_border(monkeypatch, LEAST)


def move_border(monkeypatch, least):
    for module in (clustering, many_rows):
        monkeypatch.setattr(module, "LEAST", least)


def recordings(n_rows, n_bags, seed=0, apart=3.0):
    """Rows of three kinds in bags that list one or two of them; neither rows nor bags come in order."""
    generator = np.random.default_rng(seed)
    ids = np.arange(n_rows) * n_bags // n_rows
    kinds = [generator.choice(3, int(generator.integers(1, 3)), replace=False) for _ in range(n_bags)]
    y = np.array([generator.choice(kinds[b]) for b in ids])
    X = apart * np.eye(3)[y] + generator.normal(size=(n_rows, 3))
    order = generator.permutation(n_rows)
    X, y, ids = X[order], y[order], ids[order]
    carried = {(b, k) for b, k in zip(ids.tolist(), y.tolist())}
    names = [f"recording {b}" for b in generator.permutation(n_bags)]
    lists = {names[b]: {f"k{k}" for k in range(3) if (b, k) in carried} for b in range(n_bags)}
    return X, sl.Bags([names[b] for b in ids], labels=lists, classes=["k0", "k1", "k2"]), y


def fitted(X, bags, **options):
    model = sl.CoverageClustering(random_state=0, **options).fit(X, bags=bags)
    assert np.array_equal(model.predict(X, bags=bags), model.labels_)
    return model


@pytest.mark.parametrize("n_bags", [1, 2, 3, *(pytest.param(n, marks=pytest.mark.slow) for n in (10, 10_000))])
def test_a_fit_at_the_border_is_as_good_as_one_below_it(monkeypatch, n_bags):
    X, bags, y = recordings(BORDER, n_bags)
    asked = []
    plain = clustering.fit_large
    monkeypatch.setattr(clustering, "fit_large", lambda *told: asked.append(told[-1]) or plain(*told))
    at = fitted(X, bags)
    assert asked == [LEAST]
    fitted(X[1:], bags.drawn(np.arange(1, BORDER)))
    assert asked == [LEAST]  # one row less, and all of them settle the fit
    move_border(monkeypatch, 10 * BORDER)
    whole = fitted(X, bags)
    assert asked == [LEAST]
    assert adjusted_rand_index(at.labels_, whole.labels_) > 0.99
    assert at.trace_[-1] >= whole.trace_[-1] - 1e-4 * BORDER
    right = [np.mean(model.class_of_[model.labels_] == y) for model in (at, whole)]
    if n_bags >= 10:  # fewer bags do not tell which cluster is which kind
        assert right[1] > 0.95
        assert right[0] == pytest.approx(right[1], abs=0.002)


@pytest.mark.slow
@pytest.mark.parametrize("n_bags", [2, 10])
def test_the_real_border(monkeypatch, n_bags):
    monkeypatch.undo()
    X, bags, _ = recordings(120_000, n_bags, apart=2.5)
    model = fitted(X, bags, boundary="straight", calibrate=False)
    move_border(monkeypatch, 10**6)
    whole = fitted(X, bags, boundary="straight", calibrate=False)
    assert np.mean(model.labels_ == whole.labels_) > 0.998


@pytest.mark.slow
def test_row_labels_candidates_and_cut_bags_are_known_on_both_sides(monkeypatch):
    """What is said of single rows, and what is not said of bags, is no matter of lists alone."""
    X, bags, y = recordings(BORDER, 40, apart=2.0)
    some = {int(row): f"k{y[row]}" for row in np.random.default_rng(0).choice(BORDER, 500, replace=False)}
    either = [{f"k{k}", f"k{(k + 1 + i % 2) % 3}"} if i % 4 else None for i, k in enumerate(y.tolist())]
    partial = bags.with_labels(bags.labels, classes=bags.classes, partial=[bags.names[0]])
    for told in ({"bags": bags, "row_labels": some}, {"candidates": either}, {"bags": partial}):
        move_border(monkeypatch, LEAST)
        model = sl.CoverageClustering(boundary="straight", calibrate=False, random_state=0).fit(X, **told)
        move_border(monkeypatch, 10 * BORDER)
        whole = sl.CoverageClustering(boundary="straight", calibrate=False, random_state=0).fit(X, **told)
        assert np.mean(model.labels_ == whole.labels_) > 0.99
        assert model.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=0.02)


def test_the_sample_has_its_share_of_the_penalty(monkeypatch):
    """A penalty as heavy as a third of the likelihood would be three times as heavy for a third of the rows."""
    X, bags, _ = recordings(BORDER, 10_000)
    seen = []
    plain = many_rows.settle

    def settling(*told, **more):
        seen.append(plain(*told, **more))
        return seen[-1]

    monkeypatch.setattr(many_rows, "settle", settling)
    model = fitted(X, bags, penalty=6.0, boundary="straight", calibrate=False)
    (settled,) = seen
    share = settled.problem.fit.X.shape[0] / BORDER
    assert 0.2 < share < 0.5
    assert settled.problem.fit.penalty == pytest.approx(6.0 * share)
    assert model.penalty_ == settled.penalty == 6.0
    sampled = settled.solutions[0].parameters[:9].reshape(3, 3)
    np.testing.assert_allclose(sampled, model.weights_, atol=0.1 * np.abs(model.weights_).max())


def test_of_every_label_some_bags_are_in_the_sample():
    """Which ones depends on their names alone, and a label that few bags list has all of them there."""
    n_bags = 3_000
    lists = {
        b: {"common"} | ({"rare"} if b % 1000 == 7 else set()) | ({"seldom"} if b % 100 == 3 else set())
        for b in range(n_bags)
    }
    bags = sl.Bags(np.repeat(np.arange(n_bags), 3), labels=lists)
    X = np.random.default_rng(0).normal(size=(3 * n_bags, 2))
    parts = sl.Parts.from_arrays(X, bags)
    rows, some = parts.sample(90)
    assert rows.shape[0] < 400
    n_listing = {label: sum(label in some.labels[name] for name in some.names) for label in ("rare", "seldom")}
    assert n_listing["rare"] == 3
    assert n_listing["seldom"] >= EACH
    assert set(some.sizes.tolist()) == {3}
    order = np.random.default_rng(1).permutation(n_bags)
    moved = sl.Parts.from_arrays(X, sl.Bags(np.repeat(order, 3), labels=lists))
    assert set(moved.sample(90)[1].names) == set(some.names)
    assert isinstance(parts.draw(90), Draw)


@pytest.mark.slow
def test_a_label_of_two_bags_is_found_among_very_many_rows(monkeypatch):
    X, bags, _ = recordings(BORDER, 4_000)
    rare = {bags.names[5], bags.names[77]}
    rows = np.flatnonzero([name in rare for name in bags])
    X[rows[::2]] += [-9.0, -9.0, 0.0]
    lists = {name: labels | ({"rare"} if name in rare else set()) for name, labels in bags.labels.items()}
    model = fitted(X, bags.with_labels(lists), boundary="straight", calibrate=False, tol=1e-6)
    found = model.predict_labels(X)
    assert np.mean(found[rows[::2]] == "rare") > 0.6
    move_border(monkeypatch, 10 * BORDER)
    whole = fitted(X, bags.with_labels(lists), boundary="straight", calibrate=False, tol=1e-6)
    assert np.mean(whole.predict_labels(X) == found) > 0.999
