"""How many examples a property is tried on: a tenth of them in ``make test``, all of them in ``make test-slow``."""

from __future__ import annotations

import os


def up_to(most: int) -> int:
    """Return ``most`` where the slow half of the tests runs, else a tenth of it (five at least)."""
    return most if os.environ.get("SIDELIGHT_THOROUGH") else min(most, max(5, most // 10))
