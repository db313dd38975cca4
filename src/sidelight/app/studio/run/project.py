"""The project of a run: it asks what the doubtful rows are, and the job can learn from what people say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.active.questions import UNSURE
from sidelight.app.store.studio_store import NewEvent, Person, Project, StudioStore
from sidelight.app.studio.answers import check_label
from sidelight.app.studio.learner import Snapshot
from sidelight.app.studio.project import OpenProject
from sidelight.app.studio.rows import Rows
from sidelight.app.studio.run.again import RunAgain
from sidelight.app.studio.run.learner import RunLearner
from sidelight.app.studio.run.start import Start, read_start
from sidelight.errors import UnknownName

_BESIDE = 12  # other rows of a bag that are shown with a row


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

    def labelled(self, row: int, label: str, *, seconds: float = float("nan"), key: str = "", **more: bool) -> NewEvent:
        """Return the event that says what a row is, in the run's words and not in people's."""
        if label == UNSURE:
            return NewEvent("label", {"row": row, "label": "", "is_unsure": True}, seconds, key)
        label = check_label(label)
        of_run = {name: cluster for cluster, name in self.cluster_names().items()}
        return NewEvent("label", {"row": row, "label": of_run.get(label, label), **more}, seconds, key)

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
        names = sum(event.id > since for event in self._log.known("cluster name"))
        return {
            "job": self.start.job, "can_learn": bool(self.start.takes), "n_said": len(said),
            "n_new": sum(answer.id > since for answer in said) + names, "state": self.again.state,
            "words": self.again.words,
        }  # fmt: skip

    def close(self) -> None:
        """Stop the model, and a run that is under way."""
        self.again.cancel()
        super().close()
