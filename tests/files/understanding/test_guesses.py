"""Which columns are taken for events, ids, bags, sequences and shown files, and where each guess ends."""

from __future__ import annotations

import pytest
from tests.files.understanding.planned import amounts, beside, each, plan_of, roles, sure, turns

from sidelight.files.roles.plan import ASKED, CLEAR, LIKELY

SENTENCE = "the old bird sings loud near house number {}"
USERS, FILMS = "ann bob ann cy bob cy", "jaws jaws alien alien heat heat"
EVENTS = {"user": USERS, "film": FILMS}
STAMPS = [f"2024-01-0{i + 1}" for i in range(6)]
VISITS = {  # whole numbers that come back, with times
    "visitor": [100 + i * 5 % 11 for i in range(22)],
    "item": [500 + i * 7 % 12 for i in range(22)],
    "when": [f"2024-01-{i + 1:02d}" for i in range(22)],
}


def long(n: int) -> list[str]:
    """Return names of so many letters, each twice."""
    return each(*("x" * (n - 1) + c for c in "abc"), times=2)


# ---- events


def test_two_columns_of_names_that_come_back_are_events():
    for columns, expected in [
        (EVENTS, "event event"),
        (EVENTS | {"count": "1 2 3 4 5 6"}, "event event weight"),
        (EVENTS | {"count": "0 1 1 0 1 1"}, "event event weight"),
        (EVENTS | {"when": STAMPS}, "event event ignored"),
        (EVENTS | {"value": [1700000000 + i for i in range(6)]}, "event event weight"),
        (EVENTS | {"grade": "1 2 3 10 4 3", "when": STAMPS}, "event event ignored ignored"),
        (EVENTS | {"truth": "m n m k n k"}, "event event truth"),
        ({"userid": "7 8 7 9 8 9", "filmid": "1 1 2 2 3 3"}, "event event"),
        (VISITS, "event event ignored"),
        (VISITS | {"grade": [i % 10 + 1 for i in range(22)]}, "event event ignored ignored"),
        ({"user": long(40), "film": FILMS}, "event event"),
        ({"user": USERS, "film": long(40)}, "event event"),
        ({"user": "ann bob ann bob", "film": "jaws jaws heat heat"}, "event event"),
        ({"user": turns("ann", "bob", times=5), "film": [f"film{i}" for i in range(10)]}, "event event"),
        ({"song": USERS, "tag": FILMS}, "id label"),
        ({"song": USERS, "tag": FILMS, "count": "1 2 3 4 5 6"}, "event event weight"),
        ({"song": USERS, "tag": FILMS, "when": STAMPS}, "event event ignored"),
    ]:
        plan = plan_of(columns)
        assert list(roles(plan).values()) == expected.split()
        assert plan.item_and_label == ("label" in expected)
        assert len(plan.events) == 2


def test_what_are_no_events():
    for columns in [
        EVENTS | {"count": "few few many many few many"},  # a third column of names
        EVENTS | {"count": "1 2 3 4 5 6", "n": "1 2 3 4 5 6"},
        EVENTS | {"truth": "m n m k n k", "gold": "m n m k n k"},
        EVENTS | {"grade": "1 2 3 10 4 3"},  # no times
        EVENTS | {"grade": "1 2 3 11 4 3", "when": STAMPS},
        EVENTS | {"grade": "1.5 2 3 10 4 3", "when": STAMPS},
        EVENTS | {"grade": "1 2 3 4 4 3", "mark": "1 2 2 1 1 2", "when": STAMPS},
        VISITS | {"grade": [i % 11 for i in range(22)]},
        {k: VISITS[k] for k in ("visitor", "item")},
        VISITS | {"visitor": [100 + i * 3 % 10 for i in range(22)]},
        {"user": long(41), "film": FILMS},
        {"user": USERS, "film": long(41)},
        {"user": "a.png b.png a.png c.png b.png c.png", "film": FILMS},
        {"user": USERS, "film": "a.png b.png a.png c.png b.png c.png"},
        {"user": USERS, "film": "a;b b a;b c c;a a"},
        {"user": "a;b b a;b c c;a a", "film": USERS},
        {"user": "ann bob ann", "film": "jaws jaws heat"},
        {"user": "a b c d e f", "film": FILMS},
        {"user": turns("ann", times=11), "film": [f"film{i}" for i in range(11)]},
        {"user": USERS, "size": amounts(6)},
    ]:
        assert not plan_of(columns).events


