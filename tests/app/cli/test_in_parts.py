"""`sidelight instances 'rows/*.parquet'`: the same page from parts, assignments as a folder of Parquet files."""

from __future__ import annotations

import json
import shlex

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.examples import but_slow

import sidelight as sl
from sidelight._models.passes import OneLook
from sidelight.app.cli.app import app
from sidelight.app.cli.options import as_flag
from sidelight.app.jobs.relations import work as relations_work
from sidelight.data import parts as parts_module
from sidelight.data import spill as spill_module
from sidelight.errors import ClusterGone, InvalidParameter
from sidelight.estimators.relations import discriminative

N_BAGS, SIZE = 120, 6


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.setattr(parts_module, "BLOCK", 64)
    monkeypatch.setattr(parts_module, "BLOCKS", 4)
    monkeypatch.setattr(spill_module, "BLOCK", 64)
    monkeypatch.setattr(spill_module, "BLOCKS", 4)
    generator = np.random.default_rng(0)
    kinds = np.argsort(generator.random((N_BAGS, 3)), axis=1)[:, :2]
    y = np.take_along_axis(kinds, np.tile([0, 1, 0, 1, 0, 1], (N_BAGS, 1)), 1).ravel()
    X = np.array([[0, 0, 4], [4, 0, 0], [0, 4, 0]])[y] + generator.normal(size=(len(y), 3))
    species = np.array(["wren", "owl", "jay"])
    lists = ["|".join(sorted(species[pair])) for pair in kinds]
    frame = pl.DataFrame({f"f{j}": X[:, j] * 10**j for j in range(3)}).with_columns(
        pl.Series("recording", np.repeat([f"r{b:03d}" for b in range(N_BAGS)], SIZE)),
        pl.Series("species", np.repeat(lists, SIZE)),
        pl.Series("n", np.arange(len(y))),
    )
    (tmp_path / "rows").mkdir()
    for number in range(4):
        frame[number * 180 : (number + 1) * 180].write_parquet(tmp_path / "rows" / f"{number}.parquet")
    return tmp_path / "rows", frame, species[y]


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


COLUMNS = ("--bag", "recording", "--label", "species", "--ignore", "n")


def test_a_pattern_becomes_a_page_and_a_folder_of_assignments(rows, tmp_path):
    folder, frame, truth = rows
    out = tmp_path / "out"
    run = call("instances", f"{folder}/*.parquet", *COLUMNS, "--engine", "disk", "--scratch", tmp_path, "--out", out)
    assert run.exit_code == 0, run.output
    names = sorted(path.name for path in out.iterdir())
    assert "assignments" in names
    assert "assignments.csv" not in names
    found = pl.read_parquet(out / "assignments" / "*.parquet")
    assert len(list((out / "assignments").iterdir())) == 3
    assert found["row"].to_list() == list(range(1, len(frame) + 1))
    assert found["bag"].to_list() == frame["recording"].to_list()
    assert np.mean(found["label"].to_numpy() == truth) > 0.95
    numbers = json.loads((out / "numbers.json").read_text())
    assert numbers["n_bags"] == N_BAGS
    assert numbers["moved"]["n_rows"] == len(frame)
    assert sum(numbers["contents"]["sizes"]) == len(frame)
    page = (out / "report.html").read_text()
    assert "folder assignments" in page
    assert "drawn by a hash" not in page  # the sample is all rows
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "rows"]  # nothing of ours is left
    model = sl.load(out / "model.sidelight")
    assert (
        model.predict_labels(frame.select("f0", "f1", "f2").to_numpy()).tolist() == found["by_features_alone"].to_list()
    )
    again = call("run", out / "run.toml", "--out", tmp_path / "again")
    assert again.exit_code == 0, again.output
    same = pl.read_parquet(tmp_path / "again" / "assignments" / "*.parquet")
    assert same.equals(found)


@pytest.mark.slow
def test_one_table_and_parts_of_it_agree(rows, tmp_path):
    folder, frame, _ = rows
    frame.write_parquet(tmp_path / "all.parquet")
    whole = call("instances", tmp_path / "all.parquet", *COLUMNS, "--boundary", "straight", "--out", tmp_path / "a")
    parts = call("instances", f"{folder}/*.parquet", *COLUMNS, "--boundary", "straight", "--out", tmp_path / "b")
    assert (whole.exit_code, parts.exit_code) == (0, 0), whole.output + parts.output
    one = pl.read_parquet(tmp_path / "a" / "assignments.parquet")
    many = pl.read_parquet(tmp_path / "b" / "assignments" / "*.parquet")
    assert (one["label"] == many["label"]).mean() > 0.99
    figures = [json.loads((tmp_path / name / "numbers.json").read_text()) for name in "ab"]
    for name in ("n_bags", "n_labelled", "n_labels", "n_clusters_used", "n_novel_used"):
        assert figures[0][name] == figures[1][name], name
    assert figures[0]["share_sure"] == pytest.approx(figures[1]["share_sure"], abs=0.02)


