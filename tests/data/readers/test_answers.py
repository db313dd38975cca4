"""Answers from files: rows by name, words people use, and what is wrong with a line."""

from __future__ import annotations

import pytest

import sidelight as sl
from sidelight.data.readers.answers import read_answers
from sidelight.errors import InvalidInput

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
