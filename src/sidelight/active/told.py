"""What was asked and answered so far, and what follows from it about pairs of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sidelight.active.questions import UNSURE
from sidelight.active.session_file import GivenAnswer
from sidelight.active.triplets import are_apart, pairs_of
from sidelight.data.relations import Pairs
from sidelight.errors import InvalidData


class Conversation:
    """The answers in their order.

    Attributes
    ----------
    told : list of (rows, answer)
        Every answer, "unsure" among them.
    steps : list of int
        How many answers were learnt at a time.
    pairs : Pairs
        What the answers say about pairs of rows.
    """

    def __init__(self, n_rows: int) -> None:
        self.told: list[GivenAnswer] = []
        self.steps: list[int] = []
        self.pairs = Pairs.empty(n_rows)
        self.sources: list[int] = []  # the answer behind each of the pairs
        self._asked: set[frozenset[int]] = set()
        self._given: dict[frozenset[int], list[GivenAnswer]] = {}

    def was_asked(self, *rows: int) -> bool:
        """Whether a question about these rows was answered, by itself or within a triplet."""
        return frozenset(rows) in self._asked

    def given(self, rows: Sequence[int]) -> list[GivenAnswer]:
        """Return the answers to one question, of different people."""
        return self._given.get(frozenset(rows), [])

    def may_answer(self, rows: Sequence[int], person: Any = None) -> bool:
        """Whether an answer of this person to a question can be taken: none was given, or only by others to a pair."""
        if not self.was_asked(*rows):
            return True
        others = [one.person for one in self.given(rows)]
        return len(rows) == 2 and person is not None and bool(others) and person not in others

    def check_new(self, batch: Sequence[GivenAnswer]) -> None:
        """Raise if one of these questions was answered already by the same person, here or earlier in the batch."""
        seen: dict[frozenset[int], set[Any]] = {}
        for rows, _, person, _ in batch:
            people = seen.setdefault(frozenset(rows), set())
            is_repeated = bool(people) and (person is None or person in people or len(rows) > 2)
            if is_repeated or not self.may_answer(rows, person):
                told = [*self.told, *batch]
                answer = next(one.answer for one in told if frozenset(rows) <= frozenset(one.rows))
                raise InvalidData(
                    f"Rows {', '.join(map(str, rows))} were asked about already: {answer!r}. "
                    "Take it back with undo(), ask about other rows, or let another person answer: person=..."
                )
            people.add(person)

    def take_out(self, row: int, other: int) -> int | None:
        """Take a row out of the rows that answers join it to, unless ``other`` is one of them; the others stay joined.

        Answers "same" about the row pass to one of the others, which is returned; None where nothing was to be done.
        What the row was said to differ from stays, except from rows joined to ``other``.
        """
        pairs = self.pairs
        if pairs.implies(row, other) == "same":
            return None
        is_same = pairs.codes == pairs.WORDS.index("same")
        about_row = (pairs.rows == row).any(axis=1)
        partners = pairs.rows[about_row & is_same]
        if not len(partners):
            return None
        stand_in = int(partners[0][partners[0] != row][0])
        ends = np.where((pairs.rows == row) & (about_row & is_same)[:, None], stand_in, pairs.rows)
        apart = [pairs.implies(int(end), other) for end in pairs.rows[about_row & ~is_same].sum(axis=1) - row]
        keep = ends[:, 0] != ends[:, 1]
        keep[np.flatnonzero(about_row & ~is_same)[[known == "same" for known in apart]]] = False
        words = [pairs.WORDS[code] for code in pairs.codes[keep]]
        self.sources = [source for source, kept in zip(self.sources, keep) if kept]
        self.pairs = (
            Pairs(ends[keep, 0], ends[keep, 1], words, n_rows=pairs.n_rows) if keep.any() else Pairs.empty(pairs.n_rows)
        )
        return stand_in

    def add(self, batch: Sequence[GivenAnswer], belief: Any) -> list[tuple[int, int, str]]:
        """Take answers, and return what they say about pairs of rows."""
        learnt: list[tuple[int, int, str]] = []
        for given in batch:
            rows = given.rows
            pairs = self._as_pairs(rows, given.answer, belief)
            self.sources += [len(self.told)] * len(pairs)
            self.told.append(given)
            self._given.setdefault(frozenset(rows), []).append(given)
            self._asked.update([frozenset(rows), *(frozenset((a, b)) for a, b, _ in pairs)])
            learnt += pairs
        self.steps.append(len(batch))
        if learnt:
            left, right, words = zip(*learnt)
            self.pairs = self.pairs + Pairs(left, right, words, n_rows=self.pairs.n_rows)
        return learnt

    def _as_pairs(self, rows: tuple[int, ...], answer: str, belief: Any) -> list[tuple[int, int, str]]:
        if answer == UNSURE:
            return []
        if len(rows) == 2:
            return [(rows[0], rows[1], answer)]
        said = pairs_of(rows, answer, self.relation(rows[1], rows[2], belief))
        return [(a, b, word) for a, b, word in said if not self.was_asked(a, b)]

    def relation(self, a: int, b: int, belief: Any) -> str | None:
        """Return what is known of two rows: it follows from answers, or both are sure of their clusters."""
        known = self.pairs.implies(a, b) if belief.is_consistent else None
        if known is not None:
            return str(known)
        return "different" if are_apart(belief, a, b) else None


class Known:
    """What a strategy may know about the questions so far."""

    def __init__(self, said: Conversation, belief: Any, being_asked: Iterable[Sequence[int]] = ()) -> None:
        self._said, self._belief = said, belief
        self._being_asked = frozenset(frozenset(rows) for rows in being_asked)

    def was_asked(self, *rows: int) -> bool:
        """Whether a question about these rows was answered, or another person has it."""
        return self._said.was_asked(*rows) or frozenset(rows) in self._being_asked

    def __call__(self, a: int, b: int) -> bool:
        """Whether two rows were asked about, or their relation follows; where answers were wrong nothing follows."""
        if self.was_asked(a, b):
            return True
        return bool(self._belief.is_consistent) and self._said.pairs.implies(a, b) is not None
