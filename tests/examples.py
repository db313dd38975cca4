"""What ``make test`` tries: a tenth of the examples of a property, some lines of a long table of tests."""

from __future__ import annotations

import os
from collections.abc import Iterable

import pytest


def up_to(most: int) -> int:
    """Return ``most`` where the slow half of the tests runs, else a tenth of it (five at least)."""
    return most if os.environ.get("SIDELIGHT_THOROUGH") else min(most, max(5, most // 10))


def but_slow(values: Iterable, *quick: object) -> list:
    """Return the values of a parameter, or of several, all marked slow but the quick ones."""
    return [
        value
        if value in quick
        else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)
        for value in values
    ]
