"""The best assignment, against every permutation."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight._core import matching
from sidelight._core.contingency import contingency
from sidelight._core.matching import match_rows


@st.composite
def tables(draw):
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    return rng.integers(0, 5, size=shape) * (rng.random(shape) < 0.7)


def best_total(table):
    if table.shape[0] > table.shape[1]:
        table = table.T
    n_rows, n_columns = table.shape
    return max(table[np.arange(n_rows), list(p)].sum() for p in permutations(range(n_columns), n_rows))


def total(table, matched):
    used = matched[matched >= 0]
    assert len(set(used)) == len(used)
    return table[np.flatnonzero(matched >= 0), used].sum()


@given(tables())
def test_no_permutation_gains_more(table):
    matched = match_rows(table)
    assert total(table, matched) == best_total(table)
    assert (matched >= 0).sum() == min(table.shape)


@given(tables())
def test_sparse_and_dense_matching_gain_the_same(table):
    rows, columns = np.nonzero(table)
    counts = contingency(rows, columns, table.shape, weights=table[rows, columns])
    assert total(table, matching._match_sparse(counts)) == best_total(table)


def test_a_large_table_is_never_made_dense(monkeypatch):
    n = 5000
    monkeypatch.setattr("sidelight._core.contingency.Contingency.dense", lambda self: pytest.fail("dense"))
    order = np.random.default_rng(0).permutation(n)
    assert match_rows(contingency(np.arange(n), order)).tolist() == order.tolist()