@pytest.mark.slow
def test_bags_that_lie_apart_are_brought_together(rows, tmp_path):
    _, frame, truth = rows
    order = np.random.default_rng(0).permutation(len(frame))
    (tmp_path / "mixed").mkdir()
    mixed = frame[order.tolist()]
    mixed[:300].write_parquet(tmp_path / "mixed" / "0.parquet")
    mixed[300:].write_parquet(tmp_path / "mixed" / "1.parquet")
    run = call("instances", f"{tmp_path}/mixed/*.parquet", *COLUMNS, "--out", tmp_path / "out")
    assert run.exit_code == 0, run.output
    found = pl.read_parquet(tmp_path / "out" / "assignments" / "*.parquet").sort("row")
    assert found["row"].to_list() == list(range(1, len(frame) + 1))
    assert found["bag"].to_list() == mixed["recording"].to_list()
    assert np.mean(found["label"].to_numpy() == truth[order]) > 0.95


@pytest.mark.slow
def test_predict_and_score_take_a_pattern(rows, tmp_path):
    folder, frame, truth = rows
    assert call("instances", f"{folder}/*.parquet", *COLUMNS, "--out", tmp_path / "run").exit_code == 0
    run = call("predict", tmp_path / "run", f"{folder}/*.parquet", "--out", tmp_path / "new")
    assert run.exit_code == 0, run.output
    found = pl.read_parquet(tmp_path / "new" / "assignments" / "*.parquet")
    pl.DataFrame({"kind": truth}).write_csv(tmp_path / "truth.csv")
    by_name = f"{tmp_path}/run/assignments/*.parquet"
    for assigned in (tmp_path / "run", tmp_path / "run" / "assignments", by_name, tmp_path / "new"):
        judged = call("score", assigned, tmp_path / "truth.csv", "--json")
        assert judged.exit_code == 0, judged.output
        assert json.loads(judged.stdout)["n_only_true"] == 0
    assert len(found) == len(frame)
    assert np.mean(found["label"].to_numpy() == truth) > 0.95


PARTS = "rows/*.parquet"
REFUSED = [
    (PARTS, ("instances", "--bag", "recording"), "Name the columns of bags and labels: --bag and --label"),
    (PARTS, ("instances", *COLUMNS, "--rows", "known"), "Leave --rows out"),
    (PARTS, ("instances", *COLUMNS, "--missing-word", "x"), "Leave --missing-word out"),
    (PARTS, ("instances", *COLUMNS, "--missing", "drop"), "where missing cannot be told"),
    (PARTS, ("instances", *COLUMNS, "--id", "nn"), "no column 'nn'"),
    (PARTS, ("instances", *COLUMNS, "--engine", "dask"), "address of its scheduler: --scheduler"),
    (PARTS, ("instances", *COLUMNS, "--memory", "much"), "must be a size"),
    (PARTS, ("bags", "--bag", "recording", "--method", "margin"), "the method margin of bags reads one table"),
    (PARTS, ("relations", "--method", "itml"), "the method itml of relations reads one table"),
    (PARTS, ("hierarchy",), "Name the column of labels"),
    (PARTS, ("hierarchy", "--label", "species", "--bag", "recording"), "labels of rows, and 'recording' names bags"),
    (PARTS, ("bags",), "Name the column of bags"),
    (PARTS, ("sources", "--sequence", "recording"), "at least two channels"),
    (PARTS, ("sources", "--channel", "a=f0", "--channel", "b=g*"), "no column 'g*'"),
    (PARTS, ("sources", "--channel", "a=f0", "--channel", "b=f1", "--judge", "pyproject.toml"), "Leave --judge"),
    (PARTS, ("coclusters", "--event", "recording"), "nothing about its columns is guessed"),
    (PARTS, ("coclusters", "--truth", "species"), "where truth cannot be told"),
    ("*.parquet", ("instances", *COLUMNS), "no file has such a name"),
    ("rows/*", ("instances", *COLUMNS), "notes.txt: this is no Parquet file"),
]


