"""What one cell of text says: a number, nothing, or something else."""

from __future__ import annotations

import re
from collections.abc import Sequence

MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", "missing", ".")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)


def is_number(cell: str) -> bool:
    """Say whether a cell is a number with a decimal point."""
    return NUMBER.fullmatch(cell) is not None


def is_gap(cell: str) -> bool:
    """Say whether a cell says that nothing is known."""
    return cell.lower() in MISSING


# a number in the dress that spreadsheets give it: 10 %, 1,000, $ 12.50
_DRESSED = re.compile(r"([$€£]?)\s*([-+]?(?:\d{1,3}(?:[,' ]\d{3})+|\d+)(?:\.\d+)?)\s*([%$€£]?)")
_MOST = 0.9  # share of the cells that must be such numbers


def undressed(cell: str) -> str:
    """Return a number without the marks of a spreadsheet, ``1,000 $`` as ``1000``; any other cell as it is."""
    found = _DRESSED.fullmatch(cell.strip())
    return cell if found is None else re.sub("[,' ]", "", found[2])


def dress_of(cells: Sequence[str]) -> str:
    """Return a number with marks from a column of such numbers, else nothing; a column has one kind of mark at most."""
    seen = [cell.strip() for cell in cells if not is_gap(cell)]
    found = [match for cell in seen if (match := _DRESSED.fullmatch(cell))]
    marks = {mark for match in found for mark in (match[1], match[3])} - {""}
    if len(marks) > 1 or len(found) < _MOST * len(seen):
        return ""
    return next((match[0] for match in found if not is_number(match[0])), "")
