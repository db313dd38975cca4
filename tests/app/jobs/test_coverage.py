"""The coverage job from a table to a folder, and what it says when the table cannot be used."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

import sidelight as sl
from sidelight.app.jobs.checking import Truth, leaves_no_choice
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.instances import JOB
from sidelight.app.jobs.instances.coverage import as_meant
from sidelight.app.jobs.page import about_truth, page_of
from sidelight.app.jobs.run import run
from sidelight.data.dataset import TOLD, Note
from sidelight.errors import InvalidData
from sidelight.words import Setting, render

ROLES = {"bag": "recording", "label": "species", "label_separator": "|"}


@pytest.fixture
def table(tmp_path):
    """Thirty recordings of three kinds; crickets are never listed."""
    generator = np.random.default_rng(0)
    centres = {"wren": (0, 6), "owl": (6, 0), "cricket": (-6, -6)}
    path = tmp_path / "birds.csv"
    with path.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["recording", "species", "pitch", "length"])
        for r in range(30):
            kinds = list(generator.choice(list(centres), size=1 + r % 3, replace=False))
            listed = "|".join(kind for kind in kinds if kind != "cricket")
            for kind in kinds * 2:
                writer.writerow([f"r{r}", listed, *(np.array(centres[kind]) + generator.normal(size=2)).round(2)])
    return path


def test_a_table_becomes_names_a_model_and_a_report(table, tmp_path):
    config = RunConfig("coverage", str(table), ROLES, {"n_novel": 1, "empty": "none", "n_subclusters": {"wren": 2}})
    outcome = run(config, tmp_path / "out")
    assert {"assignments.csv", "bags.csv", "clusters.csv", "model.sidelight", "report.html"} <= set(outcome.files)
    with (tmp_path / "out" / "assignments.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    assert {row["label"] for row in rows} == {"wren", "owl", "novel-1"}
    model = sl.load(tmp_path / "out" / "model.sidelight")
    assert model.predict_labels([[0.0, 6.0], [6.0, 0.0], [-6.0, -6.0]]).tolist() == ["wren", "owl", "novel-1"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "What the bags changed" in page
    assert "2 of 2 labels, 1 novel" in page  # a label with two clusters is one label


def test_a_table_without_labels_says_which_option_to_add(table, tmp_path):
    config = RunConfig("coverage", str(table), {"bag": "recording", "ignore": ["species"]})
    with pytest.raises(InvalidData, match="label="):
        run(config, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def lines(path, *rows):
    path.write_text("\n".join(["recording,species,pitch", *rows]) + "\n")
    return str(path)


def test_an_empty_label_column_is_named(tmp_path):
    table = lines(tmp_path / "t.csv", "a,,1.5", "a,,2.5", "b,,3.5")
    with pytest.raises(InvalidData, match="'species' is empty in every row"):
        run(RunConfig("coverage", table, {"bag": "recording", "label": "species"}), tmp_path / "out")


def test_what_is_odd_about_the_lists_is_said_once(tmp_path, recwarn):
    rows = ["a,wren|owl,1.5", "a,wren,2.5", "b,owl,8.5", "c,wren,1.1", "d,wren|owl,1.0"]
    outcome = run(RunConfig("coverage", lines(tmp_path / "t.csv", *rows), ROLES), tmp_path / "out")
    summary = " ".join(outcome.sentences)
    assert "the rows of 1 of 4 bags disagree" in summary
    assert "1 bag has more labels than rows that could carry them: d; left without a row:" in summary
    assert not [w for w in recwarn if "more labels than rows" in str(w.message)]


def test_a_report_does_not_ask_to_look_where_nothing_changed(tmp_path):
    rows = [f"{bag},{kind},{value}" for bag, kind, value in [("a", "wren", 0.1), ("b", "owl", 9.1)] for _ in range(3)]
    run(RunConfig("coverage", lines(tmp_path / "t.csv", *rows), ROLES), tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "No row would be called anything else" in page
    assert "look here first" not in page


def test_novel_clusters_that_nothing_needed_are_mentioned(table):
    config = RunConfig("instances", str(table), ROLES)
    result = JOB.work_of(config)(config)
    needless = replace(result, n_novel_allowed=1, n_novel_used=0)
    told = page_of(needless).told
    assert any("1 novel cluster was allowed, but no row lies in one" in sentence for sentence in told)


def test_that_a_kind_is_on_no_list_is_said_first_and_what_was_lost_as_a_warning(table):
    config = RunConfig("instances", str(table), ROLES)
    result = JOB.work_of(config)(config)
    alike = Note(
        "labels that look alike were kept apart", TOLD, ["If they are one: ", Setting("same", {"a": "b"}), "."]
    )
    reading = replace(result.reading, notes=(Note("left out: b.wav", TOLD), alike, "nothing to tell"))
    page = page_of(replace(result, unlisted=0.001, reading=reading))
    assert render(page.sentences[0]).endswith("find it with n_novel=1.")
    assert "Left out: b.wav." in page.warnings
    assert any("If they are one: same={'a': 'b'}." in render(warning) for warning in page.warnings)
    assert not any("nothing to tell" in render(sentence) for sentence in page.told)


def test_with_known_rows_the_page_and_the_summary_count_the_same_rows(table):
    config = RunConfig("instances", str(table), ROLES, {"rows": "known"})
    result = JOB.work_of(config)(config)
    page = page_of(result)
    n_changed = sum(a != b for a, b in zip(result.assignments["label"], result.assignments["by features alone"]))
    assert result.moved.n_moved == n_changed
    assert f"changed the name of {n_changed} row" in " ".join(map(str, page.sure))
    (section,) = [s for s in page.sections if s.title == "What the bags changed"]
    assert str(n_changed) in section.sentences[0] or n_changed == 0


def test_an_empty_list_that_means_none_stays_complete_among_partial_ones():
    bags = sl.Bags(["a", "b"], labels={"a": {"wren"}})
    said = as_meant(bags, "partial", "none")
    assert said.is_partial.tolist() == [True, False]
    assert said.is_labelled.all()


def test_names_that_lists_give_are_no_finding(tmp_path):
    rows = [f"{bag},{kind},{value}" for bag, kind, value in [("a", "wren", 0.1), ("b", "owl", 9.1)] for _ in range(3)]
    table = lines(tmp_path / "t.csv", *rows)
    told = " ".join(map(render, page_of(result_of(table)).told))
    assert "Every list has one label" in told
    assert "sure of their cluster" not in told
    truth = Truth.of(["owl", "wren"], ["owl", "wren"], "kind", used=True)
    assert "leave no choice" not in about_truth(truth)
    assert "leave no choice for 100% of them: their names say nothing" in about_truth(replace(truth, n_given=2))
    known = sl.Bags([0, 0, 1, 1, 2], labels={0: ["owl"], 1: ["owl", "wren"]})
    assert leaves_no_choice(known).tolist() == [True, True, False, False, False]
    mixed = lines(tmp_path / "m.csv", *rows, "c,wren|owl,0.1", "c,wren|owl,9.3")
    told = " ".join(map(render, page_of(result_of(mixed)).told))
    assert "of the 2 rows whose list leaves a choice are sure" in told


def result_of(table):
    config = RunConfig("instances", table, ROLES)
    return JOB.work_of(config)(config)
