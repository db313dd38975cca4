"""Pictures of co-clusters draw what they claim."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight.errors import ConvergenceWarning, InvalidData
from sidelight.plot import (
    ClusterWeightsDisplay,
    CoclusterDisplay,
    PreservedInformationDisplay,
    StartErrorsDisplay,
)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    groups = np.arange(30) % 3
    return rng.poisson(np.where(groups[:, None] == groups[None, :24], 8.0, 1.0)).astype(float)


def test_table_and_approximation_stand_side_by_side(table):
    co = sl.InformationCoclustering(3, random_state=0).fit(table)
    display = CoclusterDisplay.from_estimator(co, table)
    by_row, by_column = np.argsort(co.row_labels_, kind="stable"), np.argsort(co.column_labels_, kind="stable")
    np.testing.assert_allclose(display.Q, co.approximation()[by_row][:, by_column])
    assert len(display.row_breaks) == 2
    assert len(display.plot().ax_) == 2
    with pytest.raises(InvalidData, match="table that fit saw"):
        CoclusterDisplay.from_estimator(co, table[:-1])


def test_a_large_table_is_added_up_for_the_picture():
    P = sp.csr_array(np.random.default_rng(0).poisson(0.01, size=(3000, 900)).astype(float))
    with pytest.warns(ConvergenceWarning):
        co = sl.InformationCoclustering(4, n_init=1, max_iter=3, random_state=0).fit(P)
    display = CoclusterDisplay.from_estimator(co, P)
    assert max(display.P.shape) <= 400
    assert display.P.sum() == pytest.approx(1.0)


def test_information_kept_grows_with_the_number_of_clusters(table):
    curve = PreservedInformationDisplay.from_estimator(
        sl.InformationCoclustering(n_init=5, random_state=0), table, range(1, 100), floor=True
    )
    assert curve.n_clusters[-1] == 24
    assert curve.shares[0] == pytest.approx(0.0, abs=1e-12)
    assert curve.shares[2] > 0.6 > curve.floor[2]
    assert curve.plot().ax_.get_xlabel() == "clusters of each axis"


def test_weights_and_errors_are_drawn(table):
    co = sl.estimators.WeightCoclustering(3, n_init=1, max_iter=50, random_state=0).fit(table)
    assert len(ClusterWeightsDisplay.from_estimator(co).plot().ax_) == 2
    errors = {"a": [0.1, 0.2, 0.15], "b": [0.3, 0.3, 0.1]}
    assert StartErrorsDisplay(errors, errors).plot().ax_[0].get_title() == "raw error (RE)"
