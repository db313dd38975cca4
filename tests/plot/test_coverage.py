"""Displays of coverage hold the right data and draw without a display server."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidData
from sidelight.plot import ClusterContentsDisplay, ClusterLabelDisplay, CountChoiceDisplay, MovedRowsDisplay

X = np.array([[0.0], [5.0], [0.0], [0.4], [9.0]])
BAGS = sl.Bags(["a", "b", "c", "c", "b"], labels={"a": {"ant"}, "b": {"bee"}, "c": {"ant", "bee"}})


@pytest.fixture(scope="module")
def model():
    return sl.CoverageClustering(n_novel=1).fit(X, bags=BAGS)


def test_contents_name_bags_and_surest_rows(model):
    shown = ClusterContentsDisplay.from_estimator(model, X, BAGS, row_ids=list("vwxyz")).plot()
    assert shown.names == ["ant", "bee", "novel-1"]
    assert sum(shown.sizes) == 5
    assert set(shown.bags[0]) <= {"a", "c"}
    assert shown.figure_ is not None


def test_heat_map_gives_the_share_of_rows_in_bags_with_the_label(model):
    shown = ClusterLabelDisplay.from_estimator(model, BAGS).plot()
    assert shown.share.shape == (3, 2)
    assert shown.share[0, 0] == 1.0  # every row called "ant" is in a bag that lists it
    assert shown.figure_ is not None


def test_rows_that_moved_most_come_first(model):
    shown = MovedRowsDisplay.from_estimator(model, X, BAGS).plot()
    assert shown.moved == sorted(shown.moved, reverse=True)
    assert shown.n_rows == 5


def test_the_choice_of_a_count_needs_a_choice(model):
    with pytest.raises(InvalidData, match="auto"):
        CountChoiceDisplay.from_estimator(model)
    shown = CountChoiceDisplay("n_novel", [0, 1, 2], [-2.0, -1.0, -1.01], [0.1, 0.1, 0.1], 1).plot()
    assert shown.ax_.get_xlabel() == "n_novel"
    shown = CountChoiceDisplay("penalty", [10.0, 3.0, 1.0], [-2.0, -1.0, -1.01], [0.1, 0.1, 0.1], 3.0).plot()
    assert shown.ax_.get_xscale() == "log"
