"""Faults that ``make mutants`` plants: what is found in a piece of code, and those that nothing sees."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(FOLDER))

import faults  # noqa: E402 - the folder is no package

CODE = """
def mean(values, weights, sign=1, *, scale=True):
    if len(values) > 0 and not scale:
        with lock:
            return total(values, weights, start=0) * weights[len(values) - 1]
"""


def planted(tmp_path):
    path = tmp_path / "code.py"
    path.write_text(CODE)
    return {(fault.kind, fault.text) for fault in faults.faults_of(path, "code.py")}


def test_every_kind_of_fault_is_found_in_code(tmp_path):
    assert planted(tmp_path) >= {
        ("comparison turned", "(len(values) >= 0)"),
        ("condition turned", "((len(values) > 0) or (not scale))"),
        ("condition turned", "bool(scale)"),
        ("lock removed", "__import__('contextlib').nullcontext()"),
        ("argument ignored", "total(values, weights)"),
        ("order swapped", "total(weights, values, start=0)"),
        ("off by one", "(len(values))"),
        ("default changed", "2"),
        ("default changed", "False"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((FOLDER / "unseen").glob("*.toml")), ids=lambda path: path.stem)
def test_what_is_said_to_change_nothing_is_still_in_the_code(path):
    package = FOLDER.parent / "src" / "sidelight"
    for fault in tomllib.loads(path.read_text())["fault"]:
        assert fault["why"]
        there = {found.text for found in faults.faults_of(package / fault["path"], fault["path"])}
        assert fault["text"] in there, (
            f"{fault['path']} has changed: read the line again, or take the fault off the list"
        )
