"""Which column is taken for the label, by its name, by what bags share, by its place; and how sure that is."""

from __future__ import annotations

import pytest
from tests.files.understanding.planned import amounts, beside, each, plan_of, roles, sure, turns

from sidelight.files.roles.plan import ASKED, CLEAR, LIKELY

SENTENCE = "the old bird sings loud near house number {}"
R4 = each("r1", "r2", "r3", "r4", times=2)
BAGS = {"recording": R4}
DEPTH = {"depth": amounts(8, 5)}


def label_of(columns, **said):
    """Return the labels that were guessed, and how sure; the question in front, if one was asked."""
    plan = beside(columns, **said)
    names = [plan.names[j] for j in plan.labels]
    assert all(plan.why[j][0] == "label" for j in plan.labels)
    return " ".join(names), sure(plan, names[0]) if names else 0, len(plan.doubts)


# ---- columns of yes and no


def test_two_columns_of_yes_and_no_that_are_called_labels():
    for columns, labels in [
        ({"label_a": "0 1 0 1", "label_b": "1 1 0 0"}, "label_a label_b"),
        ({"tag a": "no yes no yes", "tag b": "no no no yes"}, "tag a tag b"),
        ({"label_a": "0 0 0 0", "label_b": "0 1 0 1"}, "label_a label_b"),  # nobody has the first one
        ({"y-a": "-1 1 1 -1", "y-b": "1 1 -1 -1"}, "y-a y-b"),
        ({"label_a": "0 1 0 1", "width_b": "1 1 0 0"}, ""),
        ({"label_a": "0 1 0 1", "label_b": "1 2.5 3 0"}, ""),
        ({"label": "0 1 0 1", "label_b": "1 1 0 0"}, "label"),
    ]:
        assert label_of(columns | {"depth": amounts(4)}) == (labels, CLEAR if labels else 0, 0)


WREN, OWL = each(1, 0, 1, 0, times=2), each(0, 1, 1, 0, times=2)


def test_ticks_that_the_rows_of_bags_share_are_their_labels():
    for columns, labels in [
        (BAGS | {"wren": WREN, "owl": OWL}, "wren owl"),
        (BAGS | {"wren": each("yes", "no", "yes", "no", times=2), "owl": OWL}, "wren owl"),
        ({"recording": "r1 r1 r2 r2 r3 r4 r5 r6", "wren": WREN, "owl": OWL} | DEPTH, ""),  # two bags of several rows
        (BAGS | {"wren": WREN, "owl": turns(0, 1, 1, 0, times=2)}, "wren"),
        (BAGS | {"wren": WREN, "owl": each(0, 1, 1, 1, times=2)} | DEPTH, "owl"),  # 0 is met in one bag
        (BAGS | {"wren": WREN, "owl": OWL, "depth of owl": each(4, 7, 9, 8, times=2)}, "wren owl"),
        (BAGS | {"wren 1": WREN, "owl": OWL, "wren 2": amounts(8)}, "owl"),
        (BAGS | {"wren": WREN, "owl": OWL, "species": turns("a", "b", times=4)}, "species"),
        (BAGS | {"wren": WREN, "owl": OWL, "the species": turns("a", "b", times=4)}, "the species"),
        (BAGS | {"wren": WREN, "owl": OWL, "species seen": turns("yes", "no", times=4)}, "wren owl"),
        (BAGS | {"wren": WREN, "owl": OWL, "bag label": each("u", "v", "u", "v", times=2)} | DEPTH, "owl"),
    ]:
        assert label_of(columns)[0] == labels


def test_ticks_of_bags_are_labels_only_where_other_numbers_tell_rows_apart():
    same = {"size": each(1.5, 2.5, 4.5, 3.5, times=2)}
    assert len(plan_of(BAGS | {"wren": WREN, "owl": OWL} | same).labels) < 2
    assert plan_of(BAGS | {"wren": WREN, "owl": OWL} | same | {"depth": amounts(8)}).labels == [1, 2]


# ---- by name


def whole(n, distinct):
    """Return whole numbers, so many different ones, that are no counting."""
    return [i * 7 % distinct * 2 + 5 for i in range(n)]


