"""Where a run writes: nothing of somebody else's is replaced, and a run is there as a whole or not at all."""

from __future__ import annotations

import csv
import errno

import pytest
from tests.app.cli.conftest import files

from sidelight.app.jobs import run as jobs_run


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


def test_overwriting_replaces_the_files_of_the_run_and_leaves_the_rest(sidelight, tmp_path):
    (tmp_path / "results").mkdir()
    inside = tmp_path / "results" / "input.csv"  # the input table lives in the output folder
    lines = [f"u{i % 5},v{i % 4}" for i in range(40)]
    sidelight("relations", tmp_path / "none.csv", "-k", 2, "--out", "results")
    source = tmp_path / "events.csv"
    source.write_text("who,what\n" + "\n".join(lines) + "\n")
    code, _, err = sidelight("coclusters", source, "--event", "who", "--event", "what", "-k", 2, "--out", "results")
    assert code == 0, err
    assert (tmp_path / "results" / "axis2.csv").exists()
    inside.write_text("a,b\n" + "\n".join(f"{i % 7},{i % 3 + i}" for i in range(30)) + "\n")
    (tmp_path / "results" / "notes.txt").write_text("years of work")
    code, _, err = sidelight("relations", inside, "-k", 2, "--out", "results", "--overwrite")
    assert code == 0, err
    left = files(tmp_path / "results")
    assert {"notes.txt", "input.csv", "clusters.csv", "run.toml"} <= left
    assert not left & {"axis2.csv", "cells.csv", "curve.csv"}  # of the older run alone


def test_a_file_that_no_run_wrote_is_never_replaced(sidelight, table, tmp_path):
    sidelight("relations", table, "-k", 2, "--out", "results")
    listed = (tmp_path / "results" / "run.toml").read_text().replace('"clusters.csv", ', "")
    (tmp_path / "results" / "run.toml").write_text(listed)
    (tmp_path / "results" / "clusters.csv").write_text("mine")
    before = {path.name: path.read_bytes() for path in (tmp_path / "results").iterdir()}
    code, _, err = sidelight("relations", table, "-k", 3, "--out", "results", "--overwrite")
    assert code == 2
    assert "'clusters.csv', which no run wrote" in err
    assert {path.name: path.read_bytes() for path in (tmp_path / "results").iterdir()} == before


def test_a_run_file_that_lists_files_elsewhere_is_not_believed(sidelight, table, tmp_path):
    (tmp_path / "victim.txt").write_text("mine")
    sidelight("relations", table, "-k", 2, "--out", "results")
    manifest = tmp_path / "results" / "run.toml"
    victims = f'files = ["../victim.txt", "{tmp_path}/victim.txt", '
    manifest.write_text(manifest.read_text().replace("files = [", victims))
    code, _, err = sidelight("relations", table, "-k", 2, "--out", "results", "--overwrite")
    assert code == 0, err
    assert (tmp_path / "victim.txt").read_text() == "mine"


def test_a_failure_while_overwriting_leaves_the_old_run(sidelight, table, tmp_path, monkeypatch):
    sidelight("relations", table, "-k", 2, "--out", "results")
    before = {path.name: path.read_bytes() for path in (tmp_path / "results").iterdir()}

    def full(path, text):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(jobs_run, "write_text", full)
    code, out, err = sidelight("relations", table, "-k", 3, "--out", "results", "--overwrite")
    assert code == 1
    assert "No space left on device" in err
    assert "Traceback" not in out + err
    assert {path.name: path.read_bytes() for path in (tmp_path / "results").iterdir()} == before
    assert files(tmp_path) == {"table.csv", "results"}


def test_strange_output_folders_are_refused_in_one_message(sidelight, table, tmp_path):
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    for out in ("dangling", "file", "file/below", "n" * 300, ""):
        code, shown, err = sidelight("relations", table, "-k", 2, "--out", out)
        assert code in (1, 2)
        assert err.startswith(("sidelight: ", "Usage: "))
        assert "Traceback" not in shown + err
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    code, _, err = sidelight("relations", table, "-k", 2, "--out", "link")
    assert code == 0, err
    assert (tmp_path / "real" / "run.toml").exists()
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("axis", ["../../victim", "/tmp/victim", "assignments", "a$b$c", "run", "x" * 300])
def test_names_of_columns_never_name_files(sidelight, tmp_path, axis):
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    lines = "".join(f"u{i % 4},v{i % 3}\n" for i in range(24))
    (deep / "e.csv").write_text(f"user,{axis}\n{lines}")
    before = files(tmp_path)
    code, _, err = sidelight(
        "coclusters", deep / "e.csv", "--event", "user", "--event", axis, "-k", 2, "--out", deep / "r"
    )
    assert code == 0, err
    assert files(tmp_path) == before
    assert "axis2.csv" in files(deep / "r")
    with (deep / "r" / "assignments.csv").open() as handle:
        assert "user" in next(csv.reader(handle))
