"""Channels by parts: a sample of whole sequences is fitted, and all rows get a label."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.data import parts as parts_module
from sidelight.errors import InvalidData
from sidelight.estimators.sources import _graph_fit, multisource
from sidelight.metrics import normalized_mutual_information


def talks():
    generator = np.random.default_rng(0)
    kind = np.repeat(generator.integers(0, 3, size=90), 10)
    face, voice = (5 * np.eye(3)[kind] + generator.normal(size=(900, 3)) for _ in range(2))
    X, channels = sl.stack_channels({"face": face, "voice": voice})
    return X, channels, np.repeat(np.arange(90), 10), kind


def test_a_sample_of_whole_sequences_is_fitted_and_all_rows_get_a_label(monkeypatch):
    monkeypatch.setattr(parts_module, "BLOCK", 64)
    monkeypatch.setattr(parts_module, "BLOCKS", 3)
    monkeypatch.setattr(multisource, "JOINED", 300)
    X, channels, sequences, kind = talks()
    model = sl.MultiSourceClustering(3, channels=channels, primary="face", random_state=0)
    parts = sl.Parts.from_arrays(X, sl.Bags(sequences))
    model.fit(parts)
    labels = np.asarray(model.labels_)
    assert len(labels) == 900
    assert 100 < len(model.channel_labels_["voice"]) < 500
    assert len(model.channel_labels_["voice"]) % 10 == 0  # whole sequences
    assert normalized_mutual_information(kind, labels) > 0.9
    assert np.array_equal(labels, model.predict(X, sequences=sequences))
    with pytest.raises(InvalidData, match="bring their bags, sequences"):
        model.fit(parts, sequences=sequences)
    assert len(np.asarray(model.fit(sl.Parts.from_arrays(X)).labels_)) == 900  # without sequences


@pytest.mark.parametrize("in_sequences", [True, False])
def test_the_same_rows_are_joined_whether_all_are_in_memory_or_not(monkeypatch, in_sequences):
    for module in (multisource, _graph_fit):
        monkeypatch.setattr(module, "JOINED", 300)
    X, channels, sequences, _ = talks()
    in_memory = sl.MultiSourceClustering(3, channels=channels, method="graphs", random_state=0)
    by_parts = sl.MultiSourceClustering(3, channels=channels, method="graphs", random_state=0)
    in_memory.fit(X, sequences=sequences if in_sequences else None)
    by_parts.fit(sl.Parts.from_arrays(X, sl.Bags(sequences) if in_sequences else None))
    for name, rows in in_memory.joined_.known.items():
        assert 200 < len(rows) < 360
        np.testing.assert_allclose(rows, by_parts.joined_.known[name], atol=1e-12)  # sums of rows of another layout
