"""Cells of any kind to columns, and the lines of a sheet that are no rows."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from pathlib import Path

import numpy as np
import pytest

from sidelight.errors import InvalidData
from sidelight.files.books.columns import as_column, as_text, table_of
from sidelight.files.books.workbooks import _header
from sidelight.files.roles.columns import Coded


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        ([1, 2.5, None], [1, 2.5, np.nan]),
        ([1, "?", ""], [1, np.nan, np.nan]),
        ([2**53, 1], [2**53, 1]),
        ([2.0**60, 1], [2.0**60, 1]),
        ([2**53 + 1, 1], None),
        ([True, 1], None),
        (["a", 1], None),
        ([None, ""], None),
    ],
)
def test_columns_of_numbers_are_float64(cells, numbers):
    column = as_column(cells)
    assert isinstance(column, Coded) == (numbers is None)
    if numbers is not None:
        assert np.array_equal(column, numbers, equal_nan=True)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""), (True, "1"), (7.0, "7"), (7.5, "7.5"), (2.0**53, "9007199254740992.0"), (2.0**53 - 1, str(2**53 - 1)),
        (float("inf"), "inf"), (datetime(2024, 1, 2), "2024-01-02"), (datetime(2024, 1, 2, 3), "2024-01-02 03:00:00"),
        (date(2024, 1, 2), "2024-01-02"), (time(3), "03:00:00"), (timedelta(minutes=1), "60.0"), (2**60, str(2**60)), ("a", "a"),
    ],
)  # fmt: skip
def test_cells_as_people_write_them(cell, text):
    assert as_text(cell) == text


def test_columns_have_names_of_their_own():
    made = table_of(Path("b.xlsx"), "a book", ["a", "", " a  b ", "a"], [[1], [2], [3], [4]], notes=["n"])
    assert (made.names, made.path, made.title, made.notes) == (
        ("a", "column 2", "a b", "a 2"), Path("b.xlsx"), "a book", ("n",),
    )  # fmt: skip
    assert not made.declares_words
    for nothing in ([], [[]]):
        with pytest.raises(InvalidData, match="without rows"):
            table_of(Path("b.xlsx"), "a book", ["a"], nothing)


@pytest.mark.parametrize(
    ("filled", "line"),
    [
        ([5, 5, 5], 0),
        ([1, 5, 5, 5], 1),
        ([1, 0, 5, 5, 5], 2),
        ([4, 5, 5, 5], 0),
        ([3, 5, 5, 5], 1),
        ([2], 0),
        ([0, 1], 1),
    ],
)
def test_the_names_stand_in_the_first_line_that_is_filled_as_the_others_are(filled, line):
    assert _header([["x"] * n + [" ", None] * (5 - n) for n in filled]) == line
