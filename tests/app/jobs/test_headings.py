"""Headings of files have no blanks, and those of earlier files are understood."""

from __future__ import annotations

import csv

import pytest

from sidelight.app.jobs.columns import Columns
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.output import heading, words_of
from sidelight.app.jobs.run import run
from sidelight.app.jobs.samples import write_sample

RUNS = [
    ("birds", "instances", {"bag": "recording", "label": "species"}, {"n_novel": 1}),
    ("digit-bags", "instances", {}, {"method": "spectral"}),
    ("birds", "bags", {"bag": "recording"}, {"n_clusters": 3}),
    ("birds", "bags", {"bag": "recording"}, {"n_clusters": 3, "method": "margin"}),
    ("wine", "relations", {}, {"n_clusters": 3}),
    ("label-tree", "hierarchy", {}, {}),
    ("visits", "coclusters", {}, {"n_clusters": [4, 3]}),
]


@pytest.mark.parametrize(("sample", "job", "roles", "options"), RUNS, ids=lambda value: str(value)[:30])
def test_no_heading_of_a_run_has_a_blank(tmp_path, sample, job, roles, options):
    write_sample(sample, str(tmp_path / "t.csv"))
    run(RunConfig(job, str(tmp_path / "t.csv"), roles, options), tmp_path / "out")
    files = sorted((tmp_path / "out").glob("*.csv"))
    assert files
    for file in files:
        with file.open(newline="") as handle:
            names = next(csv.reader(handle))
        assert [name for name in names if " " in name] == [], file.name


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
