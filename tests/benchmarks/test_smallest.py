"""One cell of every document's experiments has the digits that it had when it was kept."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
DATA = Path(os.environ.get("SIDELIGHT_DATA", BENCHMARKS.parents[1] / "shared" / "data"))
TIMES = {"seconds", "wall", "processor"}
ROOM = 0.005  # what a machine's own rounding may move a score by; a change of code moves it further, or not at all
KEPT = json.loads((BENCHMARKS / "smallest.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def smallest():
    """Import the file and what it needs, and leave nothing behind."""
    before, path = set(sys.modules), list(sys.path)
    sys.path.insert(0, str(BENCHMARKS))
    yield importlib.import_module("smallest")
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if (BENCHMARKS / f"{name}.py").exists():
            del sys.modules[name]


def numbers(value):
    """Return the numbers of a cell in order, without times."""
    if isinstance(value, dict):
        return [number for name in value if name not in TIMES for number in numbers(value[name])]
    if isinstance(value, list):
        return [number for part in value for number in numbers(part)]
    return [float(value)]


@pytest.mark.skipif(not DATA.is_dir(), reason="no public data; set SIDELIGHT_DATA")
@pytest.mark.parametrize("name", sorted(KEPT))
def test_the_smallest_cell_of_a_document_is_what_it_was(smallest, name):
    found = numbers(smallest.CELLS[name]())
    assert found == pytest.approx(numbers(KEPT[name]), abs=ROOM), "if this is meant: python benchmarks/smallest.py"


def test_every_document_has_a_cell(smallest):
    assert set(smallest.CELLS) == set(KEPT)
