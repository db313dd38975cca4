"""What one cell of text says: a number, nothing, or something else."""

from __future__ import annotations

import re

MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", "missing", ".")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)


def is_number(cell: str) -> bool:
    """Say whether a cell is a number with a decimal point."""
    return NUMBER.fullmatch(cell) is not None


def is_gap(cell: str) -> bool:
    """Say whether a cell says that nothing is known."""
    return cell.lower() in MISSING
