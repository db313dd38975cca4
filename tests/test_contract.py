"""What import-linter cannot see: who uses the lower rooms, and names that are imported by a string."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import sidelight

ROOT = Path(sidelight.__file__).parent
LOWER = ("_core", "_affinity", "_models", "_terms", "_solvers")
BY_STRING = {
    "__init__.py",  # the shop window
    "lazy.py",  # names inside one room
    "app/cli/app.py",  # commands inside cli
    "files/cards/networks.py",  # an extractor, or a function that describes, of the user's own
}


@cache
def modules():
    """Return the modules of the package by dotted name."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = ("sidelight", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree(path):
    """Return the parsed module."""
    return ast.parse(path.read_text())


@cache
def users():
    """Return the modules that import each module."""
    known = modules()
    found = defaultdict(set)
    for name, path in known.items():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    found[inner if inner in known else node.module].add(name)
    return found


def test_every_module_of_the_lower_rooms_has_two_users():
    found, rooms = users(), tuple(f"sidelight.{room}." for room in LOWER)
    alone = {name: found[name] for name in modules() if name.startswith(rooms) and len(found[name]) < 2}
    assert not alone, "a module with one user lives beside that user"


def test_no_string_leads_around_the_contract():
    callers = {
        str(path.relative_to(ROOT))
        for path in modules().values()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Name) and node.id in ("import_module", "__import__")
    }
    assert callers == BY_STRING


def test_the_shop_window_has_at_most_45_names_and_says_where_the_others_are():
    assert len(sidelight.__all__) <= 45
    with pytest.raises(AttributeError, match=r"from sidelight\.peers import ITML"):
        _ = sidelight.ITML
    with pytest.raises(AttributeError, match=r"from sidelight\.data import make_sources"):
        _ = sidelight.make_sources
