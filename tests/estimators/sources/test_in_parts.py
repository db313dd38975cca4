"""Channels by parts: a sample of whole sequences is fitted, and all rows get a label."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.data import parts as parts_module
from sidelight.errors import InvalidData
from sidelight.estimators.sources import in_parts
from sidelight.metrics import normalized_mutual_information


def test_a_sample_of_whole_sequences_is_fitted_and_all_rows_get_a_label(monkeypatch):
    monkeypatch.setattr(parts_module, "BLOCK", 64)
    monkeypatch.setattr(parts_module, "BLOCKS", 3)
    monkeypatch.setattr(in_parts, "MOST_ROWS", 300)
    generator = np.random.default_rng(0)
    sequences = np.repeat(np.arange(90), 10)
    kind = np.repeat(generator.integers(0, 3, size=90), 10)
    face, voice = (5 * np.eye(3)[kind] + generator.normal(size=(900, 3)) for _ in range(2))
    X, channels = sl.stack_channels({"face": face, "voice": voice})
    model = sl.MultiSourceClustering(3, channels=channels, primary="face", random_state=0)
    parts = sl.Parts.from_arrays(X, sl.Bags(sequences))
    model.fit(parts)
    labels = np.asarray(model.labels_)
    assert len(labels) == 900
    assert 100 < len(model.channel_labels_["voice"]) < 500
    assert len(model.channel_labels_["voice"]) % 10 == 0  # whole sequences
    assert normalized_mutual_information(kind, labels) > 0.9
    assert np.array_equal(labels, model.predict(X, sequences=sequences))
    with pytest.raises(InvalidData, match="bring their sequences"):
        model.fit(parts, sequences=sequences)
    assert len(np.asarray(model.fit(sl.Parts.from_arrays(X)).labels_)) == 900  # without sequences
