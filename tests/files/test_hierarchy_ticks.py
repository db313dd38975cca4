"""Columns of ticks: an empty cell among zeros and ones is one that nobody looked at."""

from __future__ import annotations

import numpy as np

import sidelight as sl


def read(tmp_path, text, **roles):
    path = tmp_path / "t.csv"
    path.write_text(text)
    return sl.read(path, label=["a", "b"], **roles).Y


def test_an_empty_cell_beside_zeros_is_unknown(tmp_path):
    np.testing.assert_array_equal(read(tmp_path, "x,a,b\n1,1,\n2,0,1\n3,,\n"), [[1, -1], [0, 1], [-1, -1]])


def test_an_empty_cell_without_any_zero_is_off(tmp_path):
    np.testing.assert_array_equal(read(tmp_path, "x,a,b\n1,1,\n2,,1\n3,1,1\n"), [[1, 0], [0, 1], [1, 1]])


def test_minus_one_is_unknown_beside_zeros_and_off_without_them(tmp_path):
    np.testing.assert_array_equal(read(tmp_path, "x,a,b\n1,1,-1\n2,0,1\n3,1,0\n"), [[1, -1], [0, 1], [1, 0]])
    np.testing.assert_array_equal(read(tmp_path, "x,a,b\n1,1,-1\n2,-1,1\n3,1,1\n"), [[1, 0], [0, 1], [1, 1]])
