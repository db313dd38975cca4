"""Headings of files have no blanks, and those of earlier files are understood."""

from __future__ import annotations

import pytest

from sidelight.app.jobs.columns import Columns
from sidelight.app.jobs.output import heading, words_of


@pytest.mark.parametrize("words", ["right label", "by features alone", "evidence (nats)", "cluster of left hand"])
def test_a_heading_leads_back_to_its_words(words):
    assert words_of(heading(words)) == words
    assert words_of(words) == words  # as earlier versions wrote it


def test_names_of_users_stay_as_they_are():
    for name in ("my label", "my_label", "odd prime"):
        assert heading(name) == words_of(name) == name
    assert heading("cluster of left hand") == "cluster_of_left hand"


@pytest.mark.parametrize("written", ["right label", "right_label"])
def test_a_column_is_found_by_either_name(tmp_path, written):
    (tmp_path / "check.csv").write_text(f"row,{written}\n1,wren\n")
    table = Columns(str(tmp_path / "check.csv"))
    assert table.names == ["row", "right label"]
    assert table.cells("right_label") == table.cells("right label") == ["wren"]
