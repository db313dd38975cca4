"""Words for lists and sizes, so that sentences read the same whatever was counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def in_words(parts: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def some_of(names: Sequence[Any], limit: int) -> str:
    """Name a few of many: "a, b and c", or "a, b and 7 more"."""
    shown = [str(name) for name in names[:limit]]
    return in_words([*shown, f"{len(names) - limit} more"] if len(names) > limit else shown)


def sizes_in_words(sizes: Any) -> str:
    """Return " of 30 rows each" or " of 12 to 48 rows", leaving empty clusters out."""
    held = [int(size) for size in sizes if size > 0]
    if min(held) == max(held):
        return f" of {held[0]} row{'s' if held[0] > 1 else ''}{' each' if len(held) > 1 else ''}"
    return f" of {min(held)} to {max(held)} rows"
