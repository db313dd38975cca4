"""What bags say and what their rows say, side by side: in the tables of a run, on its page, and of new rows."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import sidelight as sl
from sidelight.app.jobs.bag_words import ranges_in_words, said_against_found, words_of_bag
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.describe import describe
from sidelight.app.jobs.predict import predict
from sidelight.app.jobs.roles import Roles
from sidelight.app.jobs.run import run
from sidelight.app.jobs.samples import SAMPLES, write_sample


def lines_of(path):
    with path.open(encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def test_words_of_bags():
    bags = sl.Bags(
        [0] * 4 + [1] * 4 + [2] * 2, labels={0: {"wren": 3, "owl": (0, 2)}, 1: {"jay": "maybe", "wren": "present"}}
    )
    assert [words_of_bag(bags, b) for b in range(3)] == ["owl 0 to 2|wren 3", "jay?|wren", ""]
    assert ranges_in_words({"yes": (3, 3), "no": (1, 1), "else": (0, 0)}, 4.0, "shares") == "no 25%|yes 75%"
    assert ranges_in_words({"owl": (2, None)}, 4.0, "counts") == "owl 2 or more"


def test_who_is_missing_and_who_is_too_many():
    bags = sl.Bags([0] * 4 + [1] * 2, labels={0: {"wren": 3, "owl": 1}, 1: {"wren"}})
    found = [{"wren": (0, 1), "owl": (2, 4)}, {"wren": (0, 0), "owl": (1, 2)}]
    assert said_against_found(bags, 0, frozenset(), found, "counts") == ("wren", "owl")
    assert said_against_found(bags, 1, frozenset({"owl"}), None, "") == ("wren", "owl")
    maybe = sl.Bags([0, 0], labels={0: {"wren": "present", "owl": "maybe"}})
    assert said_against_found(maybe, 0, frozenset({"owl", "wren", "jay"}), None, "") == ("", "jay")


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("visits")
    write_sample("counts", str(folder / "counts.csv"))
    return folder / "counts.csv"


def test_the_sample_of_counts_is_described_and_its_command_runs(visits, tmp_path):
    text = visits.read_text(encoding="utf-8").splitlines()[0]
    assert text.startswith("visit,wren,thrush,owl,warbler,jay,f0")
    told = describe(str(visits), Roles())
    fit = next(fit for fit in told.fits if fit.job == "instances")
    assert "how many of them carry each label" in fit.why
    assert fit.roles["bag"] == "visit"
    assert list(fit.roles["label"]) == ["wren", "thrush", "owl", "warbler", "jay"]


def test_a_run_says_found_numbers_beside_the_said_ones(visits, tmp_path):
    wrong = visits.read_text(encoding="utf-8").splitlines()
    at = wrong[1].split(",")
    at[1], at[4] = at[4], at[1]  # somebody wrote the wrens of a visit under another name
    name, *counts = at[:6]
    mixed = [",".join([name, *counts, *line.split(",")[6:]]) if line.startswith(f"{name},") else line for line in wrong]
    (tmp_path / "t.csv").write_text("\n".join(mixed), encoding="utf-8")
    roles = {"bag": "visit", "label": list(SAMPLES["counts"].draw(0).bags.classes)}
    run(RunConfig("instances", str(tmp_path / "t.csv"), roles, {"boundary": "straight"}), tmp_path / "out")
    bags = lines_of(tmp_path / "out" / "bags.csv")
    assert bags[0]["bag"] == name  # the hardest one
    assert bags[0]["missing"] or bags[0]["too_many"]
    assert sum(bool(line["missing"] or line["too_many"]) for line in bags[1:]) < 20
    assert float(bags[0]["wren least"]) <= float(bags[0]["wren found"]) <= float(bags[0]["wren most"])
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "what was said and what is found differ" in page
    predict(str(tmp_path / "out"), str(visits), tmp_path / "new", Roles())
    new = lines_of(tmp_path / "new" / "bags.csv")
    assert {"in_its_words", "wren found", "wren least", "wren most"} <= new[0].keys()
    drawn = SAMPLES["counts"].draw(0).bags
    held = [
        float(line[f"{k} least"]) <= drawn.said[line["bag"]][k][0] <= float(line[f"{k} most"])
        for line in new for k in drawn.classes
    ]  # fmt: skip
    assert np.mean(held) > 0.85


def test_corrections_of_rows_keep_what_other_bags_count(visits, tmp_path):
    from sidelight.app.jobs.instances.coverage import _corrected

    bags = sl.Bags([0] * 3 + [1] * 3, labels={0: {"wren": 2, "owl": 1}, 1: {"wren": 1, "owl": 2}})
    same, _ = _corrected(bags, None, {0: "wren"})
    assert same.said == bags.said
    changed, _ = _corrected(bags, None, {0: "jay"})
    assert changed.said == {1: bags.said[1]}
    assert changed.labels[0] == {"wren", "owl", "jay"}


def test_a_table_of_counts_is_not_taken_for_answers_about_its_rows(tmp_path, monkeypatch):
    """Small numbers may be numbers of rows: but the file was named as the labels."""
    there = lambda *_: {"pairs": (tmp_path / "count.csv", 9)}  # noqa: E731 - as found in a larger table
    monkeypatch.setattr("sidelight.app.jobs.describe.find_answers", there)
    monkeypatch.setattr("sidelight.app.jobs.describe.possible_answers", there)
    rows = ["plot;pitch"] + [f"plot {b};{b}.{i}" for b in range(9) for i in range(6)]
    counts = ["plot;date;observer;wren;owl;jay;remarks"]
    for b in range(9):
        wren, jay = b % 4 + 1, b % 2
        counts.append(f"plot {b};0{b + 1}.05.2024;Ann;{wren};{6 - wren - jay};{jay or ''};{'windy' if b == 3 else ''}")
    (tmp_path / "calls.csv").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "count.csv").write_text("\n".join(["Count 2024", "", *counts]), encoding="utf-8")
    told = describe(str(tmp_path / "calls.csv"), Roles(label_file=str(tmp_path / "count.csv")))
    assert told.facts["bags"] == 9  # the key of the table of labels names them
    assert "answers beside it" not in told.facts
    assert told.fits[0].job == "instances"
