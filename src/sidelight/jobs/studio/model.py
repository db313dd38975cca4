"""The model of a project: it learns from answers and chooses questions in a thread of its own.

Nobody who answers waits for it: an answer is acknowledged when it is on the disk, the next question was chosen while
the person looked at the one before, and the clusters are worked out when there is nothing else to do. Everything it
knows follows from the rows, the settings and the answers, so a new process rebuilds it from the answers alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sidelight.active.bayesian import BayesianActiveClustering
from sidelight.active.outlook import Outlook
from sidelight.active.session import ActiveSession
from sidelight.errors import InvalidData, SidelightError
from sidelight.jobs.studio.answers import Answer, agreed, facts_of
from sidelight.jobs.studio.rows import Rows
from sidelight.metrics import adjusted_rand_index

STRATEGIES = ("rows", "pairs", "info", "uncertain", "random", "fixed")
KINDS = ("pair", "triplet")
_TRIES = 20  # questions of the strategy that may have been asked already, before there are none
_READY = 4  # questions that wait for whoever answers next
_AT_ONCE = 2  # open questions a person: one on the screen, one loaded


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The clusters after some answers.

    Attributes
    ----------
    version : int
        How many answers it knows.
    labels, sure : ndarray
        The cluster of each row, and its probability (0 for a cluster that nobody was asked about yet).
    n_known : int
        Clusters that somebody was asked about; higher numbers are guessed from the rows alone.
    outlook : Outlook
        Whether to go on.
    agreement : float
        Adjusted Rand index against the key; NaN without one.
    moved : ndarray
        Rows whose cluster changed since the snapshot before.
    """

    version: int
    labels: np.ndarray
    sure: np.ndarray
    n_known: int
    outlook: Outlook
    agreement: float
    moved: np.ndarray


@dataclass
class _Open:
    """Questions that are with people."""

    by_person: dict[int, list[tuple[int, ...]]] = field(default_factory=dict)

    def busy(self) -> set[int]:
        return {row for questions in self.by_person.values() for rows in questions for row in rows}

    def close(self, person: int, rows: tuple[int, ...]) -> None:
        mine = self.by_person.get(person, [])
        self.by_person[person] = [question for question in mine if set(question) != set(rows)]


