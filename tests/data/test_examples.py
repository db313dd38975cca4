"""The examples in the docstrings and in the guide of the data room print what they say."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

MODULES = ("bags", "splits", "relations.pairs", "relations.triplets")
GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "data.md"


@pytest.mark.parametrize("module", MODULES)
def test_docstring_examples_hold(module: str) -> None:
    result = doctest.testmod(import_module(f"sidelight.data.{module}"))
    assert result.attempted
    assert not result.failed


def test_the_guide_tells_the_truth() -> None:
    result = doctest.testfile(str(GUIDE), module_relative=False, encoding="utf-8")
    assert result.attempted > 10
    assert not result.failed
