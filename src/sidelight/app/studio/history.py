"""The events of a project in memory, each read once and in order, and the answers that stand by them.

What stands is a fold over the events that nobody took back: `Standing.add` is the only step that changes anything. An
undo leaves an answer out and folds the rest again, from the last copy that was made before it.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from sidelight.active.questions import UNSURE
from sidelight.active.screens import N_PILES, SCREEN, PileAct, Piles
from sidelight.app.store.studio_store import Event, NewEvent, Person, StudioStore, sent_again
from sidelight.app.studio.answers import Answer

ACTS = (SCREEN, *N_PILES)  # kinds of events about piles
TAGS = "tags"  # what a person says of the tags of a photograph, or of any bag
_ANY = 2**31  # rows of a project are fewer
_COPY_EVERY, _COPIES = 2000, 3  # events between two copies, and how many of the last ones are held


@dataclass(frozen=True, slots=True)
class Done:
    """What a person did with piles, and stands: ``id`` is the event that says so."""

    id: int
    person: int
    act: PileAct
    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class TagsSaid:
    """The last word of a person about a label of a bag: it is there, it is not, or (None) that stays open."""

    id: int
    person: int
    is_there: bool | None


class Standing:
    """The answers that stand after some events.

    Attributes
    ----------
    answers : dict of int to Answer
        Those that stand, by the event that gave them, in their order.
    aside : frozenset of int
        People whose answers are kept and do not count.
    cluster_names : dict of str to str
        What people call the clusters of a run, by what the run calls them; replaced, never changed.
    n_questions, n_corrections : int
        How many answers are answers to questions, and how many corrections, without those that only confirm.
    acts : dict of int to Done
        What people did with piles, by the event that says so, in their order.
    heard : dict of int to Done
        Those of them that count and whose piles are there.
    piles : Piles
        The piles that stand by these.
    tagged : dict of (str, str) to tuple of TagsSaid
        The last word of each person about each label of each bag, the oldest first; about the label "": whether these
        are all.
    """

    def __init__(self) -> None:
        self.answers: dict[int, Answer] = {}
        self.aside: frozenset[int] = frozenset()
        self.cluster_names: dict[str, str] = {}
        self.n_questions = self.n_corrections = 0
        self.acts: dict[int, Done] = {}
        self.heard: dict[int, Done] = {}
        self.piles = Piles()
        self.tagged: dict[tuple[str, str], tuple[TagsSaid, ...]] = {}
        self._said: dict[tuple[int, frozenset[int]], tuple[int, ...]] = {}  # who said what about which rows

    def __copy__(self) -> Standing:
        made = Standing()
        vars(made).update(vars(self), answers=self.answers.copy(), _said=self._said.copy())
        made.tagged = self.tagged.copy()
        made.acts, made.heard, made.piles = self.acts.copy(), self.heard.copy(), copy(self.piles)
        return made

    def add(self, event: Event, answer: Answer | None) -> None:
        """Take the next event that nobody took back, and the answer that it brings."""
        content = event.content
        if answer is not None:
            self._put(answer if event.kind == "answer" else self._last_word(answer))
        elif event.kind in ACTS:
            self._act(event)
        elif event.kind == TAGS:
            for label, is_there in content["said"].items():
                key, word = (str(content["bag"]), str(label)), TagsSaid(event.id, event.person, is_there)
                before = (one for one in self.tagged.get(key, ()) if one.person != event.person)
                self.tagged[key] = (*before, word)
        elif event.kind == "edit":
            self._edit(int(content["of"]), str(content["answer"]))
        elif event.kind == "aside":
            self.aside = self.aside | {int(content["of"])} if content["is_aside"] else self.aside - {int(content["of"])}
            self._sort_again()
        elif event.kind == "cluster name":
            cluster, name = str(content["cluster"]), str(content["name"])
            others = {other: called for other, called in self.cluster_names.items() if other != cluster}
            self.cluster_names = others | ({cluster: name} if name and name != cluster else {})
        elif event.kind == "run":
            self._rename(content["names"])

    def has(self, person: int, rows: Sequence[int]) -> bool:
        """Whether an answer of this person to a question stands."""
        return (person, frozenset(rows)) in self._said

    def last_of(self, person: int) -> Answer | Done | None:
        """Return the last answer of a person that stands, or what they did with piles since."""
        said = next((answer for answer in reversed(self.answers.values()) if answer.person == person), None)
        done = next((done for done in reversed(self.acts.values()) if done.person == person), None)
        return done if said is None or (done is not None and done.id > said.id) else said

    @property
    def n_placed(self) -> int:
        """How many rows people sorted, each as often as it was."""
        return sum(len(done.act.rows) for done in self.acts.values() if done.act.kind == SCREEN)

    def _act(self, event: Event) -> None:
        """Take what somebody did with piles; where these are gone, because it was taken back, it says nothing."""
        act = PileAct.of_event({"event": event.kind, **event.content}, _ANY, event.person)
        if act is not None:
            self.acts[event.id] = Done(event.id, event.person, act, event.at, event.seconds)
            self._hear(self.acts[event.id])

    def _hear(self, done: Done) -> None:
        if done.person in self.aside or not self.piles.fits(done.act):
            return
        if not self.heard and done.act.begun is None:
            done = replace(done, act=replace(done.act, begun={}))
        self.heard[done.id] = done
        self.piles.take(done.act)

    def _sort_again(self) -> None:
        """Fold what was done with piles again: it is of other people than before."""
        n_begun, self.piles, self.heard = self.piles.n_begun, Piles(), {}
        for done in self.acts.values():
            self._hear(done)
        self.piles.n_begun = n_begun

    def counted(self) -> list[Answer]:
        """Return the answers to learn from: none of people set aside, none that the owner decided against."""
        heard = [answer for answer in self.answers.values() if answer.person not in self.aside]
        decided = {answer.rows[0]: answer for answer in heard if answer.decides and answer.answer != UNSURE}
        if not decided:
            return heard

        def counts(answer: Answer) -> bool:
            decision = decided.get(answer.rows[0]) if len(answer.rows) == 1 else None
            return decision is None or answer.person == decision.person or answer.words == decision.words

        return [answer for answer in heard if counts(answer)]

    def _put(self, answer: Answer) -> None:
        self.answers[answer.id] = answer
        question = answer.person, frozenset(answer.rows)
        self._said[question] = (*self._said.get(question, ()), answer.id)
        self._count(answer, 1)

    def _drop(self, number: int) -> None:
        answer = self.answers.pop(number)
        question = answer.person, frozenset(answer.rows)
        left = tuple(other for other in self._said.pop(question) if other != number)
        if left:
            self._said[question] = left
        self._count(answer, -1)

    def _count(self, answer: Answer, by: int) -> None:
        if not answer.correction:
            self.n_questions += by
        elif not answer.confirms:
            self.n_corrections += by

    def _last_word(self, answer: Answer) -> Answer:
        """Drop what a label replaces: all that the person said of the row; a strike leaves what else it is not."""
        for number in self._said.get((answer.person, frozenset(answer.rows)), ()):
            before = self.answers[number]
            if not answer.is_not or before.answer in (answer.answer, UNSURE):
                self._drop(number)
                if before.decides and not answer.is_not:  # who decided and says something else decides that
                    answer = replace(answer, decides=True)
        return answer

    def _edit(self, number: int, word: str) -> None:
        answer = self.answers.get(number)
        if answer is None:
            return
        for other in self._said[answer.person, frozenset(answer.rows)]:
            if other != number:
                self._drop(other)
        self.answers[number] = replace(answer, answer=word, is_edited=True, is_not=False)

    def _rename(self, names: Mapping[str, str]) -> None:
        """Follow a run that was repeated: what people said of its clusters is about clusters of the new one."""
        for number, answer in self.answers.items():
            if len(answer.rows) == 1 and answer.answer in names:
                self.answers[number] = replace(answer, answer=names[answer.answer])
        kept = [(names.get(cluster, cluster), name) for cluster, name in self.cluster_names.items()]
        self.cluster_names = {cluster: name for cluster, name in kept if name != cluster}


def _answer(event: Event) -> Answer | None:
    """Return the answer that an event brings."""
    content = event.content
    if event.kind not in ("answer", "label"):
        return None
    is_correction, confirms = bool(content.get("correction")), bool(content.get("confirmation"))
    if event.kind == "answer":
        rows, word, is_not = tuple(content["rows"]), str(content["answer"]), False
    else:
        rows, is_not = (int(content["row"]),), not content.get("is_member", True)
        word = UNSURE if content.get("is_unsure") else str(content["label"])
    return Answer(
        event.id, event.person, rows, word, event.at, event.seconds, is_correction, is_not=is_not, confirms=confirms,
        decides=bool(content.get("settles")),
    )  # fmt: skip


class Replay:
    """What stands after every event so far.

    A person has one answer to a question: an event that brings another one while the first stands never counts, as
    happened in studios that took two answers at the same moment.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.standing = Standing()
        self._n_begun = 0  # piles ever, those that were taken back among them: no number is used again
        self._stood: list[tuple[Event, Answer | None]] = []  # those that nobody took back, and what they bring
        self._copies: list[tuple[int, Standing]] = []  # how many of them each knows
        for event in events:
            self.take(event)

    def take(self, event: Event) -> None:
        """Follow one event."""
        if event.kind == "undo":
            self._forget(int(event.content["of"]))
            self.standing.piles.n_begun = self._n_begun
        elif event.kind != "answer" or not self.standing.has(event.person, event.content["rows"]):
            self._add(event, _answer(event))

    def _add(self, event: Event, answer: Answer | None) -> None:
        if len(self._stood) % _COPY_EVERY == 0:
            self._copies = [*self._copies[1 - _COPIES :], (len(self._stood), copy(self.standing))]
        self._stood.append((event, answer))
        self.standing.add(event, answer)
        self._n_begun = max(self._n_begun, self.standing.piles.n_begun)

    def _forget(self, number: int) -> None:
        """Fold again without an answer that stands; its edits change nothing then."""
        if number not in self.standing.answers and number not in self.standing.acts:
            return
        at = next(i for i in reversed(range(len(self._stood))) if self._stood[i][0].id == number)
        self._copies = [(n, kept) for n, kept in self._copies if n <= at]
        begin, standing = self._copies.pop() if self._copies else (0, Standing())
        again, self.standing = self._stood[begin:], standing
        del self._stood[begin:]
        for event, answer in again:
            if event.id != number:
                self._add(event, answer)


