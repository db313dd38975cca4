"""Answers of people: what can be said about one, two or three rows, and what most people say."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sidelight.active.questions import PAIR_WORDS, TRIPLET_WORDS, UNSURE
from sidelight.app.jobs.output import disarmed_cells
from sidelight.errors import InvalidData, UnknownName, nearest

_PRIOR = (0.5, 9.5)  # wrong and right answers that each person is taken to have given before
_LEAST, _MOST = 0.01, 0.45  # rates are kept off certainty and off a coin toss
_ROUNDS = 10
_MOST_LABEL = 200  # characters of a label
_TIED = 1e-6  # votes that differ by less are tied


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer that stands.

    Attributes
    ----------
    id : int
        The event that gave it.
    person : int
        Who.
    rows : tuple of int
        Two or three rows; one row where the answer is its label.
    answer : str
        One of the words of the question, or a label.
    at, seconds : float
        When, and how long it took.
    correction : bool
        Whether it was a correction of a cluster, and no question.
    confirms : bool
        Whether it only confirmed what the cluster was.
    is_edited : bool
        Whether it says what an edit made of it.
    is_not : bool
        Whether a label was struck: the row is something else.
    decides : bool
        Whether it is the owner's decision about a row that people call differently.
    """

    id: int
    person: int
    rows: tuple[int, ...]
    answer: str
    at: float
    seconds: float
    correction: bool = False
    is_edited: bool = False
    is_not: bool = False
    decides: bool = False
    confirms: bool = False

    @property
    def words(self) -> str:
        """What was said, as a page shows it."""
        return f"not {self.answer}" if self.is_not else self.answer


def words_of(n_rows: int) -> tuple[str, ...]:
    """Return the answers to a question about two or three rows."""
    return (*(PAIR_WORDS if n_rows == 2 else TRIPLET_WORDS), UNSURE)


def check_answer(rows: Sequence[int], answer: str, n_rows: int) -> tuple[int, ...]:
    """Return the rows of an answer, or say what is wrong with it."""
    if len(rows) == 1 and 0 <= rows[0] < n_rows:
        check_label(answer)
        return (int(rows[0]),)
    if len(rows) not in (2, 3) or len(set(rows)) != len(rows):
        raise InvalidData(f"A question is about two or three different rows. Got {list(rows)!r:.80}.")
    if any(not 0 <= row < n_rows for row in rows):
        raise InvalidData(f"The project has rows 0 to {n_rows - 1}. Got {list(rows)!r:.80}.")
    words = words_of(len(rows))
    if answer not in words:
        raise UnknownName(f"{answer!r:.80} is no answer to this question. {nearest(answer, words)}")
    return tuple(int(row) for row in rows)


def check_label(label: str) -> str:
    """Return what a person calls a row or a cluster, or say what is wrong with it."""
    label = label.strip()
    if not label or len(label) > _MOST_LABEL or not label.isprintable():
        raise InvalidData(f"A label is one line of 1 to {_MOST_LABEL} characters. Got {label!r:.80}.")
    return label


def agreed(answers: Iterable[Answer]) -> list[Answer]:
    """Return one answer a question: what most people said; a question that is tied says nothing.

    Who is unsure has no vote, unless everybody is. A vote weighs as much as the log odds of being right, by how often a
    person agreed with the others so far: two careless people do not outvote a careful one.
    """
    answers = list(answers)
    votes: dict[frozenset[int], list[Answer]] = {}
    for answer in answers:
        votes.setdefault(frozenset(answer.rows), []).append(answer)
    if len(votes) == len(answers):
        return answers
    weights = vote_weights(answers)
    kept = []
    for said in votes.values():
        if len(said) == 1:
            kept.append(said[0])
            continue
        sure = [answer for answer in said if answer.answer != UNSURE]
        weighed: Counter[Any] = Counter()
        for answer in sure:
            weighed[said_whatever_the_order(answer)] += weights[answer.person]  # type: ignore[assignment]  # a Counter adds floats too
        counted = weighed.most_common()
        is_tied = not counted or (len(counted) > 1 and counted[0][1] - counted[1][1] < _TIED)
        first = (
            said[0] if is_tied else next(answer for answer in sure if said_whatever_the_order(answer) == counted[0][0])
        )
        kept.append(replace(said[0], answer=UNSURE) if is_tied else first)
    return kept


