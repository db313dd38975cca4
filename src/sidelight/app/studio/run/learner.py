"""What a project of a run asks and believes: the run's clusters, the doubtful rows first, and what people said of them.

A row without a word of people keeps exactly what the run found. What people say about a row weighs more than the run,
which never looked at it: half of the run's belief is spread evenly first, then every answer is taken to be wrong with
a small probability. What the other rows gain from it is for the job to say, when it is run again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from sidelight._core.prototypes import group_means, squared_distances
from sidelight._core.simplex import softmax
from sidelight.active.outlook import UNSURE_BELOW, Outlook
from sidelight.active.people import PersonSoFar, Rates
from sidelight.active.questions import UNSURE
from sidelight.active.screens import Screen
from sidelight.app.studio.answers import Answer
from sidelight.app.studio.history import Done
from sidelight.app.studio.learner import Asked, Contradiction, Snapshot, Told, contradictions_of, told_by
from sidelight.app.studio.rows import Rows
from sidelight.app.studio.run.start import Start
from sidelight.data.relations import Pairs
from sidelight.metrics import adjusted_rand_index
from sidelight.words import counted as counted_words

WRONG = 0.05  # how often people err about a row: as in the studies behind `Labeller`
_ROUNDS = 2  # over the answers about two rows, so that chains of them are followed


class Belief:
    """The probability of every cluster for every row.

    Parameters
    ----------
    rows : Rows
        The rows of the project.
    start : Start
        Where the run ended.

    Attributes
    ----------
    names, label_of : list of str
        The clusters and their labels: those of the run, then labels that only people gave.
    P : ndarray of shape (n_rows, n_clusters)
        The probabilities.
    labels, sure : ndarray of shape (n_rows,)
        The cluster of each row and its probability; of a row without a word of people, what the run wrote.
    """

    def __init__(self, rows: Rows, start: Start) -> None:
        self.start = start
        self._first = _of_run(rows, start)
        self.names: list[str] = []
        self.label_of: list[str] = []
        self.P = self._first
        self.labels, self.sure = start.labels, start.sure
        self.learn(())

    def learn(self, answers: Sequence[Answer]) -> None:
        """Take what people said so far, in its order."""
        start = self.start
        said = [answer for answer in answers if answer.answer != UNSURE]
        known = dict.fromkeys([*start.vocabulary, *(a.answer for a in said if len(a.rows) == 1)])
        new = [label for label in known if label not in start.label_of]
        self.names, self.label_of = [*start.names, *new], [*start.label_of, *new]
        P = np.hstack([self._first, np.zeros((len(self._first), len(new)))])
        touched = sorted({row for answer in said for row in answer.rows})
        K = len(self.names)
        P[touched] = 0.5 * P[touched] + 0.5 / K
        for answer in said:
            if len(answer.rows) == 1:
                _weigh(P, answer.rows[0], self._has(answer.answer), not answer.is_not)
        pairs = [answer for answer in said if len(answer.rows) == 2]
        for _ in range(_ROUNDS if pairs else 0):
            self._about_pairs(P, pairs)
        self.P = P
        self.labels, self.sure = start.labels.copy(), start.sure.copy()
        self.labels[touched] = P[touched].argmax(axis=1)
        self.sure[touched] = P[touched].max(axis=1)

    def chance_wrong(self, answer: Answer, others: Sequence[Answer], rate: Callable[[int], float]) -> float:
        """Return the chance that a label of a row is wrong, by the run and by what others said of the same row.

        ``rate`` says how often a person is wrong.
        """
        P = np.zeros((1, len(self.names)))
        P[0, : self._first.shape[1]] = self._first[answer.rows[0]]
        P = 0.5 * P + 0.5 / P.shape[1]
        for other in others:
            _weigh(P, 0, self._has(other.answer), not other.is_not, rate(other.person))
        chance = float(P[0] @ self._has(answer.answer))
        return chance if answer.is_not else 1.0 - chance

    def _has(self, label: str) -> np.ndarray:
        """Return 1 for every cluster with a label, else 0."""
        return np.array([name == label for name in self.label_of], dtype=float)

    @staticmethod
    def _about_pairs(P: np.ndarray, pairs: Sequence[Answer]) -> None:
        for answer in pairs:
            a, b = answer.rows
            before = P[a].copy()
            _weigh(P, a, P[b], answer.answer == "same")
            _weigh(P, b, before, answer.answer == "same")


def _weigh(P: np.ndarray, row: int, chance: np.ndarray, is_so: bool, wrong: float = WRONG) -> None:
    """Multiply the belief of a row by the probability of an answer that is true with ``chance`` in each cluster."""
    if not is_so:
        chance = 1.0 - chance
    weighed = P[row] * ((1.0 - wrong) * chance + wrong * (1.0 - chance))
    P[row] = weighed / weighed.sum()


def _of_run(rows: Rows, start: Start) -> np.ndarray:
    """Return the probability of the run for its cluster, and the rest of it spread over the likely ones.

    Likely are the clusters of the bag's list, by the distance of the row to their means.
    """
    K, every = len(start.names), np.arange(rows.n)
    used, codes = np.unique(start.labels, return_inverse=True)
    squares = np.full((rows.n, K), np.inf)
    squares[:, used] = squared_distances(rows.Z, group_means(rows.Z, codes, len(used)))
    squares[every, start.labels] = np.inf
    allowed = np.ones((rows.n, K), dtype=bool)
    for bag, listed in enumerate(start.lists):
        if listed is not None:
            allowed[start.bags == bag] = [label in listed or label.startswith("novel") for label in start.label_of]
    allowed[every, start.labels] = False
    alone = ~(allowed & np.isfinite(squares)).any(axis=1)
    allowed[alone] = True
    scale = float(np.median(squares[np.isfinite(squares)])) if np.isfinite(squares).any() else 1.0
    weights = np.where(allowed & np.isfinite(squares), -squares / (0.5 * scale or 1.0), -1e9)
    shares = softmax(weights)
    shares[every, start.labels] = 0.0
    total = shares.sum(axis=1, keepdims=True)
    shares = np.divide(shares, total, out=np.zeros_like(shares), where=total > 0)
    P = shares * (1.0 - start.sure)[:, None]
    P[every, start.labels] = start.sure
    return P / np.maximum(P.sum(axis=1, keepdims=True), 1e-12)


_DOUBTED = 0.5  # chance of being wrong above which an answer is shown as one that the others do not share
_TURNS = 5  # of rates and chances in turns: who is often wrong tests the others less


def people_of(belief: Belief, answers: Sequence[Answer]) -> list[PersonSoFar]:
    """Return what labels of the same rows say about each person; a row that one person labelled tests none.

    A label is probably wrong as far as the run and the labels of all others say so; people do not confirm themselves.
    """
    of_row: dict[int, list[Answer]] = defaultdict(list)
    for answer in answers:
        if len(answer.rows) == 1 and answer.answer != UNSURE:
            of_row[answer.rows[0]].append(answer)
    said = [answer for some in of_row.values() for answer in some]
    others = [[other for other in of_row[a.rows[0]] if other.person != a.person] for a in said]
    tested = np.array([bool(some) for some in others], dtype=bool)
    people = [answer.person for answer in said]
    rate: Callable[[int], float] = lambda _: WRONG  # noqa: E731  # until the answers say more
    for _ in range(_TURNS):
        wrong = np.array([belief.chance_wrong(a, some, rate) if some else 0.0 for a, some in zip(said, others)])
        rates = Rates.of(wrong, tested, people)
        rate = rates.rate
    lines = []
    for person in dict.fromkeys(answer.person for answer in answers):
        mine = [number for number, who in enumerate(people) if who == person]
        doubted = sorted((number for number in mine if wrong[number] > _DOUBTED), key=lambda number: -wrong[number])
        lines.append(
            PersonSoFar(
                person,
                sum(answer.person == person for answer in answers),
                sum(answer.person == person and answer.answer == UNSURE for answer in answers),
                int(tested[mine].sum()) if mine else 0,
                rates.rate(person),
                *rates.interval(person),
                tuple((said[number].rows, said[number].words, float(wrong[number])) for number in doubted),
            )
        )
    return lines


Promise = tuple[float, tuple[int, ...]]  # bits in a second, and the rows of the question
_LOOKED_AT = 200  # doubtful rows among which the question is chosen
MOST_WORDS = 9  # labels that have a key
_SECONDS = {1: 2.0, 2: 1.5}  # of an answer about a row, and about two, until people's own are known
_A_WORD = 0.15  # seconds that each label to choose from takes longer
_ENOUGH = 5  # answers that tell how long people take


class RunLearner:
    """Asks about the rows that a run is least sure of, for the model's thread alone; pages read names and words.

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

    def catch_up(self, said: Sequence[Answer | Done], is_over: Callable[[], bool]) -> None:
        """Learn the answers that stand; in a project of a run nobody makes piles of other than labels."""
        counted = [one for one in said if isinstance(one, Answer)]
        self._answers, self.told = counted, told_by(counted)
        for width, usual in _SECONDS.items():
            took = [a.seconds for a in counted if len(a.rows) == width and a.seconds == a.seconds]
            self._took[width] = max(float(np.median(took)), 0.3) if len(took) >= _ENOUGH else usual
        belief = copy(self._belief)  # pages read the one before until this one is whole
        belief.learn([answer for answer in counted if answer.person not in self._of_run])
        self._belief = belief

    def names(self) -> list[str]:
        """Return what the run, or people, call the clusters."""
        return list(self._belief.names)

    def label_of(self) -> list[str]:
        """Return the label of each cluster."""
        return list(self._belief.label_of)

    # -- asking ------------------------------------------------------------------------------------------------------

    def ask(
        self,
        expected: Sequence[tuple[int, ...]],
        is_free: Callable[[tuple[int, ...], bool], bool],
        person: int | None = None,
    ) -> tuple[int, ...] | None:
        """Return the question with most information in a second about a doubtful row; None when nothing is left."""
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

    def ask_screen(self, n: int, busy: Sequence[Sequence[int]], pace: tuple[float, float, float]) -> Asked | None:
        """Return the rows to name at once: the most doubtful that nobody has, of copies the first."""
        taken = {row for rows in busy for row in rows}
        taken |= {answer.rows[0] for answer in self._answers if answer.person not in self._of_run}
        chosen: dict[bytes, int] = {}
        for row in np.argsort(self._belief.sure, kind="stable").tolist():
            if row not in taken:
                chosen.setdefault(self.rows.X[row].tobytes(), row)
            if len(chosen) == n:
                break
        rows = tuple(chosen.values())
        return Asked(Screen(rows, (), tuple(() for _ in rows), len(self.told), ""), n=n) if rows else None

    def words(self, row: int) -> list[str]:
        """Return the labels to choose from: those of the bag's list and novel ones, else those that the run leaves open
        (one of these) and the likeliest.
        """
        belief, listed = self._belief, self.start.list_of(row)
        chance: dict[str, float] = defaultdict(float)
        for label, p in zip(belief.label_of, belief.P[row].tolist()):
            chance[label] += p
        own = belief.label_of[int(belief.labels[row])]
        likely = sorted(chance, key=lambda label: -chance[label])
        if self.start.one_of:
            few = self.start.one_of[row][:MOST_WORDS]
            likely = list(dict.fromkeys([own, *(label for label in few if label in chance), *likely]))
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

    def contradictions(self, counted: Sequence[Any]) -> list[Contradiction]:
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
