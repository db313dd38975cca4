"""Very many rows: a fit looks at those with answers and a sample, and the features of all are never there at once."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import sidelight as sl
from sidelight._models.feature_map import FeatureMap
from sidelight.estimators.relations import discriminative
from sidelight.metrics import adjusted_rand_index

N = 600
Y = np.random.default_rng(3).integers(0, 3, N)
X = np.random.default_rng(4).normal(size=(N, 4)) + 6.0 * np.eye(4)[Y]


@pytest.fixture
def mapped(monkeypatch):
    """How many rows were mapped together and kept, call by call."""
    seen, own = [], FeatureMap.map

    def counted(self, rows, **options):
        seen.append(rows.shape[0])
        return own(self, rows, **options)

    monkeypatch.setattr(FeatureMap, "map", counted)
    return seen


def test_a_fit_maps_the_rows_that_it_looks_at_only(mapped, monkeypatch):
    monkeypatch.setattr(discriminative, "MOST_ROWS", 100)
    pairs = sl.Pairs.sample(Y, 40, random_state=0)
    model = sl.DiscriminativeClustering(3, random_state=0).fit(X, pairs=pairs)
    assert 0 < max(mapped) <= 100 + len(np.unique(pairs.rows))
    assert model.labels_.shape == (N,)
    assert model.probabilities_.shape == (N, 3)
    assert adjusted_rand_index(Y, model.labels_) > 0.95
    assert model.violated_["pairs"].tolist() == []
    again = sl.DiscriminativeClustering(3, random_state=0).fit(X, pairs=pairs)
    np.testing.assert_array_equal(again.probabilities_, model.probabilities_)


def test_broken_answers_are_named_by_their_own_numbers(monkeypatch):
    monkeypatch.setattr(discriminative, "MOST_ROWS", 100)
    told = sl.Pairs.sample(Y, 60, noise=0.3, random_state=0)
    model = sl.DiscriminativeClustering(3, random_state=0).fit(X, pairs=told)
    left, right = told.rows.T
    broken = np.flatnonzero((model.labels_[left] == model.labels_[right]) != told.same)
    assert len(broken) > 3
    np.testing.assert_array_equal(np.sort(model.violated_["pairs"]), broken)


def test_all_rows_are_looked_at_where_they_are_few(mapped, monkeypatch):
    monkeypatch.setattr(discriminative, "MOST_ROWS", 300)
    sl.DiscriminativeClustering(3, random_state=0).fit(X)
    assert max(mapped) == N


@pytest.mark.slow
def test_features_of_all_rows_are_never_there_at_once():
    model = sl.DiscriminativeClustering(3, random_state=0).fit(X)
    many = np.tile(X, (300, 1))
    tracemalloc.start()
    P = model.predict_proba(many)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_allclose(P[:N], model.predict_proba(X), atol=1e-12)
    assert peak < 0.7 * len(many) * model.feature_map_.n_features * 8  # what the features alone would take