def test_a_label_is_known_by_its_name():
    for columns, expected in [
        ({"species": "a b c d e f", "depth": amounts(6)}, ("species", CLEAR, 0)),
        ({"species": "7 9 7 9 7 9", "depth": amounts(6)}, ("species", CLEAR, 0)),
        ({"bird species": "a b c d e f", "depth": amounts(6)}, ("bird species", CLEAR, 0)),
        ({"bird species": "7 9 7 9 7 9", "depth": amounts(6)}, ("", 0, 0)),
        ({"truth": "a b c a b c", "depth": amounts(6)}, ("truth", CLEAR, 0)),
        ({"truth": "a b c d e f", "label": "a b c d e f"}, ("label", CLEAR, 0)),
        ({"y": "1 2 1 2 1 2", "depth": amounts(6)}, ("y", CLEAR, 0)),
        ({"y": "1 2 1 2 1 2", "depth": amounts(6), "x": amounts(6)}, ("", 0, 0)),
        ({"class": whole(100, 30)}, ("class", CLEAR, 0)),
        ({"class": whole(100, 31)}, ("class", ASKED, 1)),
        ({"class": whole(200, 40)}, ("class", CLEAR, 0)),
        ({"class": whole(200, 41)}, ("class", ASKED, 1)),
        ({"class": [f"c{k}" for k in whole(100, 50)]}, ("class", CLEAR, 0)),
        ({"species": [SENTENCE.format(i) for i in range(6)], "depth": amounts(6)}, ("", 0, 0)),
        ({"tag": "a.png b.png a.png b.png c.png c.png", "depth": amounts(6)}, ("", 0, 0)),
        ({"target": [f"2024-01-0{i}" for i in range(1, 7)], "depth": amounts(6)}, ("", 0, 0)),
        ({"class": ["?"] * 6, "depth": amounts(6)}, ("", 0, 0)),
    ]:
        assert label_of(columns) == expected


def test_amounts_that_are_called_like_the_answer_are_left_out_and_asked_about():
    plan = beside({"target": amounts(6)})
    assert (roles(plan)["target"], sure(plan, "target"), len(plan.doubts)) == ("ignored", ASKED, 1)
    assert beside({"target": amounts(6), "kind": "a b a b a b"}).labels == [3]


def test_a_truth_is_no_label_of_bags_that_have_labels():
    columns = BAGS | {"bag label": each("u", "v", "u", "v", times=2), "truth": turns("u", "v", times=4)}
    assert beside(columns).labels == []
    assert beside(columns).truth == 4


# ---- what the rows of a bag share

BARK = each("oak", "elm", "oak", "elm", times=2)
LEVEL = each(4, 9, 4, 9, times=2)


def test_a_class_or_a_list_that_the_rows_of_a_bag_share():
    for columns, expected in [
        (BAGS | {"bark": BARK}, ("bark", LIKELY, 0)),
        (
            {"recording": "r1 r1 r2 r2 r3 r3 r4 r5", "level": "4 4 9 9 4 4 9 9"} | DEPTH,  # three of several rows
            ("level", LIKELY, 0),
        ),
        (BAGS | {"level": LEVEL}, ("level", LIKELY, 0)),
        (BAGS | {"bark": BARK, "level": LEVEL}, ("bark", LIKELY, 0)),
        (BAGS | {"bark": BARK, "leaf": each("p", "p", "q", "q", times=2)}, ("leaf", ASKED, 1)),
        ({"recording": "r1 r1 r2 r2 r3 r4 r5 r6", "level": LEVEL}, ("", 0, 0)),
        (BAGS | {"level": turns(4, 9, times=4)}, ("", 0, 0)),
        (BAGS | {"level": each("4.5", "9", "4.5", "9", times=2)}, ("", 0, 0)),
        (BAGS | {"f1": amounts(8), "f2": LEVEL}, ("", 0, 0)),
        (BAGS | {"f1": amounts(8), "f2": WREN} | DEPTH, ("", 0, 0)),
        (BAGS | {"f": amounts(8), "f2": WREN} | DEPTH, ("f2", LIKELY, 0)),
        (BAGS | {"column_4": amounts(8), "column_5": LEVEL}, ("column_5", LIKELY, 0)),
        (BAGS | {"f1": amounts(8), "f2": BARK}, ("f2", LIKELY, 0)),
        (BAGS | {"seen": each("oak;elm", "elm", "oak;elm", "oak", times=2)}, ("seen", LIKELY, 0)),
        (BAGS | {"seen": each("oak;elm", "elm", "oak", "elm;oak", times=2)}, ("seen", LIKELY, 0)),
        (BAGS | {"seen": turns("oak;elm", "elm", "oak", "elm", times=2)}, ("seen", LIKELY, 0)),
    ]:
        assert label_of(columns) == expected


