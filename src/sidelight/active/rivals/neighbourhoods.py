"""Strategies of others, for comparison: a row at a time is asked against neighbourhoods of rows known to be alike.

explore   Basu, Banerjee and Mooney 2004: farthest rows first until every cluster was met, then rows at random
minmax    Mallapragada, Jin and Jain 2008: the same start, then the row least similar to all rows asked about
npu       Xiong, Azimi and Fern 2014: the row of largest entropy / expected number of questions, by a random forest
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import RandomForestClassifier

from sidelight._core.params import as_seed
from sidelight._core.simplex import entropy
from sidelight.active.belief import squared_distances

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]

PATIENCE = 10  # rows in a row that open no new neighbourhood, after which all clusters count as met if K is unknown
TREES = 50  # as the paper's authors


class Neighbourhoods:
    """Rows known to be alike, and the row in hand; all of it follows from the answers in their order."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.current: int | None = None
        self.apart: set[int] = set()  # neighbourhoods that the row in hand does not belong to
        self.skipped: set[int] = set()
        self.since_new = 0
        self.n_heard = 0

    def choose(
        self, belief: Any, asked: Any, generator: np.random.Generator, busy: frozenset[int] = frozenset()
    ) -> tuple[tuple[int, ...], float] | None:
        """Return the row in hand, or the next one, and the nearest row of its likeliest neighbourhood."""
        placed = {row for group in self.groups for row in group}
        free = np.array([row not in placed | self.skipped | busy for row in range(belief.n_rows)])
        if not self.groups:
            return self._first_pair(belief, generator, free)
        row = self.current if self.current is not None and self.current not in busy else None
        while row is not None or free.any():
            if row is None:
                row = self.next_row(belief, free, generator)
            other = self._partner(belief, row, asked, generator, busy)
            if other is not None:
                return (row, other), float("nan")
            if busy:
                return None  # partners are taken, and so they are for the other rows
            free[row], row = False, None  # it was compared with every neighbourhood
        return None

    def _first_pair(
        self, belief: Any, generator: np.random.Generator, free: Any
    ) -> tuple[tuple[int, ...], float] | None:
        if free.sum() < 2:
            return None
        first = int(generator.choice(np.flatnonzero(free)))
        free[first] = False
        return (self._farthest(belief, [first], free), first), float("nan")

    def _partner(
        self, belief: Any, row: int, asked: Any, generator: np.random.Generator, busy: frozenset[int]
    ) -> int | None:
        """Return the row to ask ``row`` against: the nearest of its likeliest neighbourhood that is not ruled out."""
        ruled_out = self.apart if row == self.current else set()
        for group in self.likeliest(belief, row, generator):
            if group not in ruled_out:
                other = self._nearest(belief, row, self.groups[group], asked)
                if other is not None and other not in busy:
                    return other
        return None

    def after_answer(self, belief: Any, rows: tuple[int, ...], answer: str) -> None:
        """Place the row in hand, rule a neighbourhood out, or leave the row alone."""
        row, other = rows
        self.n_heard += 1
        if answer == "unsure":
            self.skipped.add(row)
            self.current, self.apart = None, set()
            return
        if row != self.current:
            self.current, self.apart = row, set()
        group = self._group_of(other)
        if answer == "same":
            self._add_to_group(row, group)
            return
        self.apart.add(group)
        left = [number for number in range(len(self.groups)) if number not in self.apart]
        if not left and (belief.n_clusters is None or len(self.groups) < belief.n_clusters):
            self.groups.append([])
            self.since_new = -1
            self._add_to_group(row, len(self.groups) - 1)
        elif not left:
            self.skipped.add(row)  # different from every cluster: an answer is wrong
            self.current, self.apart = None, set()
        elif len(left) == 1 and len(self.groups) == belief.n_clusters:
            self._add_to_group(row, left[0])  # the only place left

    def _add_to_group(self, row: int, group: int) -> None:
        if not any(row in members for members in self.groups):
            self.groups[group].append(row)
        self.current, self.apart = None, set()
        self.since_new += 1

    def _group_of(self, row: int) -> int:
        for number, group in enumerate(self.groups):
            if row in group:
                return number
        self.groups.append([row])
        return len(self.groups) - 1

    def has_met_all(self, belief: Any) -> bool:
        """Whether every cluster was met, as far as anybody can tell."""
        if belief.n_clusters is None:
            return self.since_new >= PATIENCE
        return len(self.groups) >= int(belief.n_clusters)

    def next_row(self, belief: Any, free: Ints, generator: np.random.Generator) -> int:
        """Return the row to place next."""
        if not self.has_met_all(belief):
            return self._farthest(belief, [row for group in self.groups for row in group], free)
        return self.consolidate(belief, free, generator)

    def consolidate(self, belief: Any, free: Ints, generator: np.random.Generator) -> int:
        """Return the next row once every cluster was met: any."""
        return int(generator.choice(np.flatnonzero(free)))

    def likeliest(self, belief: Any, row: int, generator: np.random.Generator) -> list[int]:
        """Return the neighbourhoods, the one with the nearest centre first."""
        centres = np.stack([belief.features[group].mean(axis=0) for group in self.groups])
        apart = squared_distances(belief.features[[row]], centres)[0]
        return [int(group) for group in np.argsort(apart, kind="stable")]

    @staticmethod
    def _farthest(belief: Any, rows: list[int], free: Ints) -> int:
        apart = squared_distances(belief.features, belief.features[rows]).min(axis=1)
        return int(np.argmax(np.where(free, apart, -1.0)))

    @staticmethod
    def _nearest(belief: Any, row: int, members: list[int], asked: Any) -> int | None:
        apart = squared_distances(belief.features[members], belief.features[[row]])[:, 0]
        for at in np.argsort(apart, kind="stable"):
            if members[at] != row and not asked(row, members[at]):
                return members[at]
        return None


