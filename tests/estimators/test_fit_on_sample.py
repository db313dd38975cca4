"""Estimators that learn from a sample of parts: the sample is used, and all rows get a label."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.data import parts as parts_module
from sidelight.errors import InvalidData
from sidelight.estimators.bags import words
from sidelight.estimators.instances import _spectral
from sidelight.metrics import normalized_mutual_information


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(parts_module, "BLOCK", 64)
    monkeypatch.setattr(parts_module, "BLOCKS", 3)
    monkeypatch.setattr(_spectral, "LANDMARKS", 300)
    monkeypatch.setattr(words, "MOST_ROWS", 300)


def rows():
    generator = np.random.default_rng(0)
    kind = np.repeat(generator.integers(0, 3, size=150), 6)
    ids = np.repeat(np.arange(150), 6)
    X = 6 * np.eye(3)[kind] + generator.normal(size=(900, 3))
    return X, sl.Bags(ids, labels={b: {f"k{kind[6 * b]}"} for b in range(150)}), kind


@pytest.mark.parametrize(
    "estimator", [sl.BagSpectralClustering(3, random_state=0), sl.BagWordClustering(3, random_state=0)]
)
def test_a_sample_is_fitted_and_all_rows_get_a_label(estimator):
    X, bags, kind = rows()
    model = estimator.fit(sl.Parts.from_arrays(X, bags))
    labels = np.asarray(model.labels_)
    assert len(labels) == 900
    assert normalized_mutual_information(kind, labels) > 0.9
    assert np.array_equal(labels, model.predict(X, bags=bags))
    assert len(list(model.labels_)) == 5  # parts
    with pytest.raises(InvalidData, match="bring their bags"):
        estimator.fit(sl.Parts.from_arrays(X, bags), bags=bags)


def test_the_others_are_refused_by_name():
    X, bags, _ = rows()
    with pytest.raises(sl.errors.WrongKind, match=r"MaxMarginBagClustering cannot be fitted .* parts\.sample"):
        sl.MaxMarginBagClustering(3).fit(sl.Parts.from_arrays(X, bags))
