"""Channels side by side."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight.errors import InvalidData


def test_every_channel_is_found_again():
    rng = np.random.default_rng(0)
    given = {"face": rng.normal(size=(5, 3)), "height": rng.normal(size=5), "upper": rng.normal(size=(5, 2))}
    X, channels = sl.stack_channels(given)
    assert list(channels) == list(given)
    assert X.shape == (5, 6)
    for name, block in given.items():
        assert np.array_equal(X[:, channels[name]], block.reshape(5, -1))


def test_one_sparse_channel_makes_the_stack_sparse():
    X, channels = sl.stack_channels({"words": sp.eye_array(3, format="csr"), "length": [1.0, 2.0, 3.0]})
    assert sp.issparse(X)
    assert X[:, channels["length"]].toarray().ravel().tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("channels", "message"),
    [
        ({"a": [[1.0]], "b": [[1.0], [2.0]]}, "'a' has 1 rows but channel 'b' has 2"),
        ({"a": ["x"]}, "'a' must hold numbers"),
        ({"a": np.zeros((1, 1, 1))}, "'a' must be a matrix"),
        ({}, "mapping of channel names"),
        ({3: [1.0]}, "got 3"),
    ],
)
def test_bad_channels_are_refused_with_the_culprit(channels, message):
    with pytest.raises(InvalidData, match=message):
        sl.stack_channels(channels)
