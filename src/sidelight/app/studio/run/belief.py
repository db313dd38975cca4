"""What is believed of every row after people spoke about some: the run's probabilities, until a person looked.

A row without a word of people keeps exactly what the run found. What people say about a row weighs more than the run,
which never looked at it: half of the run's belief is spread evenly first, then every answer is taken to be wrong with
a small probability. What the other rows gain from it is for the job to say, when it is run again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sidelight._core.prototypes import group_means, squared_distances
from sidelight._core.simplex import softmax
from sidelight.active.questions import UNSURE
from sidelight.app.studio.answers import Answer
from sidelight.app.studio.rows import Rows
from sidelight.app.studio.run.start import Start

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
