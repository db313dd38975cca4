"""What follows from facts of the form "these two rows are alike" and "these two are not".

Alike is transitive, so rows fall into groups; unlike carries over from two rows to their whole groups. Two facts of
unlike imply nothing (there may be any number of clusters).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import check_number
from sidelight.errors import InvalidData

Ints = NDArray[np.intp]


def question_codes(rows: Ints, n_rows: int) -> Ints:
    """Number the distinct sets of rows; column by column, so that a key never outgrows an int64."""
    ordered = np.sort(rows, axis=1)
    codes = ordered[:, 0]
    for column in ordered.T[1:]:
        _, codes = np.unique(codes * n_rows + column, return_inverse=True)
    return codes.reshape(-1).astype(np.intp)


SAME, DIFFERENT, UNKNOWN = 1, 0, -1


class Contradiction(NamedTuple):
    """Two rows that must link, by a chain of answers, and cannot link, by another answer."""

    rows: tuple[int, int]
    chain: tuple[int, ...]  # the answers that make the rows alike, from the first row to the second
    against: tuple[int, ...]  # the answer that makes them differ (for triplets also what it rests on)

    def __str__(self) -> str:
        return (
            f"Rows {self.rows[0]} and {self.rows[1]} must link ({_listed(self.chain)}) "
            f"but cannot link ({_listed(self.against)})."
        )


class Facts:
    """Facts about pairs of rows; ``same[m]`` says whether rows ``left[m]`` and ``right[m]`` are alike.

    Facts that do not count (``counts[m]`` false) say nothing; they only keep the numbers of the others.
    """

    def __init__(
        self,
        left: Ints,
        right: Ints,
        same: NDArray[np.bool_],
        n_rows: int,
        counts: NDArray[np.bool_] | None = None,
    ) -> None:
        self.left, self.right, self.n_rows = left, right, n_rows
        self.same, self.unlike = (same, ~same) if counts is None else (same & counts, ~same & counts)

    @cached_property
    def groups(self) -> Ints:
        """The group of each row: rows that must be alike share one; numbered by their lowest row."""
        if not self.n_rows:
            return np.zeros(0, dtype=np.intp)
        ends = (self.left[self.same], self.right[self.same])
        from scipy import sparse  # with csgraph half a second that most readers never need
        from scipy.sparse.csgraph import connected_components

        graph = sparse.csr_array((np.ones(len(ends[0])), ends), shape=(self.n_rows, self.n_rows))
        _, groups = connected_components(graph, directed=False)
        return groups.astype(np.intp)

    @cached_property
    def apart(self) -> Ints:
        """Sorted keys of the pairs of groups that must differ."""
        return self._apart[0]

    @cached_property
    def _apart(self) -> tuple[Ints, Ints]:
        """The keys of ``apart``, and for each the first fact that says so."""
        unlike = np.flatnonzero(self.unlike)
        keys, first = np.unique(self._keys(self.left[unlike], self.right[unlike]), return_index=True)
        return keys, unlike[first]

    def _keys(self, left: Ints, right: Ints) -> Ints:
        low, high = np.sort([self.groups[left], self.groups[right]], axis=0)
        return low * self.n_rows + high

    def relation(self, left: Ints, right: Ints) -> Ints:
        """Return for each pair of rows SAME, DIFFERENT or UNKNOWN."""
        relation = np.where(self.groups[left] == self.groups[right], SAME, UNKNOWN)
        keys = self._keys(left, right)
        if len(self.apart):
            place = np.minimum(np.searchsorted(self.apart, keys), len(self.apart) - 1)
            relation[(self.apart[place] == keys) & (relation == UNKNOWN)] = DIFFERENT
        return relation

    @cached_property
    def conflicts(self) -> Ints:
        """The facts of unlike whose two rows must be alike."""
        return np.flatnonzero(self.unlike & (self.groups[self.left] == self.groups[self.right]))

    def closure(self, limit: int) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """List every pair of rows whose relation is known, lowest rows first, each once."""
        check_number("closure", "limit", limit, integer=True, low=0)
        order = np.argsort(self.groups, kind="stable")
        sizes = np.bincount(self.groups)
        members = np.split(order, np.cumsum(sizes)[:-1])
        first, second = np.divmod(self.apart, max(self.n_rows, 1))
        many = np.flatnonzero(sizes > 1)
        total = int((sizes * (sizes - 1) // 2).sum() + (sizes[first] * sizes[second]).sum())
        if total > limit:
            raise InvalidData(
                f"The closure has {total} answers, more than limit={limit}. Ask about single pairs with "
                "implies(), use groups(), or raise the limit."
            )
        ends = [(members[g][i], members[g][j]) for g in many for i, j in [np.triu_indices(sizes[g], 1)]]
        n_same = sum(len(a) for a, _ in ends)
        ends += [
            (np.repeat(members[g], sizes[h]), np.tile(members[h], sizes[g])) for g, h in zip(first, second) if g != h
        ]
        if not ends:
            return np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, bool)
        low, high = np.sort([np.concatenate(side) for side in zip(*ends)], axis=0)
        same = np.arange(len(low)) < n_same
        by_rows = np.lexsort((high, low))
        return low[by_rows], high[by_rows], same[by_rows]

    def explain(self, one: int, other: int) -> list[int]:
        """Return facts that settle how two rows relate (something must); a shortest chain if they are alike."""
        if self.groups[one] == self.groups[other]:
            return self.chain(one, other)
        keys, facts = self._apart
        fact = int(facts[np.searchsorted(keys, self._keys(np.array([one]), np.array([other])))[0]])
        a, b = int(self.left[fact]), int(self.right[fact])
        if self.groups[a] != self.groups[one]:
            a, b = b, a
        return [*self.chain(one, a), fact, *self.chain(b, other)]

    def chain(self, one: int, other: int) -> list[int]:
        """Return a shortest chain of alike facts between two rows of a group, by search from both ends."""
        came: tuple[dict[int, tuple[int, int]], ...] = ({one: (one, -1)}, {other: (other, -1)})
        fronts = [[one], [other]]
        meeting = one if one == other else None
        while meeting is None:
            side = int(len(fronts[1]) < len(fronts[0]))
            reached: list[int] = []
            for row in fronts[side]:
                for neighbour, fact in self._neighbours[row]:
                    if neighbour not in came[side]:
                        came[side][neighbour] = (row, fact)
                        reached.append(neighbour)
            fronts[side] = reached
            meeting = next((row for row in reached if row in came[1 - side]), None)
            if not reached and meeting is None:
                raise LookupError(f"rows {one} and {other} are in different groups")
        return _walk_back(came[0], meeting)[::-1] + _walk_back(came[1], meeting)

    @cached_property
    def _neighbours(self) -> dict[int, list[tuple[int, int]]]:
        neighbours = defaultdict(list)
        facts = np.flatnonzero(self.same)
        for a, b, fact in zip(self.left[facts].tolist(), self.right[facts].tolist(), facts.tolist()):
            neighbours[a].append((b, fact))
            neighbours[b].append((a, fact))
        return neighbours


def most_damaging_first(contradictions: Iterable[Contradiction]) -> list[Contradiction]:
    """Order contradictions: first those of the answer that most of them share, short chains before long ones.

    One wrong answer contradicts many right ones, so it comes first: mending it mends most.
    """
    found = list(contradictions)
    times = Counter(answer for one in found for answer in (*one.chain, *one.against))

    def damage(one: Contradiction) -> tuple[int, int, tuple[int, int]]:
        return -max(times[answer] for answer in (*one.chain, *one.against)), len(one.chain), one.rows

    return sorted(found, key=damage)


def _walk_back(came: dict[int, tuple[int, int]], row: int) -> list[int]:
    facts = []
    while came[row][1] >= 0:
        row, fact = came[row]
        facts.append(fact)
    return facts


def _listed(answers: tuple[int, ...]) -> str:
    return f"answer{'s' if len(answers) != 1 else ''} {', '.join(map(str, answers))}"
