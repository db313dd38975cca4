"""Answers that another person should look at: the belief was surprised by them.

An answer that the belief gave a chance p of being right, by a person who errs with rate e, is wrong with probability
e (1 - p) / (e (1 - p) + (1 - e) p). Above ``SUSPECT`` the same question goes to another person; if the two differ, a
third decides. p is sharpened or flattened by how well answers were foretold so far. The same person would repeat the
same mistake, so a conversation with one person has no second looks.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Any

import numpy as np

SUSPECT = 0.12  # chance of being wrong from which another person is asked
SURPRISING = (
    0.5  # what was likelier than not is not asked again, not even of a careless person: that would cost too much
)
SLOPES = np.linspace(0.25, 2.0, 15)
SPREAD = 0.5  # standard deviation of the slope around 1 before anything was foretold
SUREST = 1e-3  # no answer is foretold with more certainty
ENOUGH = 3  # answers to one question, at most


class SecondLooks:
    """Questions that were answered surprisingly."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, ...]] = []
        self._foretold: list[float] = []

    @property
    def slope(self) -> float:
        """How much to trust what the belief foretells, 1 for as it is: by the answers so far."""
        odds = np.array(self._foretold)
        fit = -np.log1p(np.exp(-np.outer(SLOPES, odds))).sum(axis=1) - (SLOPES - 1.0) ** 2 / (2.0 * SPREAD**2)
        return float(SLOPES[fit.argmax()])

    def note(self, rows: tuple[int, ...], chance: float, rate: float) -> None:
        """Take note of an answer that had this chance of being right, by a person who errs with this rate."""
        odds = float(np.log(np.clip(chance, SUREST, 1 - SUREST) / np.clip(1 - chance, SUREST, 1.0)))
        p = 1.0 / (1.0 + np.exp(-self.slope * odds))
        self._foretold.append(odds)
        if p < SURPRISING and rate * (1.0 - p) > SUSPECT * (rate * (1.0 - p) + (1.0 - rate) * p):
            self.rows.append(rows)

    def due_for(self, person: Hashable, said: Any, being_asked: Collection[frozenset[int]]) -> tuple[int, ...] | None:
        """Return the oldest question that a person may look at."""
        for rows in self.rows:
            given = said.given(rows)
            if frozenset(rows) not in being_asked and person not in [one.person for one in given] and _is_open(given):
                return rows
        return None


def _is_open(given: Sequence[Any]) -> bool:
    """Whether one answer stands alone, or two differ."""
    words = [one.answer for one in given if one.answer != "unsure"]
    return len(given) < ENOUGH and (len(words) == 1 or len(set(words)) > 1)


def chance_of_answer(belief: Any, a: int, b: int, is_same: bool) -> float | None:
    """Return the chance that a belief gives an answer about two rows; None where it knows neither."""
    if not hasattr(belief, "at"):  # it does not say which rows it knows
        return None
    if b not in belief.at:
        a, b = b, a
    if b not in belief.at or belief.position[a] < 0:
        return None
    Q = belief.places()[belief.position[a], :-1]
    same = float(Q @ belief.q[belief.at[b], :-1])
    return same if is_same else 1.0 - same
