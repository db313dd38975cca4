"""Keys of rows by what they hold: any order of rows and columns, dense or sparse, gives the same."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sidelight._core.content import content_order, row_keys, table_orders


@pytest.fixture
def X():
    X = np.random.default_rng(0).normal(size=(50, 6))
    X[np.random.default_rng(1).random(X.shape) < 0.3] = 0.0
    X[:, 4] = 3.0
    X[7] = X[9]
    return X


def test_keys_follow_rows_whatever_the_order(X):
    keys, generator = row_keys(X), np.random.default_rng(2)
    rows, columns = generator.permutation(50), generator.permutation(6)
    np.testing.assert_array_equal(row_keys(X[rows][:, columns]), keys[rows])
    np.testing.assert_array_equal(row_keys(sp.csr_array(X)), keys)
    np.testing.assert_array_equal(row_keys(np.where(X == 0, -0.0, X)), keys)
    np.testing.assert_array_equal(row_keys(X[:, [0, 1, 2, 3, 5]]), keys)  # a constant column says nothing
    assert len(np.unique(keys)) == 49  # two rows are equal
    assert keys[7] == keys[9]


def test_units_say_nothing(X):
    keys = row_keys(X)
    units = np.array([2.0, 10.0, 0.5, 4.0, 1.0, 8.0])
    np.testing.assert_array_equal(row_keys(X * units), keys)
    np.testing.assert_array_equal(row_keys(sp.csr_array(X * units)), keys)
    np.testing.assert_array_equal(row_keys(X * units + 64.0), keys)


def test_values_are_keyed_with_their_columns(X):
    swapped = X.copy()
    swapped[0, :2] = X[0, 1], X[0, 0]
    assert row_keys(swapped)[0] != row_keys(X)[0]


def test_the_order_is_that_of_the_content_and_keeps_groups_whole(X):
    generator = np.random.default_rng(3)
    rows, codes = generator.permutation(50), generator.permutation(np.arange(50) % 11)
    np.testing.assert_array_equal(X[content_order(X)], X[rows][content_order(X[rows])])
    order, other = content_order(X, codes, 11), content_order(X[rows], codes[rows], 11)
    np.testing.assert_array_equal(X[order], X[rows][other])
    assert np.count_nonzero(np.diff(codes[order])) == 10
    renamed = generator.permutation(11)[codes]
    np.testing.assert_array_equal(X[content_order(X, renamed, 11)], X[order])


def test_rows_without_columns_have_an_order():
    assert sorted(content_order(np.empty((3, 0))).tolist()) == [0, 1, 2]
    assert content_order(np.empty((0, 2))).tolist() == []


def test_tables_of_counts_come_to_the_same_order():
    counts = np.random.default_rng(0).poisson(2.0, size=(30, 12))
    rows, columns = np.random.default_rng(1).permutation(30), np.random.default_rng(2).permutation(12)
    moved = counts[rows][:, columns]
    arranged = [
        table[order[0]][:, order[1]] for table in (counts, moved) for order in [table_orders(sp.csr_array(table))]
    ]
    np.testing.assert_array_equal(*arranged)