def test_numbers_that_bags_share_are_labels_only_where_others_tell_rows_apart():
    size = {"size": each(1.5, 2.5, 4.5, 3.5, times=2)}
    assert plan_of(BAGS | {"level": LEVEL} | size).labels == []
    assert plan_of(BAGS | {"level": LEVEL} | size | {"depth": amounts(8)}).labels == [1]


def test_of_three_classes_that_bags_share_the_last_is_taken_and_all_are_offered():
    leaf, root = each("p", "p", "q", "q", times=2), each("s", "t", "t", "s", times=2)
    plan = beside(BAGS | {"bark": BARK, "leaf": leaf, "root": root, "soil": root})
    assert plan.labels == [6]
    assert [r["label"] for _, r in plan.doubts[0].readings] == ["soil", "root", "leaf", False]


def test_two_columns_of_lists_are_no_label():
    lists = {"seen": each("oak;elm", "elm", "oak;elm", "oak", times=2)}
    heard = {"heard": each("owl;jay", "jay", "owl;jay", "owl", times=2)}
    assert beside(BAGS | lists | heard | {"depth": amounts(8)}).labels == []


# ---- weaker names


def test_a_few_values_under_a_weaker_name():
    for columns, expected in [
        ({"status": "a b c a b c", "depth": amounts(6)}, ("status", LIKELY, 0)),
        ({"status": "4 9 4 9 4 9", "depth": amounts(6)}, ("status", LIKELY, 0)),
        ({"the status": "a b c a b c", "depth": amounts(6)}, ("the status", LIKELY, 0)),
        ({"status": "4 9 4 9 7 5", "depth": amounts(6)}, ("", 0, 0)),  # four values in six rows
        ({"status": "4.5 9 4.5 9 4.5 9", "depth": amounts(6)}, ("", 0, 0)),
        ({"status": "4 4 4 4 4 4", "depth": amounts(6)}, ("", 0, 0)),
        ({"status": "4 9 4 9 4 9", "species found": "0 1 0 1 1 0"}, ("status", ASKED, 1)),
        ({"status": "4 9 4 9 4 9", "species found": "0 2 0 2 1 0"}, ("status", ASKED, 1)),
        ({"status": "4 9 4 9 4 9", "found": "0 1 0 1 1 0"}, ("status", ASKED, 1)),
        ({"species found": "0 1 0 1 1 0", "status": "4 9 4 9 4 9"}, ("status", LIKELY, 0)),
        ({"status": "4 9 4 9 4 9", "result": "a b a b a b", "depth": amounts(6)}, ("result", LIKELY, 0)),
        ({"status": [i % 30 for i in range(60)], "depth": amounts(60)}, ("status", LIKELY, 0)),
        ({"status": [i % 31 for i in range(62)], "depth": amounts(62)}, ("", 0, 0)),
        ({"status": each("x" * 40, "y" * 40, times=3), "depth": amounts(6)}, ("status", LIKELY, 0)),
        ({"status": each("x" * 41, "y" * 41, times=3), "depth": amounts(6)}, ("", 0, 0)),
        ({"status": "a.png b.png a.png b.png a.png b.png", "depth": amounts(6)}, ("", 0, 0)),
        ({"status": each("2024-01-01", "2024-01-02", times=3), "depth": amounts(6)}, ("", 0, 0)),
        ({"status": turns("1,000.5", "2,000.5", times=3), "depth": amounts(6)}, ("", 0, 0)),
    ]:
        assert label_of(columns) == expected


def test_of_weaker_names_the_last_two_are_offered():
    plan = beside(dict.fromkeys(("status", "result", "grade"), "a b a b a b"))
    assert plan.labels == [4]
    assert [r["label"] for _, r in plan.doubts[0].readings] == ["grade", "result", "status", False]


# ---- by their place

TICKS = {"p": "0 1 0 1 1 0", "q": "1 1 0 0 1 0", "r": "0 0 1 1 1 0"}


