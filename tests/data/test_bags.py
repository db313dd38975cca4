"""Bags: what they hold, what a label set means, how they are cut, and what they refuse."""

from __future__ import annotations

import pickle
import warnings
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import sidelight as sl
from sidelight.data.coerce import as_bags
from sidelight.errors import BagsWereCut, InvalidData, OutOfRange, UnknownName

IDS = ["b", "a", "b", "c", "a", "d"]
LABELS = {"a": {"wren", "thrush"}, "b": set(), "c": None}


@pytest.fixture
def bags() -> sl.Bags:
    return sl.Bags(IDS, LABELS)


def test_rows_may_come_in_any_order(bags: sl.Bags) -> None:
    assert bags.names == ("b", "a", "c", "d")
    assert bags.codes.tolist() == [0, 1, 0, 2, 1, 3]
    assert bags.sizes.tolist() == [2, 2, 1, 1]
    assert bags.order.tolist() == [0, 2, 1, 4, 3, 5]
    assert bags.starts.tolist() == [0, 2, 4, 5, 6]
    assert bags.rows("a").tolist() == [1, 4]
    assert next((bag.name, bag.rows.tolist()) for bag in bags.each()) == ("b", [0, 2])


def test_unlabelled_empty_and_partial_sets_are_kept_apart() -> None:
    bags = sl.Bags(IDS, LABELS, partial=["a"])
    assert bags.classes == ("thrush", "wren")
    assert bags.is_labelled.tolist() == [True, True, False, False]
    assert bags.is_partial.tolist() == [False, True, False, False]
    assert dict(bags.labels) == {"b": frozenset(), "a": frozenset({"wren", "thrush"}), "c": None, "d": None}
    assert bags.label_matrix.toarray().tolist() == [[0, 0], [1, 1], [0, 0], [0, 0]]


def test_only_a_complete_label_set_forbids_other_labels() -> None:
    bags = sl.Bags(["a", "b", "c", "d"], {"a": {"x"}, "b": set(), "c": {"y"}}, partial=["c"])
    assert bags.row_label_mask().tolist() == [[True, False], [False, False], [True, True], [True, True]]


@pytest.mark.parametrize(
    "ids",
    [
        IDS,
        tuple(IDS),
        np.array(IDS),
        np.array(IDS, dtype=object),
        pd.Series(IDS, index=range(7, 13)),
        pd.Series(IDS, dtype="category"),
        pd.Index(IDS),
        pl.Series(IDS),
        (bag for bag in IDS),
    ],
    ids=lambda ids: type(ids).__name__,
)
def test_any_column_of_ids_is_understood(ids: object, bags: sl.Bags) -> None:
    assert sl.Bags(ids, LABELS) == bags


def test_names_are_plain_values() -> None:
    assert [type(name) for name in sl.Bags(np.array([3, 5])).names] == [int, int]
    assert sl.Bags([("r", 1), ("r", 2), ("r", 1)]).names == (("r", 1), ("r", 2))


def test_the_three_shapes_of_labels_say_the_same(bags: sl.Bags) -> None:
    rows = [("a", "wren"), ("a", "thrush"), ("b", None)]
    frame = pl.DataFrame(rows, schema=["bag", "label"], orient="row")
    Y = np.array([[1, 1], [0, 0]])
    assert sl.Bags.from_table(IDS, rows) == bags
    assert sl.Bags(IDS, frame) == bags
    assert sl.Bags.from_table(IDS, frame.to_pandas().rename(columns={"bag": "rec"}), bag="rec", label="label") == bags
    for matrix in (Y, Y.astype(bool), sparse.csr_matrix(Y), sparse.coo_array(Y)):
        assert sl.Bags.from_indicator(IDS, matrix, classes=["thrush", "wren"], names=["a", "b"]) == bags


def test_an_indicator_without_names_follows_first_appearance() -> None:
    bags = sl.Bags.from_indicator(["b", "a", "b"], [[1, 0], [0, 1]])
    assert dict(bags.labels) == {"b": {0}, "a": {1}}


