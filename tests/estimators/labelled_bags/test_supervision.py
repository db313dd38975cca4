"""What lists and labels of rows demand, read from every shape they come in."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidInput, LabelsWithoutRows
from sidelight.estimators._labelled_bags import supervision
from sidelight.estimators._labelled_bags.supervision import code_rows, plan_bags, read_row_labels

#                 bag 0: two rows      1: two          2: cut           3: one row, two labels    4: no list
BAGS = sl.Bags(
    [0, 1, 2, 0, 3, 1, 4],
    labels={0: {"a", "b"}, 1: {"a"}, 2: {"a", "c"}, 3: {"b", "c"}},
    partial=[1],
    whole=[True, True, False, True, True],
)
NOBODY = np.full(7, -1)


def plan(row_class=NOBODY, bags=BAGS, **more):
    options = {"anything_novel": True, "wrong": 0.0, "forgotten": 0.0, "warn": False, **more}
    return plan_bags(bags, row_class, **options)


def test_bags_demand_what_their_rows_can_carry():
    found = plan()
    assert found.required.tolist() == [2, 1, 0, 1, 0]
    assert found.others.tolist() == [0, 1, 0, 0, 1]
    assert plan(one_of=True).required.tolist() == [1, 1, 0, 1, 0]
    assert plan(one_of=True, anything_novel=False).required.tolist() == [0, 0, 0, 0, 0]
    known = NOBODY.copy()
    known[[0, 3]] = 0  # both rows of bag 0 are known to be "a": "b" has no row
    assert plan(known).required.tolist() == [1, 1, 0, 1, 0]
    known[3] = 1
    assert plan(known).required.tolist() == [2, 1, 0, 1, 0]


def test_lists_that_rows_cannot_carry_are_told_unless_they_may_be_wrong():
    with pytest.warns(LabelsWithoutRows, match="3: one row"):
        plan(warn=True)
    plan(warn=True, wrong=0.1)
    plan(warn=True, one_of=True)
    two = sl.Bags([0, 0, 1], labels={0: {"a", "b", "c"}, 1: {"a"}})
    with pytest.warns(LabelsWithoutRows, match="1 of 2 bags has"):
        plan(np.full(3, -1), two, warn=True)


def test_known_rows_must_be_listed_unless_labels_may_be_forgotten():
    known = NOBODY.copy()
    known[0] = 2
    with pytest.raises(InvalidInput, match="Row 0 is said to be 'c'"):
        plan(known)
    plan(known, forgotten=0.1)
    partial = NOBODY.copy()
    partial[1], partial[6] = 2, 2  # a partial list and a bag without one rule nothing out
    plan(partial)


def test_an_empty_list_needs_something_novel_or_forgotten():
    empty = sl.Bags([0, 1], labels={0: {"a"}, 1: set()})
    nobody = np.full(2, -1)
    with pytest.raises(InvalidInput, match="Bag 1"):
        plan(nobody, empty, anything_novel=False)
    plan(nobody, empty, anything_novel=False, forgotten=0.1)
    plan(nobody, empty)
    plan(nobody, sl.Bags([0, 1], labels={0: {"a"}, 1: set()}, partial=[1]), anything_novel=False)


def test_rows_that_somebody_said_something_about():
    known = NOBODY.copy()
    assert plan(known).is_told.tolist() == [True, True, True, True, True, True, False]
    known[6] = 1
    assert plan(known).is_told.all()
    silent = sl.Bags([0, 1, 1], labels={0: {"a"}, 1: set()}, partial=[1])
    assert plan(np.full(3, -1), silent).is_told.tolist() == [True, False, False]


def test_an_arranged_plan_can_be_cut_at_its_bags():
    whole = plan().arranged()
    assert whole.is_arranged
    assert not plan().is_arranged
    part = whole.restrict(4, 6)
    assert part.starts.tolist() == [0, 1, 2]
    assert part.required.tolist() == [0, 1]
    assert [sorted(part.labels[a:b].tolist()) for a, b in zip(part.label_starts, part.label_starts[1:])] == [
        [0, 2],
        [1, 2],
    ]
    assert part.others.tolist() == [0, 0]
    assert len(part.order) == len(part.row_class) == 2
    one = plan(np.full(1, -1), sl.Bags([0], labels={0: {"a"}}))
    assert one.is_arranged


def test_labels_of_rows_come_with_gaps_or_as_a_mapping():
    for told, expected in [
        (None, [None, None, None]),
        (["a", None, ""], ["a", None, None]),
        (["a", np.nan, np.str_("b")], ["a", None, "b"]),
        ({1: "b"}, [None, "b", None]),
        ({np.int64(2): 5, 0: np.int64(4)}, [4, None, 5]),
        (np.array(["a", "", "c"]), ["a", None, "c"]),
        ([0, 1, np.float64("nan")], [0, 1, None]),
        ([("a", 1), None, False], [("a", 1), None, False]),
    ]:
        assert read_row_labels(told, 3) == expected


@pytest.mark.parametrize(
    "told", [{3: "a"}, {-1: "a"}, {"x": "a"}, {1.5: "a"}, ["a"], ["a"] * 4, [["a"], None, None], "abc"]
)
def test_labels_of_rows_that_cannot_be_read_are_refused(told):
    with pytest.raises(InvalidInput):
        read_row_labels(told, 3)
    assert read_row_labels({2: "a"}, 3)[2] == "a"


def test_labels_of_rows_are_classes_in_order():
    assert code_rows(["b", None, "a"], ("a", "b")).tolist() == [1, -1, 0]
    with pytest.raises(InvalidInput, match="Row 1"):
        code_rows(["a", "x"], ("a", "b"))
    more = supervision.with_classes_of_rows(BAGS, ["z", None, "b", "y", None, None, None])
    assert more.classes == ("a", "b", "c", "y", "z")
    assert supervision.with_classes_of_rows(BAGS, ["b"] + [None] * 6) is BAGS


def test_means_over_lists_weigh_labelled_bags():
    values = np.array([1.0, 2.0, 3.0, 4.0])
    weights = np.array([1.0, 2.0, 3.0, 5.0, 4.0, 6.0, 9.0])
    found = supervision.mean_over_lists(object(), values, BAGS, weights)
    assert found == pytest.approx(np.average(values, weights=[3.0, 4.0, 3.0, 4.0]))
    assert supervision.mean_over_lists(object(), values, BAGS, None) == 2.5
    with pytest.raises(InvalidInput, match="Every labelled bag"):
        supervision.mean_over_lists(object(), values, BAGS, np.eye(7)[6])


def test_something_must_be_known_of_some_bag_or_row():
    silent = BAGS.without_labels()
    with pytest.raises(InvalidInput, match="none of the 5 bags"):
        supervision.require_lists(object(), silent)
    with pytest.raises(InvalidInput):
        supervision.require_lists(object(), silent, NOBODY)
    supervision.require_lists(object(), silent, np.array([-1, 0]))
    supervision.require_lists(object(), BAGS)
