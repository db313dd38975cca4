"""Plain facts about a matrix, whole and block by block, full and sparse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sidelight.files.roles import builder as facts
from sidelight.files.roles.builder import column_facts, n_repeated_rows

X = np.array([[1.0, 0, 5], [2, np.nan, 5], [np.inf, -3, 5], [2, -np.inf, 5], [1, 0, 5]])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("block", [3, 6, 9, 100])
def test_gaps_infinities_and_ranges(monkeypatch, form, block):
    monkeypatch.setattr(facts, "_BLOCK", block)
    found = column_facts(form(X))
    assert (found.n_missing.tolist(), found.n_infinite.tolist()) == ([0, 1, 0], [1, 1, 0])
    assert (found.low.tolist(), found.high.tolist()) == ([1, -np.inf, 5], [np.inf, 0, 5])
    assert found.is_constant.tolist() == [False, False, True]
    assert found.first_infinite_row == 2
    assert column_facts(form(X[:2])).first_infinite_row == -1
    assert column_facts(form(X[:2])).is_constant.tolist() == [False, True, True]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("block", [3, 6, 100])
def test_copies_of_rows_are_counted(monkeypatch, form, block):
    monkeypatch.setattr(facts, "_BLOCK", block)
    rows = np.array([[1.0, 2, 0], [2, 1, 0], [1, 2, 0], [0, 1, 2], [1, 2, -0.0], [2, 1, 0]])
    assert n_repeated_rows(form(rows)) == 3
    assert n_repeated_rows(form(rows[:2])) == 0
    assert n_repeated_rows(np.empty((0, 3))) == 0


def test_a_sum_beyond_the_largest_number_is_finite():
    assert facts.is_finite(np.full((2, 2), 1e308))
    assert not facts.is_finite(np.array([[np.inf, -np.inf]]))
