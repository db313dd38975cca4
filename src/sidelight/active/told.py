"""What was asked and answered so far, what follows from it about pairs of rows, and what is left of it in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sidelight._core.atomic import replacing
from sidelight.active.questions import UNSURE, Question, are_apart, pairs_of, rows_of
from sidelight.active.screens import N_PILES, SCREEN, PileAct
from sidelight.data.relations import Pairs
from sidelight.errors import InvalidData, InvalidParameter, UnreadableFile

FORMAT = 1


class GivenAnswer(NamedTuple):
    """Rows and answer of a question, and who gave it, if that is known.

    ``moves`` marks the correction of a row: the first of the rows belongs with the second, whatever was said before.
    """

    rows: tuple[int, ...]
    answer: str
    person: str | int | None = None
    moves: bool = False


@dataclass(frozen=True, slots=True)
class SavedSession:
    """The content of a file that ``ActiveSession.save`` wrote; the rows are not in it, only their fingerprint."""

    rows: str
    n_clusters: int | None
    strategy: str | None
    belief: str | None
    seconds: tuple[float, float] | None
    seed: int
    steps: Sequence[int]
    events: Sequence[Any]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file."""
        content = {
            "sidelight session": FORMAT,
            "rows": self.rows,
            "n_clusters": self.n_clusters,
            "strategy": self.strategy,
            "belief": self.belief,
            "seconds": self.seconds,
            "seed": self.seed,
            "steps": list(self.steps),
            "events": list(self.events),
        }
        with replacing(path, "w", encoding="utf-8") as handle:
            json.dump(content, handle, indent=1)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> SavedSession:
        """Read a JSON file."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            version = int(content["sidelight session"])
            saved = cls(
                rows=content["rows"],
                n_clusters=content["n_clusters"],
                strategy=content["strategy"],
                belief=content.get("belief"),
                seconds=content.get("seconds"),
                seed=int(content["seed"]),
                steps=[max(int(step), 1) for step in content.get("steps", ())],
                events=list(content["events"]),
            )
        except OSError as error:
            raise UnreadableFile(f"Cannot read the session {str(path)!r}: {error.strerror}.") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UnreadableFile(f"{str(path)!r} is not a session that ActiveSession.save wrote.") from error
        if version > FORMAT or version < 1:
            raise UnreadableFile(f"{str(path)!r} has format {version}; this version reads formats 1 to {FORMAT}.")
        return saved

    def check_options(self, path: str | os.PathLike[str], options: Mapping[str, Any]) -> None:
        """Raise unless a strategy or belief that is an object of the user's own is given again."""
        if self.strategy is None and options.get("strategy") is None:
            raise InvalidParameter(f"The session {str(path)!r} has a strategy of its own. Give it again: strategy=...")
        if self.belief is not None and options.get("belief") is None:
            again = (
                "Take it up with BayesianActiveClustering(...).resume(path, X)."
                if self.belief == "BayesianActiveClustering"
                else "Give it again: belief=..."
            )
            raise InvalidParameter(f"The session {str(path)!r} was begun with the belief {self.belief}. {again}")


def checked_about(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept with an answer, if it can be written down and hides nothing of the answer itself."""
    if hidden := {"event", "rows", "answer"} & set(about):
        raise InvalidParameter(f"ActiveSession.tell keeps {min(hidden)!r} itself. Give what you note another name.")
    about = {name: value.item() if isinstance(value, np.generic) else value for name, value in about.items()}
    try:
        json.dumps(about)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParameter(
            f"ActiveSession.tell keeps texts, numbers and lists of them with an answer. {error}."
        ) from None
    return about


def checked_person(person: Any) -> str | int | None:
    """Return who answered, if it is a name or a number, or None."""
    if person is None or (isinstance(person, (str, int)) and not isinstance(person, bool)):
        return person
    if isinstance(person, np.integer):
        return int(person)
    raise InvalidParameter(f"ActiveSession: a person is a name or a whole number. Got {person!r:.80}.")


def is_move(rows: tuple[int, ...], answer: str, about: Mapping[str, Any]) -> bool:
    """Say whether an answer corrects the place of a row: such an answer moves that row and joins no two clusters."""
    return len(rows) == 2 and answer == "same" and bool(about.get("correction"))


Told = GivenAnswer | PileAct


def told_by(events: Iterable[Any], n_rows: int) -> list[Told]:
    """Return the answers and acts that stand after all events."""
    told: list[Told] = []
    for number, event in enumerate(events):
        kind = event.get("event") if isinstance(event, Mapping) else None
        if kind == "undo" and told:
            told.pop()
        elif kind == "answer" and event.get("answer") in Question(rows := rows_of(event.get("rows"), n_rows), 0).words:
            moves = is_move(rows, event["answer"], event)
            told.append(GivenAnswer(rows, event["answer"], checked_person(event.get("person")), moves))
        elif (kind == SCREEN or kind in N_PILES) and (
            act := PileAct.of_event(event, n_rows, checked_person(event.get("person")))
        ):
            told.append(act)
        else:
            raise InvalidData(f"Event {number} of the session makes no sense: {event!r:.80}.")
    return told


def in_steps(told: Sequence[Told], steps: Sequence[int]) -> Iterator[Sequence[Any]]:
    """Cut answers into steps of the given sizes, and one by one beyond; a step has answers or acts.

    >>> [len(step) for step in in_steps([GivenAnswer((0, 1), "same")] * 5, [1, 2])]
    [1, 2, 1, 1]
    """
    at = 0
    for size in [*steps, *[1] * len(told)]:
        if at >= len(told):
            return
        for _, step in groupby(told[at : at + size], key=lambda one: isinstance(one, PileAct)):
            batch = list(step)
            yield batch
        at += size


class Conversation:
    """The answers in their order.

    Attributes
    ----------
    told : list of GivenAnswer or PileAct
        Every answer, "unsure" among them, and what was done with piles.
    steps : list of int
        How many answers were learnt at a time.
    pairs : Pairs
        What the answers say about pairs of rows.
    """

    def __init__(self, n_rows: int) -> None:
        self.told: list[Told] = []
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

    @property
    def by_question(self) -> Iterable[list[GivenAnswer]]:
        """The answers to each question, of different people, in the order they were first asked."""
        return self._given.values()

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
                answers = [one for one in told if isinstance(one, GivenAnswer)]
                answer = next(one.answer for one in answers if frozenset(rows) <= frozenset(one.rows))
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

    def add_acts(self, acts: Sequence[PileAct]) -> None:
        """Take what people did with piles in one step: it says nothing about single pairs."""
        self.told.extend(acts)
        self.steps.append(len(acts))

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
