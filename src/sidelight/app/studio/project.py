"""One project at work: questions go out, answers come in and are kept, and what is known can be seen at any moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.active.oracle import Oracle
from sidelight.active.questions import UNSURE, Question
from sidelight.app.report.components import media, profile
from sidelight.app.store.event_log import EventLog
from sidelight.app.store.studio_store import DatabaseAway, Event, NewEvent, Person, Project, StudioStore
from sidelight.app.studio.answers import Answer, Standing, check_answer, check_label, words_of
from sidelight.app.studio.learner import Snapshot
from sidelight.app.studio.model import AWAY, ProjectModel
from sidelight.app.studio.rows import Rows, read_rows
from sidelight.app.studio.run.again import RunAgain
from sidelight.app.studio.run.learner import RunLearner
from sidelight.app.studio.run.start import Start, read_start
from sidelight.data.relations import Labeller
from sidelight.errors import InvalidData, UnknownName
from sidelight.plot.layout import cluster_map
from sidelight.words import counted

OWNER = "you"
SIMULATED = "simulated person"
THE_RUN = "the run"  # who told a project what a run knew
_LONGEST = 3600.0  # seconds of an answer that are believed
_PATIENCE = 5.0  # seconds that a page waits for clusters that know every answer, before it shows older ones
_BESIDE = 12  # other rows of a bag that are shown with a row
_MOST_COMMENT = 2000  # characters of a name or comment


class AnsweredAlready(InvalidData):
    """A person answers what they answered before: their page is out of date."""


class OpenProject:
    """A project with its rows and its model.

    Parameters
    ----------
    store : StudioStore
        Where everything is kept.
    project : Project
        Which one.
    folder : Path
        Its rows.
    """

    def __init__(self, store: StudioStore, project: Project, folder: Path) -> None:
        self.store, self.project = store, project
        self.rows: Rows = read_rows(folder)
        self._standing = Standing()
        self._log = EventLog(store, project.id, self._standing.take)
        self._log.read()
        self.start = read_start(folder, self._standing.n_runs, self.rows.n)
        self._learner = None if self.start is None else self._run_learner(self.start)
        self.again = RunAgain()
        self.model = ProjectModel(self.rows, project.settings, self._counted, self._learner)
        self.model.second_share = float(self._standing.settings.get("second_share", 0.0))
        for number, questions in self._standing.later.items():
            for rows in questions:
                self.model.put_off(number, rows)
        self.model.start()

    # -- what is kept ------------------------------------------------------------------------------------------------

    def events(self) -> list[Event]:
        """Return every event, those of other processes among them."""
        return self._log.read()

    def answers(self) -> list[Answer]:
        """Return the answers that stand; without the database, those that were read before."""
        self._catch_up()
        with self._log.lock:
            return list(self._standing.answers.values())

    def counted(self) -> list[Answer]:
        """Return the answers that stand and count: those of people who were set aside do not."""
        self._catch_up()
        with self._log.lock:
            return self._standing.counted()

    @cached_property
    def of_run(self) -> frozenset[int]:
        """Who told the project what the run knew."""
        return frozenset(p.id for p in self.people().values() if p.name == THE_RUN and p.is_simulated)

    def _counted(self) -> tuple[list[Answer], list[Answer]]:
        """Return the answers that stand, and those to learn; for the model, which waits for the database.

        The model weighs several answers to a question itself; of a fixed list, that all people may be asked, it learns
        what people agree on.
        """
        self._log.read()
        with self._log.lock:
            counted = self._standing.counted()
            is_fixed = self.project.settings.get("strategy") == "fixed"
            return counted, self._standing.agreed() if is_fixed else counted

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
        if answer == "unsure" and self.project.settings.get("no_unsure"):
            raise InvalidData('This project takes no "unsure".')
        took = seconds if 0 <= seconds <= _LONGEST else float("nan")
        new = NewEvent("answer", {"rows": list(asked), "answer": answer}, took, key)
        if len(asked) == 1:
            new = NewEvent("label", self._label(asked[0], answer), took, key)

        def check() -> None:
            if self._standing.has(person.id, asked):
                raise AnsweredAlready("You answered this question already. Take the answer back first, or edit it.")

        event, is_new = self._log.append_once(person, new, check)
        if is_new:  # else it was sent again, because the acknowledgement was lost
            self.model.after_answer(person.id, asked, wait=wait)
        return event

    def _label(self, row: int, label: str, **more: bool) -> dict[str, Any]:
        """Return what is kept of a person who says what a row is."""
        if self.start is None:
            raise InvalidData("This project asks about two or three rows; what a row is, is said by its cluster.")
        if label == UNSURE:
            return {"row": row, "label": "", "is_unsure": True}
        called = {name: cluster for cluster, name in self.cluster_names().items()}  # the run's word, not people's
        return {"row": row, "label": called.get(check_label(label), check_label(label)), **more}

    def labelled(self, row: int, label: str) -> NewEvent:
        """Return the event that says what a row of a run is, as a correction."""
        return NewEvent("label", self._label(row, label, correction=True))

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
        with self._log.lock:
            return list(self._standing.notes.values())

    def set_second_share(self, share: float) -> None:
        """Choose the share of questions that go to a second person."""
        if not 0.0 <= share <= 1.0:
            raise InvalidData(f"The share of questions that two people answer lies between 0 and 1. Got {share:g}.")
        self.keep(self.owner(), "setting", {"name": "second_share", "value": share})
        self.model.second_share = share

    def undo(self, person: Person) -> Answer:
        """Take the last answer of a person back, and ask it again; corrections are taken back too."""
        taken: list[Answer] = []

        def decide() -> list[NewEvent]:
            mine = self._standing.of(person.id)
            if not mine:
                raise InvalidData("There is no answer to take back.")
            taken.append(mine[next(reversed(mine))])
            return [NewEvent("undo", {"of": taken[-1].id})]

        self._log.append(person, decide)
        if not taken[-1].correction:
            self.model.reopen(person.id, taken[-1].rows)
        self.model.changed()
        return taken[-1]

    def edit(self, person: Person, number: int, answer: str | None, *, is_owner: bool = False) -> None:
        """Change an answer of the history, or take it back (None); people edit their own, the owner those of all."""

        def decide() -> list[NewEvent]:
            kept = self._standing.answers.get(number)
            if kept is None or not (is_owner or kept.person == person.id):
                raise UnknownName(f"There is no answer {number} of yours to change.")
            if answer is None:
                return [NewEvent("undo", {"of": number})]
            check_answer(kept.rows, answer, self.rows.n)
            word = self._label(kept.rows[0], answer)["label"] or UNSURE if len(kept.rows) == 1 else answer
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
        self.rows.check(row)
        if self.start is not None:
            labels = self.label_names(raw=True)
            if not 0 <= cluster < len(labels):
                raise UnknownName(f"There is no cluster {cluster}.")
            more = {"is_member": is_member, "correction": True, "confirmation": is_confirmation}
            new = NewEvent("label", self._label(row, labels[cluster], **more))
            self._log.append(person, lambda: [new])
            self.model.changed()
            return
        snapshot = self.model.snapshot(fresh=False)
        if not 0 <= cluster <= snapshot.labels.max():
            raise InvalidData(f"There is no cluster {cluster}.")
        if cluster >= snapshot.n_known:  # guessed clusters are numbered anew as answers come in: name it by a row
            others = [member for member in self.members(cluster, snapshot) if member != row]
            if not others:
                raise InvalidData(f"Row {row} is the only one of cluster {cluster}: there is nothing to correct.")
            said = {"rows": [row, others[0]], "answer": "same" if is_member else "different"}
            _Recorder(self._log, person, is_confirmation).record(said)
            self.model.changed()
            return
        self.model.correct(person.id, row, cluster, is_member, _Recorder(self._log, person, is_confirmation))

    def confirmed(self) -> set[int]:
        """Return the rows that people looked at and placed, struck or confirmed."""
        return {answer.rows[0] for answer in self.answers() if answer.correction}

    def settle(self, row: int, label: str) -> None:
        """Decide what a row is that people call differently: other labels of it are kept, and count no more."""
        new = NewEvent("label", self._label(self.rows.check(row), label, settles=True, correction=True))
        self._log.append(self.owner(), lambda: [new])
        self.model.changed()

    def set_aside(self, number: int, is_aside: bool) -> None:
        """Let the answers of a person count no more, or again; they are kept either way."""
        if number not in self.people():
            raise UnknownName(f"This project has no person with the number {number}.")
        new = NewEvent("aside", {"of": number, "is_aside": is_aside})
        self._log.append(self.owner(), lambda: [new])
        self.model.changed()

    @property
    def aside(self) -> set[int]:
        """People whose answers do not count at present."""
        self._catch_up()
        with self._log.lock:
            return self._standing.aside.copy()

    def name(self, person: Person, cluster: int, name: str) -> None:
        """Give a cluster a name; it stays with the most typical row of the cluster."""
        name = name.strip()
        if len(name) > _MOST_COMMENT or not name.isprintable():
            raise InvalidData("A name of a cluster is one line of text.")
        if self._learner is not None:
            raw = self._learner.names()
            if not 0 <= cluster < len(raw):
                raise UnknownName(f"There is no cluster {cluster}.")
            new = NewEvent("cluster name", {"cluster": raw[cluster], "name": name})
            self._log.append(person, lambda: [new])
            return
        members = self.members(cluster)
        self.store.append(person, "name", {"row": members[0], "name": name})

    def cluster_names(self) -> dict[str, str]:
        """Return what people call the clusters of a run, by what the run calls them."""
        self._catch_up()
        with self._log.lock:
            return self._standing.cluster_names.copy()

    def label_names(self, *, raw: bool = False) -> list[str]:
        """Return the label of each cluster of a run, as people call it, or ``raw`` as the run does."""
        assert self._learner is not None  # only projects of a run have labels
        called = {} if raw else self.cluster_names()
        return [called.get(label, label) for label in self._learner.label_of()]

    def words_of_row(self, row: int) -> list[str]:
        """Return the labels to choose from for a row of a run, as people call them."""
        assert self._learner is not None  # only projects of a run have labels
        called = self.cluster_names()
        return [called.get(label, label) for label in self._learner.words(row)]

    def begin_again(self, start: Start) -> None:
        """Go on from another run of the same rows."""
        self._catch_up()
        self.start, self._learner = start, self._run_learner(start)
        self.model.begin_again(self._learner)

    def _run_learner(self, start: Start) -> RunLearner:
        return RunLearner(self.rows, start, self.of_run, self._standing.last_run)

    def keep(self, person: Person, kind: str, content: Mapping[str, Any]) -> None:
        """Add one event of a kind that needs no look at those before."""
        self._log.append(person, lambda: [NewEvent(kind, content)])

    def keep_all(self, person: Person, events: Sequence[NewEvent]) -> None:
        """Add answers that were given elsewhere, in one step."""
        self._log.append(person, lambda: events)
        self.model.changed()

    def names(self, labels: np.ndarray, n_known: int = 0) -> list[str]:
        """Return what the clusters are called: by people, else by number; also those asked about that are empty."""
        if self._learner is not None:
            called, raw = self.cluster_names(), self._learner.names()
            more = [f"cluster {k}" for k in range(len(raw), int(labels.max()) + 1)]  # a label was just taken back
            return [*(called.get(name, name) for name in raw), *more]
        names = [f"cluster {k}" for k in range(max(int(labels.max()) + 1, n_known))]
        for event in self._name_events():
            names[int(labels[event.content["row"]])] = str(event.content["name"])
        return names

    def _name_events(self) -> list[Event]:
        self._catch_up()
        with self._log.lock:
            return list(self._standing.names.values())

    @property
    def n_told(self) -> int:
        """How many answers and corrections there are."""
        with self._log.lock:
            return self._standing.n_questions + self._standing.n_corrections

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
        if len(rows) == 1:
            return asked_row(self, rows[0])
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

    def reference_sheet(self) -> list[tuple[str, int]]:
        """Return one example per class: of the key where there is one, else of every cluster that has a name."""
        if self.rows.examples:
            return self.rows.examples
        snapshot = self.model.snapshot(fresh=False)
        names = self.names(snapshot.labels)
        named = {int(snapshot.labels[event.content["row"]]) for event in self._name_events()}
        return [(names[k], self.members(k, snapshot)[0]) for k in sorted(named)]

    @cached_property
    def coordinates(self) -> np.ndarray:
        """Where each row lies on the map: by the clusters when it is first looked at; then rows stay where they are."""
        return cluster_map(self.rows.Z, self.model.snapshot(fresh=False).labels)

    def status(self, *, fresh: bool = False) -> dict[str, Any]:
        """Return how far the project is, in numbers and one sentence."""
        trouble = self._catch_up() or self.model.trouble
        with self._log.lock:
            n_questions, n_corrections = self._standing.n_questions, self._standing.n_corrections
        status: dict[str, Any] = {
            "name": self.project.name,
            "rows": self.rows.n,
            "answers": n_questions,
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
        answers, corrections = counted(status["answers"], "answer"), counted(status["corrections"], "correction")
        return f"{self.rows.n:,} rows named with {answers} and {corrections}."

    def close(self) -> None:
        """Stop the model, and a run that is under way."""
        self.again.cancel()
        self.model.stop()


def asked_row(project: OpenProject, row: int) -> dict[str, Any]:
    """Return the question what a row is: the labels to choose from, what the run says, and the rest of its bag."""
    start = project.start
    assert start is not None  # only projects of a run ask so
    snapshot = project.model.snapshot(fresh=False)
    names = project.names(snapshot.labels)
    beside = start.beside(row)[:_BESIDE]

    def found(row: int) -> dict[str, Any]:
        return {"name": names[int(snapshot.labels[row])], "sure": round(float(snapshot.sure[row]), 4)}

    bag = int(start.bags[row])
    return {
        "kind": "label", "rows": [row], "words": [*project.words_of_row(row), UNSURE], "cards": project.cards([row]),
        "said": found(row)["name"], "sure": found(row)["sure"],
        "bag": "" if bag < 0 else start.bag_names[bag],
        "beside": [card | found(card["row"]) for card in (project.cards(beside) if beside else [])],
    }  # fmt: skip


def card_of(rows: Rows, row: int, address: Any, profile_of: Any = None) -> dict[str, Any]:
    """Return a row as a page shows it: its name and markup of our own components, in which data is only ever text."""
    shown, name = rows.media(row, address), rows.ids[row]
    html = media(shown, name) if shown is not None else None
    if html is None:
        html = profile(profile_of or rows.profiles((row,))[0], f"Values of {name}")
    return {"row": int(row), "id": name, "html": str(html)}


class _Recorder:
    """Keeps a correction as an answer of the person who made it."""

    def __init__(self, log: EventLog, person: Person, is_confirmation: bool) -> None:
        self.log, self.person, self.is_confirmation = log, person, is_confirmation

    def record(self, event: Mapping[str, Any]) -> None:
        """Keep one answer of the session."""
        content = {"rows": list(event["rows"]), "answer": event["answer"], "correction": True}
        new = NewEvent("answer", content | ({"confirmation": True} if self.is_confirmation else {}))
        self.log.append(self.person, lambda: [new])
