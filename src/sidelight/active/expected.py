"""What a session counts on while questions are with other people: that they will be answered.

Three people who are asked at once must not be sent after the same information, nor be kept from each other's rows: the
rows that a question compares with, and the rows of a check, are needed by all people. So a question is chosen as
if those that are being asked were answered. What was expected is forgotten with the choice; nothing of it is learnt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def expect_answers(strategy: Any, belief: Any, being_asked: Sequence[tuple[int, ...]]) -> tuple[Any, frozenset[int]]:
    """Return a belief as it would be after the answers, and the rows that are left alone until they come.

    A strategy that places one row after the other, and a belief that cannot say what it expects, leave all rows alone
    that are being asked about.
    """
    if not getattr(strategy, "shares_rows", False) or not hasattr(belief, "expecting"):
        return belief, frozenset(row for rows in being_asked for row in rows)
    expected, placed = belief.expecting(being_asked)
    return expected, frozenset(placed)
