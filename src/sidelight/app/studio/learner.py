"""The session behind a project: it learns the answers that stand, chooses questions, and says what the clusters are.

Everything it knows follows from the rows, the settings and the answers, so a new process rebuilds it from the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any

import numpy as np

from sidelight._core.matching import match_rows
from sidelight.active.bayesian import BayesianActiveClustering
from sidelight.active.outlook import Outlook, PartitionHistory
from sidelight.active.people import PersonSoFar
from sidelight.active.screens import PileAct, Screen
from sidelight.active.session import ActiveSession
from sidelight.app.studio.answers import Answer
from sidelight.app.studio.history import Done
from sidelight.app.studio.rows import Rows
from sidelight.data.relations import Pairs
from sidelight.data.relations.facts import most_damaging_first
from sidelight.errors import InvalidData
from sidelight.metrics import adjusted_rand_index

STRATEGIES = ("rows", "pairs", "info", "uncertain", "random", "fixed")
KINDS = ("pair", "triplet")
_TRIES = 20  # questions of the strategy that may have been asked already, before there are none
_MOST_SHOWN = 50  # contradictions that a page lists: one wrong answer contradicts many
_STEPS = 300  # of learning everything anew: fewer answers are learnt one by one, as they came from one person
Told = tuple[tuple[int, ...], str, int, bool] | PileAct  # rows, answer, person, and whether it corrects a row's place
Contradiction = tuple[tuple[int, ...], list[Answer], list[Answer]]  # rows, and the answers for and against


def told_by(said: Sequence[Answer | Done]) -> list[Told]:
    """Return what is learnt of answers, and of what was done with piles."""
    return [one.act if isinstance(one, Done) else (one.rows, one.words, one.person, one.correction) for one in said]


@dataclass(frozen=True, slots=True)
class Asked:
    """A screen as the learner chose it.

    Attributes
    ----------
    screen : Screen
        Its rows.
    begun : dict of int to int or None
        Before anybody sorted, the rows that answers about pairs placed, and their piles.
    doubtful : tuple of int or None
        Two piles that are probably one.
    is_best : bool
        Whether it promises more a second than a question about two rows.
    n : int
        How many rows were wanted.
    """

    screen: Screen
    begun: dict[int, int] | None = None
    doubtful: tuple[int, int] | None = None
    is_best: bool = True
    n: int = 10


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The clusters after some answers.

    Attributes
    ----------
    version : int
        How many answers it knows.
    labels, sure : ndarray
        The cluster of each row, and its probability (0 for a cluster that no question was about yet).
    n_known : int
        Clusters that questions were about; higher numbers are guessed from the rows alone.
    outlook : Outlook
        Whether to go on.
    agreement : float
        Adjusted Rand index against the key; NaN without one.
    moved : ndarray
        Rows whose cluster changed since an earlier snapshot.
    moved_by : int
        How many answers came in between.
    typical : ndarray
        How typical each row looks; tells rows apart that are equally sure.
    is_judged : bool
        Whether rows with answers were enough to tell how sure the others may be called; else no page prints it.
    """

    version: int
    labels: np.ndarray
    sure: np.ndarray
    n_known: int
    outlook: Outlook
    agreement: float
    moved: np.ndarray
    moved_by: int
    typical: np.ndarray
    is_judged: bool = True

    def sure_of(self, row: int) -> float | None:
        """Return the probability of a row's cluster, for a page; None where nothing tells how far it is right."""
        return round(float(self.sure[row]), 4) if self.is_judged else None