def test_cutting_a_bag_forgets_that_every_label_is_carried_and_warns_once(bags: sl.Bags) -> None:
    with pytest.warns(BagsWereCut, match="'a'") as caught:
        cut = bags[[0, 1, 3]]
    assert len(caught) == 1
    assert cut.whole.tolist() == [False, False, True]
    assert cut.labels["a"] == {"wren", "thrush"}
    assert cut.row_label_mask().tolist() == bags[[0, 1, 3, 2, 4]].row_label_mask()[:3].tolist()
    assert cut.names == ("b", "a", "c")  # bag d lost its only row
    assert cut.classes == bags.classes


def test_a_cut_that_costs_no_presence_fact_is_silent(bags: sl.Bags) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bags[[0, 5]].whole.tolist() == [False, True]  # b's set is empty
        with pytest.warns(BagsWereCut):
            once = bags[[1, 5]]
        once[[0]]  # was cut before


def test_repeated_rows_neither_cut_a_bag_nor_make_it_whole(bags: sl.Bags) -> None:
    twice = bags[[1, 4, 4]]
    assert twice.whole.tolist() == [True]
    assert twice[[0, 2]].whole.tolist() == [True]
    with pytest.warns(BagsWereCut):
        assert twice[[1, 2]].whole.tolist() == [False]


@pytest.mark.parametrize("key", [[4, 1], np.array([4, 1]), [-2, -5], slice(4, 0, -3), ([4, 1], ...)], ids=str)
def test_rows_are_selected_by_integers_and_slices(bags: sl.Bags, key: object) -> None:
    assert list(bags[key]) == ["a", "a"]


def test_rows_are_selected_by_masks(bags: sl.Bags) -> None:
    mask = bags.codes == 1
    assert list(bags[mask]) == list(bags[mask, ...]) == list(bags[mask.tolist()]) == ["a", "a"]
    assert bags[[]].n_bags == 0
    assert bags[1] == "a"


@pytest.mark.parametrize(
    ("key", "error", "culprit"),
    [
        ([0, 6], OutOfRange, "6"),
        ([-7], OutOfRange, "-7"),
        ([True, False], OutOfRange, "2"),
        ([0.5], InvalidData, "Got 0.5"),
        ("rec1", InvalidData, "Got 'rec1'"),
        ([[0, 1]], InvalidData, r"\(1, 2\)"),
        ((slice(None), 0), InvalidData, "one axis"),
    ],
)
def test_a_key_that_selects_nothing_is_named(bags: sl.Bags, key: object, error: type, culprit: str) -> None:
    with pytest.raises(error, match=culprit):
        bags[key]


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({"ids": ["a", None]}, "Row 1 has no bag id"),
        ({"ids": [1.0, float("nan")]}, "Row 1 has no bag id: it is nan"),
        ({"ids": ["a", ("b", None)]}, "Row 1"),
        ({"ids": np.array(["2020-01-01", "NaT"], dtype="datetime64[D]")}, "Row 1"),
        ({"ids": pd.Series([1, None], dtype="Int64")}, "Row 1"),
        ({"ids": ["a", ["b"]]}, "Row 1.*hashable"),
        ({"ids": [[1, 2], [3, 4]]}, "Row 0.*hashable"),
        ({"ids": np.ones((2, 2))}, r"\(2, 2\)"),
        ({"ids": "abc"}, "'abc'"),
        ({"ids": {"a": 1}}, "dict"),
        ({"ids": 3}, "int"),
        ({"ids": pd.DataFrame({"a": [1]})}, "whole table"),
        ({"labels": {"rec": {"x"}}}, "unknown bag 'rec'.*Did you mean .*'rec1'"),
        ({"labels": {"rec1": "wren"}}, r"'rec1' is the bare string 'wren'. Write \{'wren'\}"),
        ({"labels": {"rec1": 3}}, "'rec1'.*3"),
        ({"labels": {"rec1": {"x": 1.5}}}, "'rec1' counts 1.5 of 'x'"),
        ({"labels": {"rec1": {"x": 1}, "rec2": [["y"]]}}, "'rec2' has a label that is no name"),
        ({"labels": {"rec1": [["x"]]}}, r"'rec1' has the label \['x'\].*hashable"),
        ({"labels": np.eye(3)}, "3 rows of labels but 2 bag names"),
        ({"labels": np.array(["x", "y"])}, "ndarray"),
        ({"labels": {"rec1": {None}}}, "'rec1' has the label None"),
        ({"labels": {"rec1": {"wrn"}}, "classes": ["wren"]}, "'rec1' has the label 'wrn'.*'wren'"),
        ({"labels": [{"x"}]}, "list"),
        ({"labels": {"rec1": {"x"}}, "classes": ["x", "x"]}, "'x' appears more than once"),
        ({"labels": {"rec1": {"x"}}, "classes": "x"}, "Expected class names in order.*'x'"),
        ({"labels": {"rec1": {"x"}}, "partial": ["rec2"]}, "'rec2' has no label set"),
        ({"labels": {"rec1": {"x"}}, "partial": ["rec3"]}, "unknown bag 'rec3'"),
        ({"labels": {"rec1": {"x"}}, "partial": "rec1"}, "'rec1'"),
        ({"whole": [True]}, "2 bags"),
        ({"whole": [0.5, 1]}, "float64"),
    ],
)
def test_bad_input_is_named(arguments: dict, culprit: str) -> None:
    with pytest.raises((InvalidData, UnknownName), match=culprit):
        sl.Bags(**{"ids": ["rec1", "rec2"], **arguments})


