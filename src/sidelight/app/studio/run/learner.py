"""What a project of a run asks and shows: the run's clusters, the doubtful rows first, and what people said of them."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sidelight.active.outlook import UNSURE_BELOW, Outlook
from sidelight.active.people import PersonSoFar
from sidelight.active.questions import UNSURE
from sidelight.app.studio.answers import Answer
from sidelight.app.studio.learner import Contradiction, Snapshot, Told, contradictions_of, told_by
from sidelight.app.studio.rows import Rows
from sidelight.app.studio.run.belief import Belief
from sidelight.app.studio.run.rates import people_of
from sidelight.app.studio.run.start import Start
from sidelight.data.relations import Pairs
from sidelight.metrics import adjusted_rand_index
from sidelight.words import counted as counted_words

Promise = tuple[float, tuple[int, ...]]  # bits in a second, and the rows of the question
_LOOKED_AT = 200  # doubtful rows among which the question is chosen
MOST_WORDS = 9  # labels that have a key
_SECONDS = {1: 2.0, 2: 1.5}  # of an answer about a row, and about two, until people's own are known
_A_WORD = 0.15  # seconds that each label to choose from takes longer
_ENOUGH = 5  # answers that tell how long people take


class RunLearner:
    """Asks about the rows that a run is least sure of, for one caller at a time.

    Parameters
    ----------
    rows : Rows
        The rows of the project.
    start : Start
        Where the run ended.
    of_run : set of int
        People whose answers the run knew already.
    since : int
        The last event that the run knew.
    """

    kind = "label"
    keeps_view = False  # where the run ended is read in a moment

    def __init__(self, rows: Rows, start: Start, of_run: frozenset[int], since: int = 0) -> None:
        self.rows, self.start, self._of_run, self._since = rows, start, of_run, since
        self.curve: list[tuple[int, float]] = []
        self.people: list[PersonSoFar] = []
        self.told: list[Told] = []
        self._belief = Belief(rows, start)
        self._answers: Sequence[Answer] = ()
        self._took = dict(_SECONDS)
        self._lock = threading.RLock()

    def catch_up(self, counted: Sequence[Answer], is_over: Callable[[], bool]) -> None:
        """Learn the answers that stand."""
        with self._lock:
            self._answers, self.told = list(counted), told_by(counted)
            for width, usual in _SECONDS.items():
                took = [a.seconds for a in counted if len(a.rows) == width and a.seconds == a.seconds]
                self._took[width] = max(float(np.median(took)), 0.3) if len(took) >= _ENOUGH else usual
            self._belief.learn([answer for answer in counted if answer.person not in self._of_run])

    def correct(self, *_: Any) -> None:
        """Refuse: corrections of rows of a run are labels, which are kept as such."""
        raise NotImplementedError("rows of a run are corrected by labels")

    def names(self) -> list[str]:
        """Return what the run, or people, call the clusters."""
        with self._lock:
            return list(self._belief.names)

    def label_of(self) -> list[str]:
        """Return the label of each cluster."""
        with self._lock:
            return list(self._belief.label_of)

    # -- asking ------------------------------------------------------------------------------------------------------

    def ask(
        self,
        expected: Sequence[tuple[int, ...]],
        is_free: Callable[[tuple[int, ...], bool], bool],
        person: int | None = None,
    ) -> tuple[int, ...] | None:
        """Return the question with most information in a second about a doubtful row; None when nothing is left."""
        with self._lock:
            busy = {row for rows in expected for row in rows[:1]}
            said = {answer.rows[0] for answer in self._answers if answer.person not in self._of_run}
            found: list[Promise] = []
            for row in np.argsort(self._belief.sure, kind="stable").tolist():
                if row in busy or row in said:
                    continue
                questions = [(gain, rows) for gain, rows in self._questions(row) if is_free(rows, False)]
                found += [max(questions)] if questions else []
                if len(found) >= _LOOKED_AT:
                    break
            return max(found, key=lambda one: (one[0], -one[1][0]))[1] if found else None

    def words(self, row: int) -> list[str]:
        """Return the labels to choose from: those of the bag's list and novel ones, else the likeliest."""
        with self._lock:
            belief, listed = self._belief, self.start.list_of(row)
            chance: dict[str, float] = defaultdict(float)
            for label, p in zip(belief.label_of, belief.P[row].tolist()):
                chance[label] += p
        own = belief.label_of[int(belief.labels[row])]
        likely = sorted(chance, key=lambda label: -chance[label])
        if listed is not None:
            extra = [label for label in likely if label not in self.start.vocabulary or _is_novel(label)]
            likely = [label for label in likely if label in {*listed, own}] + [e for e in extra if e != own]
        shown = set(likely[:MOST_WORDS])
        return [label for label in dict.fromkeys(belief.label_of) if label in shown]

    def _questions(self, row: int) -> list[Promise]:
        """Return what can be asked about a row, and the bits in a second that each promises."""
        belief, words = self._belief, self.words(row)
        P = np.array([belief.P[row, [label == word for label in belief.label_of]].sum() for word in words])
        asked: list[Promise] = [(_entropy([*P, max(0.0, 1.0 - P.sum())]) / self._seconds(1, len(words)), (row,))]
        if self.start.takes == "pairs":
            asked += self._pairs(row)
        return asked

    def _pairs(self, row: int) -> list[Promise]:
        belief = self._belief
        asked: list[Promise] = []
        for k in np.argsort(-belief.P[row], kind="stable")[:2].tolist():
            members = np.flatnonzero((belief.labels == k) & (np.arange(self.rows.n) != row))
            if members.size:
                p, other = float(belief.P[row, k]), int(members[np.argmax(belief.sure[members])])
                asked.append((_entropy([p, 1.0 - p]) / self._seconds(2, 2), (row, other)))
        return asked

    def _seconds(self, n_rows: int, n_words: int) -> float:
        return self._took[n_rows] + _A_WORD * n_words

    # -- what is known -----------------------------------------------------------------------------------------------

    def look(self, answers: Sequence[Answer], before: Snapshot | None) -> Snapshot:
        """Return the clusters: the run's, and what people said of rows."""
        with self._lock:
            labels, sure, version = self._belief.labels.copy(), self._belief.sure.copy(), len(self.told)
            names, outlook = list(self._belief.names), self._outlook()
            self.people = people_of(self._belief, [a for a in self._answers if a.person not in self._of_run])
        moved, moved_by = np.zeros(0, dtype=int), 0
        if before is not None:
            moved, moved_by = np.flatnonzero(before.labels != labels), version - before.version
            if before.version == version and not moved.size:
                moved, moved_by = before.moved, before.moved_by
        truth = self.rows.truth
        agreement = float("nan") if truth is None else float(adjusted_rand_index(truth, labels))
        return Snapshot(version, labels, sure, len(names), outlook, agreement, moved, moved_by, sure)

    def _outlook(self) -> Outlook:
        """Say how many rows are doubtful and whether the run has something to learn."""
        unsure = int(np.count_nonzero(self._belief.sure < UNSURE_BELOW))
        n, told = len(self._belief.sure), self.n_new
        doubt = (
            f"{counted_words(unsure, 'row')} of {n:,} {'is' if unsure == 1 else 'are'} less than 70% sure."
            if unsure
            else f"All {n:,} rows are at least 70% sure."
        )
        learn = ""
        if told and self.start.takes:
            learn = f" People spoke about {counted_words(told, 'row')}: run again, and the other rows learn from it."
        return Outlook(not unsure, float("nan"), unsure / n, doubt + learn)

    @property
    def n_new(self) -> int:
        """How many rows people spoke about since the run."""
        said = [a for a in self._answers if a.person not in self._of_run and a.answer != UNSURE]
        return len({a.rows[0] for a in said if a.id > self._since})

    def contradictions(self, counted: Sequence[Answer]) -> list[Contradiction]:
        """Return rows that two people call differently, and rows that must and cannot link."""
        of_row: dict[int, list[Answer]] = defaultdict(list)
        for answer in counted:
            if len(answer.rows) == 1 and answer.answer != UNSURE and not answer.is_not:
                of_row[answer.rows[0]].append(answer)
        torn: list[Contradiction] = []
        for row, said in of_row.items():
            first = [answer for answer in said if answer.answer == said[0].answer]
            others = [answer for answer in said if answer.answer != said[0].answer]
            torn += [((row,), first, others)] if others else []
        pairs = [a for a in counted if len(a.rows) == 2 and a.answer != UNSURE]
        if not pairs:
            return torn
        left, right = ([answer.rows[i] for answer in pairs] for i in (0, 1))
        made = Pairs(left, right, [answer.answer for answer in pairs], n_rows=self.rows.n)
        return [*torn, *contradictions_of(made, pairs)]


def _is_novel(label: str) -> bool:
    return label.startswith("novel-")


def _entropy(P: Sequence[float]) -> float:
    p = np.asarray(P, dtype=float)
    p = p[p > 0]
    return float(-(p * np.log2(p)).sum())
