"""What cells say of their column: numbers, times, lists, marks, words for nothing."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.files.understanding.planned import beside, each, plan_of, roles, turns

import sidelight as sl
from sidelight.errors import InvalidData, InvalidParameter, SidelightError
from sidelight.files.problems import forgiving
from sidelight.files.roles.cells import find_separator, writing_of
from sidelight.files.roles.columns import Coded, Coder, MemorySource
from sidelight.files.roles.deciding import guess_channels
from sidelight.files.roles.gaps import Cleaned, find_gap_words, without_gap_words
from sidelight.files.roles.labels import RowLabels, are_ticks, from_cells, from_combination, from_ticks
from sidelight.files.roles.looks import determines, inspect_column
from sidelight.files.roles.plan import RoleRequest, asked


def look(cells, name="m"):
    """Look at cells between blanks, or a list of them."""
    return inspect_column(name, cells.split() if isinstance(cells, str) else [str(cell) for cell in cells])


def seen(cells, *fields, name="m"):
    """Return some of what a column looks like."""
    found = look(cells, name)
    return tuple(getattr(found, field) for field in fields)


# ---- looks


def test_kinds():
    for cells, kind, is_whole in [
        ("1 2 3", "number", True),
        ("1 2.5 3", "number", False),
        ("1 2.0 3", "number", True),
        ("0 1 1", "0/1", True),
        ("0 1 1.0", "0/1", True),
        ("0 1 0.5", "number", False),
        ("1 2 inf", "number", False),
        ("1 2 1e15", "number", False),
        ("1 2 999999999999999", "number", True),
        ("1 2 3 4 5 6 7 8 9 x", "number", True),
        ("1 2 3 4 5 6 7 8 x", "text", False),
        ("a b", "text", False),
        ("? ?", "empty", False),
        ("1 ? 2", "number", True),
    ]:
        assert seen(cells, "kind", "is_whole") == (kind, is_whole)


def test_counts_lengths_and_ranges():
    assert seen("3 ? 1 3", "n_seen", "n_distinct", "n_rows", "low", "high") == (3, 2, 4, 1, 3)
    assert seen("-5 inf 2.5", "low", "high", "mean_length") == (-5, 2.5, 8 / 3)
    assert seen("? ?", "n_seen", "n_rows", "mean_length", "is_media", "separator") == (0, 2, 0, False, None)
    assert (look("a b").is_unique, look("a a").is_unique) == (True, False)
    assert [look("a", name).has_name for name in ("column_1", "column 12", "column", "my column_1")] == [
        False, False, True, True,
    ]  # fmt: skip


def test_order_of_values():
    for cells, sorted_run, consecutive, running in [
        ("a a b b c", True, False, False),
        ("a b a", False, False, False),
        ("1 2 3 4", True, True, False),
        ("0 1 2 3", True, True, False),
        ("2 3 4 5", True, False, False),
        ("1 1 2 2", True, False, True),
        ("0 0 1 2", True, False, True),
        ("2 2 3 3", True, False, False),
        ("1 1 2 4", True, False, False),
        ("1 2 ? 3", True, False, False),
        ("1 1 1", True, False, False),
        ("1 2 1", False, False, False),
    ]:
        assert seen(cells, "is_sorted_run", "is_consecutive", "is_running") == (sorted_run, consecutive, running)


def test_names_of_files():
    for cells, is_media in [
        ("a.png b.JPG c.wav", True),
        ("a.png b.png c.png d.png x", False),
        ("a.png " * 5 + "x", True),
        ("a.xyz b", False),
    ]:
        assert seen(cells, "is_media") == (is_media,)


SENTENCE = "a bird sings {}"


def test_sentences():
    for cells, is_prose in [
        ([SENTENCE.format(i) for i in range(4)], True),
        ([f"a bird {i}" for i in range(4)], False),
        (["a bird sings"] * 2 + ["a bird sings loud now 1", "a bird sings loud now 2"], True),
        ([SENTENCE.format(i % 2) for i in range(4)], False),  # half of them different
        ([SENTENCE.format(i % 3) for i in range(4)], True),
        ([f"a b c d{i}.png" for i in range(4)], False),
    ]:
        assert seen(cells, "is_prose") == (is_prose,)


def test_yes_and_no():
    for cells, is_tick in [
            ("yes no", True), ("Ja nein JA", True), ("0 1", True), ("-1 1", True), ("1.0 0", True), ("x y", False),
            ("yes yes", False), ("yes no maybe", False), ("yes true", False), ("no false", False), ("0 2", False),
        ]:  # fmt: skip
        assert seen(cells, "is_tick") == (is_tick,)


def test_times():
    for cells, name, is_time in [
        (["2024-01-02", "2024/1/3"], "m", True),
        (["2024-01-02 10:15", "2024-01-02T10:15:30.5Z"], "m", True),
        (["1.2.2024", "02/03/24, 10:15"], "m", True),
        (["10:15", "9:05 pm"], "m", True),
        (["2024-01-02"] * 9 + ["soon"], "m", True),
        (["2024-01-02"] * 8 + ["soon"], "m", False),
        ([1_700_000_000_000, 1_700_000_500_000, 1_600_000_000_000], "m", True),
        ([600_000_000_000, 2_300_000_000_000, 600_000_000_001], "m", True),
        ([599_999_999_999, 2_300_000_000_000, 600_000_000_001], "m", False),
        ([600_000_000_000, 2_300_000_000_001, 600_000_000_001], "m", False),
        ([1_700_000_000, 1_700_000_009, 1_700_000_004], "m", True),
        ([600_000_000, 2_300_000_000, 600_000_001], "m", False),
        ([600_000_000, 2_300_000_000, 600_000_001], "the timestamp", True),
        ([600_000_000, 600_000_001, 2_300_000_000], "m", True),  # in order
        ([599_999_999, 600_000_001, 2_300_000_000], "m", False),
        ([600_000_000, 600_000_001, 2_300_000_001], "m", False),
        ([1_000_000_000, 1_299_999_999, 1_100_000_000], "m", True),
        ([1_000_000_000, 1_300_000_000, 1_100_000_000], "m", False),
        ([1_700_000_000, 1_700_000_009], "m", False),
        ([1_700_000_000] * 3, "m", False),
        ([1_700_000_000.5, 1_700_000_009, 1_700_000_010], "m", False),
        ([1, 2, 3], "time", False),
    ]:
        assert seen(cells, "is_time", name=name) == (is_time,)


def test_a_word_among_numbers_is_odd_and_marks_are_a_dress():
    assert seen("1 2 x 3 y 4 z", "odd") == ("x",)
    assert seen("1 2 3 a b c d e f g", "odd") == ("a",)
    assert seen("1 2 a b c d e f g h", "odd") == ("",)
    assert seen("1 2 3", "odd", "dressed") == ("", "")
    assert seen("10% 20%", "dressed", "separator") == ("10%", None)


# ---- lists


def test_what_stands_between_labels():
    for cells, mark in [
        (["a;b", "b", "a"], ";"),
        (["a|b", "c|d"], "|"),
        (["a" * 41 + "|b", "c|d"], None),
        (["a" * 40 + "|b", "c|d"], "|"),
        (["a;b", "c;d", "e"], None),
        (["a,b", "b,a", "a"], ","),
        (["a & b", "b & c", "c"], "&"),
        (["a and b", "b and c", "c"], " and "),
        (["a;b;c;d;e", "a;b;c"], ";"),  # three of five come back
        (["a;b;c;d;e", "a;b"], None),
        (["wren;owl", "wren"], ";"),  # two parts, one of which stands alone
        (["animal/bird", "animal/fish", "plant/tree"], None),
        (["a/b", "b/a", "a/c", "c/b"], "/"),
        (["1/2", "2/1", "1/3", "3/1"], None),  # numbers
        (["a/b", "a"], "/"),
        (["a b", "b a", "c d", "d"], None),  # as many parts as cells
        (["a b", "b c", "a c", "a b c", "c b a", "b a", "c a", "a c b"], " "),
        (["a", "b"], None),
        (["", " "], None),
        (["a;", ";b", "a;b", "a"], ";"),
    ]:
        assert find_separator(cells) == mark


def test_sentences_have_commas_and_blanks_of_their_own():
    prose = ["old wren loud; small owl now", "small owl now; old wren loud", "old wren loud; jay; small owl now"]
    assert seen(prose, "is_prose", "separator") == (True, ";")
    commas = [cell.replace(";", ",") for cell in prose]
    assert seen(commas, "separator") == (None,)
    long = [f"{'a' * 31} b c; d e{i % 2}" for i in range(2)] + [f"{'a' * 31} b c", "d e0 f g; d e1 h i"]
    assert seen(long, "is_prose", "separator") == (True, None)
    wide = ["x" * 61 + ";b", "x" * 61, "b", "b;" + "x" * 61]
    assert seen(wide, "separator") == (None,)
    assert seen([cell.replace("x" * 61, "x" * 60) for cell in wide], "separator") == (";",)


def test_a_name_determines_cells_where_its_rows_share_them_and_gaps_say_nothing():
    assert determines([["a", "1"], ["b", "2"], ["a", "1"]], 0, 1)
    assert not determines([["a", "1"], ["a", "2"]], 0, 1)
    assert determines([["a", "1"], ["a", ""], ["", "2"], ["", "3"]], 0, 1)
    assert determines([["1", "a"], ["2", "a"]], 0, 1)
    assert not determines([["1", "a"], ["2", "a"]], 1, 0)


R4 = each("r1", "r2", "r3", "r4", times=2)
LISTS = each("oak;elm", "elm;fir", "oak", "elm", times=2)


def test_lists_say_which_column_names_the_bags():
    assert beside({"tree": R4, "seen": LISTS}).bag == 2
    assert beside({"site": each("p", "q", times=4), "tree": R4, "seen": LISTS}).bag == 3
    assert beside({"tree": R4, "seen": each("oak;elm", "elm", times=4)}, label=False).bag is None  # two different lists
    assert beside({"tree": R4, "seen": turns("oak;elm", "elm;fir", "oak", "elm", times=2)}, label=False).bag is None
    assert beside({"tree": R4, "seen": LISTS}, bag=False).bag is None
    assert beside({"tree": R4, "seen": LISTS, "heard": LISTS}, label=False).bag is None  # which of them?


def test_lists_are_preferred_and_a_name_a_row_is_the_truth():
    rows = ["oak", "elm", "elm", "fir", "oak", "oak", "elm", "elm"]
    columns = {"recording": R4, "seen": LISTS, "species": rows}
    plan = beside(columns)
    assert (plan.labels, plan.truth, roles(plan)["species"]) == ([3], 4, "truth")
    plan = beside(columns, truth=False)
    assert (plan.labels, plan.truth, roles(plan)["species"]) == ([3], None, "ignored")
    plan = beside(columns | {"species": each("u", "v", "u", "v", times=2)})  # shared by the rows of a bag
    assert plan.labels == [4]
    plan = beside(columns, bag=False)
    assert plan.labels == [4]
    plan = beside({"recording": R4, "seen": LISTS, "m": rows})
    assert (plan.labels, plan.truth) == ([3], 4)
    plan = beside({"recording": R4, "seen": LISTS, "m": ["oak", "elm", "elm", "yew", "oak", "oak", "elm", "elm"]})
    assert plan.truth is None  # a name that no list has
    plan = beside({"recording": R4, "bag label": LISTS, "species": rows}, truth=False)
    assert plan.bag_label == 3


def test_the_truth_of_events_belongs_to_the_first_things():
    events = {"user": "ann bob ann cy bob cy", "film": "jaws jaws alien alien heat heat"}
    assert plan_of(events | {"truth": "m n m k n k"}).truth == 2
    assert plan_of(events | {"truth": "m m n n k k"}).truth is None


# ---- numbers and words for nothing


def test_how_a_column_writes_its_numbers():
    for cells, comma, plain in [
        (["10%", "20 %"], False, ["10", "20"]),
        (["$1", "€2"], False, None),
        (["$1", "$2", "x"], False, None),
        (["10%"] * 1 + [f"{i}%" for i in range(8)] + ["x"], False, ["10", *map(str, range(8)), "x"]),
        (["1,234", "12,345"], False, ["1234", "12345"]),
        (["1,234", "12,34"], False, ["1.234", "12.34"]),
        (["1.234.567", "1.000"], False, ["1234567", "1000"]),
        (["1.234", "1.000"], False, None),
        (["1,5", "2,5"], True, None),
        (["1,5", "2,5"], False, ["1.5", "2.5"]),
        (["\u22121.5%", "+2%"], False, ["-1.5", "2"]),
        (["1\u00a0234,5", "12"], False, ["1234.5", "12"]),
        (["1’000.5", "2"], False, ["1000.5", "2"]),
        (["1 234", "12"], False, ["1234", "12"]),
        (["1 23", "12"], False, None),
        (["1", "2"], False, None),
        (["", "?"], False, None),
        (["1,234.567", "2,345.5"], False, ["1234.567", "2345.5"]),
    ]:
        way = writing_of(cells, decimal_comma=comma)
        assert (None if way is None else [way.plain(cell) for cell in cells]) == plain


def test_words_that_mean_nothing_is_known():
    for cells, words in [
        ("1 2 -99 -99 -99 3", "-99"),
        ("1 2 -99 -99 3", ""),
        ("-60 2 -99 -99 -99 3", ""),
        ("1 2 -9 -9 -9 3", ""),
        ("100 300 -99 -99 -99", ""),
        ("100 250 -999 -999", "-999"),  # no negative number beside it
        ("-100 250 -999 -999", "-999"),
        ("-300 700 -999 -999", ""),
        ("0 5000 -999 -999", "-999"),
        ("-1 5000 -999 -999", ""),
        ("-1 997 -999 -999", ""),  # as far as the others are apart
        ("-1 996 -999 -999", "-999"),
        ("1 500 999 999", ""),
        ("2 500 999 999", "999"),
        ("1 2 99 99 99", "99"),
        ("1 2 99 99", ""),
        ("1 40 99 99 99", ""),
        ("1 2 999 999", "999"),
        ("1 2 999", ""),
        ("1 600 999 999", ""),
        ("1 400 999 999", "999"),
        ("1 -999.0 -999.0 2", "-999.0"),
        ("5 -999 -999", ""),
        ("1 2 3 fehlt", "fehlt"),
        ("1 2 3 und und", "und"),
        ("1 2 3 und", ""),
        ("1 2 3 <5 <5", ""),
        ("1 2 3 4 5 6 7 8 a a b b c c d d", ""),
        ("1 2 3 4 5 6 7 8 a a b b c c", "a b c"),
        ("1 2 a a", "a"),
        ("1 a a b", ""),
        ("oak elm k.A. oak", "k.A."),
        ("oak elm unknown oak", ""),
        (["1", "2", "x" * 21, "x" * 21, "3"], ""),
        (["1", "2", "x" * 20, "x" * 20, "3"], "x" * 20),
        ("", ""),
    ]:
        cells = cells.split() if isinstance(cells, str) else cells
        assert find_gap_words(cells) == frozenset(words.split())


def source(columns):
    """Return a table in memory."""
    cells = [Coded.of(c.split()) if isinstance(c, str) else np.array(c) for c in columns.values()]
    return MemorySource(Path("a.csv"), "a table", tuple(columns), cells)


def test_a_table_without_its_words_for_nothing():
    table = source({"a": "1 fehlt 2 3", "b": "1% ? fehlt 3%", "c": "u v fehlt w", "d": [1.0, -999, -999, 2.5]})
    found = without_gap_words(table, None)
    assert isinstance(found, Cleaned)
    assert found.words == {0: {"fehlt"}, 1: {"fehlt"}, 3: {"-999"}}
    assert [row[0] for row in found.sample()] == ["1", "", "2", "3"]
    loaded = found.load([3, 0, 1], [2, 0])
    assert np.array_equal(loaded.X[:, 1], [1, np.nan, 2, 3], equal_nan=True)
    assert np.array_equal(loaded.X[:, 0], [1, np.nan, np.nan, 2.5], equal_nan=True)
    assert np.array_equal(loaded.X[:, 2], [1, np.nan, np.nan, 3], equal_nan=True)
    assert loaded.texts[0].objects().tolist() == ["1", "", "2", "3"]
    assert loaded.texts[2].objects().tolist() == ["u", "v", "fehlt", "w"]
    assert [note.partition(" is read as missing in ")[::2] for note in found.notes] == [
        ("'fehlt'", "'a', 'b'"), ("'-999'", "'d'"),
    ]  # fmt: skip
    assert without_gap_words(found, None) is found
    assert without_gap_words(table, False) is table


def test_words_for_nothing_that_were_said():
    table = source({"a": "1 u 2 3", "c": "u v u w", "d": "4 5 6 7"})
    for said in ("u", ["u"], ["u", "z"]):
        assert without_gap_words(table, said).words == {0: {"u"}, 1: {"u"}}
    assert without_gap_words(table, ["z"]) is table
    assert without_gap_words(table, None) is table


# ---- labels


def test_labels_of_cells_lists_and_gaps():
    told = from_cells(Coded.of(["a", "", "{}", "b"]), None)
    assert (told.sets, told.names, told.is_single) == (
        (frozenset("a"), None, frozenset(), frozenset("b")),
        ("a", "b"),
        False,
    )
    told = from_cells(Coded.of(["['a', 'b']", "{b;}", "", "10"]), ",")
    assert told.sets[0] == {"a", "b"}
    assert from_cells(Coded.of(["10", "9", "b"]), None).names == ("9", "10", "b")
    assert from_cells(Coded.of(["a", "", "b"]), None).is_single
    assert from_cells(Coded.of(["a", "", "b"]), None).single().tolist() == ["a", "", "b"]


def test_columns_of_yes_and_no():
    def ticks(*columns):
        return from_ticks(
            [Coded.of(c.split()) for c in columns], ["label_a", "label_b"], Path("x"), lambda row: f"row {row}"
        )

    assert ticks("1 0 ? 1", "0 0 ? ?").indicator().tolist() == [[1, 0], [0, 0], [-1, -1], [1, -1]]
    assert ticks("1 -1 1", "-1 -1 1").indicator().tolist() == [[1, 0], [0, 0], [1, 1]]
    assert ticks("1 -1 0", "-1 0 1").indicator().tolist() == [[1, -1], [-1, 0], [0, 1]]
    assert ticks("x ? x", "? x x").indicator().tolist() == [[1, 0], [0, 1], [1, 1]]
    assert ticks("1 0", "0 1").names == ("a", "b")
    assert ticks("1 0", "0 1").is_single
    assert not ticks("1 0", "0 ?").is_single
    assert not ticks("1 0", "1 1").is_single
    with pytest.raises(InvalidData, match="row 1, column 'b': expected 0 or 1, found '7'"):
        ticks("1 0 1", "0 7 7")
    assert are_ticks([Coded.of(["1", "no", ""])])
    assert not are_ticks([Coded.of(["1"]), Coded.of(["2"])])


def test_a_combination_of_words_is_a_class():
    told = from_combination([Coded.of(list("BBMM")), Coded.of(["x", "y", "x", ""])])
    assert sorted(s for part in told.sets if part for s in part) == ["B/x", "B/y", "M/x"]
    assert told.single().tolist() == ["B/x", "B/y", "M/x", ""]


def test_labels_of_rows_make_those_of_bags():
    told = from_cells(Coded.of(["a", "b", "", "", "a", "a"]), None)
    bags = np.array([0, 0, 1, 2, 2, 2])
    assert told.of_bags(bags, 3) == [{"a", "b"}, None, {"a"}]
    assert told.n_torn(bags) == 1
    assert told.n_torn(np.array([0, 1, 2, 2, 3, 3])) == 0
    assert not told.is_constant(bags, 3)
    assert told.is_constant(np.array([0, 1, 2, 2, 3, 3]), 4)
    assert not told.is_on_first_rows(bags, 3)
    first = from_cells(Coded.of(["a", "", "b", "", "", ""]), None)
    assert first.is_on_first_rows(np.array([0, 0, 1, 1, 1, 1]), 2)
    assert not first.is_on_first_rows(np.array([0, 0, 0, 1, 1, 1]), 2)
    assert not first.is_on_first_rows(np.arange(6), 6)  # no other rows
    assert not from_cells(Coded.of([""] * 6), None).is_on_first_rows(bags, 3)
    gaps = RowLabels((frozenset("a"), None), np.array([0, 1]), ("a",), (frozenset(), frozenset("a")))
    assert gaps.is_single


# ---- what was said


def test_what_names_no_column_is_refused():
    for wrong in (
        {"id": 5}, {"bag": True}, {"weight": False}, {"weight": 3}, {"label": 5}, {"features": [1]},
        {"features": False},
        {"keep": {"a": 1}}, {"show": b"ab"}, {"channels": ["a"]}, {"channels": {1: "a"}}, {"channels": {"a": 5}},
        {"label_separator": ""}, {"label_separator": 5}, {"ignore": False}, {"transpose": 5}, {"text": 5},
    ):  # fmt: skip
        with pytest.raises(InvalidParameter, match=next(iter(wrong))):
            asked(**wrong)
    found = asked(id=False, bag="b", label=["a"], channels={"c": ["x", "y"], "d": "z"}, show=False, label_separator=";")
    assert (found.id, found.bag, found.label, found.show) == (False, "b", ("a",), False)
    assert found.channels == {"c": ("x", "y"), "d": "z"}


def test_a_format_fills_what_was_left_open():
    found = RoleRequest(bag="b", ignore=()).over(
        bag=("c", "it"), label=("d", "says"), ignore=(("e",), "so"), bag_label=(False, "no")
    )
    assert (found.bag, found.label, found.ignore) == ("b", "d", ("e",))
    assert (found.why("label"), found.why("bag"), found.why("bag label")) == ("says", "you said so", "no")


def test_names_and_patterns_of_columns():
    columns = {"f1": "1.5 2.5 3.5", "f2": "4.5 5.5 6.5", "g*": "7.5 8.5 9.5", "gx": "1.5 2 3"}
    assert plan_of(columns, features="f*").features == [0, 1]
    assert plan_of(columns, features="g*").features == [2]
    assert plan_of(columns, features=["f2", "f*"]).features == [1, 0]
    assert plan_of(columns, features="f*", ignore="f1").features == [1]
    assert plan_of(columns, features=["f1", "f2"], id="f1").id == 0
    for wrong in ({"features": "h*"}, {"bag": "h"}, {"channels": {"a": "f1", "b": "f*"}}, {"events": ["f1", "f1"]}):
        with pytest.raises(SidelightError):
            plan_of(columns, **wrong)
    plan = plan_of(columns, channels={"a": "f*", "b": "gx"}, features=["f1", "g*"])
    assert plan.channels == {"a": [0, 1], "b": [3]}
    assert plan.features == [0, 1, 3, 2]
    plan = plan_of(columns, events=["f1", "gx"], weight="f2")
    assert (plan.events, plan.weight, roles(plan)["f2"]) == ([0, 3], 1, "weight")
    assert plan_of(columns, show=["f1"], features="f*").why[0][0] == "show"
    assert plan_of(columns, keep=["gx"]).keep == [3]


# ---- columns in memory


def test_whole_numbers_of_eighteen_digits_are_numbers_and_others_names():
    def kinds(*cells):
        return Coded.of(cells).names().dtype.kind

    assert kinds("123456789012345678", "-7") == "i"
    assert [kinds(cell) for cell in ("1234567890123456789", "007", "+7", "7.0", "", "٣")] == ["O"] * 6


def test_a_cell_that_is_no_number_is_named_or_forgiven():
    table = MemorySource(Path("a.csv"), "t", ("a",), [Coded.of(["1", "oak", "2", "elm"])], lines=[3, 5, 6, 9])
    with pytest.raises(InvalidData, match=r"a\.csv, line 5, column 'a'.*'oak'"):
        table.load([0], [])
    with forgiving() as cells:
        assert np.array_equal(table.load([0], []).X[:, 0], [1, np.nan, 2, np.nan], equal_nan=True)
    assert cells == {"a": ["'oak' in line 5", "'elm' in line 9"]}


@pytest.mark.parametrize("kind", ["list", "text", "categories"])
def test_codes_are_numbered_by_first_appearance_over_all_pieces(kind):
    pl = pytest.importorskip("polars")

    def piece(*cells):
        if kind == "list":
            return [cell or "" for cell in cells]
        return pl.Series(cells, dtype=pl.String if kind == "text" else pl.Categorical)

    coder = Coder()
    coder.add(piece("z", "a", "z", None))
    coder.add(piece("b", "a", "z"))
    found = coder.result()
    assert (found.values, found.codes.tolist()) == (("z", "a", "", "b"), [0, 1, 0, 2, 3, 1, 0])


def test_channels_are_guessed_by_what_names_begin_with():
    for names, n in [
            ("a_1 a_2 b_1 b_2", 2), ("a_1 a_2 b_1", None), ("a_1 a_2", None), ("a_1 a_2 b_1 x", None),
            ("a_1 a_2 a_3 b_1", 2),
            (" ".join(f"c{chr(97 + k)}_{j}" for k in range(20) for j in range(2)), 20),
            (" ".join(f"c{chr(97 + k)}_{j}" for k in range(21) for j in range(2)), None),
        ]:  # fmt: skip
        found = guess_channels(names.split())
        assert (None if found is None else len(found)) == n


@pytest.mark.parametrize("cells", ["{k}", "w{k}", "{flag}", "{k}.5", "w{flag}"])
def test_what_is_asked_of_columns_grows_as_their_number_does(tmp_path, cells):
    def calls(n_columns):
        lines = [",".join(f"x{j}" for j in range(n_columns))] + [
            ",".join(cells.format(k=(7 * i * j + i) % 40, flag=(i + j) % 2) for j in range(n_columns))
            for i in range(20)
        ]
        path = tmp_path / f"{n_columns}.csv"
        path.write_text("\n".join(lines), encoding="utf-8")
        counted = Counter()
        sys.setprofile(lambda frame, event, _: counted.update([event]))
        try:
            sl.read(path)
        finally:
            sys.setprofile(None)
        return counted["call"]

    calls(10)  # loads what is needed
    assert calls(400) < 2.4 * calls(200)
