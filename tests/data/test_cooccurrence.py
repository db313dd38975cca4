"""Tables of counts: what they say, where they come from, and what they refuse."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sidelight as sl
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.data.counting import _coalesce_sorted, coalesce
from sidelight.errors import InvalidData, InvalidInput, InvalidParameter, UnknownName

# The example of [B04] 1.4.3.
BOUVRIE = np.array([[0.1, 0.1, 0, 0], [0.1, 0.2, 0, 0], [0, 0, 0.05, 0.05], [0, 0, 0.15, 0.25]])
HALVES = [0, 0, 1, 1]


def three_way(seed: int = 0, n: int = 200) -> CoOccurrence:
    rng = np.random.default_rng(seed)
    codes = {"face": rng.integers(5, size=n), "upper": rng.integers(4, size=n), "height": rng.integers(3, size=n)}
    return CoOccurrence.from_codes(codes, sizes={"face": 6})


def brute_total_correlation(P: np.ndarray) -> float:
    P = P / P.sum()
    total = 0.0
    for cell in np.ndindex(P.shape):
        if P[cell] > 0:
            independent = 1.0
            for axis, i in enumerate(cell):
                independent *= P.sum(axis=tuple(a for a in range(P.ndim) if a != axis))[i]
            total += P[cell] * np.log(P[cell] / independent)
    return total


def test_the_thesis_example_loses_0137_bits():
    table = CoOccurrence.from_matrix(BOUVRIE)
    clustered = table.aggregate({"rows": HALVES, "columns": HALVES})
    loss = table.mutual_information(unit="bits") - clustered.mutual_information(unit="bits")
    assert loss == pytest.approx(0.0137, abs=5e-5)  # printed with four digits
    loss = table.mutual_information() - clustered.mutual_information()
    assert loss == pytest.approx(0.00949, abs=5e-6)  # printed with five digits
    outer = np.outer(table.marginal("rows"), table.marginal("columns"))
    Q = clustered.to_array()[np.ix_(HALVES, HALVES)] * outer
    Q /= np.outer(clustered.marginal("rows")[HALVES], clustered.marginal("columns")[HALVES])
    assert np.linalg.norm(BOUVRIE - Q, 2) == pytest.approx(0.0400, abs=5e-5)  # printed with four digits


def test_information_agrees_with_brute_force():
    for seed in range(3):
        table = three_way(seed)
        dense = table.to_array()
        assert table.total_correlation() == pytest.approx(brute_total_correlation(dense))
        assert table.mutual_information("upper", "height", unit="bits") == pytest.approx(
            brute_total_correlation(dense.sum(axis=0)) / np.log(2)
        )


def test_independent_axes_share_no_information():
    assert CoOccurrence.from_matrix(np.outer([1, 2, 3], [0.1, 0.7])).mutual_information() == pytest.approx(0, abs=1e-15)


def test_marginals_and_margins_are_sums_of_the_table():
    table = three_way()
    dense = table.to_array()
    assert np.array_equal(table.marginal("upper"), dense.sum(axis=(0, 2)))
    assert np.array_equal(table.margin("height", "face").to_csr().toarray(), dense.sum(axis=1).T)
    assert table.normalized().total == pytest.approx(1.0)
    assert table.shape == (6, 4, 3)
    assert table.total == 200


def test_aggregating_cannot_create_information():
    table = three_way()
    clustered = table.aggregate({"face": [0, 0, 1, 1, 2, 2], "upper": ["x", "y", "y", "x"]})
    assert clustered.total_correlation() <= table.total_correlation()
    assert clustered.labels["upper"] == ("x", "y")
    assert clustered.shape == (3, 2, 3)
    assert clustered.total == table.total


def test_every_way_in_gives_the_same_table(tmp_path):
    rng = np.random.default_rng(1)
    who, where = rng.choice(["ann", "bob", "cy"], 50), rng.choice(["hall", "yard"], 50)
    columns = {"who": who, "where": where, "minutes": rng.integers(1, 9, 50)}
    axes = ["who", "where"]
    expected = CoOccurrence.from_table(columns, axes)
    assert expected.labels == {"who": ("ann", "bob", "cy"), "where": ("hall", "yard")}
    crossed = pd.crosstab(pd.Series(who), pd.Series(where)).to_numpy()
    assert np.array_equal(expected.to_array(), crossed)
    frames = [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns), {k: list(v) for k, v in columns.items()}]
    frames += [pa.record_batch(columns), pd.DataFrame(columns).astype({"who": "category"})]
    for frame in frames:
        assert CoOccurrence.from_table(frame, axes) == expected
        assert CoOccurrence.from_table(frame, axes, batch_rows=7) == expected
    weighted = CoOccurrence.from_table(columns, weights="minutes", batch_rows=11)
    assert weighted.axes == ("who", "where")
    assert weighted == CoOccurrence.from_table(pl.DataFrame(columns), weights="minutes")
    assert weighted.total == columns["minutes"].sum()


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.sampled_from("abc")), min_size=1, max_size=40),
    st.lists(st.integers(0, 40), max_size=4),
)
def test_counting_does_not_depend_on_where_the_table_is_cut(rows, cuts):
    number, letter = [r[0] for r in rows], [r[1] for r in rows]
    places = [0, *sorted(min(c, len(rows)) for c in cuts), len(rows)]
    pieces = [{"number": number[a:b], "letter": letter[a:b]} for a, b in pairwise(places)]
    assert CoOccurrence.from_batches(pieces) == CoOccurrence.from_table({"number": number, "letter": letter})


@given(hnp.arrays(np.intp, (3, 12), elements=st.integers(0, 3)), hnp.arrays(float, 12, elements=st.integers(0, 3)))
def test_both_ways_to_coalesce_agree(codes, counts):
    coords, sums = coalesce(list(codes), counts, (4, 4, 4))
    plain_coords, plain_sums = _coalesce_sorted(list(codes), counts)
    assert np.array_equal(coords, plain_coords)
    assert np.array_equal(sums, plain_sums)


@pytest.mark.parametrize("size", [3, 2**12, 2**40])  # one row of sums, one key per cell, cells sorted by axis
def test_events_count_one_each_in_every_way_to_coalesce(size):
    codes = list(np.random.default_rng(0).integers(3, size=(2, 40)))
    for found, expected in zip(coalesce(codes, None, (size, size)), coalesce(codes, np.ones(40), (size, size))):
        assert np.array_equal(found, expected)


def test_axes_too_long_for_one_key_still_count():
    huge = 2**40
    table = CoOccurrence(("a", "b"), ([huge - 1, 0, huge - 1], [5, 1, 5]), [1, 2, 3], (huge, huge))
    assert table.nnz == 2
    assert table.counts.tolist() == [2, 4]


def test_sparse_and_dense_matrices_are_the_same_table():
    dense = np.random.default_rng(0).poisson(0.4, (7, 9))
    table = CoOccurrence.from_matrix(dense, axes=("document", "term"))
    for sparse in (sp.csr_array(dense), sp.csc_matrix(dense), sp.coo_array(dense)):
        assert CoOccurrence.from_matrix(sparse, axes=("document", "term")) == table
    assert np.array_equal(table.to_csr().toarray(), dense)


def test_tables_are_frozen_and_copied_at_the_door():
    codes = np.array([0, 1])
    counts = np.array([1.0, 2.0])
    table = CoOccurrence(("a", "b"), (codes, codes), counts, (2, 2))
    counts[0], codes[0] = 99, 1
    assert table.counts.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        table.counts[0] = 5
    with pytest.raises(AttributeError):
        table.shape = (3, 3)
    assert codes.flags.writeable


@given(hnp.arrays(float, (3, 4), elements=st.integers(0, 3)), st.booleans())
def test_written_then_read_is_the_same_table(counts, named):
    if not counts.any():
        counts[0, 0] = 1
    table = CoOccurrence.from_matrix(counts, labels={"rows": ["x", "y", 3]} if named else None)
    assert CoOccurrence.__unarchive__(table.__archive__()) == table
    assert pickle.loads(pickle.dumps(table)) == table
    assert copy.deepcopy(table) == table
    assert table != CoOccurrence.from_matrix(counts * 2)
    assert table != "a table"


def test_a_saved_table_is_loaded_as_it_was(tmp_path):
    table = CoOccurrence.from_table({"who": ["ann", "bob", 3], "when": np.array(["2020-01-01"] * 3, "datetime64[D]")})
    sl.save(table, tmp_path / "table.sidelight")
    assert sl.load(tmp_path / "table.sidelight") == table


def test_tables_print_what_they_hold():
    table = CoOccurrence.from_table({"<who>": ["ann"], "where": ["a & b"]})
    assert repr(table) == "CoOccurrence(<who>: 1, where: 1; 1 cell, total 1)"
    page = table._repr_html_()
    assert "&lt;who&gt;" in page
    assert "a &amp; b" in page
    assert "<who>" not in page


def test_information_in_an_unknown_unit_is_refused():
    with pytest.raises(InvalidParameter, match="'nats', 'bits'"):
        three_way().total_correlation(unit="bit")
    with pytest.raises(InvalidData, match="name both"):
        three_way().mutual_information()


REFUSED = {
    "negative count": (lambda: CoOccurrence.from_matrix([[1, 2], [0, -3]]), r"count \(1, 1\) is negative"),
    "infinite count": (lambda: CoOccurrence.from_matrix([[1, np.inf]]), "not finite"),
    "all zero": (lambda: CoOccurrence.from_matrix(np.zeros((2, 2))), "every count is zero"),
    "words": (lambda: CoOccurrence.from_matrix([["a", "b"]]), "from_table"),
    "lengths": (lambda: CoOccurrence.from_codes({"a": [0, 1], "b": [0]}), "'a' has 2 events but axis 'b' has 1"),
    "range": (lambda: CoOccurrence.from_codes({"a": [0, 4], "b": [0, 0]}, sizes={"a": 3}), "code 4 of axis 'a'"),
    "negative code": (lambda: CoOccurrence.from_codes({"a": [0, -1], "b": [0, 0]}), "code -1 of axis 'a'"),
    "one axis": (lambda: CoOccurrence.from_codes({"a": [0]}), "at least two axes"),
    "twice": (lambda: CoOccurrence(("a", "a"), ([0], [0]), [1], (1, 1)), "'a' is named twice"),
    "gap": (lambda: CoOccurrence.from_table({"a": ["x", None], "b": [1, 2]}), "'a' has a missing value .row 1"),
    "nan": (lambda: CoOccurrence.from_table({"a": [0.5, np.nan], "b": [1, 2]}), "'a' has a missing value .row 1"),
    "frame gap": (lambda: CoOccurrence.from_table(pl.DataFrame({"a": ["x", None], "b": [1, 2]})), "'a' has a missing"),
    "pandas gap": (lambda: CoOccurrence.from_table(pd.DataFrame({"a": [1.0, None], "b": [1, 2]})), "'a' has a missing"),
    "weight": (lambda: CoOccurrence.from_table({"a": [1], "b": [2], "w": [-1]}, weights="w"), "column 'w', row 0"),
    "labels": (lambda: CoOccurrence.from_matrix([[1, 2]], labels={"columns": ["x", "x"]}), "'x' names two codes"),
    "label count": (lambda: CoOccurrence.from_matrix([[1, 2]], labels={"columns": ["x"]}), "2 codes but 1 labels"),
    "no rows": (lambda: CoOccurrence.from_table({"a": [], "b": []}), "no rows"),
    "no batches": (lambda: CoOccurrence.from_batches([]), "no batches"),
    "clusters": (lambda: CoOccurrence.from_matrix([[1, 2]]).aggregate({"columns": [0]}), "2 codes but 1 clusters"),
    "cluster gap": (lambda: CoOccurrence.from_matrix([[1, 2]]).aggregate({"columns": [0.0, np.nan]}), "Code 1 has no"),
    "no mapping": (lambda: CoOccurrence.from_matrix([[1, 2]]).aggregate([0, 1]), "needs a mapping.*got list"),
    "no codes": (lambda: CoOccurrence.from_codes(None), "got NoneType"),
    "label gap": (lambda: CoOccurrence.from_matrix([[1, 2]], labels={"columns": ["x", None]}), "code 1 .* is None"),
    "bare labels": (lambda: CoOccurrence.from_matrix([[1, 2]], labels={"columns": "xy"}), "a list of names, got 'xy'"),
    "sparse count": (lambda: CoOccurrence.from_matrix(sp.csr_array([[1, 0], [0, -3]])), r"count \(1, 1\) is negative"),
    "one batch": (lambda: CoOccurrence.from_batches(pd.DataFrame({"a": [1], "b": [2]})), "Use from_table"),
    "csr": (lambda: three_way().to_csr(), r"margin\('face', 'upper'\)"),
    "not a table": (lambda: CoOccurrence.from_table(3), "got int"),
    "dimensions": (lambda: CoOccurrence.from_matrix([[1]], axes=("a", "b", "c")), "2 dimensions but 3 axis names"),
}


def test_a_frame_of_counts_brings_its_names():
    counts = pd.DataFrame([[1, 2]], index=["ann"], columns=["hall", "yard"])
    assert dict(CoOccurrence.from_matrix(counts).labels) == {"rows": ("ann",), "columns": ("hall", "yard")}
    plain = CoOccurrence.from_matrix(counts.reset_index(drop=True), labels={"rows": ["bob"]})
    assert dict(plain.labels) == {"rows": ("bob",), "columns": None}


def test_names_of_clusters_keep_their_types():
    merged = CoOccurrence.from_matrix([[1, 2, 3]]).aggregate({"columns": ["a", 1, "a"]})
    assert merged.labels["columns"] == (1, "a")
    assert merged.to_array().tolist() == [[2.0, 4.0]]


@pytest.mark.parametrize("case", REFUSED)
def test_bad_tables_are_refused_with_the_culprit(case):
    make, message = REFUSED[case]
    with pytest.raises(InvalidData, match=message):
        make()


def test_an_unknown_axis_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'face'"):
        three_way().marginal("faces")
    with pytest.raises(UnknownName, match="Did you mean 'upper'"):
        three_way().aggregate({"uper": [0, 0, 0, 0]})
    with pytest.raises(UnknownName, match="no column 'wher'"):
        CoOccurrence.from_table({"who": ["x"], "where": ["y"]}, ["who", "wher"])


anything = st.one_of(
    hnp.arrays(st.sampled_from([np.intp, float, object, bool]), hnp.array_shapes(max_dims=2, max_side=3)),
    st.lists(st.one_of(st.integers(-2, 5), st.none(), st.text(max_size=2), st.floats()), max_size=4),
    st.none(),
    st.text(max_size=3),
)


def is_valid(table: CoOccurrence) -> bool:
    return (
        table.total > 0
        and bool((table.counts > 0).all())
        and all(len(c) == table.nnz and c.min() >= 0 and c.max() < s for c, s in zip(table.coords, table.shape))
        and all(names is None or len(names) == size for names, size in zip(table.labels.values(), table.shape))
    )


def valid_or_refused(make) -> bool:
    try:
        table = make()
    except InvalidInput as error:
        return "CoOccurrence" in str(error)
    return is_valid(table)


@given(st.dictionaries(st.text(max_size=2), anything, max_size=3), anything)
def test_any_codes_give_a_valid_table_or_a_message(codes, weights):
    assert valid_or_refused(lambda: CoOccurrence.from_codes(codes, weights=weights))


@given(anything)
def test_any_matrix_gives_a_valid_table_or_a_message(matrix):
    assert valid_or_refused(lambda: CoOccurrence.from_matrix(matrix))


@given(st.dictionaries(st.text(max_size=2), anything, max_size=3))
def test_any_columns_give_a_valid_table_or_a_message(columns):
    assert valid_or_refused(lambda: CoOccurrence.from_table(columns))
