"""Every option of every job is set through the command line, and is then in run.toml."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest
from tests.examples import but_slow

import sidelight.app.jobs.run as running
from sidelight.app.cli.options import as_flag
from sidelight.app.jobs.catalogue import JOBS
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.options import Kind, fields_of
from sidelight.app.jobs.roles import Roles

# What is typed after the option, and what is kept: each differs from every default.
TYPED = {
    Kind.WHOLE: (["7"], 7),
    Kind.NUMBER: (["0.25"], 0.25),
    Kind.TEXT: (["word"], "word"),
    Kind.MARK: (["tab"], "\t"),
    Kind.PATH: (["beside.csv"], "beside.csv"),
    Kind.COLUMN: (["a column"], "a column"),
    Kind.COLUMNS: (["f*", "g"], ["f*", "g"]),
    Kind.CHANNELS: (["face=f*,nose", "voice=v"], {"face": ["f*", "nose"], "voice": ["v"]}),
    Kind.WHOLES: (["3,4"], [3, 4]),
    Kind.COUNTS: (["wren=2,owl=3"], {"wren": 2, "owl": 3}),
    Kind.RANGE: (["2:5"], (2, 5)),
}
EVERY = [
    (job, method, field.name)
    for job, entry in JOBS.items()
    for method, model in entry.models.items()
    for field in (*fields_of(model), *fields_of(Roles))
    if method == next(iter(entry.methods)) or field not in fields_of(Roles)
]
OF_FIRST_METHODS = [line for line in EVERY if line[1] == next(iter(JOBS[line[0]].methods))]


def typed(field):
    """Return the words of a value that is not the default, and the value."""
    if field.kind is Kind.FLAG:
        return ([f"--no-{field.word}"], False) if field.default else ([f"--{field.word}"], True)
    if field.kind is Kind.CHOICE:
        word = next((word for word in field.choices if word != field.default), field.default)
        return [f"--{field.word}", word], word
    words, value = TYPED[field.kind]
    return [part for word in words for part in (f"--{field.word}", word)], value


@pytest.fixture
def configured(sidelight, monkeypatch):
    """Call a command, and return the run it asks for instead of running it."""
    found = []
    monkeypatch.setattr(running, "run", lambda config, *rest, **how: found.append(config))

    def call(*words):
        found.clear()
        _, _, err = sidelight(*words, "--quiet")
        assert found, err
        return found[0]

    return call


@pytest.mark.parametrize(("job", "method", "name"), but_slow(EVERY, *OF_FIRST_METHODS))
def test_an_option_that_is_typed_is_in_the_run_and_in_its_command(configured, tmp_path, job, method, name):
    model = JOBS[job].models[method]
    field = next(field for field in (*fields_of(model), *fields_of(Roles)) if field.name == name)
    words, value = typed(field)
    chosen = [] if name == "method" or len(JOBS[job].models) == 1 else ["--method", method]
    if name == "method" and len(JOBS[job].models) > 1:
        words, value = ["--method", method], method
    # An option that follows must not be swallowed, which is what befell --out after a flag.
    config = configured(job, "t.csv", *chosen, *words, "--out", "results")
    told = tomllib.loads(config.to_toml())
    kept = told["options" if field in fields_of(model) else "roles"][name]
    assert (tuple(kept) if isinstance(value, tuple) else kept) == value
    if name != "method":
        assert value != field.default
    again = shlex.split(running.command_of(config, as_flag))
    assert configured(*again[1:], "--out", "results") == config


def models():
    return [("roles", Roles), *((job, model) for job, entry in JOBS.items() for model in entry.models.values())]


def test_every_option_that_names_a_file_is_a_path():
    """Such an option follows the run.toml when it moves; whoever forgets the kind is told here."""
    said = {field.name for _, model in models() for field in fields_of(model) if field.kind is Kind.PATH}
    assert said == {"label_file", "judge", "tree", "pairs", "triplets", "placements", "corrections", "scratch"}


def test_paths_in_a_run_are_seen_from_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("t.csv", "pairs.csv", "labels.csv"):
        Path(name).write_text("a\n1\n", encoding="utf-8")
    config = RunConfig("relations", "t.csv", {"label_file": "labels.csv"}, {"pairs": "pairs.csv"})
    Path("out").mkdir()
    Path("out/run.toml").write_text(config.to_toml(beside=Path("out")), encoding="utf-8")
    kept = tomllib.loads(Path("out/run.toml").read_text(encoding="utf-8"))
    assert (kept["table"], kept["roles"]["label_file"], kept["options"]["pairs"]) == (
        "../t.csv", "../labels.csv", "../pairs.csv",
    )  # fmt: skip
    assert RunConfig.from_toml("out/run.toml") == config


def test_a_flag_takes_nothing_from_the_option_after_it(sidelight, table, tmp_path):
    code, _, err = sidelight("relations", table, "-k", 2, "--id", "photo", "--disarm", "--out", "results")
    assert code == 0, err
    assert tomllib.loads((tmp_path / "results" / "run.toml").read_text())["roles"]["disarm"] is True
