"""Weight-based clustering: gradients against finite differences, constraints that pull the way they should."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from sidelight.estimators import WeightCoclustering
from sidelight.estimators.sources.weighted import Multipliers, ascend, penalty, weighted_information


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    P = rng.gamma(1.0, size=(6, 5))
    return P / P.sum()


def test_gradient_of_information_is_the_numeric_one(table):
    rng = np.random.default_rng(1)
    R, C = rng.uniform(0.1, 0.9, (6, 3)), rng.uniform(0.1, 0.9, (5, 2))
    _, by_rows, by_columns = weighted_information(table, R, C)
    numeric = approx_fprime(R.ravel(), lambda w: weighted_information(table, w.reshape(6, 3), C)[0], 1e-7)
    np.testing.assert_allclose(by_rows.ravel(), numeric, atol=1e-6)  # forward differences of step 1e-7
    numeric = approx_fprime(C.ravel(), lambda w: weighted_information(table, R, w.reshape(5, 2))[0], 1e-7)
    np.testing.assert_allclose(by_columns.ravel(), numeric, atol=1e-6)


def test_gradient_of_the_constraints_is_the_numeric_one():
    rng = np.random.default_rng(2)
    W = rng.uniform(size=(6, 3))
    multipliers = Multipliers(rng.normal(size=6), rng.normal(size=6), rng.normal(size=3))
    numeric = approx_fprime(W.ravel(), lambda w: penalty(w.reshape(6, 3), multipliers)[0], 1e-7)
    np.testing.assert_allclose(penalty(W, multipliers)[1].ravel(), numeric, atol=1e-6)


def test_hard_weights_give_the_information_of_the_cluster_table(table):
    R, C = np.eye(2)[[0, 0, 1, 1, 0, 1]], np.eye(2)[[0, 1, 1, 0, 0]]
    T = R.T @ table @ C
    expected = (T * np.log(T / np.outer(T.sum(1), T.sum(0)))).sum()
    assert weighted_information(table, R, C)[0] == pytest.approx(expected)


@pytest.mark.parametrize("constraints", [("unique",), ("unique", "assigned"), ("unique", "assigned", "filled")])
def test_each_constraint_is_nearly_met_at_the_end(constraints):
    truth = np.repeat(np.arange(3), 4)
    P = np.where(truth[:, None] == truth[None, :], 1.0, 0.05)
    P /= P.sum()
    rng = np.random.default_rng(0)
    found = ascend(
        P, rng.uniform(0.3, 0.7, (12, 3)), rng.uniform(0.3, 0.7, (12, 3)), constraints=constraints, n_epochs=4000
    )
    W = found.rows
    overlap = 0.5 * (W.sum(axis=1) ** 2 - (W**2).sum(axis=1))
    assert overlap.mean() < 0.1
    if "assigned" in constraints:
        np.testing.assert_allclose(W.sum(axis=1), 1.0, atol=0.1)
    if "filled" in constraints:
        assert W.sum(axis=0).min() > 0.9


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sidelight.errors.ConvergenceWarning")
def test_many_weights_get_fewer_epochs_unless_it_is_said():
    counts = np.random.default_rng(3).poisson(1.0, size=(300, 200))
    few = WeightCoclustering((40, 40), n_init=1, random_state=0).fit(counts)
    assert len(few.trace_) == 200  # 4,000,000 over 20,000 weights
    told = WeightCoclustering((40, 40), n_init=1, max_iter=50, random_state=0).fit(counts)
    assert len(told.trace_) == 50
