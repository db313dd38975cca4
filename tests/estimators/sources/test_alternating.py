"""Dhillon's alternation: the information kept never falls, and nothing depends on how the table is stored."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from sidelight.errors import Cancelled
from sidelight.estimators.sources._sweeps.alternating import (
    Table,
    add_profiles,
    alternate,
    assign,
    race,
    shift_codes,
    sum_codes,
)
from sidelight.estimators.sources._sweeps.cluster_state import sum_xlogx, table_information
from sidelight.progress import progress

# [B04] section 1.4.3
P_THESIS = np.array([[0.1, 0.1, 0, 0], [0.1, 0.2, 0, 0], [0, 0, 0.05, 0.05], [0, 0, 0.15, 0.25]])


def as_table(P: np.ndarray) -> Table:
    return Table.of(sp.csr_array(P / P.sum()))


def random_table(seed: int, shape: tuple[int, int] = (12, 9)) -> np.ndarray:
    rng = np.random.default_rng(seed)
    P = rng.gamma(0.5, size=shape) * (rng.random(shape) < 0.6)
    P[0, 0] += 1.0
    return P / P.sum()


def kept(P: np.ndarray, rows: np.ndarray, columns: np.ndarray, k: int, m: int) -> float:
    """The information of the cluster table, the plain way."""
    return table_information(np.eye(k)[rows].T @ P @ np.eye(m)[columns])


@given(st.integers(0, 200))
def test_information_never_falls(seed):
    P = random_table(seed)
    rng = np.random.default_rng(seed)
    start = rng.integers(0, 3, 12), rng.integers(0, 4, 9)
    found = alternate(as_table(P), *start, (3, 4))
    trace = [kept(P, *start, 3, 4), *found.trace]
    assert np.all(np.diff(trace) >= -1e-12)  # rounding of sums of a hundred cells
    assert found.information == pytest.approx(kept(P, found.row_labels, found.column_labels, 3, 4))


def test_thesis_example_is_found_and_loses_0_0137_bits():
    rng = np.random.default_rng(0)
    starts = [(rng.integers(0, 2, 4), rng.integers(0, 2, 4)) for _ in range(10)]
    best, _ = race(as_table(P_THESIS), starts, (2, 2))
    loss = table_information(P_THESIS) - best.information
    assert round(loss / np.log(2), 4) == 0.0137
    assert round(loss, 5) == 0.00949


def test_a_cluster_that_died_is_refilled():
    P = random_table(3)
    found = alternate(as_table(P), np.zeros(12, dtype=np.intp), np.zeros(9, dtype=np.intp), (3, 3))
    assert np.unique(found.row_labels).size == 3
    assert np.unique(found.column_labels).size == 3


def test_the_race_returns_the_best_of_its_starts():
    P, rng = random_table(5, (30, 20)), np.random.default_rng(1)
    starts = [(rng.integers(0, 3, 30), rng.integers(0, 3, 20)) for _ in range(8)]
    best, values = race(as_table(P), starts, (3, 3))
    assert best.information == max(values)
    assert len(values) == 8
    assert np.all(np.diff(best.trace) >= -1e-12)  # one road, though it was run in two parts


def test_kernels_agree_with_their_plain_versions():
    table, rng = as_table(random_table(7)), np.random.default_rng(2)
    rows, columns = rng.integers(0, 3, 12), rng.integers(0, 4, 9)
    for side, labels, shape in ((table.rows, columns, (12, 4)), (table.columns, rows, (9, 3))):
        fast, plain = np.empty(shape), np.empty(shape)
        sum_codes(side.data, side.indices, side.indptr, labels, fast)
        sum_codes.py_func(side.data, side.indices, side.indptr, labels, plain)
        np.testing.assert_array_equal(fast, plain)
    profiles, log_share = rng.random((12, 4)), np.log(rng.dirichlet(np.ones(4), size=3))
    fast, plain = rows.copy(), rows.copy()
    assert assign(profiles, log_share, fast) == assign.py_func(profiles, log_share, plain)
    np.testing.assert_array_equal(fast, plain)
    sums = np.zeros((3, 4))
    add_profiles(profiles, rows, sums)
    np.testing.assert_allclose(sums, np.eye(3)[rows].T @ profiles)
    assert sum_xlogx(table.rows.data) == pytest.approx(sum_xlogx.py_func(table.rows.data))


@given(st.integers(0, 50))
def test_moving_the_cells_of_codes_equals_counting_anew(seed):
    table, rng = as_table(random_table(seed)), np.random.default_rng(seed)
    before, after = rng.integers(0, 3, 12), rng.integers(0, 3, 12)
    moved, anew = np.empty((9, 3)), np.empty((9, 3))
    rows, columns = table.rows, table.columns
    sum_codes(columns.data, columns.indices, columns.indptr, before, moved)
    shift_codes(rows.data, rows.indices, rows.indptr, before, after, moved)
    sum_codes(columns.data, columns.indices, columns.indptr, after, anew)
    np.testing.assert_allclose(moved, anew, atol=1e-15)  # a sum of some ten cells


def test_starts_that_run_side_by_side_report_and_can_be_cancelled():
    P, rng = random_table(5, (30, 20)), np.random.default_rng(1)
    starts = [(rng.integers(0, 3, 30), rng.integers(0, 3, 20)) for _ in range(8)]
    steps = []
    with progress(steps.append):
        race(as_table(P), starts, (3, 3))
    assert {step.stage for step in steps} == {"co-clustering"}
    with progress(lambda step: False), pytest.raises(Cancelled):
        race(as_table(P), starts, (3, 3))
