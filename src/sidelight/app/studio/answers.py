"""What people said, as it stands now: undone answers are gone, edited ones say what the edit says.

Events are never changed; this file reads them in order and works out which answers count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sidelight.active.questions import PAIR_WORDS, TRIPLET_WORDS, UNSURE
from sidelight.app.jobs.output import disarmed_cells
from sidelight.app.store.studio_store import Event
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
    is_not : bool
        Whether a label was struck: the row is something else.
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


class Standing:
    """The answers that count, kept up to date event by event.

    A person has one answer to a question: an event that brings another one while the first stands does not count, as
    happened in studios that took two answers at the same moment.

    Attributes
    ----------
    answers : dict of int to Answer
        Those that count, by the event that gave them, in their order.
    names : dict of int to Event
        Events that named a cluster, by their number.
    aside : set of int
        People whose answers are kept and do not count.
    n_corrections : int
        How many of the answers are corrections, without those that only confirm.
    cluster_names : dict of str to str
        What people call the clusters of a run, by what the run calls them.
    n_runs, last_run : int
        How often a run was repeated with what people said, and the event of the last time.
    later : dict of int to list
        Questions that a person put off.
    settled : dict of int to str
        Rows that people called differently, and what the owner decided.
    notes : dict of int to Event
        Notes on rows, by their number.
    settings : dict of str to object
        What the owner set since the project was made.
    """

    def __init__(self) -> None:
        self.answers: dict[int, Answer] = {}
        self.names: dict[int, Event] = {}
        self.aside: set[int] = set()
        self.cluster_names: dict[str, str] = {}
        self.later: dict[int, list[tuple[int, ...]]] = {}
        self.notes: dict[int, Event] = {}
        self.settled: dict[int, str] = {}
        self.settings: dict[str, Any] = {}
        self.n_runs = self.last_run = 0
        self.n_corrections = self.n_questions = 0
        self._of_question: dict[tuple[int, frozenset[int]], int] = {}
        self._of_person: dict[int, dict[int, Answer]] = {}
        self._confirmations: set[int] = set()
        self._votes: dict[frozenset[int], list[Answer]] = {}
        self._agreed: list[Answer] | None = []

    def take(self, event: Event) -> None:
        """Follow one event."""
        if event.kind == "answer":
            self._add(event)
        elif event.kind == "undo":
            self._remove(int(event.content["of"]))
        elif event.kind == "edit":
            self._edit(int(event.content["of"]), event.content["answer"])
        elif event.kind == "name" and event.content["name"]:
            self.names[event.id] = event
        elif event.kind == "label":
            self._label(event)
        elif event.kind == "cluster name":
            self._name_cluster(str(event.content["cluster"]), str(event.content["name"]))
        elif event.kind == "later":
            self.later.setdefault(event.person, []).append(tuple(event.content["rows"]))
        elif event.kind == "note":
            self.notes[event.id] = event
        elif event.kind == "setting":
            self.settings[str(event.content["name"])] = event.content["value"]
        elif event.kind == "run":
            self.last_run = event.id
            self._rename(event.content["names"])
        elif event.kind == "aside":
            (self.aside.add if event.content["is_aside"] else self.aside.discard)(int(event.content["of"]))
            self._agreed = None

    def counted(self) -> list[Answer]:
        """Return the answers to learn from: all but those of people who were set aside."""
        return [answer for answer in self.answers.values() if answer.person not in self.aside and self._counts(answer)]

    def _counts(self, answer: Answer) -> bool:
        """Whether no decision of the owner says otherwise."""
        return len(answer.rows) != 1 or self.settled.get(answer.rows[0], answer.answer) == answer.answer

    def of(self, person: int) -> dict[int, Answer]:
        """Return the answers of one person, by their event."""
        return self._of_person.get(person, {})

    def has(self, person: int, rows: Sequence[int]) -> bool:
        """Whether an answer of this person to a question stands."""
        return (person, frozenset(rows)) in self._of_question

    def agreed(self) -> list[Answer]:
        """Return one answer a question, as :func:`agreed` does; the list is the caller's."""
        if self._agreed is None:
            self._agreed = agreed(self.counted())
        return self._agreed.copy()

    def _add(self, event: Event, *, is_not: bool = False) -> None:
        rows, content = tuple(event.content["rows"]), event.content
        question = frozenset(rows)
        if (event.person, question) in self._of_question:
            return
        is_correction = bool(content.get("correction"))
        answer = Answer(
            event.id, event.person, rows, content["answer"], event.at, event.seconds, is_correction, is_not=is_not
        )
        self.answers[event.id] = answer
        self._of_question[event.person, question] = event.id
        self._of_person.setdefault(event.person, {})[event.id] = answer
        if content.get("confirmation"):
            self._confirmations.add(event.id)
        self._count(answer, 1)
        votes = self._votes.setdefault(question, [])
        votes.append(answer)
        if self._agreed is not None and len(votes) == 1 and answer.person not in self.aside:
            self._agreed.append(answer)
        else:
            self._agreed = None  # what most people say may have changed

    def _label(self, event: Event) -> None:
        """Take what a person says about one row; the last word of a person counts."""
        row, content = int(event.content["row"]), event.content
        before = self._of_question.get((event.person, frozenset((row,))))
        if before is not None:
            self._remove(before)
        word = UNSURE if content.get("is_unsure") else str(content["label"])
        if content.get("settles"):
            self.settled[row] = word
        given = {"rows": [row], "answer": word, "correction": content.get("correction")}
        given["confirmation"] = content.get("confirmation")
        self._add(replace(event, content=given), is_not=not content.get("is_member", True))

    def _name_cluster(self, cluster: str, name: str) -> None:
        self.cluster_names.pop(cluster, None)
        if name and name != cluster:
            self.cluster_names[cluster] = name

    def _rename(self, names: Mapping[str, str]) -> None:
        """Follow a run that was repeated: what people said of its clusters is about clusters of the new one."""
        self.n_runs += 1
        for number, answer in list(self.answers.items()):
            if len(answer.rows) == 1 and answer.answer in names:
                self._replace(number, replace(answer, answer=names[answer.answer]))
        self.settled = {row: names.get(word, word) for row, word in self.settled.items()}
        kept = [(names.get(cluster, cluster), name) for cluster, name in self.cluster_names.items()]
        self.cluster_names = {cluster: name for cluster, name in kept if name != cluster}

    def _remove(self, number: int) -> None:
        answer = self.answers.pop(number, None)
        if answer is None:
            return
        question = frozenset(answer.rows)
        del self._of_question[answer.person, question]
        del self._of_person[answer.person][number]
        self._votes[question] = [vote for vote in self._votes[question] if vote.id != number]
        self._count(answer, -1)
        self._agreed = None

    def _edit(self, number: int, word: str) -> None:
        answer = self.answers.get(number)
        if answer is None:
            return
        self._replace(number, replace(answer, answer=word, is_edited=True, is_not=False))

    def _replace(self, number: int, answer: Answer) -> None:
        self.answers[number] = self._of_person[answer.person][number] = answer
        question = frozenset(answer.rows)
        self._votes[question] = [answer if vote.id == number else vote for vote in self._votes[question]]
        self._agreed = None

    def _count(self, answer: Answer, by: int) -> None:
        if not answer.correction:
            self.n_questions += by
        elif answer.id not in self._confirmations:
            self.n_corrections += by