class ProjectModel:
    """Learns and asks, in the background.

    Parameters
    ----------
    rows : Rows
        The rows of the project.
    settings : mapping
        ``strategy``, ``kind`` ("pair" or "triplet"), ``clusters`` (or None), ``seed``, ``questions`` (a fixed list) and
        ``overlap`` (whether everybody is asked the whole fixed list).
    answers : callable
        Returns the answers that stand, in their order.
    """

    def __init__(self, rows: Rows, settings: Any, answers: Callable[[], list[Answer]]) -> None:
        self.rows, self.settings, self._answers = rows, settings, answers
        self.kind = settings.get("kind", "pair")
        self.curve: list[tuple[int, float]] = []
        self.failure: str = ""
        self._fixed = [tuple(int(row) for row in question) for question in settings.get("questions") or ()]
        self._session: ActiveSession | None = None
        self._learnt: list[tuple[tuple[int, ...], str]] = []
        self._open, self._ready = _Open(), list[tuple[int, ...]]()
        self._asked: dict[frozenset[int], set[int]] = {}
        self._state = threading.Condition()  # guards what requests and the thread share
        self._learning = threading.RLock()  # guards the session
        self._news, self._rounds, self._snapshot_at, self._stop = 1, 0, 0, False
        self._snapshot: Snapshot | None = None
        self._thread = threading.Thread(target=self._run, name="studio model", daemon=True)

    def start(self) -> None:
        """Begin to learn."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        with self._state:
            self._stop = True
            self._state.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    # -- for requests ------------------------------------------------------------------------------------------------

    def questions(self, person: int, *, wait: float = 2.0, wait_more: float = 0.0) -> list[tuple[int, ...]]:
        """Return the open questions of a person, the next one first: at most two, none when nothing is left.

        ``wait`` is how many seconds to wait for the first, ``wait_more`` for the second.
        """
        if self.settings.get("strategy") == "fixed":
            return self._fixed_for(person)
        begun = time.monotonic()
        with self._state:
            mine = self._open.by_person.setdefault(person, [])
            while len(mine) < _AT_ONCE:
                if self._ready:
                    mine.append(self._ready.pop(0))
                    self._news += not self._ready
                    self._state.notify_all()
                    continue
                left = begun + (wait_more if mine else wait) - time.monotonic()
                if left <= 0 or self._stop:
                    break
                self._news += 1
                self._state.notify_all()
                self._state.wait(left)
                mine = self._open.by_person.setdefault(person, [])
            if not mine and self.failure == "":
                spare = self._spare()
                mine.extend([] if spare is None else [spare])
            return list(mine)

    def heard(self, person: int, rows: tuple[int, ...], *, wait: float = 0.0) -> None:
        """Take note that a person answered; wait a moment for questions that know of it."""
        with self._state:
            self._open.close(person, rows)
            self._asked.setdefault(frozenset(rows), set()).add(person)
            self._news += 1
            wanted = self._rounds + 1
            self._state.notify_all()
            if wait:
                self._state.wait_for(lambda: self._rounds >= wanted or self._stop, wait)

    def changed(self) -> None:
        """Take note that answers were taken back or edited."""
        with self._state:
            self._news += 1
            self._state.notify_all()

    def reopen(self, person: int, rows: tuple[int, ...]) -> None:
        """Ask a person again what they took back, before anything else."""
        with self._state:
            self._asked.get(frozenset(rows), set()).discard(person)
            mine = self._open.by_person.setdefault(person, [])
            mine.insert(0, rows)

    def leave(self, person: int) -> None:
        """Give back the questions that a person holds."""
        with self._state:
            self._open.by_person.pop(person, None)

    def snapshot(self, *, fresh: bool = True, wait: float = 20.0) -> Snapshot:
        """Return the clusters; ``fresh``: those that know of every answer so far."""
        with self._state:
            if self._snapshot is None or (fresh and self._rounds_behind()):
                self._state.wait_for(lambda: self._snapshot is not None and not self._rounds_behind(), wait)
            if self._snapshot is None:
                raise InvalidData(self.failure or "The model is still reading the answers; try again in a moment.")
            return self._snapshot

    def correct(self, row: int, cluster: int, is_member: bool, record: Any) -> None:
        """Place a row in a cluster, or strike it out; ``record`` gets the answer that says so, before it is learnt."""
        with self._learning:
            session = self._ready_session()
            before = session.recorder
            session.recorder = record
            try:
                (session.place if is_member else session.reject)(row, cluster)
            finally:
                session.recorder = before
            rows, answer = session.history[-1]
            self._learnt.append((rows, answer))
        self.changed()

    def contradictions(self) -> list[tuple[tuple[int, int], list[Answer], list[Answer]]]:
        """Return rows that must and cannot link, with the answers that say so."""
        with self._learning:
            session = self._ready_session()
            said = session.pairs.rows
            told = session.contradictions()
        answers = agreed(self._answers())

        def behind(numbers: tuple[int, ...]) -> list[Answer]:
            pairs = [set(said[number].tolist()) for number in numbers]
            return [answer for answer in answers if any(pair <= set(answer.rows) for pair in pairs)]

        return [(c.rows, behind(c.chain), behind(c.against)) for c in told]

    def likely(self, row: int, n: int = 3) -> list[int]:
        """Return the clusters a row may belong to, the likeliest first."""
        with self._learning:
            P = self._ready_session().predict_proba()
        return [int(k) for k in np.argsort(-P[row], kind="stable")[:n]]

    # -- the thread --------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        seen = 0
        try:
            while True:
                with self._state:
                    while self._news == seen and not self._stop:
                        self._state.wait()
                    if self._stop:
                        return
                    seen = self._news
                self._learn()
                self._choose()
                self._look(seen)
        except SidelightError as error:
            self._fail(str(error))
        except Exception as error:  # a mistake of ours must show on the page, not only end a thread
            self._fail(f"The model stopped: {type(error).__name__}: {error}. Every answer is kept.")

    def _fail(self, words: str) -> None:
        with self._state:
            self.failure = words
            self._stop = True
            self._state.notify_all()

    def _learn(self) -> None:
        """Catch up with the answers."""
        answers = self._answers()
        with self._learning:
            session = self._ready_session()
            said = [(answer.rows, answer.answer) for answer in agreed(answers)]
            if said[: len(self._learnt)] != self._learnt:
                session.replay([])
                self._learnt = []
            for answer in agreed(answers)[len(self._learnt) :]:
                self._tell(session, answer)
                self._learnt.append((answer.rows, answer.answer))
        with self._state:
            for answer in answers:
                self._asked.setdefault(frozenset(answer.rows), set()).add(answer.person)
            self._ready.clear()  # they were chosen before these answers were known

    def _choose(self) -> None:
        """Choose questions for whoever comes next; the first of them ends the wait of who has just answered."""
        with self._state:
            n_wanted = min(max(len(self._open.by_person), 1), _READY)
        for number in range(0 if self.settings.get("strategy") == "fixed" else n_wanted):
            with self._state:
                busy = self._open.busy() | {row for rows in self._ready for row in rows}
            with self._learning:
                question = self._ask(self._ready_session(), busy)
            with self._state:
                self._ready.extend([] if question is None else [question])
                self._rounds += number == 0
                self._state.notify_all()
            if question is None:
                return

    def _tell(self, session: ActiveSession, answer: Answer) -> None:
        asked = {frozenset(rows) for rows, _ in session.history}
        for rows, word in facts_of(answer, session.pairs):
            if frozenset(rows) not in asked:
                session.tell(rows, word)

    def _ask(self, session: ActiveSession, busy: set[int]) -> tuple[int, ...] | None:
        for _ in range(_TRIES):
            question = session.ask(busy=busy) if busy else session.ask()
            if question is None:
                return None
            rows = tuple(question.rows)
            asked = rows if self.kind == "pair" else self._with_third(session, rows, busy)
            if asked is not None and not self._asked.get(frozenset(asked)):
                return asked
            busy = busy | {rows[0]}  # a triplet may teach the session nothing, which would then ask it again
        return None

    def _with_third(self, session: ActiveSession, rows: tuple[int, ...], busy: set[int]) -> tuple[int, ...] | None:
        """Add a row of another likely cluster to a pair, so that the odd one out says to which the first belongs."""
        if self.settings.get("strategy") == "random":
            rng = np.random.default_rng([session.seed_, 4, session.n_answers, len(busy)])
            free = np.setdiff1d(np.arange(self.rows.n), [*rows, *busy])
            return (*rows, int(rng.choice(free))) if free.size else None
        P = session.predict_proba()
        asked = [row for row in {row for pair, _ in session.history for row in pair} if row not in rows]
        labels = P.argmax(axis=1)
        others = [
            row for row in asked if labels[row] != labels[rows[1]] and session.pairs.implies(row, rows[0]) is None
        ]
        if others:
            return (*rows, max(others, key=lambda row: (P[rows[0], labels[row]], P[row, labels[row]], -row)))
        rng = np.random.default_rng([session.seed_, 4, session.n_answers, len(busy)])
        free = np.setdiff1d(np.arange(self.rows.n), [*rows, *busy])
        return (*rows, int(rng.choice(free))) if free.size else None

    def _look(self, seen: int) -> None:
        """Work out the clusters, unless answers came in meanwhile."""
        with self._state:
            if self._news != seen and self._snapshot is not None and self._news - self._snapshot_at < 8:
                return  # clusters can wait, but not for ever
        with self._learning:
            session = self._ready_session()
            session.settle()
            labels, P = session.labels_, session.predict_proba()
            outlook, n_answers = session.outlook(), len(self._learnt)
        sure = np.where(labels < P.shape[1], P[np.arange(len(P)), np.minimum(labels, P.shape[1] - 1)], 0.0)
        _corrected(labels, sure, P, self._answers())
        truth = self.rows.truth
        agreement = float("nan") if truth is None else float(adjusted_rand_index(truth, labels))
        before = self._snapshot
        moved = np.zeros(0, dtype=int) if before is None else np.flatnonzero(before.labels != labels)
        if before is not None and before.version == n_answers and not moved.size:
            moved = before.moved
        with self._state:
            self._snapshot = Snapshot(n_answers, labels, sure, P.shape[1], outlook, agreement, moved)
            self._snapshot_at = seen
            if truth is not None and (not self.curve or self.curve[-1][0] != n_answers):
                self.curve = [point for point in self.curve if point[0] < n_answers] + [(n_answers, agreement)]
            self._state.notify_all()

    def _rounds_behind(self) -> bool:
        return self._snapshot_at < self._news and not self._stop

    def _ready_session(self) -> ActiveSession:
        if self._session is None:
            self._session = new_session(self.rows, self.settings)
        return self._session

    # -- questions that do not come from the model -------------------------------------------------------------------

    def _fixed_for(self, person: int) -> list[tuple[int, ...]]:
        """Return what comes next on the fixed list; with overlap everybody is asked all of it."""
        with self._state:
            if self.settings.get("overlap"):
                left = [q for q in self._fixed if person not in self._asked.get(frozenset(q), ())]
                return left[:_AT_ONCE]
            mine = self._open.by_person.setdefault(person, [])
            taken = {frozenset(q) for questions in self._open.by_person.values() for q in questions}
            for question in self._fixed:
                if len(mine) >= _AT_ONCE:
                    break
                if not self._asked.get(frozenset(question)) and frozenset(question) not in taken:
                    mine.append(question)
            return list(mine)

    def _spare(self) -> tuple[int, ...] | None:
        """Return a random question that nobody has, for when the model is busy."""
        rng = np.random.default_rng([int(self.settings.get("seed", 0)), 5, self._news])
        busy = self._open.busy()
        width = 2 if self.kind == "pair" else 3
        for _ in range(200):
            rows = tuple(int(row) for row in rng.choice(self.rows.n, min(width, self.rows.n), replace=False))
            if len(rows) == width and not busy & set(rows) and not self._asked.get(frozenset(rows)):
                return rows
        return None


def _corrected(labels: np.ndarray, sure: np.ndarray, P: np.ndarray, answers: list[Answer]) -> None:
    """Let corrections hold for the rows that they name: the session takes them as answers, which it may doubt."""
    for answer in answers:
        if not answer.correction:
            continue
        row, other = answer.rows
        if answer.answer == "same":
            labels[row], sure[row] = labels[other], 1.0
        elif labels[row] == labels[other] and P.shape[1] > 1:
            best = next(int(k) for k in np.argsort(-P[row], kind="stable") if k != labels[other])
            labels[row], sure[row] = best, P[row, best]


def new_session(rows: Rows, settings: Any) -> ActiveSession:
    """Begin a session of the project's strategy."""
    strategy, K, seed = settings.get("strategy", "rows"), settings.get("clusters"), int(settings.get("seed", 0))
    if strategy in ("info", "uncertain"):
        return BayesianActiveClustering(int(K or 8), criterion=strategy, random_state=seed).start(rows.Z)
    return ActiveSession(rows.Z, K, strategy="rows" if strategy == "fixed" else strategy, random_state=seed)


def check_settings(settings: Any, n_rows: int) -> None:
    """Raise when a project's settings make no sense."""
    if settings.get("strategy") not in STRATEGIES:
        raise InvalidData(
            f"A project's strategy is one of {', '.join(STRATEGIES)}. Got {settings.get('strategy')!r:.40}."
        )
    if settings.get("kind") not in KINDS:
        raise InvalidData(f"A project asks about a pair or a triplet. Got {settings.get('kind')!r:.40}.")
    if settings.get("strategy") in ("info", "uncertain") and not settings.get("clusters"):
        raise InvalidData("The strategies info and uncertain need the number of clusters.")
    if settings.get("strategy") == "fixed" and not settings.get("questions"):
        raise InvalidData("The strategy fixed needs a list of questions.")
    K = settings.get("clusters")
    if K is not None and not 1 <= int(K) <= n_rows:
        raise InvalidData(f"The number of clusters lies between 1 and the {n_rows} rows. Got {K}.")