def test_events_are_guessed_only_where_nothing_was_said():
    assert plan_of(EVENTS | {"truth": "m n m k n k"}, truth="truth").events
    for said in ({"events": False}, {"features": "film"}, {"text": "film"}, {"bag": "user"}):
        assert not plan_of(EVENTS, **said).events
    assert roles(plan_of(EVENTS | {"truth": "m n m k n k"}, truth=False, events=["user", "film"]))["truth"] == "ignored"


# ---- ids


def test_a_value_of_its_own_for_every_row_is_its_id():
    for columns, how in [
        ({"id": "17 4 9"}, CLEAR),
        ({"id": "x y z"}, CLEAR),
        ({"tree id": "x y z"}, CLEAR),
        ({"Nr des Baums": "17 4 9"}, CLEAR),
        ({"treeid": "17 4 9"}, CLEAR),
        ({"id": "17 4"}, CLEAR),
        ({"run": range(1, 26)}, CLEAR),
        ({"run": range(25)}, CLEAR),
        ({"column_3": range(1, 5)}, CLEAR),
        ({"picture": "a.png b.png c.png d.png"}, CLEAR),
        ({"tree": "oak1 elm4 fir2 yew3 ash9"}, LIKELY),
        ({"tree": ["x" * 39 + c for c in "abcde"]}, LIKELY),
    ]:
        plan = beside(columns)
        (name,) = columns
        assert roles(plan)[name] == "id"
        assert plan.id == 2
        assert sure(plan, name) == how
        assert roles(beside(columns, id=False))[name] != "id"


def test_what_is_no_id():
    for columns in [
        {"id": "17 4 4"},
        {"id": "17"},
        {"id": "1.5 2 3"},
        {"id": [SENTENCE.format(i) for i in range(3)]},
        {"tree": "17 4 9 5 8"},
        {"column_3": "x y z"},
        {"run": range(1, 25)},
        {"run": range(2, 32)},
        {"column_3": range(1, 4)},
        {"picture": "a.png b.png c.png"},
        {"picture": "a.png b.png c.png d.png ? e.png"},
        {"picture": "a.png b.png c.png d.png d.png"},
        {"tree": "oak1 elm4 fir2 yew3"},
        {"tree": "oak1 elm4 fir2 yew3 ash9 ?"},
        {"tree": "oak1 elm4 fir2 yew3 ash9 ash9"},
        {"tree": ["x" * 40 + c for c in "abcde"]},
        {"tree": [SENTENCE.format(i) for i in range(5)]},
        {"tree": "a;b b;c c;a a b c"},
        {"tree": [f"2024-01-0{i + 1}" for i in range(5)]},
        {"tree": ["10%", "20%", "30%", "40%", "55%"]},
        {"tree": "7 8 oak1 elm4 fir2"},
        {"title": "oak1 elm4 fir2 yew3 ash9"},
        {"species": "oak1 elm4 fir2 yew3 ash9"},
    ]:
        assert beside(columns).id is None


def test_the_first_column_without_a_name_is_an_id_if_its_words_differ():
    assert plan_of({"column_1": "x y z", "column_2": amounts(3)}).id == 0
    assert plan_of({"column_1": "17 4 9", "column_2": amounts(3)}).id is None
    assert plan_of({"column_1": amounts(3), "column_2": "x y z"}).id is None


def test_running_numbers_alone_are_no_ids():
    assert plan_of({"column_1": range(1, 31)}).id is None
    assert plan_of({"column_1": range(1, 31), "column_2": turns("a", "b", times=15)}).id is None
    assert plan_of({"column_1": range(1, 31), "column_2": turns(0, 1, 1, times=10)}).id == 0


def test_a_number_called_like_an_id_that_comes_back_is_left_out():
    columns = {"nr": "3 1 3 2 1 2"}
    assert roles(beside(columns, label=False))["nr"] == "ignored"
    assert roles(beside(columns, label=False, id=False))["nr"] == "ignored"
    assert roles(beside({"nr": "3.5 1 3.5 2 1 2"}, label=False))["nr"] == "feature"
    assert roles(beside({"size": "3 1 3 2 1 2"}, label=False))["size"] == "feature"


# ---- bags


