"""Our belief: the labels of the rows asked about are sampled, and a Gaussian process carries them to all others."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._core.simplex import entropy
from sidelight.active.chains import LabelPool, chance_of_new
from sidelight.active.checks import next_check
from sidelight.active.gaussian import LabelProcess
from sidelight.active.kernels import RowKernels
from sidelight.active.virtual import seeded_clusters

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]

LEAST_CERTAINTY = 0.05  # a row that belongs nowhere in particular is not doubted without bound
CENTRAL = 10  # the first row is one of this share (one in ten) of the most influential rows
MET_ENOUGH = 0.25  # chance of a new cluster below which the clusters met are all that is shown, if K is unknown


class RowBelief:
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
    """

    def __init__(self, X: Any, n_clusters: int | None, generator: np.random.Generator) -> None:
        self.n_rows, self.n_clusters = X.shape[0], n_clusters
        self.kernels = RowKernels.of(X, generator)
        self.process = LabelProcess(list(self.kernels.views.values()), generator)
        gains = self.process.influence(np.ones(len(self.process.reference), dtype=np.float32))
        central = np.argsort(-gains, kind="stable")[: max(len(gains) // CENTRAL, 1)]
        self._first = int(self.process.candidates[generator.choice(central)])
        self._forget()

    def _forget(self) -> None:
        self.pool = LabelPool(self.n_clusters)
        self.links: list[tuple[int, int, int]] = []
        self.at: dict[int, int] = {}
        self.eps, self.n_known, self.is_consistent = 0.0, 0, True
        self.is_placed = np.ones(1, dtype=bool)
        self._take(self._first)
        self._sampled(np.array([[1.0, 0.0]]), np.zeros(1, dtype=np.intp), 1)

    def anew(self) -> RowBelief:
        """Return the belief as it was before the first answer; the views of the rows are not worked out again."""
        other = copy.copy(self)
        other.process = self.process.anew()
        other._forget()
        return other

    @property
    def rows(self) -> list[int]:
        """The rows asked about."""
        return self.process.rows

    def tell_all(self, answers: list[tuple[int, int, bool]], generator: np.random.Generator) -> None:
        """Learn some answers in one step."""
        for a, b, same in answers:
            for row in (a, b):
                self._take(row)
            self.links.append((self.at[a], self.at[b], int(same)))
        placed = self.pool.place(
            np.array(self.links, dtype=np.intp),
            self.process.kernels,
            self.process.weights,
            self.process.log_prior,
            generator,
        )
        self.eps, self.is_consistent, self.is_placed = placed.eps, placed.is_consistent, placed.is_placed
        self._sampled(placed.q, placed.labels, placed.n_clusters)

    def _take(self, row: int) -> None:
        if row not in self.at:
            self.at[row] = len(self.process.rows)
            self.process.add(row)
            self.pool.add()

    def _sampled(self, q: Floats, labels: Ints, n_known: int) -> None:
        self.q, self.labels, self.n_known = q, labels, n_known
        certainty = np.maximum(q[np.arange(len(labels)), labels], LEAST_CERTAINTY)
        self.process.fit(np.eye(n_known)[labels], 1.0 / certainty**2)

    # -- what follows for the candidates of a question ---------------------------------------------------------------

    @property
    def candidates(self) -> Ints:
        """The rows that may be asked about next."""
        return self.process.candidates

    @property
    def place(self) -> Ints:
        """The position of each row among the candidates, -1 for the others."""
        return self.process.place

    @property
    def features(self) -> Floats:
        """The rows, dense and centred, for strategies that measure distances."""
        return self.kernels.known

    def certainty(self, row: int) -> float:
        """Return the probability of the likeliest cluster of a row that was asked about, a new one among them.

        While clusters are still met, no row is sure of one that no answer places it in.
        """
        at = self.at[row]
        unmet = 0.0 if self.n_clusters is not None or self.is_placed[at] else self.chance_of_new()
        return float(self.q[at].max()) * (1.0 - unmet)

    def chance_of_new(self) -> float:
        """Return the chance that the next row belongs to a cluster not met so far."""
        chance = chance_of_new(self.labels)
        if self.n_clusters is None:
            return min(chance, 0.9)
        if self.n_known >= self.n_clusters:
            return 0.0
        return min(max(chance, 0.5 * (self.n_clusters - self.n_known) / self.n_clusters), 0.9)

    def places(self) -> Floats:
        """Return the probability of each known cluster, and of a new one, for every candidate."""
        new = self.process.novelty() * self.chance_of_new()
        Q = np.column_stack([self.process.posterior() * (1.0 - new[:, None]), new])
        for t, row in enumerate(self.rows):
            place = self.place[row]
            if place >= 0:
                Q[place] = self.q[t]
        return Q

    def influence(self, Q: Floats) -> Floats:
        """Return how much knowing each candidate would tell about the uncertain ones."""
        doubt = entropy(np.maximum(Q, 1e-12)).astype(np.float32)
        return self.process.influence(doubt[self.process.reference])

    def representative(self, row: int, cluster: int, unasked: Any) -> int | None:
        """Return the row of a cluster to ask ``row`` against: alike and sure of its cluster."""
        members = [t for t in np.flatnonzero(self.labels == cluster).tolist() if self.rows[t] != row]
        members = [t for t in members if unasked(row, self.rows[t])]
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
        )
        return None if check is None else (number[check[0]], number[check[1]])

    # -- what is shown -----------------------------------------------------------------------------------------------

    def posterior(self, X: Any = None) -> Floats:
        """Return the probability of each known cluster, for all rows or for new ones."""
        if X is not None:
            views = self.kernels.of_new(X)
            return self.process.posterior([views[name] for name in self.kernels.views])
        P = self.process.posterior(self.process.views)
        known = self.q[:, :-1] / np.maximum(self.q[:, :-1].sum(axis=1, keepdims=True), 1e-12)
        P[self.rows] = known
        return P

    def partition(self, generator: np.random.Generator) -> Ints:
        """Return a cluster for every row; while clusters are still to be met, some are guessed from the rows alone."""
        labels = self.posterior().argmax(axis=1)
        n_virtual = self._n_unmet()
        if n_virtual:
            view = self.kernels.views.get("graph", self.process.views[0])
            guessed = seeded_clusters(view, self.rows, self.labels, self.n_known, n_virtual, generator)
            labels = np.where(guessed >= self.n_known, guessed, labels)
        labels[self.rows] = self.labels
        return labels

    def _n_unmet(self) -> int:
        """Return how many clusters are believed in but were not met."""
        if self.n_clusters is not None:
            return max(self.n_clusters - self.n_known, 0)
        chance = chance_of_new(self.labels)
        if chance < MET_ENOUGH:
            return 0
        return min(round(chance * self.n_known), self.n_rows - self.n_known)