@pytest.mark.parametrize(("pattern", "arguments", "words"), REFUSED)
def test_what_parts_lack_or_cannot_be_told_is_named(rows, tmp_path, pattern, arguments, words):
    (rows[0] / "notes.txt").write_text("about the rows")
    job, *options = arguments
    run = call(job, tmp_path / pattern, *options, "--out", tmp_path / "out")
    assert run.exit_code != 0
    assert words in (run.exception.told(as_flag) if hasattr(run.exception, "told") else run.output)
    assert not (tmp_path / "out").exists()


@pytest.fixture
def events(tmp_path):
    generator = np.random.default_rng(0)
    kind = generator.integers(0, 3, 900)
    frame = pl.DataFrame({"who": kind * 4 + generator.integers(0, 4, 900), "what": kind * 3 + kind % 2})
    (tmp_path / "events").mkdir()
    for number in range(3):
        frame[300 * number : 300 * (number + 1)].write_parquet(tmp_path / "events" / f"{number}.parquet")
    frame.write_parquet(tmp_path / "all.parquet")
    return tmp_path


def test_events_of_a_pattern_are_coclustered_as_those_of_one_table(events):
    columns = ("--event", "who", "--event", "what", "--clusters", "3")
    for table, out in ((events / "events" / "*.parquet", "parts"), (events / "all.parquet", "whole")):
        run = call("coclusters", table, *columns, "--out", events / out)
        assert run.exit_code == 0, run.output
    parts, whole = (pl.read_csv(events / out / "assignments.csv") for out in ("parts", "whole"))
    assert parts.equals(whole)


JOBS = {
    "bags": ("bags", "--bag", "recording", "--clusters", "3"),
    "spectral": ("instances", "--method", "spectral", "--bag", "recording", "--label", "species"),
    "relations": ("relations", "--clusters", "3", "--ignore", "recording"),
    "hierarchy": ("hierarchy", "--label", "species"),
    "sources": (
        "sources",
        "--channel",
        "low=f0",
        "--channel",
        "high=f1,f2",
        "--sequence",
        "recording",
        "--clusters",
        "3",
    ),
    "coverage": ("instances", "--bag", "recording", "--label", "species", "--boundary", "straight"),
}


@pytest.mark.parametrize("job", but_slow(JOBS, "relations"))
def test_every_job_of_parts_writes_all_rows_and_the_page_of_a_table(rows, tmp_path, job):
    folder, frame, truth = rows
    name, *options = JOBS[job]
    frame.write_parquet(tmp_path / "all.parquet")
    extra = ("--id", "n", "--truth", "kind") if job != "hierarchy" else ("--id", "n", "--ignore", "kind")
    for number in range(4):
        path = folder / f"{number}.parquet"
        pl.read_parquet(path).with_columns(kind=truth[180 * number : 180 * (number + 1)]).write_parquet(path)
    run = call(name, f"{folder}/*.parquet", *options, *extra, "--scratch", tmp_path, "--out", tmp_path / "out")
    assert run.exit_code == 0, run.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.parquet", "out", "rows"]
    found = pl.read_parquet(tmp_path / "out" / "assignments" / "*.parquet")
    assert found["row"].to_list() == list(range(1, len(frame) + 1))
    assert found["n"].to_list() == [str(k) for k in range(len(frame))]
    numbers = json.loads((tmp_path / "out" / "numbers.json").read_text())
    assert numbers["reading"]["n_rows"] == len(frame)
    if "sizes" in numbers:
        assert sum(numbers["sizes"]) == (N_BAGS if job == "bags" else len(frame))
    page = (tmp_path / "out" / "report.html").read_text()
    assert "folder assignments" in page
    again = call("predict", tmp_path / "out", f"{folder}/*.parquet", "--out", tmp_path / "new")
    assert again.exit_code == 0, again.output
    placed = pl.read_parquet(tmp_path / "new" / "assignments" / "*.parquet")
    judged = "labels" if job == "hierarchy" else "cluster"
    assert placed[judged].to_list() == found[judged].to_list()


@pytest.mark.slow
def test_rows_with_answers_are_learnt_from_wherever_they_are(rows, tmp_path, monkeypatch):
    folder, frame, truth = rows
    for module in (discriminative, relations_work):
        monkeypatch.setattr(module, "MOST_ROWS", 100)
    pairs = [(1, 720, truth[0] == truth[719]), (300, 301, truth[299] == truth[300])]
    lines = [f"{a},{b},{'same' if same else 'different'}" for a, b, same in pairs]
    (tmp_path / "pairs.csv").write_text("\n".join(["left,right,answer", *lines]) + "\n")
    options = ("--clusters", "3", "--ignore", "n", "--pairs", tmp_path / "pairs.csv")
    run = call("relations", f"{folder}/*.parquet", *options, "--out", tmp_path / "out")
    assert run.exit_code == 0, run.output
    numbers = json.loads((tmp_path / "out" / "numbers.json").read_text())
    assert numbers["n_pairs"] == 2
    assert f"learnt from {numbers['n_shown']} rows drawn by a hash" in (tmp_path / "out" / "report.html").read_text()
    assert 50 < numbers["n_shown"] < 250
    assert sum(numbers["sizes"]) == len(frame)


