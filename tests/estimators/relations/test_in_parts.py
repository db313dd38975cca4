"""Discriminative clustering by parts: the answers reach the fit, and all rows get their labels part by part."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.data import parts as parts_module
from sidelight.estimators.relations import discriminative


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(parts_module, "BLOCK", 64)
    monkeypatch.setattr(parts_module, "BLOCKS", 3)


def rows(n=900):
    """Three groups in a row; what answers say about them decides which two belong together."""
    generator = np.random.default_rng(0)
    y = generator.integers(0, 3, size=n)
    return np.array([[0.0, 0.0], [4.0, 0.0], [8.0, 0.0]])[y] + generator.normal(size=(n, 2)), y


@pytest.mark.parametrize("joined", [(0, 1), (1, 2)])
def test_answers_about_rows_of_any_part_decide(joined, monkeypatch):
    monkeypatch.setattr(discriminative, "MOST_ROWS", 200)
    X, y = rows()
    truth = np.isin(y, joined).astype(int)
    generator = np.random.default_rng(1)
    asked = generator.integers(0, len(X), size=(80, 2))
    answers = [(int(a), int(b), "same" if truth[a] == truth[b] else "different") for a, b in asked if a != b]
    pairs = sl.Pairs.from_table(answers, n_rows=len(X))
    model = sl.DiscriminativeClustering(2, random_state=0).fit(sl.Parts.from_arrays(X), pairs=pairs)
    labels = np.asarray(model.labels_)
    assert len(labels) == len(X)
    assert max(np.mean(labels == truth), np.mean(labels != truth)) > 0.9
    assert np.array_equal(labels, model.predict(X))
    assert np.asarray(model.probabilities_).shape == (len(X), 2)
    assert len(list(model.labels_)) == 5  # parts


def test_all_rows_with_answers_are_collected():
    X, _ = rows()
    X[:, 1] = np.arange(len(X))
    parts = sl.Parts.from_arrays(X, sl.Bags(np.random.default_rng(0).integers(0, 30, size=len(X))))  # in another order
    answered = np.array([3, 700, 899])
    each = parts.without_bags()
    found, _, numbers = each.drawn(each.draw(100, also=answered))
    assert set(answered) <= set(numbers.tolist())
    assert len(set(numbers.tolist())) == len(numbers)
    assert np.array_equal(found[:, 1], numbers)
    assert 50 < len(found) < 160
    assert len(each.drawn(each.draw(10_000)).rows) == len(X)


@pytest.mark.filterwarnings("ignore::sidelight.errors.EmptyClusters")  # nobody said that there are three
def test_few_rows_give_the_fit_of_rows():
    X, _ = rows(300)
    a = sl.DiscriminativeClustering(3, random_state=0).fit(sl.Parts.from_arrays(X))
    b = sl.DiscriminativeClustering(3, random_state=0).fit(X)
    assert np.array_equal(a.weights_, b.weights_)