def test_a_name_that_says_so_or_files_that_come_back_are_bags():
    for columns in [
        {"recording": "r1 r2 r1 r3 r2 r3"},
        {"recording": "11 12 11 13 12 13"},
        {"recording": "r1 r1 r1 r2 r2 r2"},
        {"recording": turns("r1", "r2", times=50)},
        {"the recording": turns("r1", "r2", "r3", times=20)},
        {"the recording": turns("r1", "r2", "r3", "r4", times=21)},
        {"recording": "r1;r2 r2 r1;r2 r3 r2;r3 r3"},
        {"treeid": "t1 t1 t2 t2 t3 t3"},
        {"treeid": each("t1", "t2", "t3", times=20)},
        {"treeid": each("t1", "t2", "t3", "t4", times=21)},
        {"sound": "a.wav b.wav a.wav b.wav"},
    ]:
        plan = beside(columns)
        assert plan.bag == 2
        assert not plan.doubts
        (name,) = columns
        assert sure(plan, name) == (LIKELY if name == "sound" else CLEAR)
        assert beside(columns, bag=False).bag is None


def test_what_is_no_bag():
    for columns in [
        {"recording": "r1 r2 r3 r4 r5 r6"},
        {"recording": "r1 r1 r1 r1 r1 r1"},
        {"recording": "1.5 2 1.5 3 2 3"},
        {"recording": "0 1 1 0 1 0"},
        {"recording": turns(*(SENTENCE.format(i) for i in range(5)), times=1) + [SENTENCE.format(0)]},
        {"recording": "2024-01-01 2024-01-02 2024-01-01 2024-01-03 2024-01-02 2024-01-03"},
        {"the recording": turns("r1", "r2", "r3", times=21)},
        {"treeid": each("t1", "t2", "t3", times=21)},
        {"treeid": "t1 t2 t1 t2 t3 t3"},
        {"treeid": "a;b a;b b b b;c b;c c a"},
        {"customerid": "t1 t1 t2 t2 t3 t3"},
        {"tree": "t1 t1 t2 t2 t3 t3"},
        {"sound": "a.wav a.wav a.wav a.wav"},
        {"sound": "a.wav b.wav c.wav d.wav"},
    ]:
        assert beside(columns).bag is None


RUNNING = each(1, 2, 3, times=3)


def test_running_numbers_are_bags_and_few_of_them_are_asked_about():
    for columns, how in [
        ({"place": RUNNING}, ASKED),
        ({"place": each(*range(7), times=2)}, ASKED),
        ({"place": each(*range(8), times=2)}, LIKELY),
        ({"nr": RUNNING}, LIKELY),
        ({"the group": RUNNING}, CLEAR),  # by its name
        ({"place": RUNNING, "art": each("a", "b", "a", times=3)}, LIKELY),
        ({"place": RUNNING, "kept": each(0, 1, 0, times=3)}, LIKELY),
        ({"place": RUNNING, "level": each(4, 9, 4, times=3)}, LIKELY),
        ({"place": RUNNING, "level": each(4.5, 9, 4.5, times=3)}, ASKED),  # no class
        ({"place": RUNNING, "level": "4 9 4 4 9 4 4 9 4"}, ASKED),  # not decided
        ({"place": RUNNING, "when": each(*STAMPS[:3], times=3)}, ASKED),
        ({"place": each(1, 2, 3, times=19) + ["3", "3"]}, ASKED),  # 59 rows
        ({"place": each(1, 2, 3, times=20), "level": each(4, 9, 4, times=20)}, LIKELY),
    ]:
        plan = beside(columns)
        assert plan.bag == 2
        assert sure(plan, next(iter(columns))) == how
        asked = [doubt for doubt in plan.doubts if "belong together" in doubt.question]
        assert len(asked) == (how == ASKED)


def test_other_numbers_are_no_bags():
    for columns in [
        {"place": each(1, 2, times=4)},
        {"place": each(1, 2, 3, times=20)},
        {"place": "1 2 1 2 3 3"},
        {"place": each(2, 3, 4, times=3)},
    ]:
        assert beside(columns).bag is None


TREES, KINDS = each("t1", "t2", "t3", "t4", times=3), each("oak", "elm", "oak", "elm", times=3)


def test_names_that_decide_a_class_are_bags_and_those_out_of_order_are_asked_about():
    plan = beside({"tree": TREES, "bark": KINDS})
    assert (plan.bag, sure(plan, "tree"), plan.doubts) == (2, LIKELY, [])
    plan = beside({"tree": turns("t1", "t2", "t3", "t4", times=3), "bark": turns("oak", "elm", "oak", "elm", times=3)})
    assert (plan.bag, sure(plan, "tree"), plan.labels) == (2, ASKED, [3])
    assert [r for _, r in plan.doubts[0].readings] == [{"bag": "tree", "label": "bark"}, {"bag": False}]