def test_a_block_of_ticks_at_the_end_is_asked_about():
    for columns, labels in [
        ({"depth": amounts(6)} | TICKS, "p q r"),
        ({"depth": amounts(6)} | TICKS | {"s": "yes no no yes yes no"}, "p q r s"),
        ({"depth": amounts(6)} | TICKS | {"s": "0 0 0 0 0 0"}, "p q r s"),
        (TICKS, "r"),  # two others
        ({"depth": amounts(6), "p": TICKS["p"], "q": TICKS["q"]}, "q"),
        ({"depth": amounts(6), "kept": TICKS["p"], "base": amounts(6)} | TICKS, "r"),
        ({"depth": amounts(6), "kept": "yes no no yes yes no", "base": amounts(6)} | TICKS, "r"),
        ({"depth": amounts(6)} | TICKS | {"s": amounts(6)}, ""),
        ({"f1": amounts(6), "f2": TICKS["p"], "f3": TICKS["q"], "f4": TICKS["r"]}, ""),
    ]:
        assert label_of(columns) == (labels, ASKED if labels else 0, 1 if labels else 0)


WORDS = "oak elm fir oak elm fir"


def test_words_that_come_back():
    for columns, expected in [
        ({"m": WORDS}, ("m", LIKELY, 0)),
        ({"m": "oak elm fir oak elm yew"}, ("", 0, 0)),  # four words in six rows
        ({"m": "oak oak oak oak oak oak"}, ("", 0, 0)),
        ({"m": WORDS, "depth": amounts(6)}, ("m", ASKED, 1)),  # the only column of text
        ({"m": WORDS, "o": "u v u v u v"}, ("o", ASKED, 1)),
        ({"m": WORDS, "o": "u v u v u v", "depth": amounts(6)}, ("", 0, 0)),
        ({"m": WORDS, "o": "yes no no yes no yes"}, ("o", ASKED, 1)),
        ({"m": "yes no no yes no yes"}, ("m", LIKELY, 0)),
        ({"m": "yes no no yes no yes", "depth": amounts(6)}, ("", 0, 0)),  # a feature says so, too
        ({"m": each("x" * 40, "y" * 40, times=3)}, ("m", LIKELY, 0)),
        ({"m": each("x" * 41, "y" * 41, times=3)}, ("", 0, 0)),
        ({"m": each("a b c", "d e f", "g h i", times=2)}, ("m", LIKELY, 0)),
        ({"m": turns("1,000.5", "2,000.5", times=3)}, ("", 0, 0)),
    ]:
        assert label_of(columns) == expected


def of_table(columns):
    """Return the label of a whole table, how sure, and the number of questions."""
    plan = plan_of(columns)
    return (
        plan.names[plan.labels[0]] if plan.labels else "",
        sure(plan, plan.names[plan.labels[0]]) if (plan.labels) else 0,
        len(plan.doubts),
    )


def few(n, k):
    """Return n words, k of them different, each at least twice."""
    return [f"w{i * 7 % k}" for i in range(n)]


def test_words_at_either_end_of_a_table():
    for columns, expected in [
        ({"m": WORDS, "width": amounts(6), "depth": amounts(6)}, ("m", LIKELY, 0)),
        ({"m": "yes no no yes no yes", "width": amounts(6), "depth": amounts(6)}, ("m", ASKED, 1)),
        ({"m": WORDS, "o": "a b c d e f", "width": amounts(6)}, ("m", LIKELY, 0)),
        ({"m": WORDS, "o": "u v u v u v", "width": amounts(6)}, ("m", ASKED, 1)),
        ({"m": WORDS, "o": "u v u v u v", "s": WORDS}, ("s", ASKED, 0)),  # no numbers: no question
        ({"m": few(90, 30), "o": few(90, 45), "width": amounts(90)}, ("m", LIKELY, 0)),
        ({"m": few(90, 31), "o": few(90, 45), "width": amounts(90)}, ("", 0, 0)),
        ({"m": few(90, 31), "width": amounts(90)}, ("m", LIKELY, 0)),
        ({"width": amounts(90), "o": few(90, 45), "m": few(90, 31)}, ("", 0, 0)),
        ({"column_1": "0 1 2 0 1 2", "width": amounts(6), "m": WORDS}, ("m", LIKELY, 0)),
    ]:
        assert of_table(columns) == expected


def coded(cells, name="m"):
    """Return a table whose last column holds these numbers."""
    n = len(cells.split()) if isinstance(cells, str) else len(cells)
    return {"width": amounts(n), "height": amounts(n, 11), name: cells}


