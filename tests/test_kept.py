"""What version 0.2.0 wrote is still read: models of every family, with the parameters that went since, say the same.

The files of ``tests/kept`` were written by 0.2.0 itself: each model by ``sidelight.save`` after a fit on 48 generated
rows, and ``expected.npz`` with new rows and what the models said about them then.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import ignore_warnings

KEPT = Path(__file__).parent / "kept"


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.sidelight")), ids=lambda path: path.stem)
def test_a_model_of_0_2_0_loads_and_says_the_same(path):
    with (
        np.load(KEPT / "expected.npz") as expected,
        ignore_warnings(),
    ):  # about bags= where a clusterer of bags lacks it
        np.testing.assert_array_equal(sl.load(path).predict(expected["new"]), expected[path.stem])
