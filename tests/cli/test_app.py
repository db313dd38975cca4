"""The command line: one clear message, the right exit code, and nothing half-written."""

from __future__ import annotations

import csv
import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time

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
        "assignments.csv", "assignments.parquet", "clusters.csv", "check.csv", "model.sidelight", "numbers.json",
        "report.html", "run.toml",
    }  # fmt: skip
    assert "40 rows fell into 2 clusters" in out
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


@pytest.mark.parametrize(
    ("error", "text"), [(MemoryError(), "out of memory"), (PermissionError(13, "Denied"), "Denied")]
)
def test_what_the_machine_cannot_do_is_one_message_and_code_1(sidelight, table, monkeypatch, error, text):
    def failing(job):
        raise error

    monkeypatch.setattr(jobs_run, "worker", failing)
    code, out, err = sidelight("relations", table, "-k", 2, "--out", "results")
    assert code == 1
    assert text in err
    assert err.count("\n") == 1
    assert "Traceback" not in out + err


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


def test_numbers_as_json(sidelight, table):
    code, out, err = sidelight("relations", table, "-k", 2, "--out", "results", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert told["folder"] == "results"
    assert sorted(told["result"]["sizes"]) == [20, 20]
    assert {column["name"] for column in told["result"]["reading"]["unused"]} >= {"note"}


def test_kept_columns_and_dropped_rows_join_to_the_file(sidelight, tmp_path):
    rows = [["a", "b", "when"], *([i, i % 2 * 9, f"t{i}"] for i in range(1, 21))]
    rows[3][0] = ""
    with (tmp_path / "t.csv").open("w", newline="") as handle:
        csv.writer(handle).writerows(rows)
    words = ("--missing", "drop", "--id", "none", "--keep", "when", "--keep", "b", "--label", "none", "--show", "none")
    code, out, err = sidelight("relations", "t.csv", "-k", 2, "--out", "results", *words)
    assert code == 0, err
    assert "1 of 20 rows has a gap in 'a', in line 4: left out." in out
    with (tmp_path / "results" / "assignments.csv").open() as handle:
        found = list(csv.DictReader(handle))
    assert [row["row"] for row in found] == [str(i) for i in range(1, 21) if i != 3]
    assert all(row["when"] == f"t{row['row']}" for row in found)


def test_a_column_called_like_ours_is_told_apart(sidelight, tmp_path):
    (tmp_path / "t.csv").write_text("cluster,a,b\n" + "".join(f"n{i},{i % 2 * 9},{i}\n" for i in range(20)))
    code, _, err = sidelight("relations", "t.csv", "-k", 2, "--id", "cluster", "--out", "results")
    assert code == 0, err
    with (tmp_path / "results" / "assignments.csv").open() as handle:
        assert next(csv.DictReader(handle))["your cluster"] == "n0"


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


def test_columns_that_look_like_numbers_but_are_not_used_are_named(sidelight, tmp_path):
    cells = [("15 kg", "1_000", "0x1f", i % 2 * 9, i) for i in range(20)]
    lines = ["rate,size,code,a,b", *(",".join(map(str, row)) for row in cells)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    code, out, err = sidelight("relations", "t.csv", "-k", 2, "--out", "results")
    assert code == 0, err
    for name in ("rate", "size", "code"):
        assert repr(name) in out
        assert f"<td>{name}</td>" in (tmp_path / "results" / "report.html").read_text()


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


def test_options_of_another_method_are_refused_with_advice(sidelight, table):
    code, _, err = sidelight("instances", table, "--bag", "photo", "-k", 3, "--out", "results")
    assert code == 2
    assert "--method spectral" in err


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


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_polite_kill_cleans_up_and_says_so(sidelight, table, tmp_path, monkeypatch, name):
    def killed(path, columns, **options):
        path.write_text("half")
        os.kill(os.getpid(), getattr(signal, name))
        time.sleep(5)

    monkeypatch.setattr(jobs_run, "write_csv", killed)
    before = files(tmp_path)
    code, _, err = sidelight("relations", table, "-k", 2, "--out", "results")
    assert code == 130
    assert "interrupted; nothing was written" in err
    assert files(tmp_path) == before


def test_a_full_device_for_the_summary_is_no_traceback(table, tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("this machine has no full device")
    words = [sys.executable, "-m", "sidelight", "sample"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr


def test_whatever_goes_wrong_is_one_message(sidelight, table, monkeypatch):
    def broken(job):
        raise NameError("name 'PyLazyFrame' is not defined")  # what polars says when memory ends while it is loaded

    monkeypatch.setattr(jobs_run, "worker", broken)
    code, _, err = sidelight("relations", table, "-k", 2, "--out", "results")
    assert code == 1
    assert err.count("\n") == 1
    assert "unexpected NameError" in err
    monkeypatch.setenv("SIDELIGHT_TRACEBACK", "1")
    monkeypatch.setattr(sys, "argv", ["sidelight", "relations", str(table), "-k", "2", "--out", "results"])
    with pytest.raises(NameError):
        run_app()


def test_a_full_disk_names_the_folder_that_was_asked_for(table, tmp_path):
    words = [sys.executable, "-m", "sidelight", "relations", str(table), "-k", "2", "--out", "results"]
    limits = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))}
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False, **limits)
    assert done.returncode == 1
    assert "Cannot write 'results': File too large" in done.stderr
    assert files(tmp_path) == {"table.csv"}


