"""What piles say about every row: placements are votes for labels, at an error rate that rows placed twice tell.

The Gaussian process of :mod:`sidelight.active.gaussian` carries the labels to all other rows. A placed row is believed
by all others and by its votes:

    q = softmax(log p(label | all other rows) + sum over votes of log(1 - e) for its pile, log(e / m) for the other m)

The error rate e comes from rows that were placed again alone: each later placement given the first. By all rows
together it falls to nothing, because a wrong placement shapes what it is judged by, or honest people are accused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._core.simplex import entropy, softmax
from sidelight.active.gaussian import LabelProcess
from sidelight.active.people import Rates
from sidelight.active.row_belief import SURE, RowBelief
from sidelight.active.screens import NEW, Pile, PileAct, Piles
from sidelight.active.shown import RowsAlone, shown_clusters
from sidelight.active.strategies import FORGIVEN

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]

PRIOR = (1.0, 15.0)  # Beta prior of the share of wrong placements, until rows were placed twice
GRID = np.array([0.003, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3])
AT_FIRST = 0.05  # share of wrong placements before there are rows enough to say
PAIR_ERROR = 0.05  # share of wrong answers about pairs that come after piles
FEW_ROWS = 6  # placed, below which placements are believed as they are
REPEATS = 10  # one row in so many was placed before
MOST_VOTES = 4  # a row is not shown again that often
MOST_WEIGHED = 120  # rows by which the views are weighed
GROWN = 1.2  # the views are weighed anew when so many times more rows are placed
CHANGED = 0.02  # of a probability, from which the process learns the labels again
LEAST_ALONE = 0.02  # chance that the only row of a pile is rightly alone
NEEDLESS = 5  # rows of a pile, up to which it may have been begun in error
MUCH_LARGER = 3  # times as many rows has the pile that it belongs to, at least
MOST_LEARNT = 300  # placed rows that tell about others; those placed later are believed by these and by their votes
DRAWN, DRAWN_EVERY = 2, 5  # rows drawn at random, on one screen in so many
ONE_PILE = 0.5  # chance of being one from which it pays to ask about two piles


class PileBelief(RowBelief):
    """What piles say, and answers about pairs that come after them; what pairs said before is in the first piles.

    Attributes
    ----------
    piles : Piles
        The piles that stand. The clusters of this belief are these, in their order.
    beyond : dict of int to ndarray
        The chances of placed rows that the process has no room for.
    """

    can_relink = False
    piles: Piles
    beyond: dict[int, Floats]
    process: LabelProcess
    _before: RowBelief
    _n_weighed: int
    _votes: list[list[tuple[int, Any]]]
    rows_alone: RowsAlone

    @classmethod
    def after(cls, belief: RowBelief) -> PileBelief:
        """Go on from what answers about pairs said; that belief is not changed."""
        made = cls.__new__(cls)
        vars(made).update(vars(belief))
        made._before, made.piles, made.beyond = belief, Piles(), {}
        made.process, made.at, made.links = belief.process.anew(), {}, []
        made._n_weighed, made.is_consistent, made.is_settled = 0, True, None
        made.eps = AT_FIRST
        if belief.links:
            sure = belief.is_placed & (belief.q[:, :-1].max(axis=1) > SURE)
            rows = np.array(belief.rows)[sure].tolist()
            _, first, number = np.unique(belief.labels[sure], return_index=True, return_inverse=True)
            made.piles.begin(dict(zip(rows, np.argsort(np.argsort(first))[number].tolist())))
            made._take(*rows)
        made._fit(np.random.default_rng(0))
        return made

    def anew(self) -> RowBelief:
        """Return the belief as it was before the first answer."""
        return self._before.anew()

    def _take(self, *rows: int) -> None:
        new = [row for row in dict.fromkeys(rows) if row not in self.at]
        room = max(MOST_LEARNT - len(self.rows), 0)
        self.beyond |= {row: np.zeros(0) for row in new[room:] if row in self.piles.votes}
        new = new[:room]
        self.at.update(zip(new, range(len(self.rows), len(self.rows) + len(new))))
        if new:
            self.process.add(*new)

    def take(self, acts: Sequence[PileAct], generator: np.random.Generator) -> None:
        """Learn what people did with piles."""
        if acts[0].begun is not None and not self.piles.n_screens:
            self.piles = Piles()
        for act in acts:
            self.piles.take(act)
            self._take(*(row for row in (*(act.begun or ()), *act.rows) if row in self.piles.votes))
        self._fit(generator)

    def tell_all(self, answers: list[tuple[int, int, bool]], generator: np.random.Generator) -> None:
        """Learn answers about pairs: they move the rows that they are about."""
        for a, b, same in answers:
            self._take(a, b)
            if a in self.at and b in self.at:
                self.links.append((self.at[a], self.at[b], int(same)))
        self._fit(generator)

    def next_check(self, was_asked: Any) -> tuple[int, int] | None:
        """Nothing: rows shown again test placements."""
        return None

    # -- learning ----------------------------------------------------------------------------------------------------

    def _fit(self, generator: np.random.Generator) -> None:
        """Learn all votes and answers."""
        numbers, process, rows = self.piles.numbers, self.process, self.rows
        m = max(len(numbers), 1)
        column = {number: k for k, number in enumerate(numbers)}
        self._votes = [[(column[pile], who) for pile, who in self.piles.votes.get(row, ())] for row in rows]
        V = np.zeros((len(rows), m))
        for t, votes in enumerate(self._votes):
            for k, _ in votes:
                V[t, k] += 1.0
        has: Bools = V.sum(axis=1) > 0.0
        said: Floats = np.where(has[:, None], V / np.maximum(V.sum(axis=1, keepdims=True), 1.0), 1.0 / m)
        placed = np.flatnonzero(has)
        if m >= 2 and len(placed) >= max(GROWN * self._n_weighed, 2):
            self._n_weighed = len(placed)
            process.weigh_by(said, np.sort(generator.permutation(placed)[:MOST_WEIGHED]))
        doubt = np.where(has, 1.0, np.inf)
        process.fit(said, doubt, weigh=False)
        self.placement_doubts: list[tuple[Any, float]] = []
        q = said
        if m >= 2 and len(placed) >= FEW_ROWS:
            alone = self._by_all_others(V, said, has)
            self.eps = self._error_rate(alone)
            q = self._believed(alone)
        q = self._with_answers(q)
        sure = ~has & (q.max(axis=1, initial=0.0) > SURE) & (m >= 2)
        if sure.any() or (len(q) and np.abs(q - said)[has].max(initial=0.0) > CHANGED):
            process.fit(q, np.where(has | sure, 1.0, np.inf), weigh=False)
        self._place_beyond(column)
        self.q, self.n_known = np.column_stack([q, np.zeros(len(q))]), m
        self.labels = q.argmax(axis=1) if len(q) else np.zeros(0, dtype=np.intp)
        self.is_placed = has | sure

    def _place_beyond(self, column: dict[int, int]) -> None:
        """Believe rows that the process has no room for by it and by their votes; they tell nothing about others."""
        if not self.beyond:
            return
        rows, m = list(self.beyond), max(len(column), 1)
        log_q = np.log(np.maximum(self.process.posterior([view[rows] for view in self.process.views]), 1e-9))
        for at, row in enumerate(rows):
            for pile, _ in self.piles.votes[row]:
                log_q[at, column[pile]] += np.log((1.0 - self.eps) * m / self.eps)
        self.beyond = dict(zip(rows, softmax(log_q)))

    def _by_all_others(self, V: Floats, said: Floats, has: Bools) -> Floats:
        """Return the chances of each pile for every placed row, by all other rows."""
        P, novelty = self.process.each_without()
        m = V.shape[1]
        P = (1.0 - novelty[:, None]) * P + novelty[:, None] / m
        first = said.argmax(axis=1)
        single = has & (V.sum(axis=0)[first] < 1.5)  # nobody else can speak for the pile of this row
        chance = np.maximum(novelty[single] * self._chance_of_new(first[has], m), LEAST_ALONE)
        own = P[single, first[single]]
        P[single] *= ((1.0 - chance) / np.maximum(1.0 - own, 1e-9))[:, None]
        P[single, first[single]] = chance
        return np.asarray(np.maximum(P, 1e-9))

    def _error_rate(self, alone: Floats) -> float:
        """Return the share of wrong placements, by rows placed twice: the later placements given the first."""
        log_p = (PRIOR[0] - 1.0) * np.log(GRID) + (PRIOR[1] - 1.0) * np.log(1.0 - GRID)
        m = alone.shape[1]
        right, wrong = (1.0 - GRID)[:, None], (GRID / m)[:, None]
        for t, votes in enumerate(self._votes):
            if len(votes) > 1:
                likely = np.where(np.arange(m) == votes[0][0], right, wrong)
                log_p -= np.log(likely @ alone[t])
                for k, _ in votes[1:]:
                    likely = likely * np.where(np.arange(m) == k, right, wrong)
                log_p += np.log(likely @ alone[t])
        p = np.exp(log_p - log_p.max())
        return float(GRID @ p / p.sum())

    def _believed(self, alone: Floats) -> Floats:
        """Return the chances of each pile for every row, by all other rows and by its votes."""
        people = {who for votes in self._votes for _, who in votes}
        q = self._by_votes(alone, dict.fromkeys(people, self.eps))
        tested = [(t, k, who) for t, votes in enumerate(self._votes) if len(votes) > 1 for k, who in votes]
        self.placement_doubts = [(who, float(1.0 - q[t, k])) for t, k, who in tested]
        if len(people) < 2 or not tested:
            return q
        wrong = np.array([doubt for _, doubt in self.placement_doubts])
        rates = Rates.of(wrong, np.ones(len(tested), dtype=bool), [who for *_, who in tested])
        eps = {who: float(np.clip(self.eps * rates.rate(who) / rates.common, GRID[0], 0.6)) for who in people}
        return self._by_votes(alone, eps)

    def _by_votes(self, alone: Floats, eps: dict[Any, float]) -> Floats:
        log_q = np.log(alone)
        m = alone.shape[1]
        for t, votes in enumerate(self._votes):
            for k, who in votes:
                log_q[t] += np.log(eps[who] / m)
                log_q[t, k] += np.log(1.0 - eps[who]) - np.log(eps[who] / m)
        return softmax(log_q)

    def _with_answers(self, q: Floats) -> Floats:
        """Return the chances of each pile with what answers about pairs say of them."""
        m = q.shape[1]
        wrong = np.zeros(len(self._before.links) + len(self.links))
        wrong[: len(self._before.wrong)] = self._before.wrong[: len(wrong)]
        if self.links and m >= 2:
            log_q = np.log(np.maximum(q, 1e-12))
            for a, b, same in self.links:
                for here, there in ((a, b), (b, a)):
                    p = q[there] if same else (1.0 - q[there]) / (m - 1.0)
                    log_q[here] += np.log((1.0 - PAIR_ERROR) * p + PAIR_ERROR * (1.0 - p) / max(m - 1.0, 1.0))
            q = softmax(log_q)
            for number, (a, b, same) in enumerate(self.links, start=len(self._before.links)):
                alike = float(q[a] @ q[b])
                wrong[number] = 1.0 - alike if same else alike
        self.wrong = wrong
        return q

    # -- what to show next -------------------------------------------------------------------------------------------

    def rows_to_show(self, n: int, busy: Iterable[int], generator: np.random.Generator) -> tuple[list[int], list[int]]:
        """Return the rows of the next screen, in random order, and those of them that were drawn at random.

        Doubtful ones and tests again, then new ones; of exact copies only the first.
        """
        process, position = self.process, self.position
        free = np.ones(len(self.candidates), dtype=bool)
        places = position[list(busy)]
        free[places[places >= 0]] = False
        doubt = self._doubts()
        wish = np.where(free, doubt, 0.0)
        placed = position[list(self.piles.votes)]
        wish[placed[placed >= 0]] = 0.0
        wish[~self._is_first] = 0.0  # copies of another row
        for row, times in self.piles.aside.items():
            wish[position[row]] *= FORGIVEN**times if position[row] >= 0 else 1.0
        known = [t for t, votes in enumerate(self._votes) if votes and position[self.rows[t]] >= 0]
        again = [self.rows[t] for t in self._to_show_again(n, [t for t in known if free[position[self.rows[t]]]])]
        drawn = self._drawn(n, wish > 0.0, generator)
        wish[drawn] = 0.0
        new = process.most_telling(n - len(again) - len(drawn), doubt, wish)
        rows = np.array([*again, *self.candidates[[*drawn, *new]]], dtype=np.intp)
        return [int(row) for row in generator.permutation(rows)], [int(row) for row in self.candidates[drawn]]

    def _drawn(self, n: int, may_be: Bools, generator: np.random.Generator) -> list[int]:
        """Return the positions of rows drawn at random, on every fifth screen: where they go tests what is shown."""
        n_tests = min(DRAWN, n // 5) if (self.piles.n_screens + 1) % DRAWN_EVERY == 0 else 0
        free = np.flatnonzero(may_be)
        return [int(at) for at in generator.choice(free, min(n_tests, len(free)), replace=False)]

    @cached_property
    def _is_first(self) -> Bools:
        """Whether each candidate is the first of the rows that are exact copies of each other."""
        first = np.zeros(len(self.candidates), dtype=bool)
        first[np.unique(self.copy_of[self.candidates], return_index=True)[1]] = True
        return first

    @cached_property
    def copy_of(self) -> Ints:
        """For each row a number that exact copies of it share, and no other row has."""
        rows = self.kernels.known
        places = np.round(rows / max(float(np.abs(rows).max()), 1e-300) * 1e9)  # copies differ by rounding at most
        return np.asarray(np.unique(places, axis=0, return_inverse=True)[1].ravel(), dtype=np.intp)

    def share_wrong(self, P: Floats) -> float:
        """Return the share of rows that are probably not where they are shown, by ``P`` and by kinds not met so far."""
        new = self.process.novelty(self.process.views) * self.chance_of_new()
        new[[*self.piles.votes]] = 0.0
        return float(np.mean(1.0 - P.max(axis=1) * (1.0 - new)))

    def expected_pile(self, row: int) -> int:
        """Return the number of the pile that a row is expected on, ``NEW`` for a new one."""
        numbers, at = self.piles.numbers, int(self.position[row])
        best = int(self.places()[at].argmax()) if at >= 0 else len(numbers)
        return numbers[best] if best < len(numbers) else NEW

    def _doubts(self) -> Floats:
        if not self.is_placed.any():
            return np.ones(len(self.candidates))
        if self.n_known < 2:
            return np.asarray(np.maximum(self.process.novelty(), 1e-3), dtype=np.float64)
        return np.asarray(entropy(np.maximum(self.places(), 1e-12)), dtype=np.float64)

    def _to_show_again(self, n: int, known: Sequence[int]) -> list[int]:
        """Return placed rows whose place is in doubt, and one in ten as a test of placements."""
        n_placements = sum(map(len, self._votes))
        n_tests = (n_placements + n) // REPEATS - n_placements // REPEATS if len(known) >= REPEATS else 0
        order = sorted(
            (float(self.q[t].max()), len(self._votes[t]), t) for t in known if len(self._votes[t]) < MOST_VOTES
        )
        doubtful = [t for sure, _, t in order if sure < SURE][: n // 2]
        once = [t for _, votes, t in order if votes == 1 and t not in doubtful]
        return doubtful + once[: max(n_tests - len(doubtful), 0)]

    def likely_piles(self, rows: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Return for each row the numbers of the piles, the most likely one first."""
        numbers = self.piles.numbers
        if not numbers:
            return tuple(() for _ in rows)
        Q = self.places()[:, :-1]
        chances = [Q[self.position[row]] if self.position[row] >= 0 else np.zeros(len(numbers)) for row in rows]
        return tuple(tuple(numbers[k] for k in np.argsort(-chance, kind="stable")) for chance in chances)

    def doubtful_piles(self) -> tuple[int, int] | None:
        """Return the numbers of two piles that are probably one, the larger first; None where there are none."""
        numbers = self.piles.numbers
        if len(numbers) < 3:
            return None
        put = np.array([votes[0][0] if votes else -1 for votes in self._votes])  # believed elsewhere by now, perhaps
        sizes = np.bincount(put[put >= 0], minlength=len(numbers))
        best, pair = ONE_PILE, None
        for a in np.flatnonzero((sizes > 0) & (sizes <= NEEDLESS)):
            rows = np.flatnonzero(put == a)
            new = self.process.novelty_without(rows) * self.chance_of_new()
            alike = ((1.0 - new)[:, None] * self.process.without(rows)).mean(axis=0)
            for b in np.flatnonzero((alike > best) & (sizes >= MUCH_LARGER * sizes[a])):
                if frozenset((numbers[a], numbers[b])) not in self.piles.apart:
                    best, pair = float(alike[b]), (numbers[b], numbers[int(a)])
        return pair

    def shown_piles(self) -> tuple[Pile, ...]:
        """Return the piles with their rows, and the surest row of each as its example."""
        found = []
        more: dict[int, list[int]] = {}
        for row, chances in self.beyond.items():
            more.setdefault(int(chances.argmax()), []).append(row)
        for k, (number, name) in enumerate(self.piles.names.items()):
            own = [t for t in np.flatnonzero(self.labels == k).tolist() if self._votes[t]]
            own = own or [t for t, votes in enumerate(self._votes) if k in [pile for pile, _ in votes]]
            sure = self.q[own, k]
            rows = tuple(self.rows[t] for t in own)
            example = rows[int(sure.argmax())] if rows else next(iter(more.get(k, ())), -1)
            found.append(Pile(number, name, (*rows, *more.get(k, ())), example))
        return tuple(found)

    # -- what is shown -----------------------------------------------------------------------------------------------

    def _chances_of_asked(self) -> Floats:
        return np.asarray(self.q[:, :-1])

    def partition(self, generator: np.random.Generator | None = None) -> Ints:
        """Return a cluster for every row: the piles, and clusters that the rows alone suggest beyond them."""
        sizes = np.bincount(self.labels[self.is_placed], minlength=self.n_known)
        n_likely = self.n_clusters or self.rows_alone.likely_number(sizes)
        guessed = self.rows_alone.near(n_likely).labels
        rows = np.array(self.rows, dtype=np.intp)[self.is_placed]
        if not len(rows):
            return guessed.copy()
        labels = shown_clusters(
            guessed,
            rows,
            self.q[self.is_placed, :-1],
            self.posterior(),
            self.process.novelty(self.process.views),
            n_clusters=max(n_likely, self.n_known, 2),
            unmet=1.0,
            told=1.0,
            is_consistent=True,
        )
        labels[rows] = self.labels[self.is_placed]
        for row, chances in self.beyond.items():
            labels[row] = int(chances.argmax())
        return self._with_copies(labels, np.append(rows, np.array(list(self.beyond), dtype=np.intp)))

    def _with_copies(self, labels: Ints, placed: Ints) -> Ints:
        """Give exact copies of placed rows their cluster."""
        if self._is_first.all() or not len(placed):
            return labels
        of_copy = dict(zip(self.copy_of[placed].tolist(), labels[placed].tolist()))
        is_placed = np.isin(np.arange(len(labels)), placed)
        for row in np.flatnonzero(~is_placed & np.isin(self.copy_of, list(of_copy))):
            labels[row] = of_copy[int(self.copy_of[row])]
        return labels

    def posterior(self, X: Any = None) -> Floats:
        """Return the probability of each pile, for all rows or for new ones."""
        P = super().posterior(X)
        if X is None and self.beyond:
            P[list(self.beyond)] = np.stack(list(self.beyond.values()))
        return P

    def places(self) -> Floats:
        """Return the probability of each pile, and of a new one, for every candidate."""
        Q = super().places()
        for row, chances in self.beyond.items():
            if self.position[row] >= 0:
                Q[self.position[row]] = np.append(chances, 0.0)
        return Q