def test_whole_numbers_that_count_classes_at_either_end():
    for columns, expected in [
        (coded("0 1 2 0 1 2"), ("m", ASKED, 1)),
        (coded("1 2 3 1 2 3"), ("m", ASKED, 1)),
        (coded("1 2 3 1 2 3", "column_3"), ("column_3", LIKELY, 0)),
        (coded("-1 1 -1 1 1 1"), ("m", ASKED, 1)),
        (coded("0 1 0 1 1 1"), ("m", ASKED, 1)),
        (coded("2 3 2 3 3 3"), ("", 0, 0)),
        (coded("0 1 3 0 1 3"), ("", 0, 0)),
        (coded("-1 2 -1 2 2 2"), ("", 0, 0)),
        (coded("0 1 2 0 1.5 2"), ("", 0, 0)),
        (coded("0 1 2 3 1 2"), ("", 0, 0)),  # four in six rows
        (coded("0 0 0 0 0 0"), ("", 0, 0)),
        (coded([i % 30 for i in range(90)]), ("m", ASKED, 1)),
        (coded([i % 31 for i in range(93)]), ("", 0, 0)),
        ({"height": amounts(6), "m": "0 1 2 0 1 2"}, ("", 0, 0)),  # two columns
        (dict(reversed(coded("0 1 2 0 1 2").items())), ("m", ASKED, 1)),
        (dict(reversed(coded("0 1 2 0 1 2", "column_1").items())), ("column_1", LIKELY, 0)),
        ({"width": amounts(6), "m": "0 1 2 0 1 2", "height": amounts(6)}, ("", 0, 0)),
        (
            {"id": "7 6 5 9 8 1", "recording": "r1 r2 r1 r2 r1 r2", "m": "0 1 2 0 1 2"} | coded(amounts(6, 3), "w"),
            ("m", ASKED, 1),
        ),
        ({"id": "7 6 5 9 8 1", "m": "0 1 2 0 1 2", "width": amounts(6), "height": amounts(6)}, ("m", ASKED, 1)),
        ({"when": [f"2024-01-0{i}" for i in range(1, 7)], "m": "0 1 2 0 1 2"} | coded(amounts(6, 3), "w"), ("", 0, 0)),
        ({"f1": amounts(6), "f2": amounts(6, 11), "f3": "0 1 2 0 1 2"}, ("", 0, 0)),
        ({"f1": "0 1 2 0 1 2", "f2": amounts(6, 11), "f3": amounts(6)}, ("", 0, 0)),
        ({"f1": amounts(6), "f2": amounts(6, 11), "f": "0 1 2 0 1 2"}, ("f", ASKED, 1)),
        ({"g": amounts(6), "h": amounts(6, 11), "f3": "0 1 2 0 1 2"}, ("f3", ASKED, 1)),
        ({"column_1": amounts(6), "column_2": amounts(6, 11), "column_3": "0 1 2 0 1 2"}, ("column_3", LIKELY, 0)),
    ]:
        assert of_table(columns) == expected


@pytest.mark.parametrize(("n", "is_label"), [(3, False), (4, True)])
def test_a_class_takes_fewer_values_than_half_of_the_other_columns(n, is_label):
    """One and a half times as many are needed: two classes beside three values are no class."""
    others = {name: [f"{(i + s) % n}.5" for i in range(24)] for s, name in enumerate(("width", "height", "depth"))}
    assert bool(plan_of(others | {"m": turns(0, 1, times=12)}).labels) == is_label


def test_a_value_that_one_bag_of_several_rows_has_is_chance():
    bags = [*R4, "r5"]
    ticks = {"wren": each(1, 0, 1, 0, times=2) + ["0"], "owl": each(0, 1, 1, 1, times=2) + ["0"]}
    assert label_of({"recording": bags} | ticks | {"depth": amounts(9, 5)})[0] == "owl"
    ticks["owl"] = each(0, 1, 1, 0, times=2) + ["0"]
    assert label_of({"recording": bags} | ticks | {"depth": amounts(9, 5)})[0] == "wren owl"


def test_words_say_why_they_are_the_label_and_what_else_may_be():
    plan = beside({"m": WORDS, "depth": amounts(6)})
    assert "the only column of text" in plan.why[2][1]
    plan = plan_of({"m": WORDS, "o": "u v u v u v", "width": amounts(6)})
    assert "the first column" in plan.why[0][1]
    assert [r["label"] for _, r in plan.doubts[0].readings] == ["m", "o", False]
    plan = beside({"m": WORDS, "o": "u v u v u v"})
    assert "the last column" in plan.why[3][1]
    assert [text for text, _ in beside(coded("0 1 2 0 1 2")).doubts[0].readings] == [
        "it is the label",
        "it is a feature",
    ]
