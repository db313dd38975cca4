"""How the next question is chosen from a belief.

A strategy has ``choose(belief, asked, generator)``, which returns rows to ask about and what is expected of the answer,
or None when nothing is left; and ``after_answer(belief, rows, answer)``. It keeps only what replaying the answers gives
back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sidelight._core.forest import components
from sidelight._core.simplex import binary_entropy, entropy
from sidelight.active.rivals.cobras import CobrasStrategy
from sidelight.active.rivals.neighbourhoods import NPU, MinMax, Neighbourhoods

Floats = npt.NDArray[np.floating[Any]]
CANDIDATES = 50_000  # pairs that are looked at; all of them where there are no more
SCORED = 32  # particles that every pair is scored on
SHORTLIST = 2000  # of the best pairs are scored on all particles
BLOCK = 20_000
REFINED = 5  # one in so many of the pairs looked at are partners of rows whose drawn pairs score best


class CriterionStrategy:
    """Ask the pair of largest Info or Uncertain, [P17] eq. (4.7) and (4.6): whose answer teaches most, by particles.

    Where answers must form a forest, it is one that closes no cycle. A belief without particles has one probability
    for each row and cluster. Info is then the information about the labels of the two rows, and picks the same pair as
    Uncertain.

    Parameters
    ----------
    criterion : {"info", "uncertain"}
        What is maximised.
    n_candidates, n_scored : int
        Pairs looked at, and particles each is scored on; the best of them are then compared on all particles.
    """

    def __init__(self, criterion: str = "info", n_candidates: int = CANDIDATES, n_scored: int = SCORED) -> None:
        self.criterion, self.n_candidates, self.n_scored = criterion, n_candidates, n_scored

    def choose(
        self, belief: Any, asked: Any, generator: np.random.Generator, busy: frozenset[int] = frozenset()
    ) -> tuple[tuple[int, ...], float] | None:
        """Return the best candidate."""
        q = belief.marginals()
        score = self._scores(belief, q)
        a, b = _pairs(belief.n_rows, self.n_candidates, generator)
        gains = score(a, b)
        if len(a) < belief.n_rows * (belief.n_rows - 1) // 2:
            left, right = _partners(a, b, gains, belief.n_rows, self.n_candidates // REFINED)
            gains = np.concatenate([gains, score(left, right)])
            a, b = np.concatenate([a, left]), np.concatenate([b, right])
        free = np.ones(len(a), dtype=bool)
        if busy:
            taken = np.isin(np.arange(belief.n_rows), list(busy))
            free = ~taken[a] & ~taken[b]
        if q is not None:
            tree = components(belief.left, belief.right, belief.n_rows)
            free &= tree[a] != tree[b]
        a, b, gains = a[free], b[free], gains[free]
        order = np.argsort(-gains, kind="stable")
        best = order[:SHORTLIST]
        gains[best] = score(a[best], b[best], on_all=True)
        order[:SHORTLIST] = best[np.argsort(-gains[best], kind="stable")]
        for at in order:
            pair = (int(a[at]), int(b[at]))
            if not asked(*pair):
                return pair, float(gains[at])
        return None

    def _scores(self, belief: Any, q: Floats | None) -> Callable[..., Floats]:
        """Return what scores pairs, on some particles or on all."""
        if q is not None:
            return lambda a, b, on_all=False: self.gains(q if on_all else q[: self.n_scored], a, b, belief.eps)
        P, uncertain = np.asarray(belief.posterior(), dtype=np.float64)[None], CriterionStrategy("uncertain")
        least = float(binary_entropy(belief.eps))
        return lambda a, b, on_all=False: uncertain.gains(P, a, b, belief.eps) - least

    def gains(self, q: Floats, a: Any, b: Any, eps: float) -> Floats:
        """Score pairs by the particles' marginals q (S, n, K)."""
        out = np.empty(len(a))
        for begin in range(0, len(a), BLOCK):
            block = slice(begin, begin + BLOCK)
            alike = np.einsum("spk,spk->sp", q[:, a[block]], q[:, b[block]])
            same = eps + (1 - 2 * eps) * alike
            out[block] = binary_entropy(same.mean(axis=0))
            if self.criterion == "info":
                out[block] -= binary_entropy(same).mean(axis=0)
        return out

    def after_answer(self, belief: Any, rows: tuple[int, ...], answer: str) -> None:
        """Nothing to note."""


