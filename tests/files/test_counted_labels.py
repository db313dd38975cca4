"""Labels of bags that are counted, or doubted, in words."""

from __future__ import annotations

import pytest

import sidelight as sl
from sidelight.files.roles.said import said_by


def table(tmp_path, cells, sizes):
    lines = ["site;seen;f"]
    lines += [f"s{b};{cell};{b}.{i}" for b, (cell, size) in enumerate(zip(cells, sizes)) for i in range(size)]
    (tmp_path / "counts.csv").write_text("\n".join(lines), encoding="utf-8")
    return sl.read(tmp_path / "counts.csv", bag="site", label="seen", label_separator=",")


@pytest.mark.parametrize(
    "cells",
    [
        ["wren x3, owl x1", "wren x1, owl x2", "owl x4", "wren x2, jay x1"],
        ["3 wren, 1 owl", "1 wren, 2 owl", "4 owl", "2 wren, 1 jay"],
        ["wren:3, owl:1", "wren:1, owl:2", "owl:4", "wren:2, jay:1"],
        ["wren (3), owl (1)", "wren (1), owl (2)", "owl (4)", "wren (2), jay (1)"],
    ],
)
def test_numbers_that_add_up_to_the_rows_are_counts_of_rows(tmp_path, cells):
    data = table(tmp_path, cells, (4, 3, 4, 3))
    assert data.bags.said["s0"] == {"owl": (1, 1), "wren": (3, 3)}
    assert data.bags.classes == data.label_names == ("jay", "owl", "wren")
    assert any("rows of each label" in str(note) for note in data.notes)


def test_numbers_of_something_else_leave_lists(tmp_path):
    data = table(tmp_path, ["wren x3, owl x1", "wren x1, owl x2", "owl x4", "wren x2, jay x1"], (9, 8, 7, 9))
    assert not data.bags.said
    assert data.bags.labels["s0"] == {"wren", "owl"}
    assert any("something else than rows" in str(note) for note in data.notes)


def test_a_question_mark_is_a_maybe(tmp_path):
    data = table(tmp_path, ["wren, owl?", "wren?, owl", "owl, jay", "jay"], (3, 3, 3, 3))
    assert data.bags.said == {"s0": {"owl": (0, None), "wren": (1, None)}, "s1": {"owl": (1, None), "wren": (0, None)}}


def test_names_that_only_look_counted_stay_names():
    """A number that never changes is part of the name, and so is a mark of a name that never comes without it."""
    for names in (["type 2", "type 1"], ["3 wishes", "owl"], ["what?", "why?"]):
        sets = [frozenset({names[0]}), frozenset(names), None]
        assert said_by(sets, [1, 2, 2])[:2] == (sets, [])
