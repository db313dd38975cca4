"""Which screens of rows are with whom, so that no two people sort the same rows but for the tests.

A person has a screen before them and one that is loaded behind it. What is loaded was chosen before the screen before
it was answered: who sorts alone waits a moment for a fresh one, in a crowd it is shown as it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from sidelight.app.studio.learner import Asked

Pace = tuple[float, float, float]  # seconds of a pair, of a screen, and of each of its rows
USUAL: Pace = (2.5, 3.0, 1.4)
LOADED = 2  # screens that a person has: one before them, one loaded


class OpenScreens:
    """Screens chosen by the model."""

    def __init__(self) -> None:
        self._held: dict[int, list[Asked]] = {}
        self.wanted: dict[int, tuple[int, Pace]] = {}  # who waits for a screen: of how many rows, at what pace

    def people(self) -> list[int]:
        """Return the people who sort."""
        return list(self._held)

    def of(self, person: int) -> Asked | None:
        """Return the screen that a person has before them."""
        held = self._held.get(person)
        return held[0] if held else None

    def n_of(self, person: int) -> int:
        """How many screens a person has."""
        return len(self._held.get(person, ()))

    def busy(self) -> list[tuple[int, ...]]:
        """Return the rows of all screens."""
        return [asked.screen.rows for held in self._held.values() for asked in held]

    def only_shown(self) -> list[tuple[int, ...]]:
        """Take back what is loaded behind screens; return the rows of those that people have before them."""
        self._held = {person: held[:1] for person, held in self._held.items()}
        return self.busy()

    def want(self, person: int, n: int, pace: Pace) -> None:
        """Take note that a person needs a screen."""
        self.wanted.pop(person, None)
        self.wanted[person] = (n, pace)

    def give(self, person: int, asked: Asked) -> None:
        """Give a person a screen: in the place of one that was loaded earlier and is not shown yet, else behind."""
        held = self._held.setdefault(person, [])
        if person in self.wanted and held:
            held.clear()
        held.append(asked)
        self.wanted.pop(person, None)

    def answered(self, person: int, rows: Iterable[int]) -> None:
        """Take note that rows were placed: whoever else has them sorts them as a test."""
        placed = frozenset(rows)
        held = self._held.get(person, [])
        self._held[person] = [asked for asked in held if not placed & set(asked.screen.rows)]

    def leave(self, person: int) -> None:
        """Take back what a person has."""
        self._held.pop(person, None)
        self.wanted.pop(person, None)

    def clear(self) -> None:
        """Take all screens back: the rows or the run are others now."""
        self._held.clear()
