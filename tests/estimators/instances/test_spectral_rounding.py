"""Roundings without random starts recover clean indicators whatever rotation hides them."""

import numpy as np
import pytest

from sidelight.estimators.instances.rounding import round_by_qr, round_by_rotation


@pytest.mark.parametrize("rounding", [round_by_rotation, round_by_qr])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_a_rotated_indicator_is_recovered(rounding, noise):
    rng = np.random.default_rng(0)
    truth = rng.integers(5, size=200)
    rotation = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    V = np.eye(5)[truth] @ rotation + noise * rng.standard_normal((200, 5))
    labels = rounding(V / np.linalg.norm(V, axis=1, keepdims=True))
    assert len(np.unique(np.stack([truth, labels]), axis=1).T) == 5


@pytest.mark.parametrize("rounding", [round_by_rotation, round_by_qr])
def test_one_cluster_is_fine(rounding):
    assert set(rounding(np.ones((7, 1)))) == {0}