def test_three_names_that_decide_a_class_are_enough():
    assert beside({"tree": each("t1", "t2", "t3", times=3), "bark": each("oak", "elm", "oak", times=3)}).bag == 2


def test_the_finest_names_are_the_bag():
    coarse = each("p", "p", "q", "s", times=3)
    assert beside({"site": coarse, "tree": TREES, "bark": each("oak", "oak", "elm", "oak", times=3)}).bag == 3


def test_other_names_are_no_bags():
    for columns, said in [
        ({"tree": TREES, "bark": KINDS}, {"label": "bark"}),
        ({"tree": TREES, "bark": KINDS}, {"label": False}),
        ({"tree": TREES, "bark": KINDS}, {"bag": False}),
        ({"species": TREES, "bark": KINDS}, {}),
        ({"tree": TREES, "bark": turns("oak", "elm", "elm", times=4)}, {}),
        ({"tree": TREES, "bark": each("oak", "elm", "fir", "yew", times=3)}, {}),  # as many
        ({"tree": each("t1", "t2", times=6), "bark": each("oak", "elm", times=6)}, {}),
        ({"tree": "t1 t1 t2 t2 t3 t4 t5 t6", "bark": "oak oak elm elm oak oak elm elm"}, {}),
        ({"tree": "t1 t1 t1 t2 t2 t2 t3 t4", "bark": "oak oak oak elm elm elm oak elm"}, {}),  # two come back
        ({"tree": TREES, "bark": each("4.5", "9", "4.5", "9", times=3)}, {}),
        ({"tree": each("1", "2", "4", "6", times=3), "bark": KINDS}, {}),
    ]:
        assert beside(columns, **said).bag is None


@pytest.mark.parametrize(("n", "is_bag"), [(3, True), (4, False)])
def test_a_class_has_at_most_a_value_for_three_rows(n, is_bag):
    """Four values in nine rows are too many for a class."""
    kinds = [f"k{i % n}" for i in (0, 0, 0, 1, 1, 2, 2, 3, 3)] if n == 4 else each("k0", "k1", "k2", times=3)
    names = (
        [f"t{i}" for i in (0, 0, 0, 1, 1, 2, 2, 3, 4)]
        if n == 4
        else ["t0", "t0", "t1", "t2", "t2", "t2", "t3", "t3", "t3"]
    )
    assert (beside({"tree": names, "bark": kinds}).bag is not None) == is_bag


# ---- sequences, labels of bags, files to show, times


def test_a_sequence_is_called_so_and_stands_together():
    for name, cells, is_sequence in [
        ("session", "s1 s1 s1 s2 s2 s2", True),
        ("session", "11 11 11 12 12 12", True),
        ("session", "s1 s2 s1 s2 s1 s2", False),
        ("session", "1.5 1.5 1.5 2.5 2.5 2.5", False),
        ("tree", "s1 s1 s1 s2 s2 s2", False),
    ]:
        assert (beside({name: cells}).sequence == 2) == is_sequence
        assert beside({name: cells}, sequence=False).sequence is None


def test_the_label_of_bags_is_known_by_its_name_where_there_are_bags():
    columns = {"recording": TREES, "bag label": KINDS}
    assert (beside(columns).bag_label, roles(beside(columns))["bag label"]) == (3, "bag label")
    assert beside(columns, bag_label=False).bag_label is None
    assert beside(columns, bag=False).bag_label is None
    assert beside({"recording": TREES, "bark": KINDS}).bag_label is None


def test_files_are_shown_even_where_they_name_rows_or_bags():
    ids = {"picture": "a.png b.png c.png d.png"}
    bags = {"sound": "a.wav b.wav a.wav b.wav"}
    for columns, role in ((ids, "id"), (bags, "bag")):
        plan = beside(columns)
        assert plan.show == [2]
        assert plan.why[2][1].endswith("the files are shown")
        assert roles(plan)[next(iter(columns))] == role
        assert beside(columns, show=False).show == []
    assert sure(beside(bags), "sound") == LIKELY
    assert beside(ids | bags).show == [2]  # the first of both
    assert beside({"tree": "oak1 elm4 fir2 yew3 ash9"}).show == []