@pytest.mark.parametrize("form", [np.array, sparse.csr_array, sparse.csr_matrix])
def test_a_matrix_of_labels_is_read_as_an_indicator(form: type) -> None:
    Y = [[1, 0], [0, 0]]
    bags = sl.Bags(["a", "b", "a"], form(Y), classes=["x", "y"])
    assert bags == sl.Bags.from_indicator(["a", "b", "a"], Y, classes=["x", "y"])
    assert dict(bags.labels) == {"a": {"x"}, "b": set()}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_the_columns_of_an_indicator_frame_name_the_classes(frame: type) -> None:
    Y = frame({"wren": [1, 0], "thrush": [1, 1]})
    assert sl.Bags.from_indicator(["a", "b"], Y).classes == ("wren", "thrush")
    assert sl.Bags.from_indicator(["a", "b"], Y, classes=["w", "t"]).classes == ("w", "t")


def test_one_of_a_kind_is_counted_in_the_singular() -> None:
    assert repr(sl.Bags(["a"], {"a": {"x"}})) == "Bags(1 row in 1 bag, 1 class; 1 labelled)"
    assert repr(sl.Bags([])) == "Bags(0 rows in 0 bags, 0 classes)"


def test_dates_and_bytes_as_ids_can_be_saved(tmp_path: Path) -> None:
    days = [date(2024, 5, 1), datetime(2024, 5, 1, 6, 30, tzinfo=UTC), b"x", np.datetime64("2024-05-02", "D")]
    stamps = pd.Series(pd.to_datetime(["2024-05-01 00:00", "2024-05-01 06:30"]))
    for ids in (days, stamps):
        bags = sl.Bags(ids)
        sl.save(bags, tmp_path / "bags.sidelight")
        assert sl.load(tmp_path / "bags.sidelight") == bags
    assert {type(name) for name in bags.names} == {datetime}


