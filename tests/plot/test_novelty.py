"""Displays of novel labels hold the right data and draw without a display server."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.plot import DecisionRegionsDisplay, NovelCountDisplay, NovelGroupsDisplay, NoveltyCurveDisplay

TOY = sl.data.make_rectangles(60, n_test=200, gap=1.0, random_state=0)


@pytest.fixture(scope="module")
def model():
    return sl.DMNL(n_novel=2, n_init=2, random_state=0).fit(TOY.X, bags=TOY.bags)


def test_every_place_gets_the_label_that_predict_gives_it(model):
    shown = DecisionRegionsDisplay.from_estimator(model, TOY.X, boxes=TOY.rectangles, resolution=11).plot()
    left, right, bottom, top = shown.extent
    place = np.array([[left, bottom], [right, top]])
    assert [shown.regions[0, 0], shown.regions[-1, -1]] == model.predict(place).tolist()
    assert (place[0] < TOY.X.min(axis=0)).all()
    assert (place[1] > TOY.X.max(axis=0)).all()
    assert len(shown.ax_.lines) == 6  # a dashed box for each rectangle


def test_regions_need_two_features(model):
    with pytest.raises(InvalidData, match="2 features"):
        DecisionRegionsDisplay.from_estimator(model, np.zeros((3, 4)))


def test_counts_are_fitted_one_after_the_other(model):
    shown = NovelCountDisplay.from_estimator(model, TOY.X, TOY.bags, counts=(1, 2), y=TOY.y).plot()
    assert shown.counts == [1, 2]
    assert shown.found == [1, 2]
    assert shown.f1[1] > shown.f1[0] + 0.1  # two novel rectangles cannot be one label
    assert 0.5 < shown.told[1] <= 1.0
    with pytest.raises(InvalidParameter, match="n_novel"):
        NovelCountDisplay.from_estimator(sl.peers.FastMIML(), TOY.X, TOY.bags)


def test_nearest_rows_are_those_of_a_brute_force_search(model):
    shown = NovelGroupsDisplay.from_estimator(model, TOY.X, n_shown=4).plot()
    called = model.predict(TOY.X)
    rows = (TOY.X - TOY.X.mean(axis=0)) / TOY.X.std(axis=0)
    for name, nearest in shown.groups.items():
        k = model.cluster_names_.index(name)
        far = np.sqrt(np.square(rows - rows[called == k].mean(axis=0)).mean(axis=1))
        assert [row for row, _, _ in nearest] == np.argsort(far)[:4].tolist()
        np.testing.assert_allclose([value for *_, value in nearest], np.sort(far)[:4])


def test_curves_know_how_well_novel_rows_stand_out(model):
    shown = NoveltyCurveDisplay.from_estimator(model, TOY.X_test, TOY.y_test).plot()
    assert np.array_equal(shown.is_novel, np.isin(TOY.y_test, TOY.novel))
    assert shown.auc_ > 0.9
    assert NoveltyCurveDisplay([0.1, 0.4, 0.3, 0.9], [False, True, False, True]).auc_ == 1.0
    with pytest.raises(InvalidData, match="novel and known"):
        NoveltyCurveDisplay([0.1, 0.2], [True, True])
