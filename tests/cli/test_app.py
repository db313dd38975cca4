"""The command line: one clear message, the right exit code, and nothing half-written."""

from __future__ import annotations

import csv
import sys

import numpy as np
import pytest

import sidelight as sl
from sidelight.cli.app import run as run_app
from sidelight.jobs import run as jobs_run


@pytest.fixture
def table(tmp_path):
    generator = np.random.default_rng(0)
    groups = np.repeat([0.0, 8.0], 20)
    path = tmp_path / "table.csv"
    with path.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["photo", "width", "height", "note"])
        for i, group in enumerate(groups):
            writer.writerow([f"img{i}", group + generator.normal(), group + generator.normal(), "text"])
    return path


@pytest.fixture
def sidelight(monkeypatch, capsys, tmp_path):
    """Call the command line in this process: (code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["sidelight", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            run_app()
        captured = capsys.readouterr()
        return stop.value.code, captured.out, captured.err

    return call


def files(folder):
    return {path.name for path in folder.iterdir()}


def test_a_table_becomes_a_folder_of_results(sidelight, table, tmp_path):
    code, out, err = sidelight("relations", table, "-k", 2, "--id", "photo", "--out", "results")
    assert code == 0, err
    results = tmp_path / "results"
    assert files(results) == {
        "assignments.csv", "assignments.parquet", "clusters.csv", "model.sidelight", "report.html", "run.toml",
    }  # fmt: skip
    assert "40 rows fell into 2 clusters" in out
    with (results / "assignments.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    assert rows[0]["photo"] == "img0"
    assert len({row["cluster"] for row in rows[:20]}) == 1
    assert rows[0]["cluster"] != rows[-1]["cluster"]
    page = (results / "report.html").read_text()
    assert "data:image/png;base64" in page
    assert "http" not in page.split("</head>")[1]
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


def test_a_folder_that_is_not_empty_is_never_overwritten(sidelight, table, tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "thesis.txt").write_text("years of work")
    code, _, err = sidelight("relations", table, "-k", 2, "--out", "results")
    assert code == 2
    assert "not empty" in err
    code, _, err = sidelight("relations", table, "-k", 2, "--out", "results", "--overwrite")
    assert code == 2
    assert "run.toml" in err
    assert files(tmp_path / "results") == {"thesis.txt"}


def test_an_earlier_run_is_overwritten_when_asked(sidelight, table, tmp_path):
    sidelight("relations", table, "-k", 2, "--out", "results")
    code, _, err = sidelight("relations", table, "-k", 3, "--out", "results", "--overwrite")
    assert code == 0, err
    assert "n_clusters = 3" in (tmp_path / "results" / "run.toml").read_text()


def test_an_interrupt_leaves_nothing_half_written(sidelight, table, tmp_path, monkeypatch):
    def interrupted(path, columns):
        path.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(jobs_run, "write_csv", interrupted)
    before = files(tmp_path)
    code, _, err = sidelight("relations", table, "-k", 2, "--out", "results")
    assert code == 130
    assert "nothing was written" in err
    assert files(tmp_path) == before


def test_a_warning_is_one_line_and_said_once(sidelight, tmp_path):
    (tmp_path / "same.csv").write_text("a,b\n" + "1,2\n" * 6)
    code, _, err = sidelight("relations", "same.csv", "-k", 2, "--out", "results")
    assert code == 0
    assert err.count("distinct") == 1
    assert err.startswith("sidelight: note: ")
    assert ".py" not in err


def test_an_unknown_command_suggests_the_nearest(sidelight):
    code, _, err = sidelight("relatoins")
    assert code == 2
    assert "Did you mean 'relations'?" in err


def test_bare_sidelight_says_what_to_run(sidelight):
    code, out, _ = sidelight()
    assert code == 0
    assert "You have" in out
    assert "-> sidelight relations TABLE" in out


def test_a_run_file_with_a_typo_is_refused_by_name(sidelight, tmp_path):
    (tmp_path / "run.toml").write_text('job = "relations"\ntable = "x.csv"\nsede = 1\n')
    code, _, err = sidelight("run", "run.toml", "--out", "results")
    assert code == 2
    assert "Did you mean 'seed'?" in err


def test_errors_of_the_readers_advise_options_of_the_command(sidelight, tmp_path):
    (tmp_path / "twice.csv").write_text("id,width\na,1\na,2\nb,3\n")
    code, _, err = sidelight("relations", "twice.csv", "-k", 2, "--id", "id", "--out", "results")
    assert code == 2
    assert "--id none" in err
    assert "row_id=" not in err
    code, _, err = sidelight("describe", "twice.csv", "--id", "none")
    assert code == 0, err
