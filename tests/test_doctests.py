"""Every example in a docstring or in the docs prints what it says."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def with_examples(folder: str, pattern: str) -> list[str]:
    files = sorted((ROOT / folder).rglob(pattern))
    return [str(file.relative_to(ROOT / folder)) for file in files if ">>>" in file.read_text(encoding="utf-8")]


@pytest.mark.parametrize("file", with_examples("src", "*.py"))
def test_examples_in_docstrings_hold(file: str) -> None:
    module = import_module(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize("file", with_examples("docs", "*.md"))
def test_examples_in_the_docs_hold(file: str) -> None:
    result = doctest.testfile(str(ROOT / "docs" / file), module_relative=False, encoding="utf-8")
    assert result.attempted
    assert not result.failed
