"""Pictures of answers."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidData


def test_figure_3_6_has_the_bits_of_the_theorem():
    shown = sl.plot.AnswerInformationDisplay.from_class_counts(range(2, 8), equal_rows=True).plot()
    K = np.arange(2, 8)
    pair = np.log2(K) - (1 - 1 / K) * np.log2(K - 1)
    np.testing.assert_allclose(shown.ax_.lines[0].get_ydata(), 3 * pair)
    assert (shown.triplet > shown.pair).all()
    single = sl.plot.AnswerInformationDisplay.from_class_counts([4]).plot()
    assert single.ax_.lines[1].get_ydata()[0] == pytest.approx(1.88, abs=0.01)


def test_a_band_is_as_wide_as_the_draws_say():
    draws = np.array([[0.2, 0.4, np.nan], [0.5, 0.7, 0.9]])
    shown = sl.plot.ScoreCurveDisplay([10, 20], {"a": draws}, answers_name="pairs").plot()
    np.testing.assert_allclose(shown.means["a"], [0.3, 0.7])
    band = shown.ax_.collections[0].get_paths()[0].vertices
    half = 1.96 * np.std(draws[1], ddof=1) / np.sqrt(3)
    assert band[:, 1].max() == pytest.approx(0.7 + half)
    assert shown.ax_.get_xlabel() == "pairs"


def test_scores_without_a_number_of_answers_are_refused():
    with pytest.raises(InvalidData, match="3 rows of scores"):
        sl.plot.ScoreCurveDisplay([10, 20], {"a": [[1], [2], [3]]})
