"""The project of a run: it asks what the doubtful rows are, and the job runs again with what people say."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._core.matching import match_rows
from sidelight.active.questions import UNSURE
from sidelight.app.store.studio_store import Event, NewEvent, Person, Project, StudioStore
from sidelight.app.studio.answers import Answer, check_label
from sidelight.app.studio.history import TAGS, Done
from sidelight.app.studio.learner import Snapshot
from sidelight.app.studio.project import OpenProject
from sidelight.app.studio.rows import Rows
from sidelight.app.studio.run.learner import RunLearner
from sidelight.app.studio.run.start import Start, read_start, write_start
from sidelight.errors import Cancelled, InvalidData, SidelightError, UnknownName
from sidelight.progress import Step, progress

_BESIDE = 12  # other rows of a bag that are shown with a row
_MOST_SHOWN = 40  # rows that moved, to show
_log = logging.getLogger("sidelight.studio")


class RunProject(OpenProject):
    """A project that begins where a run ended.

    Attributes
    ----------
    start : Start
        What the run found.
    again : RunAgain
        The run repeated with what people said.
    """

    is_run = True

    def __init__(self, store: StudioStore, project: Project, rows: Rows) -> None:
        self.again = RunAgain()
        super().__init__(store, project, rows)

    def _first_learner(self) -> RunLearner:
        """Return what learns from where the last run ended."""
        runs = self._log.known("run")
        self.start: Start = read_start(self.rows.folder, len(runs), self.rows.n)
        self._learner = RunLearner(self.rows, self.start, self.of_run, runs[-1].id if runs else 0)
        return self._learner

    def begin_again(self) -> None:
        """Go on from another run of the same rows, which was just kept."""
        self.model.begin_again(self._first_learner())

    def labelled(self, row: int, label: str, *, seconds: float = float("nan"), key: str = "", **more: Any) -> NewEvent:
        """Return the event that says what a row is, in the run's words and not in people's."""
        if label == UNSURE:
            about = {"screen": more["screen"]} if "screen" in more else {}
            return NewEvent("label", {"row": row, "label": "", "is_unsure": True, **about}, seconds, key)
        label = check_label(label)
        of_run = {name: cluster for cluster, name in self.cluster_names().items()}
        return NewEvent("label", {"row": row, "label": of_run.get(label, label), **more}, seconds, key)

    def undo(self, person: Person) -> Answer | Done:
        """Take the last answer of a person back; of a screen of rows that they named, all of it."""
        last = super().undo(person)
        screen, rows = self._screen_of(last.id), list(getattr(last, "rows", ()))
        while screen:
            with self.lock:
                before = self.standing.last_of(person.id)
            if before is None or self._screen_of(before.id) != screen:
                self.model.show_again(person.id, rows[::-1])
                break
            rows += getattr(super().undo(person), "rows", ())
        return last

    def _screen_of(self, number: int) -> str:
        """Return the key of the screen that a label was given on."""
        events = (event for event in reversed(self._log.known("label")) if event.id == number)
        return str(next((event.content.get("screen", "") for event in events), ""))

    def correct(
        self, person: Person, row: int, cluster: int, *, is_member: bool, is_confirmation: bool = False
    ) -> None:
        """Place a row in a cluster, or strike it out of it: a label."""
        self.rows.check(row)
        labels = self._learner.label_of()
        if not 0 <= cluster < len(labels):
            raise UnknownName(f"There is no cluster {cluster}.")
        said = self.labelled(
            row, labels[cluster], is_member=is_member, correction=True, confirmation=is_confirmation
        )  # fmt: skip
        self.keep_all(person, [said])

    def together(self, person: Person, rows: Sequence[int], name: str, snapshot: Snapshot) -> list[NewEvent]:
        """Give every row the name, or the label of most of them."""
        most = int(np.bincount(snapshot.labels[list(rows)]).argmax())
        label = name or self.label_names()[most]
        return [self.labelled(row, label, correction=True) for row in rows]

    def _named(self, cluster: int, name: str) -> tuple[str, dict[str, Any]]:
        raw = self._learner.names()
        if not 0 <= cluster < len(raw):
            raise UnknownName(f"There is no cluster {cluster}.")
        return "cluster name", {"cluster": raw[cluster], "name": name}

    def names(self, labels: np.ndarray, n_known: int = 0) -> list[str]:
        """Return what the clusters are called: by people, else by the run."""
        called, raw = self.cluster_names(), self._learner.names()
        more = [f"cluster {k}" for k in range(len(raw), int(labels.max()) + 1)]  # a label was just taken back
        return [*(called.get(name, name) for name in raw), *more]

    def label_names(self) -> list[str]:
        """Return the label of each cluster, as people call it."""
        return self._as_called(self._learner.label_of())

    def vocabulary(self) -> list[str]:
        """Return every label that a row may be given."""
        return sorted({*self.label_names(), *self.start.vocabulary})

    def words_of_row(self, row: int) -> list[str]:
        """Return the labels to choose from for a row, as people call them."""
        return self._as_called(self._learner.words(row))

    def _as_called(self, labels: list[str]) -> list[str]:
        called = self.cluster_names()
        return [called.get(label, label) for label in labels]

    def shown(self, rows: tuple[int, ...]) -> dict[str, Any]:
        """Return a question; what a row is is asked with the labels to choose from and the rest of its bag."""
        if len(rows) > 1:
            return super().shown(rows)
        (row,) = rows
        snapshot = self.model.snapshot(fresh=False)
        names = self.names(snapshot.labels)
        beside = self.start.beside(row)[:_BESIDE]

        def found(row: int) -> dict[str, Any]:
            return {"name": names[int(snapshot.labels[row])], "sure": round(float(snapshot.sure[row]), 4)}

        bag = int(self.start.bags[row])
        return {
            "kind": "label", "rows": [row], "words": [*self.words_of_row(row), UNSURE], "cards": self.cards([row]),
            "said": found(row)["name"], "sure": found(row)["sure"],
            "bag": "" if bag < 0 else self.start.bag_names[bag],
            "beside": [card | found(card["row"]) for card in (self.cards(beside) if beside else [])],
        }  # fmt: skip

    def progress(self) -> dict[str, Any]:
        """Return how much people said, how much of that the run does not know yet, and how far a new run is."""
        said = [answer for answer in self.counted() if answer.person not in self.of_run and answer.answer != UNSURE]
        since = max((event.id for event in self._log.known("run")), default=0)
        told = [*self._log.known("cluster name"), *self.told_of_tags()]
        more = sum(event.id > since for event in told)
        return {
            "job": self.start.job, "can_learn": bool(self.start.takes), "n_said": len(said),
            "n_new": sum(answer.id > since for answer in said) + more, "state": self.again.state,
            "words": self.again.words,
        }  # fmt: skip

    def told_of_tags(self) -> list[Event]:
        """Return what was ever said of tags of bags."""
        return self._log.known(TAGS)

    def close(self) -> None:
        """Stop the model, and a run that is under way."""
        self.again.cancel()
        super().close()


@dataclass
class RunAgain:
    """How far a run is that was started from the page.

    Attributes
    ----------
    state : str
        ``"idle"``, ``"running"``, ``"done"`` or ``"failed"``.
    stage, done, total : str, int and int or None
        What it is doing.
    words : str
        Why it failed.
    changed : dict
        What it changed: how many rows moved, the first of them, and how many became surer.
    """

    state: str = "idle"
    stage: str = ""
    done: int = 0
    total: int | None = None
    words: str = ""
    changed: dict[str, Any] = field(default_factory=dict)
    _is_over: bool = False
    _thread: threading.Thread | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def as_dict(self) -> dict[str, Any]:
        """Return what a page shows."""
        return {
            "state": self.state, "stage": self.stage, "done": self.done, "total": self.total, "words": self.words,
            "changed": self.changed,
        }  # fmt: skip

    def begin(self, project: RunProject, person: Person) -> None:
        """Start; while one runs there is no second."""
        check(project)
        with self._lock:
            if self.state == "running":
                raise InvalidData("The run is under way already.")
            self.state, self.stage, self.done, self.total, self.words = "running", "writing", 0, None, ""
            self._is_over = False
        self._thread = threading.Thread(target=self._run, args=(project, person), name="run again", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """End a run that is under way; nothing of it stays."""
        self._is_over = True
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=10)

    def _told(self, step: Step) -> bool:
        self.stage, self.done, self.total = step.stage, step.done, step.total
        return not self._is_over

    def _run(self, project: RunProject, person: Person) -> None:
        try:
            with progress(self._told):
                self.changed = repeat(project, person)
            self.state = "done"
        except Cancelled:
            self.state, self.words = "failed", "Stopped; nothing was changed."
        except SidelightError as error:
            self.state, self.words = "failed", error.told(str)
        except Exception as error:  # a mistake of ours must show on the page, not only end a thread
            _log.error("The run failed: %s", type(error).__name__, exc_info=error)
            self.state, self.words = "failed", f"The run stopped: {type(error).__name__}: {error}. Nothing is lost."


def check(project: RunProject) -> None:
    """Raise unless the job of a project can learn from what people say."""
    if not project.start.takes:
        raise InvalidData(
            f"The job {project.start.job} takes no corrections of rows: what people said is kept here, in names.csv "
            "and in clusters.csv."
        )


def repeat(project: RunProject, person: Person) -> dict[str, Any]:
    """Run the job with everything that people said, and go on from there; return what changed."""
    from msgspec import structs

    from sidelight.app.jobs.export import TAGS_FILE
    from sidelight.app.jobs.reading import read_rows
    from sidelight.app.jobs.run import run
    from sidelight.app.studio.run.results import (
        CORRECTIONS,
        config_of,
        has_rows,
        home_of,
        keep_earlier,
        start_of,
        write_back,
    )

    before, home = project.start, home_of(project)
    config = config_of(home)
    keep_earlier(project, home)
    files = write_back(project)
    told: dict[str, Any] = {}
    if CORRECTIONS in files:
        told["corrections"] = str(home / CORRECTIONS) if has_rows(home / CORRECTIONS) else None
    if before.takes == "names":
        mine = {cluster: name for cluster, name in project.cluster_names().items() if cluster in before.names}
        told["names"] = {**getattr(config.options, "names", {}), **mine}
    options: Any = structs.replace(config.options, **told)
    roles = config.roles
    if TAGS_FILE in files and Path(config.table).is_dir():
        roles = structs.replace(roles, label_file=str(home / TAGS_FILE), label_separator=None)
    config = type(config)(config.job, config.table, roles, options, config.seed)
    snapshot, names = project.model.snapshot(), project.names(project.model.snapshot().labels)
    run(config, home, overwrite=True)
    data = read_rows(config.table, config.roles)
    after = start_of(home, config, data)
    if len(after.labels) != project.rows.n:
        raise InvalidData("The table has other rows now: open its results as a new project. This one is unchanged.")
    number = sum(event.kind == "run" for event in project.events()) + 1
    write_start(project.rows.folder, number, after)
    renamed = renaming(before, after)
    project.keep(person, "run", {"number": number, "names": renamed})
    project.begin_again()
    project.model.snapshot()
    write_back(project)  # the names are those of the new run
    return changes(project, (snapshot.labels, snapshot.sure, names), renamed)


def renaming(before: Start, after: Start) -> dict[str, str]:
    """Return which cluster of the new run each of the old one is: by its name, else by its rows."""
    kept = {name for name in before.names if name in after.names and not _is_numbered(name)}
    old = [k for k, name in enumerate(before.names) if name not in kept]
    new = [k for k, name in enumerate(after.names) if name not in kept]
    if not old or not new:
        return {}
    counts = np.zeros((len(before.names), len(after.names)))
    np.add.at(counts, (before.labels, after.labels), 1)
    shared = counts[np.ix_(old, new)]
    matched = enumerate(match_rows(shared).tolist())
    found = {before.names[old[i]]: after.names[new[to]] for i, to in matched if to >= 0 and shared[i, to] > 0}
    return {name: to for name, to in found.items() if name != to}


def _is_numbered(name: str) -> bool:
    """Whether a name is a number that the next run may give to other rows."""
    head, _, number = name.replace("-", " ").rpartition(" ")
    return number.isdigit() and head in ("cluster", "novel")


def changes(
    project: RunProject, before: tuple[np.ndarray, np.ndarray, list[str]], renamed: dict[str, str]
) -> dict[str, Any]:
    """Say which rows are called differently now, the surest first, and how many rows are surer."""
    snapshot = project.model.snapshot()
    old_labels, old_sure, old_names = before
    names = project.names(snapshot.labels)
    called = project.cluster_names()
    was = [called.get(renamed.get(name, name), renamed.get(name, name)) for name in old_names]
    pairs = zip(old_labels.tolist(), snapshot.labels.tolist())
    moved = np.array([row for row, (a, b) in enumerate(pairs) if was[a] != names[b]], dtype=int)
    order = moved[np.argsort(-snapshot.sure[moved], kind="stable")] if moved.size else moved
    shown = [
        {
            "row": int(row), "id": project.rows.ids[row], "from": was[int(old_labels[row])],
            "to": names[int(snapshot.labels[row])], "before": round(float(old_sure[row]), 4),
            "after": round(float(snapshot.sure[row]), 4),
        }
        for row in order[:_MOST_SHOWN]
    ]  # fmt: skip
    sure: Callable[[np.ndarray], float] = lambda values: round(float(np.mean(values >= 0.9)), 4)  # noqa: E731
    return {
        "n_moved": int(moved.size), "moved": shown, "sure_before": sure(old_sure), "sure_after": sure(snapshot.sure),
        "n_surer": int((snapshot.sure > old_sure + 0.05).sum()), "n_less": int((snapshot.sure < old_sure - 0.05).sum()),
    }  # fmt: skip
