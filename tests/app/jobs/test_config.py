"""Runs as TOML files: what is written is read back, and what does not fit is refused by name."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import up_to

from sidelight.app.jobs.catalogue import JOBS
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.job import _always
from sidelight.app.jobs.options import fields_of
from sidelight.app.jobs.roles import Roles
from sidelight.errors import InvalidParameter, SidelightError

text = st.text(st.characters(exclude_categories=["Cs"]))
columns = st.lists(text, max_size=3)
roles = st.fixed_dictionaries(
    {},
    optional={
        "id": text | st.just(False),
        "label": columns.filter(bool),
        "features": columns,
        "channels": st.dictionaries(text, columns),
    },
)


@given(roles=roles, penalty=st.floats(0, 1e9), seed=st.integers(0, 2**32 - 1), table=text.filter(bool))
def test_write_then_read_is_identity(tmp_path_factory, roles, penalty, seed, table):
    config = RunConfig("relations", table, roles, {"n_clusters": 3, "penalty": penalty}, seed)
    path = tmp_path_factory.mktemp("run") / "run.toml"
    path.write_text(config.to_toml(files=["a.csv"], versions={"x": "1"}), encoding="utf-8")
    found = RunConfig.from_toml(path)
    assert found.table in (table, os.path.normpath(path.parent / table))  # seen from where the run.toml lies
    assert RunConfig("relations", table, found.roles, found.options, found.seed) == config


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('job = "relations"\ntable = "x"\nsede = 1', "Did you mean 'seed'"),
        ('job = "relation"\ntable = "x"', "Did you mean 'relations'"),
        ('job = "relations"\ntable = "x"\n[options]\nn_clusters = "3"', "n_clusters takes a whole number from 1 on"),
        ('job = "relations"\ntable = "x"\n[options]\nn_cluster = 3', "Did you mean 'n_clusters'"),
        ('job = "relations"\ntable = "x"\n[options]\nn_clusters = "many"', "a whole number from 1 on or 'auto'"),
        ('job = "relations"\ntable = "x"\nseed = -1\n[options]\nn_clusters = 3', "seed of a run is a whole number"),
        ('job = "relations"\ntable = 7', "must say table"),
        ('job = "relations"\ntable = "x"\noptions = 3', "names and values"),
        ('job = "relations"\ntable = "x"\n[roles]\nid = true\n[options]\nn_clusters = 3', "id takes a column"),
        ('job = "instances"\ntable = "x"\n[options]\nalpha = 1.0', "alpha is an option of the method 'spectral'"),
        ('job = "instances"\ntable = "x"\n[options]\nmethod = ["coverage"]', "There is no method"),
        ("job = ", "is not a TOML file"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(tmp_path, content, message):
    path = tmp_path / "run.toml"
    path.write_text(content)
    with pytest.raises(SidelightError, match=r"run\.toml") as caught:
        RunConfig.from_toml(path)
    assert message in str(caught.value)


def test_an_older_name_of_a_job_is_understood():
    config = RunConfig("coverage", "x.csv", {}, {"n_novel": 1})
    assert (config.job, config.options.method, config.options.n_novel) == ("instances", "coverage", 1)


def test_damaged_run_files_are_read_or_refused(tmp_path):
    whole = RunConfig("instances", "x.csv", {"bag": "b", "channels": {"a": ["x"]}}, {"n_novel": 1}).to_toml(files=["a"])
    generator = random.Random(0)
    path, n_refused = tmp_path / "run.toml", 0
    values = [
        "true",
        "[]",
        "{}",
        "-1",
        "1e400",
        "nan",
        '"\\u0000"',
        "[[1]]",
        "1979-05-27",
        "{a = {b = 1}}",
        '""',
        "0x7f",
    ]
    for _ in range(up_to(2000)):
        lines = whole.splitlines()
        kind = generator.randrange(4)
        at = generator.randrange(len(lines))
        if kind == 0:
            lines[at] = lines[at].split("=")[0] + "= " + generator.choice(values)
        elif kind == 1:
            del lines[at]
        elif kind == 2:
            lines.insert(
                at, generator.choice(["job = 3", "[options]", "[roles.id]", "x = 1", "table.x = 1", "[[files]]"])
            )
        damaged = "\n".join(lines).encode()
        if kind == 3:
            spot = generator.randrange(len(damaged))
            damaged = damaged[:spot] + bytes([generator.randrange(256)]) + damaged[spot + 1 :]
        path.write_bytes(damaged)
        try:
            RunConfig.from_toml(path)
        except SidelightError:
            n_refused += 1
    assert n_refused > up_to(2000) / 4  # most of the damage is seen


MODELS = [
    ("roles", Roles),
    *((f"{job} {method}", model) for job, entry in JOBS.items() for method, model in entry.models.items()),
]


@pytest.mark.parametrize(("name", "model"), MODELS, ids=[name for name, _ in MODELS])
def test_every_option_is_described_and_every_default_fits_its_type(name, model):
    for field in fields_of(model):
        assert field.text.endswith((".", ")", "...")), field.name
        assert field.expected
        if field.default is not None:
            assert field.takes(msgspec.to_builtins(field.default)) == field.default


def test_no_flag_is_written_outside_the_command_line():
    import re

    root = Path(__file__).parents[3] / "src" / "sidelight"
    flags = {
        f"{path.relative_to(root)}:{number}: {line.strip()}"
        for path in root.rglob("*.py")
        if "cli" not in path.relative_to(root).parts
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if re.search(r"(?<![-\w])--[a-z][a-z-]+", line)
    }
    assert not flags


RETIRED_OPTIONS = [
    (job.name, name, estimator) for job in JOBS.values() for estimator, names in job.retired.items() for name in names
]


@pytest.mark.parametrize(("job", "name", "estimator"), RETIRED_OPTIONS)
def test_a_retired_option_is_taken_where_it_says_what_is_so_anyway(tmp_path, job, name, estimator):
    value, _ = _always(estimator, name)
    path = tmp_path / "run.toml"
    path.write_text(f'job = "{job}"\ntable = "t.csv"\n[options]\n{name} = {json.dumps(value)}\n')
    assert name not in RunConfig.from_toml(path).options.settings()
    path.write_text(f'job = "{job}"\ntable = "t.csv"\n[options]\n{name} = "else"\n')
    with pytest.raises(InvalidParameter, match=f"{name} is no option of {job} any more: it is"):
        RunConfig.from_toml(path)


def test_retired_options_are_no_options_of_their_job():
    for job, name, _ in RETIRED_OPTIONS:
        assert name not in {field.name for model in JOBS[job].models.values() for field in fields_of(model)}


def test_a_path_in_a_run_is_looked_for_beside_the_run_before_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    for folder in (tmp_path, tmp_path / "run"):
        for name in ("t.csv", "check.csv"):
            (folder / name).write_text("a,b\n1,2\n")
    path = tmp_path / "run" / "run.toml"
    path.write_text('job = "instances"\ntable = "t.csv"\n[options]\ncorrections = "check.csv"\n')
    monkeypatch.chdir(tmp_path)
    found = RunConfig.from_toml(path)
    assert Path(found.table) == tmp_path / "run" / "t.csv"
    assert Path(found.options.corrections) == tmp_path / "run" / "check.csv"
    (tmp_path / "run" / "t.csv").unlink()
    assert RunConfig.from_toml(path).table == "t.csv"  # runs of 0.1 were seen from the working folder