def vote_weights(answers: Sequence[Answer]) -> dict[int, float]:
    """Return what a vote of each person weighs: log odds of being right, by agreement with the others' answers.

    Rates of mistakes and what is true are found in turns (Dawid and Skene 1979), from people who are all taken to have
    agreed in ``_PRIOR`` of their answers before: without many questions in common all votes weigh alike.
    """
    people = list(dict.fromkeys(answer.person for answer in answers))
    questions: dict[frozenset[int], list[Answer]] = {}
    for answer in answers:
        if answer.answer != UNSURE:
            questions.setdefault(frozenset(answer.rows), []).append(answer)
    shared = [said for said in questions.values() if len(said) > 1]
    rates = dict.fromkeys(people, _PRIOR[0] / sum(_PRIOR))
    for _ in range(_ROUNDS if shared else 0):
        wrong, n = dict.fromkeys(people, _PRIOR[0]), dict.fromkeys(people, sum(_PRIOR))
        for said in shared:
            n_words = 2 if len(said[0].rows) == 2 else 4
            for mine in said:
                odds = {said_whatever_the_order(answer): 0.0 for answer in said}
                for other in said:
                    if other is not mine:  # a person does not confirm themselves
                        rate = rates[other.person]
                        odds[said_whatever_the_order(other)] += math.log((1.0 - rate) * (n_words - 1) / rate)
                total = sum(map(math.exp, odds.values())) + n_words - len(odds)
                wrong[mine.person] += 1.0 - math.exp(odds[said_whatever_the_order(mine)]) / total
                n[mine.person] += 1.0
        rates = {person: min(max(wrong[person] / n[person], _LEAST), _MOST) for person in people}
    return {person: math.log((1.0 - rate) / rate) for person, rate in rates.items()}


def said_whatever_the_order(answer: Answer) -> Any:
    """Return what an answer says whatever the order of its rows: the odd row itself, or the word."""
    if len(answer.rows) == 3 and answer.answer in "abc":
        return answer.rows["abc".index(answer.answer)]
    return answer.answer


def true_answer(rows: Sequence[int], truth: Any) -> str:
    """Return the answer that follows from the classes of all rows."""
    kinds = [truth[row] for row in rows]
    if len(rows) == 2:
        return "same" if kinds[0] == kinds[1] else "different"
    if len(set(kinds)) != 2:
        return "none"
    return "abc"[next(i for i in range(3) if kinds.count(kinds[i]) == 1)]


def as_table(
    answers: Sequence[Answer], ids: Sequence[str], people: Mapping[int, str], *, of_three: bool = False
) -> dict[str, list[Any]]:
    """Return answers as the columns of a file of pairs; of triplets where there are no pairs, or with ``of_three``."""
    pairs = [answer for answer in answers if len(answer.rows) == 2 and answer.answer != UNSURE]
    triplets = [answer for answer in answers if len(answer.rows) == 3 and answer.answer != UNSURE]
    of_three |= bool(triplets) and not pairs
    chosen, names = (triplets, ("a", "b", "c")) if of_three else (pairs, ("left", "right"))
    word = "odd" if of_three else "answer"
    table: dict[str, list[Any]] = {name: [ids[answer.rows[i]] for answer in chosen] for i, name in enumerate(names)}
    table[word] = [answer.answer for answer in chosen]
    table["annotator"] = disarmed_cells(people.get(answer.person, "") for answer in chosen)
    table["seconds"] = [round(answer.seconds, 3) if answer.seconds == answer.seconds else "" for answer in chosen]
    return table
