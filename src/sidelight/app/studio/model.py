"""The model of a project at work: a thread learns what people say and chooses what they are asked next.

An answer is acknowledged when it is on the disk. The request that brought it waits a moment for a question that knows
of it; the longest wait is served first, and answers that came together are learnt in one step. The question that
is loaded behind the one on the screen, and the clusters, are worked out when no person waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sidelight.active.people import PersonSoFar
from sidelight.active.screens import Screen, key_of
from sidelight.app.studio.answers import Answer
from sidelight.app.studio.history import Done
from sidelight.app.studio.learner import Asked, Contradiction, Learner, Snapshot, told_by
from sidelight.app.studio.open_questions import AT_ONCE, NOBODY, FixedList, OpenQuestions, RowsAsked
from sidelight.app.studio.open_screens import LOADED, USUAL, OpenScreens, Pace
from sidelight.app.studio.rows import Rows
from sidelight.app.studio.run.learner import RunLearner
from sidelight.app.studio.saved_view import mark_of, read_view, write_view
from sidelight.errors import InvalidData, SidelightError
from sidelight.estimators._base import fingerprint

_QUIET = 0.1  # seconds without an answer after which the clusters are worked out
_OLDEST = 5.0  # seconds that the clusters may be behind while answers keep coming
_DOUBTFUL = 100  # rows of which one is asked about while the model is busy
_POOL, _STALE = 4, 20  # questions that wait for people who have none, and events after which they are chosen anew
_KEEP_EVERY = 10.0  # seconds after which the clusters are written down again, for the next start
_REBUILDING = 1.0  # seconds that a page waits for newer clusters while everything is learnt anew
_CROWD = 4  # people waiting, from which one more is not kept waiting for the model
_FREE = 4  # so many times the rows of all screens a project has, where screens are loaded ahead
_FEW = 2  # people sorting, up to which one waits for a screen that knows of their last one
_BUSY = 2.0  # seconds of waiting after which a random question is better than none


class ProjectModel:
    """Learns and asks, in the background.

    Parameters
    ----------
    rows : Rows
        The rows of the project.
    settings : mapping
        ``strategy``, ``kind`` ("pair" or "triplet"), ``clusters`` (or None), ``seed``, ``questions`` (a fixed list) and
        ``overlap`` (whether all people are asked the whole fixed list).
    answers : callable
        Returns the answers that stand, in their order, and what is to be learnt: answers, and what was done with piles.
    learner : Learner or RunLearner, optional
        What learns; by default a session of the project's strategy.

    Attributes
    ----------
    failure : str
        Why the model stopped for good; empty while it works.
    """

    def __init__(
        self,
        rows: Rows,
        settings: Any,
        answers: Callable[[], tuple[list[Answer], list[Answer | Done]]],
        learner: RunLearner | None = None,
    ) -> None:
        self.rows, self.settings, self._answers = rows, settings, answers
        self.failure = ""
        self.second_share = 0.0  # of the questions that go to a second person
        self._learner: Learner | RunLearner = learner or Learner(rows, settings)
        self.kind = self._learner.kind
        self._fixed: FixedList | None = None
        if settings.get("strategy") == "fixed":
            self._fixed = FixedList(settings["questions"], bool(settings.get("overlap")))
        self._open, self._screens = OpenQuestions(), OpenScreens()
        self._about = f"{fingerprint(rows.X)} {rows.folder.name}"  # that a screen is of these rows
        self._waiting: dict[int, int] = {}  # who needs a question, in their order, and since which event
        self._state = threading.Condition()  # guards everything that requests and the thread share
        self._news, self._learnt, self._seen = 1, 0, 0  # events so far, those learnt, those the snapshot knows
        self._news_at = self._behind_since = time.monotonic()
        self._filled, self._lookers, self._stop = 0, 0, False
        self._n_noted = self._last_noted = 0  # answers that the open questions know
        self._is_rebuilding, self._kept_curve = True, list[tuple[int, float]]()
        self._kept: Snapshot | None = None  # the clusters that are written down
        self._kept_at = -_KEEP_EVERY
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
        if not self._thread.is_alive():
            self._keep_view()

    # -- for requests ------------------------------------------------------------------------------------------------

    def questions(self, person: int, *, wait: float = _BUSY, wait_more: float = 0.0) -> list[RowsAsked]:
        """Return the open questions of a person, the next one first: at most two, none when nothing is left.

        ``wait`` is how many seconds to wait for the first, ``wait_more`` for the second.
        """
        with self._state:
            if self._fixed is not None:
                return self._fixed.of(person, self._open)
            if not self._open.of(person):
                if person in self._waiting:
                    self._open.pass_on(person)
                else:
                    self._need(person)
            is_late = self._is_rebuilding or len(self._waiting) > _CROWD
            if not self._open.of(person) and is_late and self._snapshot is not None:
                self._spare(person)  # a question that the model chose would be long in coming
            if not self._open.of(person):
                self._state.wait_for(lambda: person not in self._waiting or self._stop, wait)
            if self._open.n_fresh(person) == 1:
                self._state.wait_for(lambda: self._open.n_fresh(person) != 1 or self._stop, wait_more)
            if not self._open.of(person) and wait >= _BUSY and person in self._waiting and not self.failure:
                self._spare(person)
            return self._open.of(person)

    def after_answer(self, person: int, rows: RowsAsked, *, wait: float = 0.0) -> None:
        """Take note that a person answered; wait a moment for a question that knows of it."""
        with self._state:
            self._open.after_answer(person, rows)
            self._need(person)
            if wait and self._fixed is None:
                self._state.wait_for(lambda: person not in self._waiting or self._stop, wait)

    def changed(self) -> None:
        """Take note that answers were taken back or edited."""
        with self._state:
            self._tell_thread()

    def reopen(self, person: int, rows: RowsAsked) -> None:
        """Ask a person again what they took back, before anything else."""
        with self._state:
            self._open.reopen(person, rows)

    def put_off(self, person: int, rows: RowsAsked) -> None:
        """Ask a person something else now, and this when nothing else is left."""
        with self._state:
            self._open.put_off(person, rows)
            if not self._open.of(person):
                self._need(person)

    def leave(self, person: int) -> None:
        """Give back the questions that a person holds."""
        with self._state:
            self._open.leave(person)
            self._screens.leave(person)
            if self._fixed is not None:
                self._fixed.leave(person)
            self._waiting.pop(person, None)

    def snapshot(self, *, fresh: bool = True, wait: float = 20.0) -> Snapshot:
        """Return the clusters; ``fresh``: those that know of every answer so far."""
        with self._state:
            if self._snapshot is None or fresh:
                news = self._news
                self._lookers += 1
                self._state.notify_all()
                wait = min(wait, _REBUILDING) if self._is_rebuilding and self._snapshot is not None else wait
                self._state.wait_for(lambda: self._seen >= news or self._stop, wait)
                self._lookers -= 1
            if self._snapshot is None:
                raise InvalidData(self.failure or "The model is still reading the answers; try again in a moment.")
            return self._snapshot

    @property
    def curve(self) -> list[tuple[int, float]]:
        """Agreement with the key, where there is one, after so many answers."""
        return self._kept_curve if self._is_rebuilding else self._learner.curve

    @property
    def people(self) -> list[PersonSoFar]:
        """What the answers say about each person whose answers were learnt."""
        return self._learner.people

    def begin_again(self, learner: RunLearner) -> None:
        """Go on from another run of the same rows."""
        with self._state:
            self._learner = learner
            self._open = OpenQuestions()
            self._screens.clear()
            self._n_noted = self._last_noted = 0
            self._tell_thread()

    def contradictions(self) -> list[Contradiction]:
        """Return rows that must and cannot link, with the answers that say so."""
        return self._learner.contradictions(self._answers()[1])

    # -- screens -----------------------------------------------------------------------------------------------------

    def screen(self, person: int, n: int, pace: Pace, *, wait: float = _BUSY) -> Asked | None:
        """Return the screen that a person sorts, of ``n`` rows; None when nothing is left.

        Where the model takes longer than ``wait`` seconds it is the one that was loaded, or of rows drawn at random.
        """
        with self._state:
            held = self._screens.of(person)
            if held is not None and held.n != n:  # a phone shows fewer
                self._screens.leave(person)
                held = None
            if held is None and person not in self._screens.wanted:
                self._screens.want(person, n, pace)
                self._tell_thread()
            if person in self._screens.wanted and not (held is not None and self._is_crowd()):
                self._state.wait_for(lambda: person not in self._screens.wanted or self._stop, wait)
            asked = self._screens.of(person)
            if asked is None and person in self._screens.wanted and not self.failure:
                asked = self._drawn_screen(n)
                if asked is not None:
                    self._screens.give(person, asked)
            self._screens.wanted.pop(person, None)
            return asked

    def held_screen(self, person: int) -> Asked | None:
        """Return the screen that a person has before them, without waiting for one."""
        with self._state:
            return self._screens.of(person)

    def after_screen(self, person: int, rows: Sequence[int], n: int, pace: Pace) -> None:
        """Take note that a person sorted some rows, and needs the next ones."""
        with self._state:
            self._screens.answered(person, rows)
            self._screens.want(person, n, pace)
            self._tell_thread()

    def show_again(self, person: int, rows: Sequence[int]) -> None:
        """Give a person the rows that they sorted and took back; what was loaded for them is old."""
        with self._state:
            self._screens.leave(person)
            if rows:
                again = Screen(tuple(rows), (), tuple(() for _ in rows), self._news, "")
                self._screens.give(person, Asked(again, n=len(rows)))

    def key_of_screen(self, rows: Sequence[int], number: int) -> str:
        """Return the key of a screen of this project."""
        return key_of(rows, number, self._about)

    def _is_crowd(self) -> bool:
        return len(self._screens.people()) > _FEW or self._is_rebuilding

    def _drawn_screen(self, n: int) -> Asked | None:
        """Return rows drawn at random that nobody placed and that are on no screen, while the model is busy."""
        taken = {row for rows in self._screens.busy() for row in rows}
        taken |= {row for done in self._answers()[1] if isinstance(done, Done) for row in done.act.rows}
        free = np.setdiff1d(np.arange(self.rows.n), list(taken))
        if not free.size:
            return None
        rng = np.random.default_rng([int(self.settings.get("seed", 0)), 7, self._news])
        rows = tuple(int(row) for row in rng.choice(free, min(n, free.size), replace=False))
        return Asked(Screen(rows, (), tuple(() for _ in rows), self._news, ""), n=n)

    def _serve_screens(self, *, ahead: bool) -> None:
        """Choose a screen for each person who waits for one, or the one that is loaded behind theirs."""
        with self._state:
            wanted = dict(self._screens.wanted)
            if ahead:
                is_next = [who for who in self._screens.people() if 0 < self._screens.n_of(who) < LOADED]
                wanted = {who: (found.n, USUAL) for who in is_next if (found := self._screens.of(who))}
        for person, (n, pace) in wanted.items():
            with self._state:
                busy = [rows for rows in self._screens.busy() if rows]
                if ahead and (self._learnt < self._news or self._screens.wanted):
                    return  # somebody waits
            if ahead and _FREE * sum(map(len, busy)) > self.rows.n:
                return  # what is loaded for one person is missing for others
            asked = self._learner.ask_screen(n, busy, pace)
            if asked is None and not ahead:  # people hold the rest: first what is loaded, then what they perhaps left
                with self._state:
                    busy = self._screens.only_shown()
                asked = self._learner.ask_screen(n, busy, pace) or self._learner.ask_screen(n, (), pace)
            with self._state:
                if asked is not None and (person in self._screens.wanted) != ahead:
                    self._screens.give(person, asked)
                elif not ahead:
                    self._screens.wanted.pop(person, None)
                self._state.notify_all()

    def _need(self, person: int) -> None:
        self._tell_thread()
        if self._fixed is None:
            self._waiting.pop(person, None)  # a person who answers again waits again
            self._waiting[person] = self._news

    def _tell_thread(self) -> None:
        now = time.monotonic()
        if self._seen == self._news:
            self._behind_since = now
        self._news, self._news_at = self._news + 1, now
        self._state.notify_all()

    def _spare(self, person: int) -> None:
        """Ask a question that is on no screen, while the model is busy: about a doubtful row, or a random one."""
        rng = np.random.default_rng([int(self.settings.get("seed", 0)), 5, self._news])
        width = {"label": 1, "pair": 2, "triplet": 3}[self.kind]
        for number in range(200 if self.rows.n >= width else 0):
            rows = tuple(int(row) for row in rng.choice(self.rows.n, width, replace=False))
            if number < 50 and width < 3 and self._snapshot is not None:
                rows = _doubtful(self._snapshot, width, rng) or rows
            if self._open.is_free(person, rows):
                self._open.give(person, rows)
                return

    # -- the thread --------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while self._await_work():
                self._work()
        except SidelightError as error:
            self._fail(str(error))
        except Exception as error:  # a mistake of ours must show on the page, not only end a thread
            self._fail(f"The model stopped: {type(error).__name__}: {error}. Every answer is kept.")

    def _work(self) -> None:
        if self._is_rebuilding:
            self._recall()
        self._learn()
        self._is_rebuilding = False
        self._serve()
        self._serve_screens(ahead=False)
        self._load_ahead()
        self._serve_screens(ahead=True)
        self._look()

    def _recall(self) -> None:
        """Show the clusters that were kept at the last end, while everything is learnt anew."""
        with self._state:
            news = self._news
        answers, counted = self._answers()
        told = told_by(counted)
        found = None if not self._learner.keeps_view else read_view(self.rows, self.settings, told)
        with self._state:
            for answer in answers:
                self._open.note(answer.person, answer.rows)
            if found is not None:
                self._snapshot, self._kept_curve = found
                if self._snapshot.version == len(told):
                    self._seen = news
            self._state.notify_all()

    def _keep_view(self) -> None:
        """Write the clusters down for the next start."""
        snapshot, told = self._snapshot, self._learner.told
        if not self._learner.keeps_view or snapshot is None or snapshot is self._kept:
            return
        if self._is_rebuilding or snapshot.version != len(told):
            return
        write_view(self.rows.folder, snapshot, self._learner.curve, mark_of(self.rows, self.settings, told))
        self._kept, self._kept_at = snapshot, time.monotonic()

    def _fail(self, words: str) -> None:
        with self._state:
            self.failure = words
            self._stop = True
            self._state.notify_all()

    def _await_work(self) -> bool:
        """Wait until there is something to learn or to look at; say whether to go on."""
        with self._state:
            while not (self._stop or self._learnt < self._news or self._is_look_due()):
                self._state.wait(None if self._seen == self._learnt else _QUIET)
            return not self._stop

    def _is_look_due(self) -> bool:
        """Whether the clusters are behind, and are asked for, no answer waits to be learnt, or they are old."""
        now = time.monotonic()
        is_quiet, is_old = now - self._news_at >= _QUIET, now - self._behind_since >= _OLDEST
        return self._seen < self._learnt and (self._lookers > 0 or is_quiet or is_old)

    def _learn(self) -> None:
        """Catch up with the answers."""
        with self._state:
            news = self._news
            if self._learnt == news:
                return
        answers, counted = self._answers()
        self._learner.catch_up(counted, lambda: self._stop)
        with self._state:
            for answer in answers[self._n_noted :] if self._is_continued(answers) else answers:
                self._open.note(answer.person, answer.rows)
            self._n_noted, self._last_noted = len(answers), answers[-1].id if answers else 0
            self._learnt = news

    def _is_continued(self, answers: list[Answer]) -> bool:
        """Whether the answers go on after those noted before: none was taken back."""
        n = self._n_noted
        return n <= len(answers) and (n == 0 or answers[n - 1].id == self._last_noted)

    def _serve(self) -> None:
        """Choose a question for each person who waits and whose answer was learnt; first for those who have none."""
        with self._state:
            people = [person for person, since in self._waiting.items() if since <= self._learnt]
            people.sort(key=lambda person: len(self._open.of(person)))
        for person in people:
            self._choose(person)

    def _load_ahead(self) -> None:
        """Choose what is loaded behind the question on the screen: where nothing is, and else while no person waits."""
        with self._state:
            people = self._open.people()
        for person in people:
            with self._state:
                is_idle, n_loaded = self._learnt == self._news, len(self._open.of(person))
                is_next = self._open.n_fresh(person) == AT_ONCE - 1 and (is_idle or n_loaded < AT_ONCE)
            if is_next:
                self._choose(person)
        if len(people) > 1:
            self._fill_pool()

    def _fill_pool(self) -> None:
        """Choose questions for people who answer faster than the model learns."""
        with self._state:
            if self._learnt == self._news > self._filled + _STALE:
                self._open.leave(NOBODY)
                self._filled = self._learnt
            n_missing = _POOL - self._open.n_fresh(NOBODY)
        for _ in range(n_missing):
            self._choose(NOBODY)

    def _choose(self, person: int) -> None:
        with self._state:
            expected = self._open.expected(person)
            since, n_fresh = self._waiting.get(person), self._open.n_fresh(person)
        rows = self._second_look(person) or self._learner.ask(
            expected, lambda rows, is_again: self._is_free(person, rows, is_again), None if person == NOBODY else person
        )
        with self._state:
            if rows is None:
                rows = self._open.bring_back(person)
            if (self._waiting.get(person), self._open.n_fresh(person)) != (since, n_fresh):
                return  # the person answered, or left, meanwhile
            if rows is not None:
                self._open.give(person, rows)
            self._waiting.pop(person, None)
            self._state.notify_all()

    def _second_look(self, person: int) -> RowsAsked | None:
        """Return a question that another person answered, for the chosen share of questions; else nothing."""
        share = self.second_share
        if person == NOBODY or not share or self.kind == "triplet":
            return None
        rng = np.random.default_rng([int(self.settings.get("seed", 0)), 6, person, self._news])
        if rng.random() >= share:
            return None
        with self._state:
            again = self._open.second_looks(person)
        return again[int(rng.integers(len(again)))] if again else None

    def _is_free(self, person: int, rows: RowsAsked, is_again: bool) -> bool:
        with self._state:
            return self._open.is_free(person, rows, is_again=is_again)

    def _look(self) -> None:
        """Work out the clusters, if it is time."""
        with self._state:
            if not self._is_look_due():
                return
            seen, before = self._learnt, self._snapshot
        snapshot = self._learner.look(self._answers()[0], before)
        with self._state:
            self._snapshot, self._seen, self._behind_since = snapshot, seen, time.monotonic()
            self._state.notify_all()
        if time.monotonic() - self._kept_at >= _KEEP_EVERY:
            self._keep_view()


def _doubtful(snapshot: Snapshot, width: int, rng: np.random.Generator) -> RowsAsked | None:
    """Return one of the most doubtful rows, and beside it the surest, most typical row of its cluster."""
    doubts = snapshot.sure + 1e-6 * rng.random(len(snapshot.sure))  # of rows equally sure, any
    row = int(rng.choice(np.argpartition(doubts, min(_DOUBTFUL, len(doubts) - 1))[:_DOUBTFUL]))
    if width == 1:
        return (row,)
    others = np.flatnonzero((snapshot.labels == snapshot.labels[row]) & (np.arange(len(snapshot.labels)) != row))
    if not others.size:
        return None
    return (row, int(others[np.lexsort((-snapshot.typical[others], -snapshot.sure[others]))[0]]))