@pytest.mark.parametrize(
    "job", [("instances", *COLUMNS), ("relations", "--ignore", "n", "--ignore", "recording", "--ignore", "species")]
)
@pytest.mark.parametrize("where", [(), ("--scratch",)])
def test_a_cluster_that_was_asked_for_is_used_or_refused(rows, tmp_path, job, where, monkeypatch):
    """Without --scratch the rows were placed by this process, and run.toml spoke of Dask."""
    monkeypatch.setattr("sidelight._models.on_dask.CONNECT", 0.5)
    folder, _, _ = rows
    where = (*where, tmp_path) if where else ()
    cluster = ("--engine", "dask", "--scheduler", "tcp://127.0.0.1:9", *where, "--out", tmp_path / "out")
    run = call(job[0], f"{folder}/*.parquet", *job[1:], *cluster)
    assert isinstance(run.exception, ClusterGone if where else InvalidParameter), run.output
    assert where or "Name a folder that all workers and this machine see: scratch" in str(run.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("engine", but_slow(["memory", "disk"], "disk"))
def test_names_and_other_columns_go_with_rows_whose_bags_lie_apart(rows, tmp_path, engine):
    folder, frame, _ = rows
    named = frame.with_columns(
        pl.Series("name", [f"row «{i}»\n" for i in range(len(frame))]), pl.Series("kept", range(len(frame)))
    )
    apart = named.sort("f0")
    for path in folder.iterdir():
        path.unlink()
    apart[:300].write_parquet(folder / "0.parquet")
    apart[300:].write_parquet(folder / "1.parquet")
    columns = ("--id", "name", "--keep", "kept", "--ignore", "n", "--engine", engine)
    run = call("instances", f"{folder}/*.parquet", *COLUMNS, *columns, "--out", tmp_path / "o")
    assert run.exit_code == 0, run.output
    found = pl.read_parquet(tmp_path / "o" / "assignments" / "*.parquet").sort("row")
    assert found["row"].to_list() == list(range(1, len(frame) + 1))
    assert found["name"].to_list() == apart["name"].to_list()
    assert found["kept"].cast(pl.Int64).to_list() == apart["kept"].to_list()
    assert found["bag"].to_list() == apart["recording"].to_list()


@pytest.mark.slow
def test_describe_takes_a_pattern_and_suggests_commands_that_work(rows, tmp_path, monkeypatch):
    assert rows[0] == tmp_path / "rows"
    monkeypatch.chdir(tmp_path)
    said = call("describe", "rows/*.parquet", "--json")
    assert said.exit_code == 0, said.output
    content = json.loads(said.stdout)
    assert content["facts"]["files"] == 4
    assert content["facts"]["rows in all files"] == 720
    lines = [one["command"] for one in content["commands"]]
    assert any(line.startswith("sidelight instances 'rows/*.parquet'") for line in lines)
    for line in lines[:2]:
        _, *words = shlex.split(line)
        run = call(*words, "--overwrite")
        assert run.exit_code == 0, f"{line}: {run.output} {run.exception}"


@pytest.mark.slow
def test_a_cluster_reads_places_and_writes(rows, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    folder, frame, _ = rows
    monkeypatch.setattr(OneLook, "over", lambda self, parts: pytest.fail("the rows were read by this process"))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as local:
        where = ("--engine", "dask", "--scheduler", local.scheduler_address, "--scratch", tmp_path)
        options = (*COLUMNS, "--boundary", "straight", *where, "--out", tmp_path / "out")
        run = call("instances", f"{folder}/*.parquet", *options)
        assert run.exit_code == 0, f"{run.output} {run.exception}"
        again = call("predict", tmp_path / "out", f"{folder}/*.parquet", *where, "--out", tmp_path / "new")
        assert again.exit_code == 0, f"{again.output} {again.exception}"
    found, placed = (
        pl.read_parquet(tmp_path / name / "assignments" / "*.parquet").sort("row") for name in ("out", "new")
    )
    assert found["row"].to_list() == list(range(1, len(frame) + 1))
    assert placed["label"].to_list() == found["label"].to_list()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "out", "rows"]
