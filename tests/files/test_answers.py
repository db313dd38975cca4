"""Answers from files: rows by name, words people use, and what is wrong with a line."""

from __future__ import annotations

import pytest

import sidelight as sl
from sidelight.errors import InvalidInput, SidelightWarning
from sidelight.files import answers
from sidelight.files.answers import find_answers, kind_of_answers, names_in, possible_answers, read_answers

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


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("same", "same"), ("1", "same"), ("Yes", "same"), ("must-link", "same"), ("different", "different"),
        ("0", "different"), ("-1", "different"), ("CL", "different"), ("?", None), ("unsure", None), ("", None),
    ],
)  # fmt: skip
def test_words_for_same_and_different(tmp_path, said, answer):
    pairs = read_answers(write(tmp_path, f"left,right,answer\n ant , bee ,{said}\ncat,dog,same\n"), sl.Pairs, NAMES)
    assert [a.answer for a in pairs.answers] == ([answer] if answer else []) + ["same"]


def test_weights_times_and_people_beside_an_answer(tmp_path):
    text = "left,right,answer,weight,annotator,time\nant,bee,same,0.5,eva,12\ncat,dog,different,,,\n"
    first, second = read_answers(write(tmp_path, text), sl.Pairs, NAMES).answers
    assert (first.weight, first.annotator, first.time) == (0.5, "eva", 12.0)
    assert second.annotator is None
    assert read_answers(write(tmp_path, "left,right,answer\nant,bee,?\n"), sl.Pairs, NAMES).n_answers == 0


def test_a_header_of_words_and_a_first_answer_that_repeats_a_name(tmp_path):
    assert read_answers(write(tmp_path, "links,rechts,urteil\nant,bee,same\n"), sl.Pairs, NAMES).n_answers == 1
    found = read_answers(write(tmp_path, "ant,bee,cat,bee\nbee,cat,dog,dog\n"), sl.Triplets, NAMES)
    assert found.odd.tolist() == [1, 2]
    found = read_answers(write(tmp_path, "1,2,same\n3,4,different\n"), sl.Pairs, ["1", "2", "3", "4"])
    assert found.n_answers == 2


def test_the_names_in_answers_are_known_before_the_table_is(tmp_path):
    path = write(tmp_path, "left,right,answer\nant, bee,same\ncat,ant,different\n")
    assert names_in(path, sl.Pairs) == {"ant", "bee", "cat", "left", "right"}


def test_answers_beside_a_table_are_found_by_their_first_lines(tmp_path, monkeypatch):
    table = tmp_path / "table.csv"
    table.write_text("id,f\n" + "".join(f"{name},1\n" for name in NAMES))
    (tmp_path / "b_pairs.csv").write_text("left,right,answer\nant,bee,same\ncat,dog,different\n")
    (tmp_path / "c_pairs.csv").write_text("left,right,answer\nant,bee,same\n")
    (tmp_path / "d_triplets.csv").write_text("a,b,c,odd\nant,bee,cat,bee\nbee,cat,dog,none\n")
    (tmp_path / "a_other.csv").write_text("left,right,answer\nowl,jay,same\n")
    (tmp_path / "e.xyz").write_text("left,right,answer\nant,bee,same\n")
    for n in (8, 9):
        (tmp_path / f"f{n}.tsv").write_text("l\tr\tanswer" + "\tx" * n + "\nant\tbee\tyes" + "\toak" * n + "\n")
    found = find_answers(table, NAMES)
    assert {word: (path.name, n) for word, (path, n) in found.items()} == {
        "pairs": ("b_pairs.csv", 2), "triplets": ("d_triplets.csv", 2),
    }  # fmt: skip
    names = ("b_pairs.csv", "d_triplets.csv", "table.csv", "f8.tsv", "f9.tsv")
    assert [kind_of_answers(tmp_path / name) for name in names] == ["pairs", "triplets", None, "pairs", None]
    assert kind_of_answers(tmp_path / "none.csv") is None
    assert possible_answers(tmp_path / "none.csv") == []
    monkeypatch.setattr(answers, "MOST_BYTES", (tmp_path / "c_pairs.csv").stat().st_size)
    assert [path.name for path, word in possible_answers(table) if word == "pairs"] == ["a_other.csv", "c_pairs.csv"]
    monkeypatch.setattr(answers, "MOST_FILES", 1)
    assert {path.name for path, _ in possible_answers(table)} == {"a_other.csv"}


def test_a_slip_among_many_answers_stops_nothing(tmp_path):
    lines = [
        "ant,bee,same",
        "cat,dog,perhaps",
        "ant,owl,different",
        "cat,cat,same",
        "bee,cat,different",
        "bee,dog,same",
    ]
    text = "\n".join(["left,right,answer", *lines, "ant,cat,different", ""])
    left_out = r"3 of 7 answers were left out.*'perhaps'.*'owl'.*'cat twice'.*answer 2"
    with pytest.warns(SidelightWarning, match=left_out) as told:
        pairs = read_answers(write(tmp_path, text), sl.Pairs, NAMES)
    assert len(told) == 1
    assert pairs.rows.tolist() == [[0, 1], [1, 2], [1, 3], [0, 2]]
