"""What is public is documented; what is documented exists."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import click
import pytest
from sklearn.base import BaseEstimator

import sidelight as sl
from sidelight.app.cli.app import app

ROOT = Path(__file__).parents[1]
REFERENCE = "\n".join(path.read_text() for path in (ROOT / "docs" / "reference").glob("*.md"))
PUBLIC = [name for name in sl.__all__ if not name.startswith("__")]
CLASSES = [getattr(sl, name) for name in PUBLIC if inspect.isclass(getattr(sl, name))]
CALLABLES = [getattr(sl, name) for name in PUBLIC if inspect.isroutine(getattr(sl, name))]
COMMANDS = app.list_commands(click.Context(app))


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_in_the_reference(name):
    assert re.search(rf"sidelight\.{name}\b", REFERENCE), f"add sidelight.{name} to docs/reference/index.md"


@pytest.mark.parametrize("room", ["metrics", "plot"])
def test_every_judge_and_every_display_is_in_the_reference(room):
    public = import_module(f"sidelight.{room}").__all__
    missing = [f"   sidelight.{room}.{name}" for name in public if f"   sidelight.{room}.{name}\n" not in REFERENCE]
    section = {"metrics": "Metrics", "plot": "Displays"}[room]
    assert not missing, f"add to the section {section!r} of docs/reference/index.md:\n" + "\n".join(missing)


def test_the_stub_names_what_the_package_has():
    stub = (ROOT / "src" / "sidelight" / "__init__.pyi").read_text()
    missing = [name for name in PUBLIC if not re.search(rf"(\bas {name}\b|def {name}\b)", stub)]
    assert missing == []


@pytest.mark.parametrize("thing", CLASSES + CALLABLES, ids=lambda thing: thing.__name__)
def test_every_parameter_is_described(thing):
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        pytest.skip("exceptions are described in the tree")
    text = inspect.getdoc(thing) or ""
    for name, parameter in inspect.signature(thing).parameters.items():
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            assert re.search(rf"^[\w*, ]*\b{name}\b[\w*, ]* ?:", text, re.MULTILINE), f"{thing.__name__}: {name}"


def documented():
    """Return everything public that can be called, wherever it is imported from."""
    rooms = ("data", "estimators", "peers", "active", "metrics", "plot")
    found = {id(thing): thing for thing in CLASSES + CALLABLES}
    for room in rooms:
        module = import_module(f"sidelight.{room}")
        found |= {id(getattr(module, name)): getattr(module, name) for name in getattr(module, "__all__", ())}
    return [thing for thing in found.values() if callable(thing) and inspect.getdoc(thing)]


@pytest.mark.parametrize("thing", documented(), ids=lambda thing: thing.__name__)
def test_the_default_that_is_described_is_the_default(thing):
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return
    text = inspect.getdoc(thing)
    for name, parameter in inspect.signature(thing).parameters.items():
        said = re.search(rf"^[\w*, ]*\b{name}\b[\w*, ]* ?:.*?\bdefault=([^\n]+)$", text, re.MULTILINE)
        if said and parameter.default is not parameter.empty:
            assert ast.literal_eval(said[1].strip()) == parameter.default, f"{thing.__name__}: {name}"


@pytest.mark.parametrize("thing", CLASSES, ids=lambda thing: thing.__name__)
def test_an_estimator_says_what_it_computes_and_what_else_there_is(thing):
    """Those that choose parameters, and the one that only prepares rows, speak through the estimator inside."""
    if not issubclass(thing, BaseEstimator) or thing.__name__.endswith("CV") or thing.__name__ == "Standardized":
        return
    text = inspect.getdoc(thing)
    assert "\nSee Also\n--------\n" in text
    assert re.search(r"\nNotes\n-----\n.*(\.\. math::|:math:)", text, re.DOTALL)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_has_help(command):
    found = app.get_command(click.Context(app), command)
    assert found.help
    assert found.short_help
    for parameter in found.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{command} {parameter.opts}"


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_paths_named_on_the_front_pages_exist(page):
    text = (ROOT / page).read_text()
    for path in re.findall(r"`((?:src|docs|tests|benchmarks|examples|changelog\.d)/[\w./*<>-]+)`", text):
        if not set(path) & set("*<>"):
            assert (ROOT / path).exists(), f"{page} names {path}"


def test_every_room_says_what_belongs_there():
    for room in (ROOT / "src" / "sidelight").iterdir():
        if room.is_dir() and room.name != "__pycache__":
            assert (room / "__init__.py").read_text().startswith('"""'), room.name


def test_every_error_has_a_code_of_its_own_and_a_line_in_the_docs():
    from sidelight import errors

    kinds = [kind for kind in vars(errors).values() if inspect.isclass(kind) and hasattr(kind, "code")]
    assert len({kind.code for kind in kinds}) == len(kinds) > 20
    page = (ROOT / "docs" / "reference" / "errors.md").read_text()
    assert [kind.__name__ for kind in kinds if f"| {kind.code} | `{kind.__name__}` |" not in page] == []


def test_every_peer_is_in_their_chapter():
    from sidelight import peers

    page = (ROOT / "docs" / "reference" / "peers.md").read_text()
    assert [name for name in peers.__all__ if f"   sidelight.peers.{name}\n" not in page] == []
