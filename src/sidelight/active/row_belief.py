"""Our belief: the labels of the rows asked about are sampled, and a Gaussian process carries them to all others."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidelight._core.matching import match_rows
from sidelight._core.simplex import binary_entropy, entropy
from sidelight.active.belief import Belief
from sidelight.active.chains import MOST, LabelPool, chance_of_new
from sidelight.active.consequences import (
    OPEN,
    WORTH,
    Settled,
    consequences_of,
    expected_error,
    next_check,
    rows_at_risk,
)
from sidelight.active.gaussian import LabelProcess, RowKernels
from sidelight.active.outlook import UNSURE_BELOW
from sidelight.active.shown import RowsAlone, shown_clusters

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]

LEAST_CERTAINTY = 0.05  # a row that belongs nowhere in particular is not doubted without bound
CENTRAL = 10  # the first row is one of this share (one in ten) of the most influential rows
SURE = 0.9  # probability from which a row that answers leave open is believed to belong to a cluster
CONVINCED = 3.0  # log odds: labels of other rows do not say more against an answer
MOST_WEIGHED = 45  # rows that kernels speak for when answers disagree: rows asked about are hard, and look rough to all
FEW_CLUSTERS = 2  # met, up to which a row that looks new is compared with those of a single row first
MET_ENOUGH = 0.25  # chance of a new cluster below which the clusters met are all there are, if K is unknown
TOLD_ENOUGH = 0.5  # of what rows asked about need to be told, from which each is shown in the cluster believed
FEW_ROWS = 5  # asked about, below which these suggest no number of clusters
ASKED_ENOUGH = 2  # rows with a place for each cluster that rows alone suggest, from which that may be said


class RowBelief(Belief):
    """What answers about pairs say about every row.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        The rows.
    n_clusters : int or None
        How many clusters there are; None lets them be discovered.
    generator : numpy.random.Generator
        Draws landmarks, samples and the first row.

    Attributes
    ----------
    rows : list of int
        The rows asked about, in the order they came.
    labels : ndarray
        Their clusters.
    q : ndarray of shape (len(rows), n_known + 1)
        The probability of each known cluster, and of none of them.
    eps : float
        The share of wrong answers.
    wrong : ndarray
        The chance of each answer to be wrong.
    """

    can_relink = True

    def __init__(self, X: Any, n_clusters: int | None, generator: np.random.Generator) -> None:
        self.n_rows, self.n_clusters = X.shape[0], n_clusters
        self.kernels = RowKernels.of(X, generator)
        self.process = LabelProcess(list(self.kernels.views.values()), generator)
        gains = self.process.influence(np.ones(len(self.process.reference), dtype=np.float32))
        central = np.argsort(-gains, kind="stable")[: max(len(gains) // CENTRAL, 1)]
        self._first = int(self.process.candidates[generator.choice(central)])
        self.rows_alone = RowsAlone(self.kernels, n_clusters, int(generator.integers(2**63)))
        self._forget()

    def _forget(self) -> None:
        self.pool = LabelPool(self.n_clusters)
        self.links: list[tuple[int, int, int]] = []
        self.wrong = np.zeros(0)  # the chance of each answer to be wrong
        self.answer_weights: npt.NDArray[np.float64] | None = None  # what each answer weighs, if not all weigh alike
        self.openers: tuple[int, ...] = ()  # rows that opened a cluster, some because they look like no other
        self.at: dict[int, int] = {}
        self.eps, self.n_known, self.is_consistent = 0.0, 1, True
        self._take(self._first)
        self.q, self.labels, self.is_placed = np.array([[1.0, 0.0]]), np.zeros(1, dtype=np.intp), np.ones(1, dtype=bool)
        self.is_settled: Bools | None = self.is_placed  # rows that answers give a place; None where answers disagree
        self.process.fit(np.ones((1, 1)), np.ones(1))

    def anew(self) -> RowBelief:
        """Return the belief as it was before the first answer; the views of the rows are not worked out again."""
        other = copy.copy(self)
        other.process = self.process.anew()
        other._forget()
        return other

    def expecting(self, being_asked: Sequence[tuple[int, ...]]) -> tuple[RowBelief, list[int]]:
        """Return the belief once some questions are answered, and the rows that they are about.

        The answers are not known, so a row is labelled with its present chances: that says what will be known of others
        like it, and changes little of what is believed of them. A check is expected to be passed.
        """
        other, Q = copy.copy(self), self.places()
        other.process, other.pool = self.process.branch(), copy.copy(self.pool)
        other.at, other.links, other.q = self.at.copy(), self.links.copy(), self.q.copy()
        T, doubt = self.process.T.copy(), self.process.doubt.copy()
        placed: list[int] = []
        new: dict[int, np.ndarray] = {}  # rows that were never asked about, and their chances
        for a, b in (rows[:2] for rows in being_asked):
            if a in self.at and b in self.at and self.certainty(a) > SURE:
                same = self.labels[self.at[a]] == self.labels[self.at[b]]
                other.links.append((self.at[a], self.at[b], int(same)))
                continue
            placed.append(a)
            chances = Q[self.position[a]] if self.position[a] >= 0 else np.full(self.n_known + 1, 1 / self.n_known)
            if a not in other.at:
                new[a] = chances
            else:
                T[other.at[a]], doubt[other.at[a]] = chances[:-1], 1.0
        if new:
            other._take(*new)
            Q_new = np.stack(list(new.values()))
            T, doubt = np.vstack([T, Q_new[:, :-1]]), np.append(doubt, np.ones(len(new)))
            other.q, other.labels = np.vstack([other.q, Q_new]), np.append(other.labels, Q_new[:, :-1].argmax(axis=1))
            other.is_placed = np.append(other.is_placed, np.zeros(len(new), dtype=bool))
        other.process.fit(T, doubt, weigh=False)
        return other, placed

    @property
    def rows(self) -> list[int]:  # type: ignore[override] # they are the process' own
        """The rows asked about."""
        return self.process.rows

    def tell_all(self, answers: list[tuple[int, int, bool]], generator: np.random.Generator) -> None:
        """Learn some answers in one step."""
        for a, b, same in answers:
            for row in (a, b):
                self._take(row)
            self.links.append((self.at[a], self.at[b], int(same)))
        settled = self._what_follows()
        self.is_settled = None if settled is None else settled.labels != OPEN
        if settled is not None and settled.says_enough:
            self._place_rows(settled)
        else:
            self._sample(generator, is_consistent=settled is not None)

    def relink(self, links: Sequence[tuple[int, int, int]], row: int, stand_in: int) -> None:
        """Take other answers for those so far, with one row in the place of another; ``tell_all`` heeds them."""
        self.links = [(self.at[a], self.at[b], same) for a, b, same in links]
        self.wrong, self.answer_weights = np.zeros(len(self.links)), None
        self.openers = tuple(self.at[stand_in] if t == self.at[row] else t for t in self.openers)

    def _what_follows(self) -> Settled | None:
        links = np.array(self.links, dtype=np.intp)
        settled = consequences_of(links, len(self.rows), self.n_clusters, self.openers)
        if settled is None and self.openers:  # perhaps a cluster was opened in error
            settled = consequences_of(links, len(self.rows), self.n_clusters)
        if settled is not None:
            self.openers = settled.openers
        return settled

    def _take(self, *rows: int) -> None:
        new = [row for row in dict.fromkeys(rows) if row not in self.at]
        self.at.update(zip(new, range(len(self.process.rows), len(self.process.rows) + len(new))))
        if new:
            self.process.add(*new)
            self.pool.add(len(new))

    def _place_rows(self, settled: Settled) -> None:
        """Place rows where answers place them, and open ones where they probably belong of the clusters left."""
        q = self._chances(settled)
        new = np.where((settled.labels == OPEN) & self._may_open(settled), q[:, -1], 0.0)
        if new.max() > SURE:  # it looks like no other: it need not be compared with every cluster
            self.openers = (*self.openers, int(new.argmax()))
            settled = self._what_follows() or settled
            q = self._chances(settled)
        n_known = settled.n_clusters
        labels = q[:, :-1].argmax(axis=1)
        number = self._names(labels, n_known)
        q[:, number] = q[:, :n_known].copy()
        self.q, self.labels, self.n_known, self.is_placed = q, number[labels], n_known, settled.labels != OPEN
        self.is_settled = self.is_placed
        certainty = q[:, :-1].max(axis=1)
        self.process.fit(np.eye(n_known)[self.labels], np.where(certainty > SURE, 1.0 / certainty**2, np.inf))
        self.pool.start(self.labels)
        self.eps, self.is_consistent, self.wrong = 0.0, True, np.zeros(len(self.links))

    def _may_open(self, settled: Settled) -> npt.NDArray[np.bool_]:
        """Say which rows may open a cluster by their looks alone.

        Rows of a rare class may look unlike each other. So where the number of clusters is not known, and few were met
        or one has most rows, a row that looks like no other is compared first with every cluster of a single row.
        """
        sizes = np.bincount(settled.labels[settled.labels != OPEN])
        if self.n_clusters is not None or (len(sizes) > FEW_CLUSTERS and 2 * sizes.max() <= sizes.sum()):
            return np.ones(len(settled.labels), dtype=bool)
        return np.asarray(settled.excluded[:, sizes == 1].all(axis=1))

    def _chances(self, settled: Settled) -> Floats:
        """Return the probability of each cluster, and of a new one, for the rows asked about."""
        n_known, is_open = settled.n_clusters, settled.labels == OPEN
        q: Floats = np.eye(n_known + 1)[np.where(is_open, n_known, settled.labels)]
        if not is_open.any():
            return q
        labels = self._with_believed(settled)
        self.process.fit(np.eye(n_known + 1)[labels][:, :-1], np.where(labels == OPEN, np.inf, 1.0), weigh=False)
        P, novelty = self.process.of_asked()
        for rows in (np.flatnonzero(settled.blocks == block) for block in np.unique(settled.blocks[is_open])):
            if labels[rows[0]] != OPEN:  # what is believed of a row does not confirm itself
                P[rows], novelty[rows] = self.process.without(rows), self.process.novelty_without(rows)
        new = novelty * self._chance_of_new(labels[labels != OPEN], n_known)
        Q = np.column_stack([np.maximum(P, 1e-12) * (1.0 - new[:, None]) * ~settled.excluded, new])
        Q = np.stack([np.bincount(settled.blocks, column) for column in Q.T], axis=1)[settled.blocks]
        q[is_open] = (Q / Q.sum(axis=1, keepdims=True))[is_open]
        return q

    def _names(self, labels: Ints, n_clusters: int) -> Ints:
        """Return the name of each cluster: the one that most of its rows had before."""
        before = self.labels
        one_hot = np.eye(max(n_clusters, int(before.max())) + 1)[:, :-1]  # open rows count for none
        return match_rows(one_hot[labels[: len(before)], :n_clusters].T @ one_hot[before, :n_clusters])

    def _with_believed(self, settled: Settled) -> Ints:
        """Return the clusters that answers give, and of open rows the one believed before, unless it is excluded."""
        labels = settled.labels.copy()
        number = self._names(settled.labels, settled.n_clusters)
        for t in np.flatnonzero((labels == OPEN)[: len(self.labels)] & self.process.is_labelled[: len(self.labels)]):
            believed = np.flatnonzero(number == self.labels[t])
            if len(believed) and not settled.excluded[t, believed[0]]:
                labels[settled.blocks == settled.blocks[t]] = believed[0]
        return labels

    def _sample(self, generator: np.random.Generator, *, is_consistent: bool) -> None:
        """Answers contradict each other or say little about each other: sample where rows belong."""
        process, links = self.process, np.array(self.links, dtype=np.intp)
        placed = self.pool.open_row_chances(
            links,
            process.kernels,
            process.weights,
            process.log_prior,
            generator,
            most_weighed=None if is_consistent else MOST_WEIGHED,
            answer_weights=self.answer_weights,
        )
        self.wrong = placed.wrong
        self.q, self.labels, self.n_known = placed.q, placed.labels, placed.n_clusters
        self.eps, self.is_consistent, self.is_placed = placed.eps, is_consistent, np.ones(len(self.labels), dtype=bool)
        certainty = np.maximum(self.q[np.arange(len(self.labels)), self.labels], LEAST_CERTAINTY)
        process.fit(np.eye(self.n_known)[self.labels], 1.0 / certainty**2)

    # -- what follows for the candidates of a question ---------------------------------------------------------------

    @property
    def candidates(self) -> Ints:
        """The rows that may be asked about next."""
        return self.process.candidates

    @property
    def position(self) -> Ints:
        """The position of each row among the candidates, -1 for the others."""
        return self.process.position

    @property
    def features(self) -> Floats:
        """The rows, dense and centred, for strategies that measure distances."""
        return self.kernels.known

    def certainty(self, row: int) -> float:
        """Return the probability of the likeliest cluster of a row that was asked about."""
        return float(self.q[self.at[row], :-1].max())

    def chance_of_same(self, a: int, b: int) -> float | None:
        """Return the chance that two rows belong together; None where it knows neither."""
        if b not in self.at:
            a, b = b, a
        if b not in self.at or self.position[a] < 0:
            return None
        return float(self.places()[self.position[a], :-1] @ self.q[self.at[b], :-1])

    def typicality(self) -> Floats:
        """Return how near each row is to the middle of the cluster that the rows alone suggest; 1 is in the middle."""
        return self.rows_alone.typicality

    def chance_of_new(self) -> float:
        """Return the chance that the next row belongs to a cluster not met so far."""
        return self._chance_of_new(self.labels, self.n_known)

    def _chance_of_new(self, labels: Ints, n_known: int) -> float:
        chance = chance_of_new(labels)
        if self.n_clusters is None:
            return min(chance, 0.9)
        unmet = max(self.n_clusters - n_known, 0) / self.n_clusters
        return float(np.clip(chance, 0.5 * unmet, min(2.0 * unmet, 0.9)))

    def places(self) -> Floats:
        """Return the probability of each known cluster, and of a new one, for every candidate."""
        new = self.process.novelty() * self.chance_of_new()
        Q = np.column_stack([self.process.posterior() * (1.0 - new[:, None]), new])
        for t, row in enumerate(self.rows):
            place = self.position[row]
            if place >= 0:
                Q[place] = self.q[t]
        return Q

    def influence(self, Q: Floats) -> Floats:
        """Return how much knowing each candidate would tell about the uncertain ones."""
        doubt = entropy(np.maximum(Q, 1e-12)).astype(np.float32)
        return self.process.influence(doubt[self.process.reference])

    def representative(self, row: int, cluster: int, asked: Any) -> int | None:
        """Return the row of a cluster to ask ``row`` against: alike and sure of its cluster."""
        rows, members = self.rows, list[int]()
        for t in np.flatnonzero((self.labels == cluster) & self.is_placed).tolist():
            is_new = rows[t] != row and not asked(row, rows[t])
            members += [t] if is_new else []
        if not members:
            return None
        alike = np.maximum(self.process.likeness([self.rows[t] for t in members], row), 1e-3)
        return self.rows[members[int(np.argmax(alike * self.q[members, cluster] ** 2))]]

    def next_check(self, was_asked: Any) -> tuple[int, int] | None:
        """Return rows whose relation follows from many answers that nothing confirms, where it is time to test them."""
        if not self.is_consistent:
            return None  # doubtful rows are asked about again anyway
        number = self.rows
        check = next_check(
            self.links,
            len(number),
            two_clusters=self.n_clusters == 2,
            was_asked=lambda a, b: was_asked(number[a], number[b]),
            surprise=self._surprise,
        )
        if check is not None:
            return number[check[0]], number[check[1]]
        return None if self.n_clusters == 2 or self.n_known < 2 else self._doubtful_clusters(was_asked)

    def _doubtful_clusters(self, was_asked: Any) -> tuple[int, int] | None:
        """Return rows of two clusters that may be one, where it is time to ask."""
        labels = np.where(self.is_placed, self.labels, OPEN)
        members = [np.flatnonzero(labels == k) for k in range(self.n_known)]
        chance = self.chance_of_new()
        new = [chance * self.process.novelty_without(rows)[:, None] for rows in members]
        chances = [self.process.without(rows) * (1.0 - p) for rows, p in zip(members, new)]
        alike = np.stack([P.mean(axis=0) for P in chances], axis=1)
        links = np.array(self.links, dtype=np.intp)
        risk = rows_at_risk(links, labels, alike, expected_error(self.links, len(labels), two_clusters=False))
        a, b = np.unravel_index(int(risk.argmax()), risk.shape)
        if risk[a, b] <= WORTH:
            return None
        for at in members[b][np.argsort(-chances[b][:, a], kind="stable")]:
            row = self.rows[at]
            other = self.representative(row, int(a), was_asked)
            if other is not None:
                return row, other
        return None

    def _surprise(self, block: list[int]) -> float:
        """Return the log odds of some rows belonging together elsewhere, by the labels of all others."""
        rows = np.array(block, dtype=np.intp)
        rows = rows[self.process.is_labelled[rows]]
        if not len(rows) or self.n_known < 2:
            return 0.0
        P = self.process.without(rows)
        if self.n_clusters == 2:
            log_p = np.log(np.maximum(P, 1e-12))
            here = log_p[np.arange(len(rows)), self.labels[rows]].sum()
            there = log_p[np.arange(len(rows)), 1 - self.labels[rows]].sum()
        else:
            new = (self.process.novelty_without(rows) * self.chance_of_new())[:, None]
            totals = np.log(np.maximum(np.column_stack([P * (1.0 - new), new]), 1e-12)).sum(axis=0)
            own = int(self.labels[rows[0]])
            here, there = totals[own], np.delete(totals, own).max()
        return float(np.clip(there - here, 0.0, CONVINCED))  # rows that agree prove nothing: one mistake moved them all

    # -- what is shown -----------------------------------------------------------------------------------------------

    def posterior(self, X: Any = None) -> Floats:
        """Return the probability of each known cluster, for all rows or for new ones."""
        if X is not None:
            views = self.kernels.of_new(X)
            return self.process.posterior([views[name] for name in self.kernels.views])
        P = self.process.posterior(self.process.views)
        P[self.rows] = self._chances_of_asked()
        return P

    def _chances_of_asked(self) -> Floats:
        """Return where rows asked about belong, given their answers and the chance that these are wrong.

        All answers that keep a row in its cluster may be wrong, so a row that looks unlike it by all others is
        doubtful, whatever chains agree on.
        """
        known: Floats = self.q[:, :-1] / np.maximum(self.q[:, :-1].sum(axis=1, keepdims=True), 1e-12)
        if self.n_known < 2:
            return known
        eps = expected_error(self.links, len(self.rows), two_clusters=self.n_clusters == 2)
        eps = max(eps, self._eps())
        sizes = np.bincount(self.labels)
        n_same = np.zeros(len(known))
        for a, b, same in self.links:
            n_same[[a, b]] += same and self.labels[a] == self.labels[b]
        for t in np.flatnonzero(self.is_placed & self.process.is_labelled & (sizes[self.labels] > 1)):
            wrong = eps ** max(n_same[t], 1.0)
            P, own = self.process.without(np.array([t]))[0], self.labels[t]
            weights = np.where(np.arange(self.n_known) == own, 1.0 - wrong, wrong) * np.maximum(P, 1e-12)
            chances = weights / weights.sum()
            if self.is_consistent or chances[own] < known[t, own]:
                known[t] = chances
        return known

    def left_out(self) -> tuple[Floats, Ints]:
        """Return what all others say of each row that answers give a cluster, and this cluster."""
        if self.n_known < 2:
            return super().left_out()
        sizes = np.bincount(self.labels)
        rows = np.flatnonzero(self.is_placed & self.process.is_labelled & (sizes[self.labels] > 1))
        return self.process.each_without()[0][rows], self.labels[rows]

    def n_unlike(self) -> int:
        """Return how many rows look so unlike the cluster that answers give them that these may well be wrong."""
        chances = self._chances_of_asked()
        own = chances[np.arange(len(chances)), self.labels]
        return int((self.is_placed & (own < UNSURE_BELOW)).sum())

    def partition(self, generator: np.random.Generator | None = None) -> Ints:
        """Return a cluster for every row: those that rows alone suggest, changed by answers as far as these reach."""
        P = self.posterior()
        has_place = self.is_placed & (self.q[:, :-1].max(axis=1) >= self.q[:, -1])
        has_place |= ~np.isin(self.labels, self.labels[has_place])  # every cluster has a row
        rows = np.array(self.rows)[has_place]
        told, keeps_own = self._told()
        likely = self._likely_number()
        if likely is not None:
            unmet = 1.0
        elif self._has_met_all(told):
            unmet = 0.0
        else:
            unmet = self.rows_alone.trust_in_number(self.rows, self.links, self._eps())
        labels = shown_clusters(
            (self.rows_alone if likely is None else self.rows_alone.near(likely)).labels,
            rows,
            self.q[has_place, :-1],
            P,
            self.process.novelty(self.process.views),
            n_clusters=likely or self.n_clusters,
            unmet=unmet,
            told=told,
            is_consistent=self.is_consistent,
        )
        has_place &= keeps_own
        labels[np.array(self.rows)[has_place]] = self.labels[has_place]
        return labels

    def _likely_number(self) -> int | None:
        """Return how many clusters the rows met suggest, where nothing else says it and new ones are still met.

        Few answers suggest too few, and some too many, because questions look for what is new: where the rows say
        something, too, no fewer than these, and of more the geometric mean of both.
        """
        met = self.labels[self.is_placed]
        is_told = self.n_clusters is not None or len(self.rows) < FEW_ROWS or self.rows_alone.is_clear
        if is_told or chance_of_new(met) < MET_ENOUGH:
            return None
        likely = max(self.rows_alone.likely_number(np.bincount(met)), self.n_known, 2)
        by_rows = self.rows_alone.n_clusters
        if not self.rows_alone.is_told:
            return likely
        return max(round(float(np.sqrt(likely * by_rows))), self.n_known) if likely > by_rows else None

    def _has_met_all(self, told: float) -> bool:
        """Say whether answers that agree with each other have met every cluster, where the number is not known."""
        if self.is_settled is None or chance_of_new(self.labels) >= MET_ENOUGH or told < TOLD_ENOUGH:
            return False
        n_placed = np.bincount(self.rows_alone.labels[np.array(self.rows)[self.is_settled]])
        n_clusters = self.rows_alone.n_clusters
        return bool(n_placed.sum() >= ASKED_ENOUGH * n_clusters and (n_placed > 0).sum() == n_clusters)

    def _told(self) -> tuple[float, Bools]:
        """Return how much of what the rows with a place need to be told was told, and which rows keep their label.

        Questions of ours compare a row with those asked about before until it has a place. Pairs chosen at random
        mostly stay apart; of many clusters they say little, and which are one is then decided by looks alone.
        """
        if not self.links:
            return 1.0, np.ones(len(self.rows), dtype=bool)
        compared = self._most_compared()
        together = compared if self.is_settled is None else self.is_settled
        shares = np.bincount(self.rows_alone.labels) / len(self.rows_alone.labels)
        an_answer = float(binary_entropy((shares**2).sum()) / entropy(shares))  # as a share of what a row needs
        n_told = max(float((together & self.is_placed).sum()), an_answer * len(self.links))
        told = min(n_told / max(int(self.is_placed.sum()), 1), 1.0)
        return told, self.is_placed & (compared | (told >= TOLD_ENOUGH))

    def _most_compared(self) -> Bools:
        """Say which rows answers compare with most others, over any number of steps."""
        n_asked = len(self.rows)
        ends = np.array(self.links, dtype=np.intp)[:, :2].T
        joined = sp.coo_array((np.ones(len(self.links), dtype=bool), tuple(ends)), shape=(n_asked, n_asked))
        part = connected_components(joined)[1]
        return np.asarray(part == np.bincount(part).argmax())

    def _eps(self) -> float:
        return 0.0 if self.is_consistent else min(self.eps, MOST)