def _pairs(n: int, most: int, generator: np.random.Generator) -> tuple[Any, Any]:
    if n * (n - 1) // 2 <= most:
        a, b = np.triu_indices(n, 1)
        return a, b
    most -= most // REFINED
    a = generator.integers(n, size=most)
    b = (a + generator.integers(1, n, size=most)) % n
    return a, b


def _partners(a: Any, b: Any, gains: Floats, n: int, most: int) -> tuple[Any, Any]:
    """Return all pairs of the rows in the best pairs, ``most`` of them."""
    best = np.argsort(-gains, kind="stable")[: most // n + 1]
    rows = list(dict.fromkeys(np.column_stack([a[best], b[best]]).ravel().tolist()))[: most // n]
    left, right = np.repeat(rows, n).astype(np.intp), np.tile(np.arange(n), len(rows))
    other = left != right
    return left[other], right[other]


SETTLED = 0.9  # probability of a cluster from which a row needs no further question
FORGIVEN = 0.3  # what each "unsure" leaves of the wish to ask about a row again
TRIES = 50


class QuestionsSoFar(Protocol):
    """What a strategy may know about the questions so far."""

    def __call__(self, a: int, b: int) -> bool:
        """Say whether a question about two rows was asked already, or its answer follows from others."""

    def was_asked(self, *rows: int) -> bool:
        """Say whether a question about these rows was answered."""


class Strategy(Protocol):
    """Chooses questions."""

    def choose(
        self, belief: Any, asked: QuestionsSoFar, generator: np.random.Generator, busy: frozenset[int] = frozenset()
    ) -> tuple[tuple[int, ...], float] | None:
        """Return the rows of the next question and its expected gain; rows that are ``busy`` are left alone.

        These are all rows of questions that others have; with an attribute ``shares_rows`` that is true, only those
        that others are asked to place.
        """

    def after_answer(self, belief: Any, rows: tuple[int, ...], answer: str) -> None:
        """Take note of an answer."""


class RowStrategy:
    """Choose the row that matters most, ask it against its likeliest clusters until it is placed.

    The row maximises entropy x influence on other uncertain rows / expected number of questions. Finishing a row beats
    asking the pair of largest information: an unfinished row tells nothing about the others. Where several people
    answer, a row is with one of them at a time, and the next person goes on with it; rows that it is compared with,
    and checks, may be with several.
    """

    shares_rows = True

    def __init__(self) -> None:
        self.in_hand: dict[int, int] = {}  # rows that are not placed yet, with their questions so far, oldest first
        self.unsure: dict[int, int] = {}

    def choose(
        self, belief: Any, asked: QuestionsSoFar, generator: np.random.Generator, busy: frozenset[int] = frozenset()
    ) -> tuple[tuple[int, ...], float] | None:
        """Return the row in hand, or the best one, against the likeliest cluster that it can be asked about."""
        Q: Any = belief.places() if self.in_hand else None
        for row in reversed([row for row in self.in_hand if row not in busy]):
            other = self._partner(belief, Q, row, asked)
            if other is not None:
                place = belief.position[row]
                return (row, other), float(self._scores(belief, Q)[place]) if place >= 0 else float("nan")
        tested = belief.next_check(asked.was_asked)
        if tested is not None:
            return tested, float("nan")
        return self._best(belief, belief.places() if Q is None else Q, asked, busy)

    def _best(
        self, belief: Any, Q: Floats, asked: QuestionsSoFar, busy: frozenset[int]
    ) -> tuple[tuple[int, ...], float] | None:
        """Return the row of largest score that has a partner; rows in hand have none here."""
        scores = self._scores(belief, Q)
        places = belief.position[[*busy, *self.in_hand]] if busy or self.in_hand else np.zeros(0, dtype=np.intp)
        scores[places[places >= 0]] = -np.inf
        for _ in range(len(scores)):
            at = int(np.argmax(scores))
            if not scores[at] > -np.inf:
                return None
            row = int(belief.candidates[at])
            other = self._partner(belief, Q, row, asked)
            if other is not None:
                return (row, other), float(scores[at])
            scores[at] = -np.inf
        return None

    @staticmethod
    def _partner(belief: Any, Q: Any, row: int, asked: QuestionsSoFar) -> int | None:
        """Return the row to ask against: of the likeliest cluster that ``row`` was not compared with."""
        place = belief.position[row]
        order = np.argsort(-Q[place, :-1], kind="stable") if place >= 0 else range(belief.n_known)
        for cluster in order:
            other = belief.representative(row, int(cluster), asked)
            if other is not None:
                return int(other)
        return None

    def _scores(self, belief: Any, Q: Floats) -> Floats:
        doubt = entropy(np.maximum(Q, 1e-12))
        ranked = -np.sort(-Q[:, :-1], axis=1)
        cost = (ranked * np.arange(1, ranked.shape[1] + 1)).sum(axis=1) + ranked.shape[1] * Q[:, -1]
        scores = doubt * belief.influence(Q) / np.maximum(cost, 1.0)
        for row, times in self.unsure.items():
            place = belief.position[row]
            if place >= 0:
                scores[place] *= FORGIVEN**times
        return np.asarray(scores, dtype=np.float64)

    def after_answer(self, belief: Any, rows: tuple[int, ...], answer: str) -> None:
        """Let go of the row when it is placed, was asked often enough, or answers cannot be trusted one by one."""
        row = rows[0]
        if answer == "unsure":
            self.unsure[row] = self.unsure.get(row, 0) + 1
            self.in_hand.pop(row, None)
            return
        self.in_hand[row] = tries = self.in_hand.pop(row, 0) + 1
        sure = belief.certainty(row) > SETTLED
        often = tries >= belief.n_known + 3
        few = len(belief.rows) < 4 and belief.n_clusters is not None  # the first rows have no second partner
        if sure or often or not belief.is_consistent or few:
            del self.in_hand[row]


class PairStrategy:
    """Ask the row and cluster whose relation is least certain, weighed by influence; rows need not be finished."""

    shares_rows = True

    def choose(
        self, belief: Any, asked: QuestionsSoFar, generator: np.random.Generator, busy: frozenset[int] = frozenset()
    ) -> tuple[tuple[int, ...], float] | None:
        """Return the pair of largest expected information."""
        Q = belief.places()
        gains = binary_entropy(np.clip(Q[:, :-1], 0, 1)) * belief.influence(Q)[:, None]
        for row in busy:
            if belief.position[row] >= 0:
                gains[belief.position[row]] = -np.inf
        for at in np.argsort(-gains, axis=None, kind="stable")[:TRIES]:
            place, cluster = np.unravel_index(at, gains.shape)
            row = int(belief.candidates[place])
            other = belief.representative(row, int(cluster), asked)
            if other is not None and np.isfinite(gains[place, cluster]):
                return (row, other), float(gains[place, cluster])
        return None

    def after_answer(self, belief: Any, rows: tuple[int, ...], answer: str) -> None:
        """Nothing to note."""


class RandomStrategy:
    """Ask about two rows drawn at random."""

    shares_rows = True

    def choose(
        self, belief: Any, asked: QuestionsSoFar, generator: np.random.Generator, busy: frozenset[int] = frozenset()
    ) -> tuple[tuple[int, ...], float] | None:
        """Return a pair that was not asked about."""
        for _ in range(1000):
            a, b = (int(row) for row in generator.choice(belief.n_rows, 2, replace=False))
            if not asked(a, b) and not busy & {a, b}:
                return (a, b), float("nan")
        return None

    def after_answer(self, belief: Any, rows: tuple[int, ...], answer: str) -> None:
        """Nothing to note."""


STRATEGIES: dict[str, Any] = {
    "rows": RowStrategy,
    "pairs": PairStrategy,
    "random": RandomStrategy,
    "info": partial(CriterionStrategy, "info"),
    "uncertain": partial(CriterionStrategy, "uncertain"),
    "explore": Neighbourhoods,
    "minmax": MinMax,
    "npu": NPU,
    "cobras": CobrasStrategy,
}
