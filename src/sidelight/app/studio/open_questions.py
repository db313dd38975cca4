"""Which questions are with whom, so that no two people are asked the same one; a row may be with several.

A person has a question on the screen and one that is loaded behind it. After an answer both are old: a fresh question
takes their place, and the loaded one is shown only if the fresh one is late. So what was loaded stays with the person
until the next answer.
"""

from __future__ import annotations

from collections.abc import Sequence

RowsAsked = tuple[int, ...]
AT_ONCE = 2  # questions that a person has: one on the screen, one loaded
NOBODY = 0  # holds the questions that wait for people who have none; people are numbered from 1


class OpenQuestions:
    """Questions chosen by the model."""

    def __init__(self) -> None:
        self._held: dict[int, list[RowsAsked]] = {}
        self._old: dict[int, list[RowsAsked]] = {}
        self._answered: dict[frozenset[int], set[int]] = {}
        self._later: dict[int, list[RowsAsked]] = {}

    def of(self, person: int) -> list[RowsAsked]:
        """Return what a person is asked, the next question first."""
        held = self._held.get(person, [])
        return [*held, *(rows for rows in self._old.get(person, []) if not _has(held, rows))][:AT_ONCE]

    def n_fresh(self, person: int) -> int:
        """How many of them were chosen since the person's last answer."""
        return len(self._held.get(person, []))

    def people(self) -> list[int]:
        """Return the people who have been asked."""
        return [person for person in self._held if person != NOBODY]

    def give(self, person: int, rows: RowsAsked) -> None:
        """Ask a person something."""
        self._held.setdefault(person, []).append(rows)

    def pass_on(self, person: int) -> None:
        """Give a person one of the questions that wait."""
        if self.n_fresh(NOBODY):
            self._old.setdefault(person, []).append(self._held[NOBODY].pop(0))

    def after_answer(self, person: int, rows: RowsAsked) -> None:
        """Take note of an answer: what else was chosen for the person did not know of it."""
        self._old[person] = [asked for asked in self.of(person) if not _has([rows], asked)]
        self._held[person] = []
        self.note(person, rows)

    def note(self, person: int, rows: RowsAsked) -> None:
        """Take note that a person has answered a question at some time."""
        self._answered.setdefault(frozenset(rows), set()).add(person)

    def put_off(self, person: int, rows: RowsAsked) -> None:
        """Take a question from a person until nothing else is left to ask."""
        for questions in (self._held.get(person, []), self._old.get(person, [])):
            questions[:] = [asked for asked in questions if not _has([rows], asked)]
        if not _has(self._later.setdefault(person, []), rows):
            self._later[person].append(rows)

    def bring_back(self, person: int) -> RowsAsked | None:
        """Return a question that a person put off, the oldest first; None when there is none."""
        later = self._later.get(person, [])
        while later:
            rows = later.pop(0)
            if person not in self.answered_by(rows):
                return rows
        return None

    def second_looks(self, person: int) -> list[RowsAsked]:
        """Return the questions that one other person answered, and that are on no screen."""
        found = [tuple(sorted(rows)) for rows, people in self._answered.items() if len(people) == 1]
        return [rows for rows in found if self.is_free(person, rows, is_again=True)]

    def reopen(self, person: int, rows: RowsAsked) -> None:
        """Ask a person again, before anything else."""
        self._answered.get(frozenset(rows), set()).discard(person)
        self._held.setdefault(person, []).insert(0, rows)

    def leave(self, person: int) -> None:
        """Take back the questions that a person has."""
        self._held.pop(person, None)
        self._old.pop(person, None)

    def answered_by(self, rows: RowsAsked) -> set[int]:
        """Return who answered a question."""
        return self._answered.get(frozenset(rows), set())

    def expected(self, person: int) -> list[RowsAsked]:
        """Return the questions whose answers will be there before the next one of a person is.

        These are what others have on the screen, and what was chosen since the person's last answer. What is loaded
        behind a screen is mostly replaced before anybody sees it.
        """
        others = [self.of(who)[:1] for who in self.people() if who != person]
        return [rows for questions in [*others, self._held.get(person, [])] for rows in questions]

    def is_free(self, person: int, rows: RowsAsked, *, is_again: bool = False) -> bool:
        """Whether a question has no answer, no other person has it, and the person is not asked it already.

        What is asked ``is_again``, because an answer was surprising, others may have answered.
        """
        answered = self.answered_by(rows)
        others = [questions for who, questions in self._old.items() if who != person]
        is_open = any(_has(questions, rows) for questions in [*self._held.values(), *others])
        is_put_off = _has(self._later.get(person, []), rows)
        return not (person in answered if is_again else answered) and not is_open and not is_put_off


class FixedList:
    """Questions asked in their order, each of one person or, with overlap, of all."""

    def __init__(self, questions: Sequence[Sequence[int]], has_overlap: bool) -> None:
        self._questions = [tuple(int(row) for row in question) for question in questions]
        self._has_overlap = has_overlap
        self._held: dict[int, list[RowsAsked]] = {}

    def of(self, person: int, answered: OpenQuestions) -> list[RowsAsked]:
        """Return what comes next for a person."""
        if self._has_overlap:
            return [q for q in self._questions if person not in answered.answered_by(q)][:AT_ONCE]
        mine = [q for q in self._held.get(person, []) if not answered.answered_by(q)]
        taken = {frozenset(q) for who, questions in self._held.items() if who != person for q in questions}
        taken |= {frozenset(q) for q in mine}
        free = (q for q in self._questions if not answered.answered_by(q) and frozenset(q) not in taken)
        self._held[person] = [*mine, *(q for q, _ in zip(free, range(AT_ONCE - len(mine))))]
        return list(self._held[person])

    def leave(self, person: int) -> None:
        """Take back the questions that a person has."""
        self._held.pop(person, None)


def _has(questions: list[RowsAsked], rows: RowsAsked) -> bool:
    return any(set(question) == set(rows) for question in questions)