class MinMax(Neighbourhoods):
    """After the start, ask about the row whose largest similarity to a row asked about is smallest."""

    def _similarity(self, belief: Any, rows: list[int], others: Any) -> Floats:
        apart = squared_distances(belief.features[others], belief.features[rows])
        every = belief.features
        width = 2.0 * float(np.mean(squared_distances(every, every.mean(axis=0, keepdims=True))))
        return np.asarray(np.exp(-apart / max(width, np.finfo(float).tiny)))

    def consolidate(self, belief: Any, free: Ints, generator: np.random.Generator) -> int:
        """Return the row that the neighbourhoods cover worst."""
        rows = [row for group in self.groups for row in group]
        covered = self._similarity(belief, rows, np.arange(belief.n_rows)).max(axis=1)
        return int(np.argmin(np.where(free, covered, np.inf)))

    def likeliest(self, belief: Any, row: int, generator: np.random.Generator) -> list[int]:
        """Return the neighbourhoods, the one with the most similar row first."""
        closest = [self._similarity(belief, group, [row]).max() for group in self.groups]
        return [int(group) for group in np.argsort(-np.array(closest), kind="stable")]


class NPU(Neighbourhoods):
    """Ask about the row of largest entropy over neighbourhoods, for each question it is expected to cost."""

    def __init__(self) -> None:
        super().__init__()
        self._known_leaves: tuple[int, Ints] | None = None  # after how many answers, and the leaves of the forest

    def next_row(self, belief: Any, free: Ints, generator: np.random.Generator) -> int:
        """Return the row of largest normalised uncertainty."""
        p = self._chances(belief, np.arange(belief.n_rows), generator)
        ranked = -np.sort(-p, axis=1)
        n_questions = (ranked * np.arange(1, p.shape[1] + 1)).sum(axis=1)
        worth = entropy(np.maximum(p, 1e-12)) / n_questions if p.shape[1] > 1 else -p[:, 0]
        return int(np.argmax(np.where(free, worth, -np.inf)))

    def likeliest(self, belief: Any, row: int, generator: np.random.Generator) -> list[int]:
        """Return the neighbourhoods, the likeliest first."""
        p = self._chances(belief, np.array([row]), generator)[0]
        return [int(group) for group in np.argsort(-p, kind="stable")]

    def _chances(self, belief: Any, rows: Ints, generator: np.random.Generator) -> Floats:
        """Return the chance of each neighbourhood: how often trees put a row beside its members, relative to others."""
        leaves = self._leaves(belief, generator)
        beside = np.stack(
            [
                np.mean([(leaves[rows] == leaves[member]).mean(axis=1) for member in group], axis=0)
                for group in self.groups
            ],
            axis=1,
        )
        if len(self.groups) == 1:
            return beside
        beside = beside + 1e-6  # a row without neighbours may belong anywhere
        return np.asarray(beside / beside.sum(axis=1, keepdims=True))

    def _leaves(self, belief: Any, generator: np.random.Generator) -> Ints:
        """Return the leaf of each row in each tree of a forest that learns the present clusters."""
        if self._known_leaves is None or self._known_leaves[0] != self.n_heard:
            labels = belief.partition(generator)
            forest = RandomForestClassifier(TREES, random_state=as_seed(generator)).fit(belief.features, labels)
            self._known_leaves = (self.n_heard, forest.apply(belief.features))
        return np.asarray(self._known_leaves[1])