class Learner:
    """Learns answers and chooses questions, for the model's thread alone: no request ever waits for it.

    What requests read (``people``, ``curve``, the pairs behind ``contradictions``) is replaced, never changed.

    Parameters
    ----------
    rows : Rows
        The rows of the project.
    settings : mapping
        ``strategy``, ``kind``, ``clusters`` and ``seed`` of the project.

    Attributes
    ----------
    curve : list of (int, float)
        Agreement with the key, where there is one, after so many answers.
    people : list of PersonSoFar
        What the answers say about each person, as of the last look; replaced, never changed.
    """

    keeps_view = True  # learning everything anew takes long

    def __init__(self, rows: Rows, settings: Any) -> None:
        self.rows, self.settings = rows, settings
        self.kind = settings.get("kind", "pair")
        self.curve: list[tuple[int, float]] = []
        self.people: list[PersonSoFar] = []
        self._session: ActiveSession | None = None
        self._learnt: list[Told] = []
        self._pairs: Pairs | None = None  # what the answers learnt so far say about pairs; replaced, never changed

    @property
    def told(self) -> list[Told]:
        """The answers that were learnt so far."""
        return self._learnt

    # -- learning ----------------------------------------------------------------------------------------------------

    def catch_up(self, counted: Sequence[Answer | Done], is_over: Callable[[], bool]) -> None:
        """Learn what is new in one step; after a restart, an undo or an edit learn everything anew.

        ``counted`` has the answers to learn, in their order.
        """
        told = told_by(counted)
        session = self._begun()
        if told[: len(self._learnt)] != self._learnt:
            session.replay([])
            self._learnt, self.curve = [], []
        new = told[len(self._learnt) :]
        if self._learnt:
            self._learn(session, new)
            return
        size = max(1, -(-len(new) // _STEPS))
        for begin in range(0, len(new), size):
            if is_over():
                return
            self._learn(session, new[begin : begin + size])
            if begin // PartitionHistory.EVERY < len(self._learnt) // PartitionHistory.EVERY:
                self._note(len(self._learnt), session.labels_)  # the session needs these labels anyway

    def _learn(self, session: ActiveSession, batch: Sequence[Told]) -> None:
        for is_act, some in groupby(batch, key=lambda one: isinstance(one, PileAct)):
            if is_act:
                session.tell_acts([act for act in some if isinstance(act, PileAct)])
            else:
                self._learn_answers(session, list(some))
        self._learnt = [*self._learnt, *batch]
        self._pairs = session.pairs

    @staticmethod
    def _learn_answers(session: ActiveSession, batch: Sequence[Any]) -> None:
        new: dict[tuple[Any, ...], Any] = {}
        for rows, answer, person, is_correction in batch:
            if session.may_tell(rows, person):  # else a triplet said it
                about = (rows, answer, person, is_correction)
                new.setdefault((frozenset(rows), person if len(rows) == 2 else None), about)
        for is_correction, some in groupby(new.values(), key=lambda one: one[3]):
            answers = [one[:3] for one in some]
            session.tell_all(answers, **({"correction": True} if is_correction else {}))

    def _note(self, n_answers: int, labels: np.ndarray) -> float:
        """Add a point to the curve; return the agreement with the key."""
        if self.rows.truth is None:
            return float("nan")
        agreement = float(adjusted_rand_index(self.rows.truth, labels))
        self.curve = [point for point in self.curve if point[0] < n_answers] + [(n_answers, agreement)]
        return agreement

    def _begun(self) -> ActiveSession:
        if self._session is None:
            self._session = new_session(self.rows, self.settings)
        return self._session

    # -- asking ------------------------------------------------------------------------------------------------------

    def ask(
        self,
        expected: Sequence[tuple[int, ...]],
        is_free: Callable[[tuple[int, ...], bool], bool],
        person: int | None = None,
    ) -> tuple[int, ...] | None:
        """Return a question that is free, as if the ``expected`` ones were answered; None when nothing is left.

        ``is_free`` is given the rows, and whether another person answered the question surprisingly.
        """
        looker = person if self.kind == "pair" else None
        session = self._begun()
        for _ in range(_TRIES):
            question = session.ask(busy=expected, person=looker)
            if question is None:
                return None
            pair = tuple(question.rows)
            rows = pair if self.kind == "pair" else self._with_third(session, pair, expected)
            if rows is not None and is_free(rows, not session.may_tell(rows)):
                return rows
            expected = [
                *expected,
                pair,
            ]  # another person has it, or it is a triplet that taught the session nothing
        return None

    def _with_third(
        self, session: ActiveSession, pair: tuple[int, ...], expected: Sequence[tuple[int, ...]]
    ) -> tuple[int, ...] | None:
        """Add a row of another likely cluster to a pair, so that the odd one out says to which the first belongs."""
        if self.settings.get("strategy") != "random":
            P = session.predict_proba()
            labels = P.argmax(axis=1)
            asked = {row for rows, _ in session.history for row in rows} - set(pair)
            others = [
                row for row in asked if labels[row] != labels[pair[1]] and session.pairs.implies(row, pair[0]) is None
            ]
            if others:
                return (*pair, max(others, key=lambda row: (P[pair[0], labels[row]], P[row, labels[row]], -row)))
        rng = np.random.default_rng([session.seed_, 4, session.n_answers, len(expected)])
        free = np.setdiff1d(np.arange(self.rows.n), pair)
        return (*pair, int(rng.choice(free))) if free.size else None

    def ask_screen(self, n: int, busy: Sequence[Sequence[int]], pace: tuple[float, float, float]) -> Asked | None:
        """Return rows to sort that are on no screen of others; None when no row is left.

        ``pace`` is how many seconds a person takes for a pair, a screen, and each of its rows.
        """
        session = self._begun()
        screen = session.ask_screen(n, busy=busy)
        if screen is None:
            return None
        if not session.piles:
            return Asked(screen, {row: pile.number for pile in screen.piles for row in pile.rows}, n=n)
        two = session.doubtful_piles()
        question = session.ask() if self.settings.get("by") == "auto" else None
        is_best = question is None or session.promises_more(screen, question, pace)
        return Asked(screen, None, None if two is None else (two[0].number, two[1].number), is_best, n)

    # -- what is known -----------------------------------------------------------------------------------------------

    def look(self, answers: Sequence[Answer], before: Snapshot | None) -> Snapshot:
        """Work out the clusters; ``answers`` are those that were learnt."""
        session = self._begun()
        session.compare_with_before()
        labels, P, typical = session.labels_, session.predict_proba(), session.typicality_
        outlook, n_answers = session.outlook(), len(self._learnt)
        self.people = session.people()
        sure = np.where(labels < P.shape[1], P[np.arange(len(P)), np.minimum(labels, P.shape[1] - 1)], 0.0)
        _corrected(labels, sure, P, answers)
        moved, moved_by = np.zeros(0, dtype=int), 0
        if before is not None:
            moved, moved_by = moved_rows(before.labels, labels), n_answers - before.version
            if before.version == n_answers and not moved.size:
                moved, moved_by = before.moved, before.moved_by
        agreement = self._note(n_answers, labels)
        is_judged = session.sureness().n_rows > 0
        return Snapshot(n_answers, labels, sure, P.shape[1], outlook, agreement, moved, moved_by, typical, is_judged)

    def contradictions(self, counted: Sequence[Any]) -> list[Contradiction]:
        """Return rows that must and cannot link, with the answers that say so; it does not wait for the learning."""
        return [] if self._pairs is None else contradictions_of(self._pairs, counted)


def contradictions_of(pairs: Pairs, counted: Sequence[Any]) -> list[Contradiction]:
    """Return rows that must and cannot link by ``pairs``, the most damaging first, with the answers behind it."""
    found = most_damaging_first(pairs.contradictions())[:_MOST_SHOWN]
    about: dict[frozenset[int], list[Answer]] = {}
    for answer in (one for one in counted if found and isinstance(one, Answer)):
        for pair in combinations(answer.rows, 2):
            about.setdefault(frozenset(pair), []).append(answer)
    ends = pairs.rows

    def behind(numbers: tuple[int, ...]) -> list[Answer]:
        said = [answer for number in numbers for answer in about.get(frozenset(ends[number].tolist()), ())]
        return sorted({answer.id: answer for answer in said}.values(), key=lambda answer: answer.id)

    return [(tuple(c.rows), behind(c.chain), behind(c.against)) for c in found]


def moved_rows(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the rows that changed their cluster, whatever the clusters are numbered.

    >>> moved_rows(np.array([0, 0, 0, 1, 1]), np.array([1, 1, 0, 0, 0])).tolist()
    [2]
    """
    counts = np.zeros((int(before.max()) + 1, int(after.max()) + 1))
    np.add.at(counts, (before, after), 1)
    return np.flatnonzero(match_rows(counts)[before] != after)


def _corrected(labels: np.ndarray, sure: np.ndarray, P: np.ndarray, answers: Sequence[Answer]) -> None:
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
    if K is not None and not 2 <= int(K) <= n_rows:
        raise InvalidData(f"The number of clusters lies between 2 and the {n_rows} rows. Got {K}.")
