"""describe, convert, sample and the bare command, as a newcomer meets them."""

from __future__ import annotations

import json
import shlex

import click
import numpy as np
import pytest
from click.testing import CliRunner

import sidelight as sl
from sidelight.app.cli.app import Commands, app, overview
from sidelight.data.dataset import Dataset


def run(*words):
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=True)
    if isinstance(done.exception, sl.SidelightError):
        return str(done.exception)
    assert done.exception is None, done.exception
    return done.stdout


@pytest.fixture
def birds(tmp_path):
    path = tmp_path / "my birds.csv"
    run("sample", "birds", path)
    return path


def test_describe_says_what_is_inside_and_why(birds):
    page = run("describe", birds)
    assert "120" in page
    assert "species" in page
    assert "Commands that fit" in page


def test_describe_json_is_one_object_with_commands(birds):
    found = json.loads(run("describe", birds, "--json"))
    assert found["facts"]["bags"] == 120
    assert {role["role"] for role in found["roles"]} == {"bag", "label", "feature"}
    assert found["commands"]


def test_a_plain_file_is_described_in_few_lines_and_a_warning_is_told_once(tmp_path):
    run("sample", "iris", tmp_path / "iris.csv")
    page = run("describe", tmp_path / "iris.csv", "--channel", "all=*l*")
    assert len([line for line in page.splitlines() if line.strip()]) <= 10
    names = [f"c{j}" for j in range(9)]
    rows = [["abc" if i == 5 else f"{i * j % 7}.5" for j in range(1, 10)] for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    assert run("describe", tmp_path / "t.csv").count("a run stops there") == 1


def test_describe_shows_the_rules_that_spoke_about_a_column(birds):
    said = run("describe", birds, "--why", "species")
    assert "label +6.0: its name" in said
    assert "taken for label" in said
    assert "no column 'specis'" in run("describe", birds, "--why", "specis")


def test_a_large_text_is_described_by_its_first_rows_and_counted_as_a_whole(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    rows = "".join(f"{i % 7}.5,{'' if i % 3 else i},{'ant' if i < 60 else 'bee'}\n" for i in range(900))
    path.write_text(f"a,b,species\n{rows}")
    whole = json.loads(run("describe", path, "--json"))
    monkeypatch.setattr("sidelight.app.jobs.large.LARGE", 1000)
    monkeypatch.setattr("sidelight.app.jobs.large.LOOKED_AT", 1000)
    found = json.loads(run("describe", path, "--json"))
    for fact in ("rows", "missing cells", "labelled rows", "rows with each label", "classes"):
        assert found["facts"][fact] == whole["facts"][fact]
    assert found["roles"] == whole["roles"]
    assert [c["command"] for c in found["commands"]] == [c["command"] for c in whole["commands"]]
    assert any("first rows" in warning for warning in found["warnings"])


@pytest.mark.parametrize("name", ["birds", "iris", "people", "visits"])
def test_every_suggested_command_is_accepted(tmp_path, name):
    path = tmp_path / f"a {name}.csv"
    run("sample", name, path)
    commands = Commands()
    lines = [c["command"] for c in json.loads(run("describe", path, "--json"))["commands"]]
    for line in lines:
        program, job, *words = shlex.split(line)
        command = commands.get_command(click.Context(commands), job)
        assert program == "sidelight"
        assert command is not None
        command.make_context(job, list(words)).close()


def test_bare_command_says_what_to_run():
    page = overview(click.Context(app))
    assert page.startswith("You have ...")
    assert "sidelight describe FILE" in page


def test_convert_keeps_bags_and_labels(birds, tmp_path):
    run("convert", birds, tmp_path / "birds.parquet")
    before, after = sl.read(birds), sl.read(tmp_path / "birds.parquet")
    assert dict(before.bags.labels) == dict(after.bags.labels)
    assert (before.X == after.X).all()


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "npz"])
@pytest.mark.parametrize("several", [True, False])
def test_an_empty_label_set_stays_empty_whatever_the_format(tmp_path, ending, several):
    labels = {"a": {"wren", "owl"} if several else {"wren"}, "b": set(), "c": {"owl"}}
    data = Dataset(np.arange(8.0).reshape(4, 2), ("f", "g"), bags=sl.Bags(["a", "a", "b", "c"], labels=labels))
    sl.write(data, tmp_path / f"first.{ending}")
    run("convert", tmp_path / f"first.{ending}", tmp_path / "second.csv")
    for path in (tmp_path / f"first.{ending}", tmp_path / "second.csv"):
        again = sl.read(path)
        assert again.bags.labels["b"] == frozenset()
        assert set(again.bags.classes) == {"wren", "owl"}


def test_nothing_is_overwritten_unasked(birds):
    assert "exists. Choose another name" in run("sample", "birds", birds)
    assert "Wrote" in run("sample", "birds", birds, "--overwrite")


def test_unknown_samples_and_endings_are_named(tmp_path):
    assert "Did you mean 'birds'" in run("sample", "brids", tmp_path / "a.csv")
    assert "ends with .csv" in run("sample", "birds", tmp_path / "a.xlsx")


def test_explicit_roles_reach_the_reader(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("grp,a,b,kind\n1,1,2,x\n1,3,4,y\n2,5,6,x\n")
    found = json.loads(run("describe", path, "--bag", "grp", "--label", "kind", "--ignore", "b", "--json"))
    assert found["facts"]["bags"] == 2
    assert {r["name"]: r["role"] for r in found["roles"]} == {
        "grp": "bag",
        "a": "feature",
        "b": "ignored",
        "kind": "label",
    }


def test_a_long_table_of_labels_gets_a_command_that_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"d{i},{tag}" for i in range(6) for tag in ("red", "big", "old")[: 1 + i % 3]]
    (tmp_path / "long.csv").write_text("\n".join(["item,tag", *lines, ""]))
    said = run("describe", "long.csv")
    (line,) = [line for line in said.splitlines() if line.strip().startswith("sidelight coclusters")]
    run(*shlex.split(line)[1:])
    assert (tmp_path / "results" / "report.html").exists()


def test_an_id_that_comes_back_is_no_feature(tmp_path):
    (tmp_path / "twice.csv").write_text("id,a,b\n1,0.5,2\n1,0.7,3\n2,0.1,4\n")
    assert sl.read(tmp_path / "twice.csv").feature_names == ("a", "b")


def test_a_log_gets_a_command_that_counts_what_occurs_together(tmp_path):
    lines = [f"2024-01-01 00:{i:02d},u{i % 7},p{i % 5},{'phone' if i % 2 else 'pc'}" for i in range(60)]
    table = tmp_path / "log.csv"
    table.write_text("\n".join(["timestamp,user,page,device", *lines]))
    assert f"sidelight coclusters {table} --event user --event page --out results" in run("describe", table)


def test_a_log_with_a_line_of_totals_gets_a_command_that_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"2024-01-01 00:{i:02d},u{i % 7},p{i % 5}" for i in range(60)]
    (tmp_path / "log.csv").write_text("\n".join(["timestamp,user,page", *lines, "60,Total,"]))
    (line,) = [line for line in run("describe", "log.csv").splitlines() if "sidelight coclusters" in line]
    assert "--missing drop" in line
    run(*shlex.split(line)[1:])
