"""Sure and right: the mean gap by a plain loop."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.metrics import expected_calibration_error


@pytest.mark.parametrize("n_bins", [1, 4, 10])
def test_the_gap_by_a_plain_loop(n_bins: int) -> None:
    rng = np.random.default_rng(0)
    said, right = np.append(rng.random(300), [0.0, 1.0]), np.append(rng.random(300) < 0.5, [True, False])
    slow = 0.0
    for k in range(n_bins):
        here = (said >= k / n_bins) & ((said < (k + 1) / n_bins) | (k == n_bins - 1))
        if here.any():
            slow += here.mean() * abs(said[here].mean() - right[here].mean())
    assert expected_calibration_error(said, right, n_bins=n_bins) == pytest.approx(slow)


def test_as_right_as_sure_is_nothing_and_surely_wrong_is_one() -> None:
    assert expected_calibration_error([0.5, 0.5, 1.0], [1, 0, 1]) == 0.0
    assert expected_calibration_error([1.0, 1.0], [False, False]) == 1.0
