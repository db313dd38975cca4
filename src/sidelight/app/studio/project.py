"""One project at work: questions go out, answers come in and are kept, and what is known can be seen at any moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sidelight.active.oracle import Oracle
from sidelight.active.questions import UNSURE, Question
from sidelight.active.screens import MOVE, SCREEN
from sidelight.app.report.components import media, profile
from sidelight.app.store.studio_store import DatabaseAway, Event, NewEvent, Person, Project, StudioStore
from sidelight.app.studio.answers import Answer, agreed, check_answer, words_of
from sidelight.app.studio.history import Done, EventLog, Replay, Standing
from sidelight.app.studio.learner import Snapshot
from sidelight.app.studio.model import ProjectModel
from sidelight.app.studio.rows import Rows
from sidelight.app.studio.run.learner import RunLearner
from sidelight.data.relations import Labeller
from sidelight.errors import InvalidData, UnknownName
from sidelight.plot.layout import cluster_map
from sidelight.words import counted

OWNER = "you"
SIMULATED = "simulated person"
THE_RUN = "the run"  # who told a project what a run knew
AWAY = (
    "The database does not answer at the moment. What was acknowledged is kept, and the studio goes on by itself when "
    "the database is back."
)
LONGEST = 3600.0  # seconds of an answer that are believed
_PATIENCE = 5.0  # seconds that a page waits for clusters that know every answer, before it shows older ones
_MOST_COMMENT = 2000  # characters of a name or comment


class AnsweredAlready(InvalidData):
    """A person answers what they answered before: their page is out of date."""


class OpenProject:
    """A project with its rows and its model: what projects of questions and of runs share.

    Parameters
    ----------
    store : StudioStore
        Where everything is kept.
    project : Project
        Which one.
    rows : Rows
        Its rows.
    """

    is_run = False  # whether the project began with the result of a run

    def __init__(self, store: StudioStore, project: Project, rows: Rows) -> None:
        self.store, self.project, self.rows = store, project, rows
        self._replay = Replay()
        self._log = EventLog(store, project.id, self._replay.take)
        self._log.read()
        self.model = ProjectModel(rows, project.settings, self._to_learn, self._first_learner())
        for setting in self._log.known("setting"):
            if setting.content["name"] == "second_share":
                self.model.second_share = float(setting.content["value"])
        for event in self._log.known("later"):
            self.model.put_off(event.person, tuple(event.content["rows"]))
        self.model.start()

    def _first_learner(self) -> RunLearner | None:
        """Return what learns, where it is no session of the project's strategy."""
        return None

    @cached_property
    def of_run(self) -> frozenset[int]:
        """Who told the project what the run knew."""
        return frozenset(p.id for p in self.people().values() if p.name == THE_RUN and p.is_simulated)

    # -- what is kept ------------------------------------------------------------------------------------------------

    def events(self) -> list[Event]:
        """Return every event, those of other processes among them."""
        return self._log.read()

    @property
    def standing(self) -> Standing:
        """The answers that stand, by the events that were read so far; to be looked at under the lock of the log."""
        return self._replay.standing

    def answers(self) -> list[Answer]:
        """Return the answers that stand; without the database, those that were read before."""
        self._catch_up()
        with self._log.lock:
            return list(self.standing.answers.values())

    def counted(self) -> list[Answer]:
        """Return the answers that stand and count: those of people who were set aside do not."""
        self._catch_up()
        with self._log.lock:
            return self.standing.counted()

    def _to_learn(self) -> tuple[list[Answer], list[Answer | Done]]:
        """Return the answers that count, and those to learn; it asks no database, whoever brought an answer did.

        The model weighs several answers to a question itself; of a fixed list, that all people may be asked, it learns
        what people agree on.
        """
        with self._log.lock:
            counted, done = self.standing.counted(), list(self.standing.heard.values())
        said = agreed(counted) if self.project.settings.get("strategy") == "fixed" else counted
        return counted, sorted([*said, *done], key=lambda one: one.id) if done else list(said)

    def _catch_up(self) -> str:
        """Read what is new; where the database does not answer, say so."""
        try:
            self._log.read()
        except DatabaseAway:
            return AWAY
        return ""

    def people(self) -> dict[int, Person]:
        """Return the people by number."""
        return {person.id: person for person in self.store.people(self.project.id)}

    def owner(self) -> Person:
        """Return the person who runs the studio."""
        return self.store.add_person(self.project.id, OWNER)

    def keep(self, person: Person, kind: str, content: Mapping[str, Any]) -> None:
        """Add one event of a kind that needs no look at those before."""
        self._log.append(person, lambda: [NewEvent(kind, content)])

    def keep_all(self, person: Person, events: Sequence[NewEvent]) -> list[Event]:
        """Add answers that need no look at those before, in one step."""
        return self.append(person, lambda: events)

    def append(self, person: Person, decide: Callable[[], Sequence[NewEvent]]) -> list[Event]:
        """Add what ``decide`` makes of all that stands, in one step; what it raises refuses the step."""
        kept = self._log.append(person, decide)
        self.model.changed()
        return list(kept)

    def append_once(self, person: Person, event: NewEvent, check: Callable[[], Any]) -> tuple[Event, bool]:
        """Add an event after ``check``, or return the one that was kept under its key before."""
        return self._log.append_once(person, event, check)

    @property
    def lock(self) -> Any:
        """The lock under which what stands is looked at."""
        return self._log.lock

    # -- the conversation --------------------------------------------------------------------------------------------

    def questions(self, person: Person, *, wait: float = 5.0, wait_more: float = 0.0) -> list[dict[str, Any]]:
        """Return the open questions of a person as a page shows them, the next one first."""
        return [self.shown(rows) for rows in self.model.questions(person.id, wait=wait, wait_more=wait_more)]

    def answer(
        self,
        person: Person,
        rows: Sequence[int],
        answer: str,
        *,
        seconds: float = float("nan"),
        key: str = "",
        wait: float = 0.0,
    ) -> Event:
        """Keep an answer; it is on the disk when this returns. The same ``key`` twice is one answer.

        ``wait`` is how many seconds to wait for a question that was chosen with this answer known.
        """
        asked = check_answer(rows, answer, self.rows.n)
        if answer == UNSURE and self.project.settings.get("no_unsure"):
            raise InvalidData('This project takes no "unsure".')
        took = seconds if 0 <= seconds <= LONGEST else float("nan")
        new = NewEvent("answer", {"rows": list(asked), "answer": answer}, took, key)
        if len(asked) == 1:
            new = self.labelled(asked[0], answer, seconds=took, key=key)

        def check() -> None:
            if self.standing.has(person.id, asked):
                raise AnsweredAlready("You answered this question already. Take the answer back first, or edit it.")

        event, is_new = self._log.append_once(person, new, check)
        if is_new:  # else it was sent again, because the acknowledgement was lost
            self.model.after_answer(person.id, asked, wait=wait)
        return event

    def labelled(self, row: int, label: str, *, seconds: float = float("nan"), key: str = "", **more: Any) -> NewEvent:
        """Return the event that says what a row is."""
        raise InvalidData("This project asks about two or three rows; what a row is, is said by its cluster.")

    def put_off(self, person: Person, rows: Sequence[int]) -> None:
        """Ask a person something else now, and this when nothing else is left."""
        if not 1 <= len(rows) <= 3 or len(set(rows)) != len(rows):
            raise InvalidData(f"A question is about one to three different rows. Got {list(rows)!r:.80}.")
        asked = tuple(self.rows.check(int(row)) for row in rows)
        self.keep(person, "later", {"rows": list(asked)})
        self.model.put_off(person.id, asked)

    def note(self, person: Person, row: int, text: str) -> None:
        """Keep a note on a row."""
        text = text.strip()
        if not text or len(text) > _MOST_COMMENT:
            raise InvalidData(f"A note is a text of 1 to {_MOST_COMMENT} characters.")
        self.keep(person, "note", {"row": self.rows.check(row), "text": text})

    def notes(self) -> list[Event]:
        """Return every note on a row, the oldest first."""
        self._catch_up()
        return self._log.known("note")

    def set_second_share(self, share: float) -> None:
        """Choose the share of questions that go to a second person."""
        if not 0.0 <= share <= 1.0:
            raise InvalidData(f"The share of questions that two people answer lies between 0 and 1. Got {share:g}.")
        self.keep(self.owner(), "setting", {"name": "second_share", "value": share})
        self.model.second_share = share

    def undo(self, person: Person) -> Answer | Done:
        """Take the last answer of a person back, and ask it again; corrections and piles are taken back too."""
        taken: list[Answer | Done] = []

        def decide() -> list[NewEvent]:
            last = self.standing.last_of(person.id)
            if last is None:
                raise InvalidData("There is no answer to take back.")
            taken.append(last)
            return [NewEvent("undo", {"of": last.id})]

        self._log.append(person, decide)
        last = taken[-1]
        if isinstance(last, Done):
            self.model.show_again(person.id, last.act.rows if last.act.kind == SCREEN else ())
        elif not last.correction:
            self.model.reopen(person.id, last.rows)
        self.model.changed()
        return last

    def edit(self, person: Person, number: int, answer: str | None, *, is_owner: bool = False) -> None:
        """Change an answer of the history, or take it back (None); people edit their own, the owner those of all."""

        def decide() -> list[NewEvent]:
            kept = self.standing.answers.get(number)
            done = self.standing.acts.get(number)
            by = kept or done
            if by is None or not (is_owner or by.person == person.id):
                raise UnknownName(f"There is no answer {number} of yours to change.")
            if answer is None:
                return [NewEvent("undo", {"of": number})]
            if kept is None:
                raise InvalidData("What was done with piles is taken back (null), or changed by doing something else.")
            check_answer(kept.rows, answer, self.rows.n)
            one = len(kept.rows) == 1
            word = self.labelled(kept.rows[0], answer).content["label"] or UNSURE if one else answer
            return [NewEvent("edit", {"of": number, "answer": word})]

        self._log.append(person, decide)
        self.model.changed()

    def simulate(self, n: int) -> int:
        """Let a simulated person answer ``n`` questions, with the mistakes of the people of [P17] table 3.9."""
        if self.rows.truth is None:
            raise InvalidData("This project has no column of right answers, so no person can be simulated.")
        if not 1 <= n <= 100:
            raise InvalidData(f"A simulated person answers 1 to 100 questions at a time. Got {n}.")
        person = self._simulated_person()
        labeller = Labeller.of_study("flower")
        done = 0
        for _ in range(n):
            open_questions = self.model.questions(person.id)
            if not open_questions:
                break
            rows = open_questions[0]
            rng = np.random.default_rng([person.id, len(self.events())])
            oracle = Oracle(self.rows.truth, labeller=labeller, random_state=rng)
            said = oracle(Question(rows, 0))
            self.answer(person, rows, said, seconds=oracle.seconds, wait=2.0)
            done += 1
        self.model.leave(person.id)
        return done

    def _simulated_person(self) -> Person:
        """Return who is simulated: no person who happens to be called so."""
        people = {person.name: person for person in self.people().values()}
        names = (SIMULATED, *(f"{SIMULATED} {number}" for number in range(2, 100)))
        name = next(name for name in names if name not in people or people[name].is_simulated)
        return self.store.add_person(self.project.id, name, is_simulated=True)

    # -- corrections -------------------------------------------------------------------------------------------------

    def correct(
        self, person: Person, row: int, cluster: int, *, is_member: bool, is_confirmation: bool = False
    ) -> None:
        """Place a row in a cluster, or strike it out of it."""
        raise NotImplementedError

    def together(self, person: Person, rows: Sequence[int], name: str, snapshot: Snapshot) -> list[NewEvent]:
        """Return what says that rows belong together, and what they are called."""
        raise NotImplementedError

    def confirmed(self) -> set[int]:
        """Return the rows that people looked at and placed, struck or confirmed."""
        return {answer.rows[0] for answer in self.answers() if answer.correction}

    def settle(self, row: int, label: str) -> None:
        """Decide what a row is that people call differently: other labels of it are kept, and count no more."""
        new = self.labelled(self.rows.check(row), label, settles=True, correction=True)
        self.keep_all(self.owner(), [new])

    def set_aside(self, number: int, is_aside: bool) -> None:
        """Let the answers of a person count no more, or again; they are kept either way."""
        if number not in self.people():
            raise UnknownName(f"This project has no person with the number {number}.")
        self.keep_all(self.owner(), [NewEvent("aside", {"of": number, "is_aside": is_aside})])

    @property
    def aside(self) -> frozenset[int]:
        """People whose answers do not count at present."""
        self._catch_up()
        return self.standing.aside

    # -- names of clusters -------------------------------------------------------------------------------------------

    def name(self, person: Person, cluster: int, name: str) -> None:
        """Give a cluster a name."""
        name = name.strip()
        if len(name) > _MOST_COMMENT or not name.isprintable():
            raise InvalidData("A name of a cluster is one line of text.")
        self.keep(person, *self._named(cluster, name))
        self.model.changed()

    def _named(self, cluster: int, name: str) -> tuple[str, dict[str, Any]]:
        """Return the kind and content of the event that names a cluster."""
        raise NotImplementedError

    def names(self, labels: np.ndarray, n_known: int = 0) -> list[str]:
        """Return what the clusters are called: by people, else by number; also those asked about that are empty."""
        raise NotImplementedError

    def cluster_names(self) -> dict[str, str]:
        """Return what people call the clusters of a run, by what the run calls them."""
        return self.standing.cluster_names

    def vocabulary(self) -> list[str]:
        """Return every label that a row may be given; none where questions are about two or three rows."""
        return []

    @property
    def n_told(self) -> int:
        """How many answers and corrections there are."""
        with self._log.lock:
            return self.standing.n_questions + self.standing.n_corrections + self.standing.n_placed

    def members(self, cluster: int, snapshot: Snapshot | None = None, *, doubtful_first: bool = False) -> list[int]:
        """Return the rows of a cluster, the surest and then the most typical first, or the most doubtful."""
        snapshot = snapshot or self.model.snapshot(fresh=False)
        rows = np.flatnonzero(snapshot.labels == cluster)
        if not rows.size:
            raise UnknownName(f"There is no cluster {cluster}.")
        order = np.lexsort((-snapshot.typical[rows], -snapshot.sure[rows]))
        return [int(row) for row in rows[order[::-1] if doubtful_first else order]]

    # -- what is shown -----------------------------------------------------------------------------------------------

    def shown(self, rows: tuple[int, ...]) -> dict[str, Any]:
        """Return a question as a page shows it: markup of our own components, in which data is only ever text."""
        words = words_of(len(rows))
        if self.project.settings.get("no_unsure"):
            words = words[:-1]
        kind = "pair" if len(rows) == 2 else "triplet"
        return {"kind": kind, "rows": list(rows), "words": list(words), "cards": self.cards(rows)}

    def cards(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """Return rows as a page shows them: a name and markup each."""
        profiles = self.rows.profiles(tuple(rows))
        return [card_of(self.rows, row, self.address, profiles[i]) for i, row in enumerate(rows)]

    def address(self, row: int, part: str) -> str:
        """Return where a page finds the picture, sound or spectrogram of a row."""
        return f"/media/{self.project.id}/{row}/{part}?of={self.rows.folder.name[:6]}"  # numbers are used again

    @cached_property
    def coordinates(self) -> np.ndarray:
        """Where each row lies on the map: by the clusters when it is first looked at; then rows stay where they are."""
        return cluster_map(self.rows.Z, self.model.snapshot(fresh=False).labels)

    def status(self, *, fresh: bool = False, is_read: bool = False) -> dict[str, Any]:
        """Return how far the project is, in numbers and one sentence; ``is_read``: the events were read just now."""
        trouble = "" if is_read else self._catch_up()
        with self._log.lock:
            n_questions, n_corrections = self.standing.n_questions, self.standing.n_corrections
            n_placed = self.standing.n_placed
        status: dict[str, Any] = {
            "name": self.project.name,
            "rows": self.rows.n,
            "answers": n_questions,
            "placed": n_placed,
            "corrections": n_corrections,
            "failure": self.model.failure,
        }
        if self.model.failure:
            return status | {"sentence": self.model.failure, "enough": False, "ready": False}
        try:
            snapshot = self.model.snapshot(fresh=fresh and not trouble, wait=_PATIENCE if fresh else 0.0)
        except InvalidData:
            sentence = trouble or "The model reads the answers so far."
            return status | {"sentence": sentence, "enough": False, "ready": False}
        agreement = snapshot.agreement
        return status | {
            "ready": True,
            "version": snapshot.version,
            "clusters": len(set(snapshot.labels.tolist())),
            "sentence": trouble or snapshot.outlook.sentence,
            "enough": snapshot.outlook.enough,
            "unsure": round(float(np.mean(snapshot.sure < 0.7)), 4),  # 0.7 as in the outlook
            "agreement": None if agreement != agreement else round(agreement, 4),
            "moved": int(snapshot.moved.size),
            "moved_by": snapshot.moved_by,
        }

    def saved_sentence(self, status: Mapping[str, Any]) -> str:
        """Say what the answers bought."""
        said = [counted(status["placed"], "row") + " sorted"] if status["placed"] else []
        said += [counted(status["answers"], "answer")] if status["answers"] or not said else []
        said += [counted(status["corrections"], "correction")]
        return f"{self.rows.n:,} rows named with {', '.join(said[:-1])} and {said[-1]}."

    def close(self) -> None:
        """Stop the model."""
        self.model.stop()


class QuestionProject(OpenProject):
    """A project that asks about two or three rows, and finds its clusters by the answers."""

    def correct(
        self, person: Person, row: int, cluster: int, *, is_member: bool, is_confirmation: bool = False
    ) -> None:
        """Place a row in a cluster, or strike it out of it: an answer about the row and one of the cluster.

        Clusters are numbered anew as answers come in, so one that is on a screen is named by a row of it: the surest
        that questions were about. Nothing here waits for the model.
        """
        self.rows.check(row)
        snapshot = self.model.snapshot(fresh=False)
        if not 0 <= cluster <= snapshot.labels.max():
            raise InvalidData(f"There is no cluster {cluster}.")
        others = [member for member in self.members(cluster, snapshot) if member != row]
        if not others:
            raise InvalidData(f"Row {row} is the only one of cluster {cluster}: there is nothing to correct.")
        pile = self.pile_of(snapshot.labels, cluster)
        if is_member and not is_confirmation and pile is not None:
            self.keep_all(person, [NewEvent(MOVE, {"rows": [row], "piles": [pile]})])
            return
        content = {"answer": "same" if is_member else "different", "correction": True}
        content |= {"confirmation": True} if is_confirmation else {}

        def decide() -> list[NewEvent]:
            pairs = [answer for answer in self.standing.answers.values() if len(answer.rows) == 2]
            against = {other for answer in pairs if row in answer.rows for other in answer.rows}
            asked = {one for answer in pairs for one in answer.rows}
            free = [other for other in others if other not in against]
            if not free:
                raise InvalidData(
                    f"Every row of cluster {cluster} was compared with row {row} already. Take an answer back."
                )
            other = next((one for one in free if one in asked), free[0])
            return [NewEvent("answer", {"rows": [row, other], **content})]

        self._log.append(person, decide)
        self.model.changed()

    def together(self, person: Person, rows: Sequence[int], name: str, snapshot: Snapshot) -> list[NewEvent]:
        """Say that each row is the same as the surest of them; their cluster gets the name."""
        surest = max(rows, key=lambda row: (float(snapshot.sure[row]), -row))
        known = {frozenset(answer.rows) for answer in self.answers() if answer.person == person.id}
        pairs = [(row, surest) for row in rows if row != surest and frozenset((row, surest)) not in known]
        said = [NewEvent("answer", {"rows": list(pair), "answer": "same", "correction": True}) for pair in pairs]
        return [*said, *([NewEvent("name", {"row": surest, "name": name})] if name else [])]

    def pile_of(self, labels: np.ndarray, cluster: int) -> int | None:
        """Return the number of the pile that is a cluster; None where none is."""
        return next((pile for pile, k in self._clusters_of_piles(labels).items() if k == cluster), None)

    def _clusters_of_piles(self, labels: np.ndarray) -> dict[int, int]:
        """Return the cluster that most rows of each pile are in."""
        rows_of: dict[int, list[int]] = defaultdict(list)
        with self._log.lock:
            for row, votes in self.standing.piles.votes.items():
                rows_of[votes[-1][0]].append(row)
        return {pile: int(np.bincount(labels[rows]).argmax()) for pile, rows in rows_of.items()}

    def _named(self, cluster: int, name: str) -> tuple[str, dict[str, Any]]:
        pile = self.pile_of(self.model.snapshot(fresh=False).labels, cluster)
        if pile is not None and name:
            act = self.standing.piles.rename(pile, name, "A pile", None)
            return act.kind, {"rows": [], "piles": [pile], "names": {str(pile): act.names[pile]}}
        return "name", {"row": self.members(cluster)[0], "name": name}  # it stays with the most typical row

    def names(self, labels: np.ndarray, n_known: int = 0) -> list[str]:
        """Return what the clusters are called: by people, else by number; also those asked about that are empty."""
        names = [f"cluster {k}" for k in range(max(int(labels.max()) + 1, n_known))]
        for pile, cluster in self._clusters_of_piles(labels).items():
            names[cluster] = self.standing.piles.names.get(pile, names[cluster])
        for event in self._log.known("name"):
            cluster = int(labels[event.content["row"]])
            names[cluster] = str(event.content["name"]) or names[cluster]
        return names


def card_of(rows: Rows, row: int, address: Any, profile_of: Any = None) -> dict[str, Any]:
    """Return a row as a page shows it: its name and markup of our own components, in which data is only ever text."""
    shown, name = rows.media(row, address), rows.ids[row]
    html = media(shown, name) if shown is not None else None
    if html is None:
        html = profile(profile_of or rows.profiles((row,))[0], f"Values of {name}")
    return {"row": int(row), "id": name, "html": str(html)}