@pytest.mark.parametrize(
    ("Y", "arguments", "culprit"),
    [
        ([[1, 0]], {}, "1 rows of labels but 2 bag names"),
        ([[1, 0], [2, 0]], {}, "row 1, column 0 is 2. "),
        ([[1, 0], [np.nan, 0]], {}, "row 1, column 0 is"),
        ([1, 0], {}, r"\(2,\)"),
        ([["x"], ["y"]], {}, "dtype"),
        ([[1, 0], [0, 1]], {"classes": ["x"]}, "2 columns but 1 class"),
        ([[1, 0]], {"names": ["c"]}, "unknown bag 'c'"),
        ([[1, 0], [0, 1]], {"names": ["a", "a"]}, "'a' appears more than once"),
    ],
)
def test_bad_indicators_are_named(Y: list, arguments: dict, culprit: str) -> None:
    with pytest.raises((InvalidData, UnknownName), match=culprit):
        sl.Bags.from_indicator(["a", "b"], Y, **arguments)


@pytest.mark.parametrize(
    ("table", "arguments", "culprit"),
    [
        ([("a", "x"), ("b",)], {}, "entry 1 must be a tuple of 2"),
        ([("e", "x")], {}, "unknown bag 'e'"),
        ([(["a"], "x")], {}, "hashable"),
        (pd.DataFrame({"bag": ["a"]}), {}, "2 columns"),
        (pd.DataFrame({"bag": ["a"], "label": ["x"]}), {"label": "lable"}, "no column 'lable'.*'label'"),
        ({"a": "x"}, {}, "dict"),
    ],
)
def test_bad_tables_are_named(table: object, arguments: dict, culprit: str) -> None:
    with pytest.raises((InvalidData, UnknownName), match=culprit):
        sl.Bags.from_table(["a", "b"], table, **arguments)


def test_hiding_labels_keeps_the_classes(bags: sl.Bags) -> None:
    hidden = bags.without_labels(["a"])
    assert hidden.labels["a"] is None
    assert hidden.labels["b"] == set()
    assert hidden.classes == bags.classes
    assert not bags.without_labels().is_labelled.any()


def test_hiding_a_class_leaves_empty_sets_not_unlabelled_bags() -> None:
    bags = sl.Bags(["a", "b"], {"a": {"x"}, "b": {"x", "y"}}).without_classes(["x"])
    assert bags.classes == ("y",)
    assert dict(bags.labels) == {"a": set(), "b": {"y"}}


def test_labels_can_be_replaced_and_reordered(bags: sl.Bags) -> None:
    other = bags.with_labels({"c": {"owl", "wren"}})
    assert other.classes == ("thrush", "wren", "owl")
    assert other.labels["a"] is None
    turned = bags.with_classes(["wren", "owl", "thrush"])
    assert turned.labels == bags.labels
    assert turned.label_matrix.toarray()[1].tolist() == [1, 0, 1]
    with pytest.raises(UnknownName, match="'thrush'"):
        bags.with_classes(["wren"])


def test_bags_are_frozen_and_can_be_pickled(bags: sl.Bags) -> None:
    again = pickle.loads(pickle.dumps(bags))
    assert again == bags
    for one in (bags, again):
        with pytest.raises(AttributeError, match="frozen"):
            one.names = ()
        for array in (one.codes, one.order, one.sizes, one.starts, one.whole, one.label_matrix.data):
            assert not array.flags.writeable


def test_bags_compare_by_what_they_say(bags: sl.Bags) -> None:
    same = sl.Bags(np.array(IDS), {"a": ["thrush", "wren"], "b": []})
    assert same == bags
    assert hash(same) == hash(bags)
    assert bags != bags.without_labels(["b"])
    assert bags != sl.Bags(IDS, LABELS, partial=True)
    assert bags != sl.Bags(IDS, LABELS, whole=[True, True, True, False])
    assert bags != IDS


def test_bags_print_what_matters(bags: sl.Bags) -> None:
    assert repr(bags) == "Bags(6 rows in 4 bags, 2 classes; 2 labelled, 1 of them empty, 2 unlabelled)"
    assert bags.summary()["bags with each class"] == {"thrush": 1, "wren": 1}
    assert "&lt;b&gt;" in sl.Bags(["a"], {"a": {"<b>"}})._repr_html_()
    assert "0 rows" in repr(sl.Bags([]))


