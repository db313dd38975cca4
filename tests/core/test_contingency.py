"""Labels to codes, and codes to counts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight._core.contingency import contingency, encode
from sidelight.errors import InvalidData

LABELS = st.one_of(st.integers(-5, 5), st.text(max_size=2), st.tuples(st.integers(0, 2), st.booleans()))


@given(st.lists(LABELS, max_size=30))
def test_names_and_codes_give_the_labels_back(labels):
    codes, names = encode(labels)
    assert [names[c] for c in codes] == labels
    assert list(names) == list(dict.fromkeys(labels))


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3), max_size=30))
def test_integer_arrays_wide_and_narrow(labels):
    codes, names = encode(np.array(labels, dtype=np.int64))
    assert [names[c] for c in codes] == labels
    assert list(names) == list(dict.fromkeys(labels))


def test_every_kind_of_array_is_coded_by_first_appearance():
    for labels in [
        np.array([2.5, 1.5, 2.5]),
        np.array(["b", "a", "b"]),
        np.array(["2024-02-01", "2023-01-01", "2024-02-01"], dtype="datetime64[ns]"),
        np.array([200, 3, 200], dtype=np.uint8),
        np.array([2**64 - 1, 2**64 - 2, 2**64 - 1], dtype=np.uint64),
        np.array([True, False, True]),
        np.array([-100, 100, -100], dtype=np.int8),
        pd.Series(["x", "y", "x"]),
        pd.Series(["x", "y", "x"], dtype="category"),
    ]:
        codes, names = encode(labels)
        assert codes.tolist() == [0, 1, 0]
        assert names == (labels[0], labels[1])


def test_a_number_and_its_spelling_stay_different():
    assert encode([1, "1"])[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    "labels",
    [
        [1.0, float("nan")],
        np.array([1.0, np.nan]),
        ["a", None],
        np.array(["2024-01-01", "NaT"], dtype="datetime64[D]"),
        pd.Series(["a", pd.NA], dtype="string"),
        np.array(["a", np.nan], dtype=object),
    ],
)
def test_a_missing_label_is_named_by_its_row(labels):
    with pytest.raises(InvalidData, match=r"bag ids contain a missing value: row 1"):
        encode(labels, what="bag ids")


@pytest.mark.parametrize("labels", ["wren", b"wren", 5, {"wren", "owl"}, {"wren": 1}])
def test_what_has_no_order_of_rows_is_refused(labels):
    with pytest.raises(InvalidData, match="must be a list or array"):
        encode(labels)


def test_labels_that_cannot_be_hashed_or_have_two_axes_are_refused():
    with pytest.raises(InvalidData, match=r"row 1 holds \[2\] \(list\)"):
        encode([1, [2]])
    with pytest.raises(InvalidData, match=r"shape \(2, 2\)"):
        encode(np.eye(2))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=40), st.booleans())
def test_counts_agree_with_a_counter(pairs, is_wide):
    a, b = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    scale = 10**4 if is_wide else 1  # wide tables go through sorting
    table = contingency(a * scale, b * scale)
    got = {(i // scale, j // scale): n for i, j, n in zip(table.rows, table.columns, table.counts)}
    assert got == Counter(pairs)
    assert table.total == len(pairs)
    assert table.row_totals.sum() == table.column_totals.sum() == len(pairs)


@pytest.mark.parametrize("shape", [(3, 4), (300, 400)])
def test_weights_are_summed_per_cell_on_both_roads(shape):
    table = contingency([0, 0, 2], [1, 1, 3], shape, weights=[0.5, 0.25, 2.0])
    assert table.counts.tolist() == [0.75, 2.0]
    np.testing.assert_array_equal(table.dense(), table.sparse().toarray())
    assert table.dense().shape == shape
    assert table.row_totals[:3].tolist() == [0.75, 0.0, 2.0]


def test_a_table_of_singletons_takes_no_more_room_than_the_rows():
    n = 20_000
    table = contingency(np.arange(n), np.arange(n)[::-1])
    assert len(table.counts) == n


def test_codes_outside_the_table_are_refused():
    with pytest.raises(InvalidData, match=r"0\.\.1"):
        contingency([0, 2], [0, 0], (2, 1))
    with pytest.raises(InvalidData, match="shapes"):
        contingency([0, 2], [0])


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=20))
def test_largest_and_favourite_columns_agree_with_the_dense_table(pairs):
    a, b = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    table = contingency(a, b, (5, 4))
    dense = table.dense()
    assert table.row_largest().tolist() == dense.max(axis=1).tolist()
    want = np.where(dense.sum(axis=1) > 0, dense.argmax(axis=1), -1)
    assert table.row_favourite().tolist() == want.tolist()
