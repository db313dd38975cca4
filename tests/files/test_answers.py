"""Answers from files: rows by name, words people use, and what is wrong with a line."""

from __future__ import annotations

import pytest

import sidelight as sl
from sidelight.errors import InvalidInput
from sidelight.files.answers import read_answers

pytest.importorskip("polars")
NAMES = ["ant", "bee", "cat", "dog"]


def write(tmp_path, text):
    path = tmp_path / "answers.csv"
    path.write_text(text)
    return path


def test_pairs_by_name_with_annotators(tmp_path):
    text = "left,right,answer,annotator\nant,bee,same,eva\ncat,ant,different,tom\nbee,dog,unsure,tom\n"
    pairs = read_answers(write(tmp_path, text), sl.Pairs, NAMES)
    assert [(a.rows, a.answer, a.annotator) for a in pairs.answers] == [
        ((0, 1), "same", "eva"),
        ((2, 0), "different", "tom"),
    ]


def test_triplets_by_name(tmp_path):
    triplets = read_answers(write(tmp_path, "a,b,c,odd\nant,bee,cat,c\nant,bee,dog,none\n"), sl.Triplets, NAMES)
    assert triplets.odd.tolist() == [2, -1]


def test_the_odd_row_may_be_called_by_its_name(tmp_path):
    text = "a,b,c,odd\nant,bee,cat,bee\nant,bee,dog,none\nbee,cat,dog,dog\nant,bee,dog,?\n"
    assert read_answers(write(tmp_path, text), sl.Triplets, NAMES).odd.tolist() == [1, -1, 2]


def test_numbers_are_names_of_odd_rows_only_where_every_line_has_one(tmp_path):
    names = ["1", "2", "3", "4"]
    by_name, by_place = "1,2,3,2\n2,4,3,4\n", "1,2,3,2\n2,4,3,1\n"
    assert read_answers(write(tmp_path, by_name), sl.Triplets, names).odd.tolist() == [1, 1]
    assert read_answers(write(tmp_path, by_place), sl.Triplets, names).odd.tolist() == [2, 1]
    with pytest.raises(InvalidInput, match="name of one of its rows"):
        read_answers(write(tmp_path, "1,2,3,2\n2,4,3,7\n"), sl.Triplets, names)


def test_a_first_answer_that_looks_like_a_header_is_an_answer(tmp_path):
    names = ["1", "2", "3", "4"]
    triplets = read_answers(write(tmp_path, "1,2,3,0\n2,4,3,1\n"), sl.Triplets, names)
    assert triplets.rows.tolist() == [[0, 1, 2], [1, 3, 2]]
    pairs = read_answers(write(tmp_path, "ant,bee,same\ncat,dog,different\n"), sl.Pairs, NAMES)
    assert pairs.n_answers == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("left,right,answer\nant,bea,same\n", r"answer 1: no row .* 'bea'.*Did you mean 'bee'"),
        ("left,right,answer\nant,bee,perhaps\n", "answer 1: 'perhaps' is none of"),
        ("left,right\nant,bee\n", "2 columns"),
        ("left,right,answer\nant,ant,same\n", "must all differ"),
    ],
)
def test_a_line_that_makes_no_sense_is_named(tmp_path, text, message):
    with pytest.raises(InvalidInput, match=message):
        read_answers(write(tmp_path, text), sl.Pairs, NAMES)


def test_people_are_found_under_other_names_of_their_column(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("left,right,answer,note,Person\na,b,same,x,anna\nb,c,different,y,ben\n")
    found = read_answers(path, sl.Pairs, ["a", "b", "c"])
    assert found.annotator_names == ("anna", "ben")
