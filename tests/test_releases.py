"""A release is one number everywhere, with a chapter of the changelog; decisions have numbers of their own."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import sidelight

ROOT = Path(__file__).parents[1]


def test_the_version_is_the_same_everywhere():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert sidelight.__version__ == declared == cited[1]
    if ".dev" in declared:  # on the way to a release: its chapter is still in pieces
        assert len(list((ROOT / "changelog.d").glob("*.md"))) > 1
    else:
        assert f"\n## {declared} (" in (ROOT / "CHANGELOG.md").read_text()


def test_every_decision_has_a_number_of_its_own():
    numbers = [path.name[:4] for path in (ROOT / "docs" / "decisions").glob("0*.md")]
    assert len(numbers) > 30
    assert sorted(set(numbers)) == sorted(numbers)
