"""The command line: one clear message and the right exit code."""

from __future__ import annotations

import csv
import json
import sys
import warnings

import numpy as np
import pytest
from tests.app.cli.conftest import files

import sidelight as sl
from sidelight.errors import InvalidData


def test_a_table_becomes_a_folder_of_results(sidelight, table, tmp_path):
    code, out, err = sidelight("relations", table, "-k", 2, "--id", "photo", "--out", "results")
    assert code == 0, err
    results = tmp_path / "results"
    assert files(results) == {
        "assignments.csv", "assignments.parquet", "clusters.csv", "check.csv", "model.sidelight", "numbers.json",
        "report.html", "run.toml", "ways.csv",
    }  # fmt: skip
    assert "40 rows fell into 2 clusters" in out
    assert out.rstrip().endswith("Correct rows in a browser: sidelight studio open results")
    with (results / "assignments.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    assert rows[0]["photo"] == "img0"
    assert len({row["cluster"] for row in rows[:20]}) == 1
    assert rows[0]["cluster"] != rows[-1]["cluster"]
    page = (results / "report.html").read_text()
    assert "<canvas" in page
    assert "http" not in page.split("</head>")[1]
    assert "sidelight relations" in page  # the command that repeats the run
    X = np.array([[0.0, 0.0], [8.0, 8.0]])
    assert set(sl.load(results / "model.sidelight").predict(X)) == {0, 1}  # raw units: the scaling is in the model


def test_a_run_can_be_repeated_from_its_toml(sidelight, table, tmp_path):
    sidelight("relations", table, "-k", 2, "--features", "w*", "--features", "height", "--out", "one")
    code, _, err = sidelight("run", "one/run.toml", "--out", "two")
    assert code == 0, err
    assert (tmp_path / "one/assignments.csv").read_bytes() == (tmp_path / "two/assignments.csv").read_bytes()
    assert (tmp_path / "one/run.toml").read_bytes() == (tmp_path / "two/run.toml").read_bytes()


def bad_calls(tmp_path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("a,b\n")
    (tmp_path / "words.csv").write_text("a,b\nx,y\nz,w\n")
    (tmp_path / "gaps.csv").write_text("a,b\n1,2\n,4\n")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)) * 4)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.csv", "-k", "2"], "nowhere.csv"),
        (["empty.csv", "-k", "2"], "empty"),
        (["header.csv", "-k", "2"], "header"),
        (["words.csv", "-k", "2"], "0 features"),
        (["gaps.csv", "-k", "2"], "missing"),
        (["binary.csv", "-k", "2"], "binary.csv"),
        (["table.csv", "-k", "2", "--id", "foto"], "Did you mean 'photo'?"),
        (["table.csv", "-k", "2", "--features", "widht"], "Did you mean 'width'?"),
        (["table.csv", "-k", "2", "--features", "note"], "column 'note': expected numbers"),
        (["table.csv", "-k", "99"], "99"),
        (["table.csv", "-k", "0"], "-k"),
        (["table.csv", "-k", "2", "--penalty", "-1"], "penalty"),
    ],
)
def test_bad_input_gets_one_message_and_changes_nothing(sidelight, table, tmp_path, words, message):
    bad_calls(tmp_path)
    before = files(tmp_path)
    code, out, err = sidelight("relations", *words, "--out", "results")
    assert code == 2
    assert message in err
    assert "Traceback" not in out + err
    assert files(tmp_path) == before


