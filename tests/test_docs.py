"""What is public is documented; what is documented exists."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import click
import pytest

import sidelight as sl

ROOT = Path(__file__).parents[1]
REFERENCE = "\n".join(path.read_text() for path in (ROOT / "docs" / "reference").glob("*.md"))
PUBLIC = [name for name in sl.__all__ if not name.startswith("__")]


def test_every_public_name_is_in_the_reference():
    missing = [name for name in PUBLIC if not re.search(rf"sidelight\.{name}\b", REFERENCE)]
    assert not missing, "add them to docs/reference/index.md"


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


def described():
    """Return classes and functions of the package; exceptions are described in their tree."""
    things = [getattr(sl, name) for name in PUBLIC]
    of_errors = [thing for thing in things if inspect.isclass(thing) and issubclass(thing, BaseException)]
    return [
        thing for thing in things if thing not in of_errors and (inspect.isclass(thing) or inspect.isroutine(thing))
    ]


def test_every_parameter_is_described():
    for thing in described():
        text = inspect.getdoc(thing) or ""
        for name, parameter in inspect.signature(thing).parameters.items():
            if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                assert re.search(rf"^[\w*, ]*\b{name}\b[\w*, ]* ?:", text, re.MULTILINE), f"{thing.__name__}: {name}"


def documented():
    """Return everything public that can be called, wherever it is imported from."""
    rooms = ("data", "estimators", "peers", "active", "metrics", "plot")
    found = {id(thing): thing for thing in described()}
    for room in rooms:
        module = import_module(f"sidelight.{room}")
        found |= {id(getattr(module, name)): getattr(module, name) for name in getattr(module, "__all__", ())}
    things = [thing for thing in found.values() if callable(thing) and inspect.getdoc(thing)]
    return [thing for thing in things if not (inspect.isclass(thing) and issubclass(thing, BaseException))]


def test_the_default_that_is_described_is_the_default():
    for thing in documented():
        text = inspect.getdoc(thing)
        for name, parameter in inspect.signature(thing).parameters.items():
            said = re.search(rf"^[\w*, ]*\b{name}\b[\w*, ]* ?:.*?\bdefault=([^\n]+)$", text, re.MULTILINE)
            if said and parameter.default is not parameter.empty:
                assert ast.literal_eval(said[1].strip()) == parameter.default, f"{thing.__name__}: {name}"


def test_an_estimator_says_what_it_computes_and_what_else_there_is():
    """Those that choose parameters, and the one that only prepares rows, speak through the estimator inside."""
    from sklearn.base import BaseEstimator

    for thing in described():
        is_estimator = inspect.isclass(thing) and issubclass(thing, BaseEstimator)
        if is_estimator and not thing.__name__.endswith("CV") and thing.__name__ != "Standardized":
            text = inspect.getdoc(thing)
            assert "\nSee Also\n--------\n" in text
            assert re.search(r"\nNotes\n-----\n.*(\.\. math::|:math:)", text, re.DOTALL), thing.__name__


def test_every_command_and_option_has_help():
    from sidelight.app.cli.app import app

    for command in app.list_commands(click.Context(app)):
        found = app.get_command(click.Context(app), command)
        assert found.help
        assert found.short_help
        for parameter in found.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{command} {parameter.opts}"


def test_paths_named_on_the_front_pages_exist():
    for page in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
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