def test_as_bags_guesses_only_what_is_documented(bags: sl.Bags) -> None:
    assert as_bags(None, n_rows=3).sizes.tolist() == [1, 1, 1]
    assert as_bags(IDS, n_rows=6).names == bags.names
    assert as_bags(None, n_rows=6, y=bags) is bags
    assert as_bags(bags, n_rows=6, y=np.zeros(6)) is bags
    assert as_bags(bags, n_rows=6, classes=["wren", "thrush"]).classes == ("wren", "thrush")
    with pytest.raises(InvalidData, match="X has 5 rows but bags has 6"):
        as_bags(bags, n_rows=5)
    with pytest.raises(InvalidData, match="Pass one of them"):
        as_bags(IDS, n_rows=6, y=bags)


@pytest.mark.parametrize(
    "damage",
    [
        {"codes": [0, 1, 0, 2, 1, 9]},
        {"codes": [1, 0, 0, 2, 1, 3]},
        {"names": ["b", "a", "c"]},
        {"label_columns": [0, 5]},
        {"label_starts": [0, 0, 9, 2, 2]},
        {"whole": [True]},
        {"origin": [0]},
    ],
)
def test_a_damaged_file_is_refused(bags: sl.Bags, damage: dict) -> None:
    with pytest.raises(InvalidData, match="damaged"):
        sl.Bags.__unarchive__({**bags.__archive__(), **damage})


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_label_sets_may_come_as_a_series(kind):
    frames = pytest.importorskip(kind)
    lists = [["wren"], ["owl", "wren"], [], None]
    if kind == "pandas":
        series = frames.Series(lists, index=["b", "a", "c", "d"])
        expected = {"b": {"wren"}, "a": {"owl", "wren"}, "c": set(), "d": None}
    else:  # without an index: in the order of first appearance
        series = frames.Series(lists, dtype=frames.List(frames.String))
        expected = {"a": {"wren"}, "b": {"owl", "wren"}, "c": set(), "d": None}
    assert dict(sl.Bags(["a", "b", "a", "c", "d"], labels=series).labels) == expected


def test_a_series_is_refused_by_name():
    pd = pytest.importorskip("pandas")
    with pytest.raises(InvalidData, match="names bag 'a' twice"):
        sl.Bags(["a", "b"], labels=pd.Series([["x"], ["y"]], index=["a", "a"]))
    with pytest.raises(UnknownName, match="'z'"):
        sl.Bags(["a", "b"], labels=pd.Series([["x"]], index=["z"]))
    with pytest.raises(InvalidData, match="bare string"):
        sl.Bags(["a"], labels=pd.Series(["x"], index=["a"]))
    pl = pytest.importorskip("polars")
    with pytest.raises(InvalidData, match="one label set for each of the 2 bags"):
        sl.Bags(["a", "b"], labels=pl.Series([["x"]]))


def test_label_sets_may_come_as_a_table_of_zeros_and_ones():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    ids, expected = ["a", "b", "a", "c"], {"a": {"wren"}, "b": {"wren", "owl"}, "c": None}
    columns = {"wren": [1, 1], "owl": [1, 0]}
    by_index = pd.DataFrame(columns, index=["b", "a"])
    for table in (
        by_index,
        by_index.astype(bool),
        by_index.rename_axis("recording").reset_index(),
        pl.DataFrame({"recording": ["b", "a"], **columns}),
    ):
        bags = sl.Bags(ids, labels=table)
        assert dict(bags.labels) == expected
        assert bags.classes == ("wren", "owl")
    rows = pd.DataFrame({"bag": [0, 1, 1], "label": [1, 0, 1]})  # numbers as names are still (bag, label) rows
    assert dict(sl.Bags([0, 1, 2], labels=rows).labels) == {0: {1}, 1: {0, 1}, 2: None}
