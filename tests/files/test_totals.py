"""A spreadsheet's line of totals is told: it would be clustered as one more row."""

from __future__ import annotations

import pytest

import sidelight as sl

ROWS = "id,a,b\np,1,2\nq,3,4\nr,5,5.5\n"


def _notes(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return [str(note) for note in sl.read(path).notes if "last row" in str(note)]


def test_sums_in_the_last_row_are_told_with_their_columns(tmp_path):
    (note,) = _notes(tmp_path, ROWS + "s,9,11.5\n")
    assert "'a', 'b'" in note


@pytest.mark.parametrize("name", ["Summe", "TOTAL", "Total:", "mean"])
def test_a_last_row_that_is_called_a_total_is_told(tmp_path, name):
    (note,) = _notes(tmp_path, f"{ROWS}{name},2,77\n")
    assert name.rstrip(":") in note


@pytest.mark.parametrize(
    "text",
    [
        ROWS + "s,9,11\n",  # one of two columns adds up
        ROWS,
        "id,a,b\ntotal,1,2\nq,3,4\nr,5,5.5\ns,2,1\n",  # the first row
        "a,b\n" + "0,0\n" * 5,
    ],
    ids=["one column", "no total", "first row", "zeros"],
)
def test_other_tables_have_no_such_note(tmp_path, text):
    assert not _notes(tmp_path, text)