def test_a_closed_standard_output_is_no_traceback(tmp_path):
    words = f"{sys.executable} -m sidelight sample >&-"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_wrong_call_is_answered_before_anything_heavy_is_loaded(tmp_path):
    heavy = ("sklearn", "scipy", "numba", "polars", "matplotlib", "numpy")
    code = (
        "import sys, atexit; sys.argv = ['sidelight', 'relations', 'nowhere.csv', '-k', '2', '--out', 'r'];"
        f"atexit.register(lambda: print('LOADED', [m for m in {heavy!r} if m in sys.modules]));"
        "from sidelight.cli.app import run; run()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert "nowhere.csv" in done.stderr
    assert done.stdout.split()[1:] == ["[]"]


def test_an_interrupt_leaves_nothing_half_written(sidelight, table, tmp_path, monkeypatch):
    def interrupted(path, columns, **options):
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
    code, _, err = sidelight("relations", "same.csv", "-k", 2, "--out", "results", "--quiet")
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


@pytest.mark.parametrize("unit", [1e155, 1e300])
def test_huge_features_are_scaled_safely(sidelight, tmp_path, unit):
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(60, 2)) + np.repeat([0.0, 9.0], 30)[:, None]
    for name, factor in (("plain.csv", 1.0), ("huge.csv", unit)):
        (tmp_path / name).write_text("f1,f2\n" + "".join(f"{a * factor!r},{b}\n" for a, b in rows.tolist()))
        code, _, err = sidelight("relations", name, "-k", 2, "--out", name[:4], "--quiet")
        assert (code, err) == (0, "")
    texts = [(tmp_path / name / "clusters.csv").read_text() for name in ("plai", "huge")]
    tables = [list(csv.DictReader(text.splitlines())) for text in texts]
    known = [sorted((row["rows"], row["stands out by"]) for row in table) for table in tables]
    assert known[0] == known[1]


def test_labels_that_would_not_fit_are_refused_with_the_numbers(sidelight, tmp_path):
    rows = "".join(f"b{i // 4},l{i // 4},{i}.5\n" for i in range(400))
    (tmp_path / "bags.csv").write_text("bag,label,f\n" + rows)
    words = ("instances", "bags.csv", "--bag", "bag", "--label", "label", "--out", "out", "--max-memory")
    code, _, err = sidelight(*words, "1MB")
    assert code == 2
    assert "400 rows with a probability for each of 100 labels would take about 2.56 MB" in err