class EventLog:
    """Events in their order, under one lock.

    Parameters
    ----------
    store : StudioStore
        Where they are kept.
    project : int
        Whose they are.
    follow : callable
        Is given every event once, in order, under the lock of the log.
    """

    def __init__(self, store: StudioStore, project: int, follow: Callable[[Event], None]) -> None:
        self._store, self._project, self._follow = store, project, follow
        self._events: list[Event] = []
        self._of_kind: dict[str, list[Event]] = defaultdict(list)
        self.lock = threading.RLock()  # of everything that ``follow`` keeps

    def read(self) -> list[Event]:
        """Return every event, those of other processes among them."""
        new = self._store.events(self._project, after=self.last)
        with self.lock:
            self._take(new)
            return self._events

    def known(self, kind: str) -> list[Event]:
        """Return the events of a kind that were read so far, whether or not the database answers."""
        with self.lock:
            return list(self._of_kind.get(kind, ()))

    @property
    def last(self) -> int:
        """The number of the last event that was read."""
        events = self._events
        return events[-1].id if events else 0

    def append(self, person: Person, decide: Callable[[], Sequence[NewEvent]]) -> tuple[Event, ...]:
        """Add what ``decide`` returns, in one step: it is asked when every event before is followed and none can come.

        Whatever it raises refuses the step, and nothing is kept.
        """
        with self._store.appending(self._project) as end:
            new = end.events(self.last)
            with self.lock:
                self._take(new)
                decided = decide()
            kept = tuple(end.add(person, event) for event in decided)
        with self.lock:
            self._take(kept)
        return kept

    def append_once(self, person: Person, event: NewEvent, check: Callable[[], Any]) -> tuple[Event, bool]:
        """Add an event after ``check``; return it, or the one kept under its key before, and whether it is new.

        ``check`` may return an event to be kept in its place, which says all of it and more.
        """
        with self._store.appending(self._project) as end:
            found = end.events(self.last, event.key)
            kept = next((one for one in found if event.key and one.key == event.key), None)
            with self.lock:
                self._take(found)
                more = check() if kept is None else None
            made = end.insert(person, more or event) if kept is None else sent_again(kept, person, event)
        with self.lock:
            self._take([made])
        return made, kept is None

    def _take(self, events: Sequence[Event]) -> None:
        """Follow events; two readers may bring the same ones."""
        for event in events:
            if event.id > self.last:
                self._follow(event)
                self._of_kind[event.kind].append(event)
                self._events.append(event)