def standing(events: Iterable[Event]) -> list[Answer]:
    """Return the answers that count, in the order in which they were given."""
    followed = Standing()
    for event in events:
        followed.take(event)
    return list(followed.answers.values())


def agreed(answers: Iterable[Answer]) -> list[Answer]:
    """Return one answer a question: what most people said; a question that is tied says nothing.

    Who is unsure has no vote, unless everybody is. A vote weighs as much as the log odds of being right, by how often a
    person agreed with the others so far: two careless people do not outvote a careful one.
    """
    answers = list(answers)
    weights = vote_weights(answers)
    votes: dict[frozenset[int], list[Answer]] = {}
    for answer in answers:
        votes.setdefault(frozenset(answer.rows), []).append(answer)
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


def as_table(answers: Sequence[Answer], ids: Sequence[str], people: Mapping[int, str]) -> dict[str, list[Any]]:
    """Return answers as the columns of a file of pairs, or of triplets when there is one among them."""
    pairs = [answer for answer in answers if len(answer.rows) == 2 and answer.answer != UNSURE]
    triplets = [answer for answer in answers if len(answer.rows) == 3 and answer.answer != UNSURE]
    chosen, names = (triplets, ("a", "b", "c")) if triplets else (pairs, ("left", "right"))
    word = "odd" if triplets else "answer"
    table: dict[str, list[Any]] = {name: [ids[answer.rows[i]] for answer in chosen] for i, name in enumerate(names)}
    table[word] = [answer.answer for answer in chosen]
    table["annotator"] = disarmed_cells(people.get(answer.person, "") for answer in chosen)
    table["seconds"] = [round(answer.seconds, 3) if answer.seconds == answer.seconds else "" for answer in chosen]
    return table