def test_texts_and_files_are_shown():
    for columns, shown in [
        ({"tree": "a.png b.png c.png"}, [2]),
        ({"tree": [SENTENCE.format(i) for i in range(3)]}, [2]),
        ({"title": "a b c"}, [2]),
        ({"title": "a b c", "tree": "a.png b.png c.png"}, [3]),
        ({"title": "1.5 2.5 3.5"}, []),
        ({"tree": "a b c"}, []),
    ]:
        plan = beside(columns)
        assert plan.show == shown
        assert beside(columns, show=False).show == []
        assert all(plan.why[j][0] == "show" for j in shown)


def test_times_are_left_out_and_amounts_called_so_only_in_bags():
    times = {"day": STAMPS}
    assert roles(beside(times))["day"] == "ignored"
    assert roles(beside(times, features=["day", "width"]))["day"] == "feature"
    begin, bags = {"begin": amounts(6, 3)}, {"recording": "r1 r1 r1 r2 r2 r2"}
    assert roles(beside(begin))["begin"] == "feature"
    assert roles(beside(begin | bags))["begin"] == "ignored"
    assert sure(beside(begin | bags), "begin") == LIKELY
    assert roles(beside(bags | {"depth": amounts(6, 3)}))["depth"] == "feature"


# ---- the rest


def test_every_column_gets_a_role_and_a_reason():
    for cells, role, word in [
        (amounts(6), "feature", "numbers"),
        ("0 1 0 1 1 0", "feature", "numbers"),
        (["?"] * 6, "ignored", "empty"),
        (["10%", "20%", "30%", "40%", "55%", "60%"], "ignored", "written as"),
        ("7 8 oak1 elm4 fir2 9", "ignored", "mixed"),
    ]:
        plan = beside({"m": cells, "n": amounts(6)}, label=False)
        assert plan.why[2][0] == role
        assert word in plan.why[2][1]
        assert (2 in plan.features) == (role == "feature")


def test_yes_and_no_in_words_is_a_feature_and_other_words_are_not():
    assert roles(beside({"m": "yes no no yes no yes"}, label=False))["m"] == "feature"
    plan = beside({"m": "oak elm fir oak elm fir"}, label=False)
    assert "3 values" in plan.why[2][1]


@pytest.mark.parametrize(("n", "told"), [(99, False), (100, True)])
def test_a_count_says_of_which_rows_it_speaks_where_there_may_be_more(n, told):
    assert ("first 100 rows" in beside({"m": turns("a", "b", "c", times=34)[:n]}, label=False).why[2][1]) == told


def test_only_the_features_that_were_named_are_features():
    columns = {"m": "oak elm fir oak elm fir"}
    assert roles(beside(columns, features="width", label=False)) == {
        "width": "feature", "height": "ignored", "m": "ignored",
    }  # fmt: skip
    assert beside(columns, text="m").features == []
    assert beside(columns, channels={"w": "width"}).features == [0]


def test_coordinates_are_told_by_name_and_range():
    for name, cells, is_place in [
        ("lat", "-90 90 1.5", True),
        ("lat", "-90 91 1.5", False),
        ("lat", "-91 90 1.5", False),
        ("lon", "-180 360 1.5", True),
        ("lon", "-181 360 1.5", False),
        ("lon", "-180 361 1.5", False),
        ("size", "-90 90 1.5", False),
    ]:
        assert ("coordinates" in beside({name: cells}).why[2][1]) == is_place


def test_a_separator_that_was_said_stays_and_several_labels_have_none():
    lists = {"tags": "a;b b;c c;a a b c"}
    assert beside(lists).label_separator == ";"
    assert beside(lists, label_separator="|").label_separator == "|"
    assert beside(lists | {"kind": "u v u v u v"}, label=["tags", "kind"]).label_separator is None
    assert beside(lists, label=False).label_separator is None


def test_candidates_that_were_said_leave_no_label_to_guess():
    columns = {"either": "a;b b;c c;a a b c", "kind": "u v u v u v"}
    assert beside(columns).labels
    assert beside(columns, candidates="either").labels == []


def test_a_truth_is_found_beside_labels_unless_it_was_forbidden():
    columns = {"label": "u v u v u v", "truth": "u v u v v u"}
    assert (beside(columns).truth, beside(columns, truth=False).truth) == (3, None)
