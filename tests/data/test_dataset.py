"""Rows keep their names, whatever is left out."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.data.dataset import LeftOut
from sidelight.errors import BagsWereCut


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("name,recording,a,b,when\nu,r1,1,2,10:00\nv,r1,3,4,10:01\nw,r2,5,6,10:02\n")
    return path


def test_rows_without_an_id_are_called_by_their_number_in_the_file(table):
    data = sl.read(table, id=False)
    assert data.row_names.tolist() == [1, 2, 3]
    assert data.row_title == "row"
    assert data.take([2, 0]).row_names.tolist() == [3, 1]  # renumbered, they would be 1 and 2


def test_rows_with_an_id_are_called_by_it(table):
    data = sl.read(table, id="name")
    assert (data.row_title, data.row_names.tolist()) == ("name", ["u", "v", "w"])


def test_taking_rows_cuts_everything_and_remembers_what_was_left_out(table):
    data = sl.read(table, id="name", keep="when", label="recording", bag="recording")
    mask = np.array([True, False, True])
    rest = LeftOut(data.row_names[~mask], "gap", ("a",), data.location(1), 3)
    with pytest.warns(BagsWereCut):  # the bag r1 lost a row
        cut = data.take(mask, left_out=rest)
    assert cut.X.tolist() == [[1.0, 2.0], [5.0, 6.0]]
    assert cut.kept["when"].tolist() == ["10:00", "10:02"]
    assert cut.location(1) == "line 4"
    assert cut.left_out[0].names.tolist() == ["v"]
    assert cut.bags.n_rows == 2


def test_a_feature_can_be_kept_too_and_stays_a_feature(table):
    data = sl.read(table, keep=["b", "when"])
    assert data.kept["b"].tolist() == [2, 4, 6]
    assert "b" in data.feature_names


def test_a_notebook_shows_roles_and_escapes_names(tmp_path):
    (tmp_path / "t.csv").write_text("id,<b>x</b>,y\n" + "".join(f"r{i},{i * 1.5},{i % 7}.25\n" for i in range(12)))
    shown = sl.read(tmp_path / "t.csv")._repr_html_()
    assert '<th style="text-align: left">&lt;b&gt;x&lt;/b&gt;</th>' in shown
    assert "<b>x</b>" not in shown
    assert "feature" in shown
