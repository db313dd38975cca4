"""Rows sorted onto piles, read from a table."""

from __future__ import annotations

import pytest

from sidelight.errors import SidelightWarning, UnknownName, UnreadableFile
from sidelight.files.placements import placed_names, read_placements

pytest.importorskip("polars")
NAMES = [f"r{k}" for k in range(8)]


def written(tmp_path, text):
    path = tmp_path / "piles.csv"
    path.write_text(text)
    return path


def test_each_row_is_compared_with_one_of_every_pile(tmp_path):
    path = written(tmp_path, "row,pile\nr0,red\nr1,red\nr2,red\nr3,blue\nr4,blue\nr5,aside\n")
    pairs = read_placements(path, NAMES)
    red, blue = {0, 1, 2}, {3, 4}
    for answer in pairs.answers:
        together = set(answer.rows) <= red or set(answer.rows) <= blue
        assert answer.answer == ("same" if together else "different")
    assert pairs.implies(0, 2) == "same"
    assert pairs.implies(3, 4) == "same"
    assert pairs.implies(0, 4) == "different"
    assert {row for answer in pairs.answers for row in answer.rows} == red | blue
    assert {"r0", "r4"} <= placed_names(path)


def test_a_row_is_where_it_was_placed_most_often(tmp_path):
    lines = ["r0,red", "r1,blue", "r2,red", "r2,blue", "r2,blue", "r3,red"]
    pairs = read_placements(written(tmp_path, "row,pile\n" + "\n".join(lines) + "\n"), NAMES)
    assert pairs.implies(1, 2) == "same"
    assert pairs.implies(0, 3) == "same"


def test_a_first_line_may_be_a_placement(tmp_path):
    pairs = read_placements(written(tmp_path, "r0,red\nr1,red\n"), NAMES)
    assert pairs.implies(0, 1) == "same"


def test_one_pile_of_one_row_says_nothing(tmp_path):
    assert read_placements(written(tmp_path, "row,pile\nr0,red\n"), NAMES).n_answers == 0


def test_unknown_rows_are_told(tmp_path):
    with pytest.warns(SidelightWarning, match="x9"):
        read_placements(written(tmp_path, "row,pile\nr0,a\nr1,a\nr2,b\nx9,b\n"), NAMES)
    with pytest.raises(UnknownName, match="q1"):
        read_placements(written(tmp_path, "row,pile\nq1,a\nq2,a\n"), NAMES)
    with pytest.raises(UnreadableFile, match="two"):
        read_placements(written(tmp_path, "row\nr0\nr1\n"), NAMES)


@pytest.mark.parametrize("header", ["row,pile,person,seconds", "row,pile", "photo,Pile,seconds"])
def test_placements_are_described_with_the_command_that_reads_them(tmp_path, header):
    from sidelight.app.jobs.describe import describe

    width = header.count(",") + 1
    cells = [[f"r{k}", f"pile {k % 3}", "ann" if "person" in header else "1.2", "2.5"][:width] for k in range(24)]
    path = tmp_path / "placements.csv"
    path.write_text("\n".join([header, *map(",".join, cells)]) + "\n")
    told = describe(str(path))
    assert told.kind == "placements"
    (fit,) = told.fits
    assert (fit.job, fit.roles, fit.table) == ("relations", {"placements": str(path)}, "TABLE")
