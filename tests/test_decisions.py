"""Decisions have numbers of their own."""

from __future__ import annotations

from pathlib import Path

DECISIONS = Path(__file__).parents[1] / "docs" / "decisions"


def test_every_decision_has_a_number_of_its_own():
    numbers = [path.name[:4] for path in DECISIONS.glob("0*.md")]
    assert len(numbers) > 30
    assert sorted(set(numbers)) == sorted(numbers)