def test_numbers_as_json(sidelight, table):
    code, out, err = sidelight("relations", table, "-k", 2, "--out", "results", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert told["folder"] == "results"
    assert sorted(told["result"]["sizes"]) == [20, 20]
    assert {column["name"] for column in told["result"]["reading"]["unused"]} >= {"note"}


def test_the_older_name_of_instances_still_works(sidelight, tmp_path):
    lines = [f"r{i // 4},{'wren' if i // 4 % 2 else 'owl'},{i // 4 % 2 * 9 + i % 3}" for i in range(40)]
    (tmp_path / "birds.csv").write_text("recording,species,pitch\n" + "\n".join(lines) + "\n")
    code, _, err = sidelight("coverage", "birds.csv", "--out", "results", "--subclusters", "wren=1,owl=1")
    assert code == 0, err
    manifest = (tmp_path / "results" / "run.toml").read_text()
    assert 'job = "instances"' in manifest
    assert "wren = 1" in manifest
    code, out, _ = sidelight("--help")
    assert "coverage" not in out.split("Commands:")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["relations", "t.csv", "-k", "two"], "n_clusters takes a whole number"),
        (["instances", "t.csv", "--novel", "-1"], "n_novel takes a whole number from 0 on or 'auto'"),
        (["instances", "t.csv", "--wrong", "1"], "wrong takes a number from 0 on below 1"),
        (["instances", "t.csv", "--wrong", "nan"], "wrong takes"),
        (["sources", "t.csv", "-k", "2", "--channel", "face"], "NAME=COLUMNS"),
        (["sources", "t.csv", "-k", "2", "--channel", "a=x", "--channel", "a=y"], "named twice"),
        (["coclusters", "t.csv", "-k", "2,x"], "n_clusters takes a list"),
        (["coclusters", "t.csv", "-k", "2", "--curve", "9:3"], "the smaller first"),
        (["relations", "t.csv", "-k", "2", "--missing", "guess"], "missing takes"),
    ],
)
def test_words_that_do_not_fit_an_option_are_refused(sidelight, words, message):
    code, out, err = sidelight(*words, "--out", "results")
    assert code == 2
    assert message in err
    assert "Traceback" not in out + err


def test_a_warning_is_one_line_and_said_once(sidelight, tmp_path, monkeypatch):
    def noisy(*args, **options):
        for _ in range(2):
            warnings.warn("the columns\nare odd", UserWarning, stacklevel=1)
        raise InvalidData("stopped here.")

    monkeypatch.setattr("sidelight.app.jobs.run.run", noisy)
    (tmp_path / "same.csv").write_text("a,b\n" + "1,2\n" * 6)
    code, _, err = sidelight("relations", "same.csv", "-k", 2, "--out", "results", "--quiet")
    assert code == 2
    assert err.count("sidelight: note: the columns are odd\n") == 1
    assert ".py" not in err


def test_empty_clusters_are_said_once(sidelight, tmp_path):
    (tmp_path / "same.csv").write_text("a,b\n" + "1,2\n" * 6)
    code, out, err = sidelight("relations", "same.csv", "-k", 2, "--out", "results")
    assert code == 0
    assert (out + err).count("Only 1 of 2 clusters hold rows.") == 1
    assert ".py" not in err


def test_an_unknown_command_suggests_the_nearest(sidelight):
    code, _, err = sidelight("relatoins")
    assert code == 2
    assert "Did you mean 'relations'?" in err


def test_errors_of_the_readers_advise_options_of_the_command(sidelight, tmp_path):
    (tmp_path / "twice.csv").write_text("id,width\na,1\na,2\nb,3\n")
    code, _, err = sidelight("relations", "twice.csv", "-k", 2, "--id", "id", "--out", "results")
    assert code == 2
    assert "--id none" in err
    assert "row_id=" not in err
    code, _, err = sidelight("describe", "twice.csv", "--id", "none")
    assert code == 0, err


@pytest.mark.parametrize("words", [["demo"], ["open", "results"], ["--demo"]])
def test_without_the_extra_every_way_into_the_studio_says_what_to_install(sidelight, monkeypatch, words):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "sidelight.app.studio.web.serving", raising=False)
    code, out, err = sidelight("studio", *words)
    assert code != 0
    assert "sidelight[studio]" in out + err
    assert "Traceback" not in out + err
