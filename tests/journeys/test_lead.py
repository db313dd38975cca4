"""The lead of a team: 850 answers of five people, exported by another tool, become people with rates in one command."""

from __future__ import annotations

import csv

import numpy as np
import pytest

RATES = {"anna": 0.03, "ben": 0.06, "carl": 0.08, "dora": 0.12, "emil": 0.3}  # hidden: how often each is wrong
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of 240 rows of four kinds, and a foreign export: skips, a mistyped row, words of another tool."""
    place, generator = tmp_path_factory.mktemp("lead"), np.random.default_rng(3)
    kinds = generator.integers(4, size=240)
    rows = 4.0 * np.eye(4)[kinds] + generator.normal(size=(240, 4))
    with (place / "photos.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["photo", "a", "b", "c", "d"], *([f"P{k:03}", *row.round(3)] for k, row in enumerate(rows))]
        )
    lines = [["annotation_id", "annotator", "choice", "image_a", "image_b", "lead_time"]]
    for k in range(850):
        one, other = generator.choice(120, size=2, replace=False)
        name = list(RATES)[k % 5]
        same = (kinds[one] == kinds[other]) != (generator.random() < RATES[name])
        word = "skip" if k % 40 == 7 else "hmm" if k % 200 == 9 else "match" if same else "mismatch"
        right = "P9999" if k == 300 else f"P{other:03}"
        lines.append([str(k), name, word, f"P{one:03}", right, f"{generator.random():.2f}"])
    with (place / "export.csv").open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    np.savetxt(place / "truth.txt", kinds, fmt="%d")
    return place


def test_the_export_is_recognised(folder, sidelight):
    code, told = sidelight("describe", "export.csv", cwd=folder)
    assert code == 0, told
    assert "sidelight relations TABLE --pairs export.csv" in told


def test_one_command_says_who_is_how_often_wrong(folder, sidelight):
    command = ("relations", "photos.csv", "--pairs", "export.csv", "-k", 4, "--out", "run")
    code, told = sidelight(*command, cwd=folder)
    assert code == 0, told
    assert "'hmm'" in told
    assert "'P9999'" in told
    assert "--words hmm=unsure" in told
    with (folder / "run" / "people.csv").open() as file:
        people = {line["person"]: line for line in csv.DictReader(file)}
    assert set(people) == set(RATES)
    assert next(iter(people)) == "emil"  # who errs most comes first
    assert "emil" in told
    inside = [float(line["from"]) <= RATES[name] <= float(line["to"]) for name, line in people.items()]
    assert sum(inside) >= 4, people
    assert all(abs(float(line["wrong"]) - RATES[name]) < 0.08 for name, line in people.items()), people
    kinds = np.loadtxt(folder / "truth.txt", dtype=int)
    with (folder / "run" / "broken_answers.csv").open() as file:
        doubted = [(line["rows"].split(", "), line["answer"]) for line in csv.DictReader(file)][:40]
    wrong = [(kinds[int(a[1:])] == kinds[int(b[1:])]) != (said == "same") for (a, b), said in doubted]
    assert np.mean(wrong) > 0.9  # the answers that are doubted most are wrong
    assert "Who answered" in (folder / "run" / "report.html").read_text(encoding="utf-8")


def test_words_that_were_said_are_asked_no_more(folder, sidelight):
    command = ("relations", "photos.csv", "--pairs", "export.csv", "-k", 4, "--words", "hmm=unsure", "--out", "again")
    code, told = sidelight(*command, cwd=folder)
    assert code == 0, told
    assert "'hmm'" not in told
