"""What people said, as it stands now: undone answers are gone, edited ones say what the edit says.

Events are never changed; this file reads them in order and works out which answers count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sidelight.active.questions import PAIR_WORDS, TRIPLET_WORDS, UNSURE
from sidelight.app.store.studio_store import Event
from sidelight.errors import InvalidData, UnknownName, nearest


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
        Two or three rows.
    answer : str
        One of the words of the question.
    at, seconds : float
        When, and how long it took.
    correction : bool
        Whether it was a correction of a cluster, and no question.
    """

    id: int
    person: int
    rows: tuple[int, ...]
    answer: str
    at: float
    seconds: float
    correction: bool = False
    is_edited: bool = False


def words_of(n_rows: int) -> tuple[str, ...]:
    """Return the answers to a question about two or three rows."""
    return (*(PAIR_WORDS if n_rows == 2 else TRIPLET_WORDS), UNSURE)


def check_answer(rows: Sequence[int], answer: str, n_rows: int) -> tuple[int, ...]:
    """Return the rows of an answer, or say what is wrong with it."""
    if len(rows) not in (2, 3) or len(set(rows)) != len(rows):
        raise InvalidData(f"A question is about two or three different rows. Got {list(rows)!r:.80}.")
    if any(not 0 <= row < n_rows for row in rows):
        raise InvalidData(f"The project has rows 0 to {n_rows - 1}. Got {list(rows)!r:.80}.")
    words = words_of(len(rows))
    if answer not in words:
        raise UnknownName(f"{answer!r:.80} is no answer to this question. {nearest(answer, words)}")
    return tuple(int(row) for row in rows)


def standing(events: Iterable[Event]) -> list[Answer]:
    """Return the answers that count, in the order in which they were given."""
    answers: dict[int, Answer] = {}
    for event in events:
        if event.kind == "answer":
            content = event.content
            answers[event.id] = Answer(
                event.id,
                event.person,
                tuple(content["rows"]),
                content["answer"],
                event.at,
                event.seconds,
                bool(content.get("correction")),
            )
        elif event.kind == "undo":
            answers.pop(int(event.content["of"]), None)
        elif event.kind == "edit" and int(event.content["of"]) in answers:
            number = int(event.content["of"])
            answers[number] = replace(answers[number], answer=event.content["answer"], is_edited=True)
    return list(answers.values())


def agreed(answers: Iterable[Answer]) -> list[Answer]:
    """Return one answer a question: what most people said; a question that is tied says nothing."""
    votes: dict[frozenset[int], list[Answer]] = {}
    for answer in answers:
        votes.setdefault(frozenset(answer.rows), []).append(answer)
    kept = []
    for said in votes.values():
        if len(said) == 1:
            kept.append(said[0])
            continue
        odd = Counter(_odd_row(answer) for answer in said)
        (best, n), *rest = odd.most_common()
        is_tied = bool(rest) and rest[0][1] == n
        first = next(answer for answer in said if _odd_row(answer) == best)
        kept.append(replace(said[0], answer=UNSURE) if is_tied else first)
    return kept


def _odd_row(answer: Answer) -> Any:
    """Return what an answer says whatever the order of its rows: the odd row itself, or the word."""
    if len(answer.rows) == 3 and answer.answer in "abc":
        return answer.rows["abc".index(answer.answer)]
    return answer.answer


def true_answer(rows: Sequence[int], truth: Any) -> str:
    """Return what somebody who knows the classes of all rows would say."""
    kinds = [truth[row] for row in rows]
    if len(rows) == 2:
        return "same" if kinds[0] == kinds[1] else "different"
    if len(set(kinds)) != 2:
        return "none"
    return "abc"[next(i for i in range(3) if kinds.count(kinds[i]) == 1)]


def as_table(answers: Sequence[Answer], ids: Sequence[str], people: Mapping[int, str]) -> dict[str, list[Any]]:
    """Return answers as the columns of a file of pairs, or of triplets when there is one among them."""
    pairs = [answer for answer in answers if len(answer.rows) == 2 and answer.answer != UNSURE]
    triplets = [answer for answer in answers if len(answer.rows) == 3 and answer.answer != UNSURE]
    chosen, names = (triplets, ("a", "b", "c")) if triplets else (pairs, ("left", "right"))
    word = "odd" if triplets else "answer"
    table: dict[str, list[Any]] = {name: [ids[answer.rows[i]] for answer in chosen] for i, name in enumerate(names)}
    table[word] = [answer.answer for answer in chosen]
    table["annotator"] = [people.get(answer.person, "") for answer in chosen]
    table["seconds"] = [round(answer.seconds, 3) if answer.seconds == answer.seconds else "" for answer in chosen]
    return table
