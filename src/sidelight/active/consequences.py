"""What follows from answers, which of them nothing confirms, and the question that would test most of them at once.

While all answers can be right, rows joined by "same" are a *block*. A block that differs from every cluster so far
opens the next cluster, and clusters stay in the order in which they were opened; with the number of clusters given, a
block that differs from all but one belongs to that one. Every other block is open: it may belong to each cluster that
no answer excludes.

Rows are asked about once where that is enough, so answers form trees, and in a tree a wrong answer contradicts nothing:
it carries a block of rows, those on its smaller side, into the wrong cluster. An answer that closes a cycle tests every
answer on that cycle; the others are *open*. With eps the share of wrong answers to expect when so many were tested and
none was wrong, a check is due where a path of open answers puts more than ``WORTH`` rows at risk: eps times the sum of
their blocks. With exact answers that is a few questions of 100. A cluster is founded by few answers, or by none where
a row looked like no other: if one of them was wrong, the same cluster exists twice, and nothing contradicts that.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sidelight.active.chains import ERRORS

Ints = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.floating[Any]]
Link = tuple[int, int, int]  # two rows, and 1 for same or 0 for different
Edge = tuple[int, int, int]  # two nodes of a graph, and the number of the answer

OPEN = -1
WORTH = 0.12  # rows expected on the wrong side, by the answers of one path, from which a check is worth a question
LOOKED_NEW = np.log(0.1 / 0.9)  # log odds of two clusters not compared: one was nine times as probably new


@dataclass(frozen=True, slots=True)
class Settled:
    """What follows from answers that are all right.

    ``labels`` has the cluster of each row asked about, OPEN where answers do not say; ``excluded`` (n_asked,
    n_clusters) has the clusters that a row differs from; ``blocks`` has the block of each row, ``openers`` a row of the
    block that opened each cluster.
    """

    labels: Ints
    excluded: Bools
    blocks: Ints
    openers: tuple[int, ...]

    @property
    def n_clusters(self) -> int:
        """How many clusters were met."""
        return len(self.openers)

    @property
    def says_enough(self) -> bool:
        """Whether every row has a cluster or was compared with one; pairs chosen at random seldom say that much."""
        linked = (self.labels != OPEN) | self.excluded.any(axis=1)
        return bool(linked.all())


def consequences_of(links: Ints, n_asked: int, n_clusters: int | None, openers: tuple[int, ...] = ()) -> Settled | None:
    """Return what follows from answers, or None if they contradict each other.

    Parameters
    ----------
    links : array of shape (n_answers, 3)
        Two rows (numbered as they were asked about) and 1 for same, 0 for different.
    n_asked : int
        How many rows were asked about.
    n_clusters : int or None
        How many clusters there are, if that is known.
    openers : tuple of int
        Rows that opened a cluster before, the first one first; some were only believed to, and not compared with all.
    """
    n_blocks, blocks = _blocks(links, n_asked)
    differ = np.zeros((n_blocks, n_blocks), dtype=bool)
    apart = links[links[:, 2] == 0]
    differ[blocks[apart[:, 0]], blocks[apart[:, 1]]] = True
    differ |= differ.T
    if differ.diagonal().any():
        return None
    of_block, excluded = np.full(n_blocks, OPEN, dtype=np.intp), np.zeros((n_blocks, 0), dtype=bool)
    opened: list[int] = []
    while (found := _next_place(of_block, excluded, n_clusters, [int(blocks[t]) for t in openers])) is not None:
        block, cluster = found
        if cluster == len(opened):
            if cluster == n_clusters:
                return None  # it differs from all clusters there are
            excluded = np.column_stack([excluded, np.zeros(n_blocks, dtype=bool)])
            opened.append(int(np.argmax(blocks == block)))
        of_block[block] = cluster
        excluded[:, cluster] |= differ[block]
        if (excluded[:, cluster] & (of_block == cluster)).any():
            return None
    return Settled(of_block[blocks], excluded[blocks], blocks, tuple(opened))


def _next_place(of_block: Ints, excluded: Bools, n_clusters: int | None, openers: list[int]) -> tuple[int, int] | None:
    """Return the next block whose cluster follows, and that cluster; the next number is a new one."""
    n_known = excluded.shape[1]
    is_open = of_block == OPEN
    if n_known != n_clusters:
        opener = next((block for block in openers if is_open[block]), None)
        if opener is not None:
            return opener, n_known
    left = n_known - excluded.sum(axis=1)
    new = np.flatnonzero(is_open & (left == 0))
    if len(new):
        return int(new[0]), n_known
    if n_known != n_clusters:
        return None
    last = np.flatnonzero(is_open & (left == 1))
    return (int(last[0]), int(np.argmin(excluded[last[0]]))) if len(last) else None


def _blocks(links: Ints, n_asked: int) -> tuple[int, Any]:
    alike = links[links[:, 2] == 1]
    graph = coo_array((np.ones(len(alike), dtype=np.int8), (alike[:, 0], alike[:, 1])), shape=(n_asked, n_asked))
    return connected_components(graph)


def next_check(
    links: list[Link],
    n_rows: int,
    *,
    two_clusters: bool,
    was_asked: Callable[[int, int], bool],
    surprise: Callable[[list[int]], float],
) -> tuple[int, int] | None:
    """Return the two rows whose relation puts most rows at risk, if a check is due.

    ``surprise`` returns the log odds that the rows themselves give for a block being on the wrong side.
    """
    graph = _Answers(links, n_rows, two_clusters)
    eps = graph.expected_error()
    prior = math.log(eps / (1.0 - eps))
    risks = {number: len(block) / (1.0 + math.exp(-prior - surprise(block))) for number, block in graph.blocks.items()}
    ends = max(graph.paths(risks, was_asked), default=None)
    return None if ends is None or ends[0] <= WORTH else (ends[1], ends[2])


def expected_error(links: list[Link], n_rows: int, *, two_clusters: bool) -> float:
    """Return the share of wrong answers to expect when so many were tested and none was wrong."""
    return _Answers(links, n_rows, two_clusters).expected_error()


class _Answers:
    """The answers as a graph: with two clusters every path says how its ends relate, else only one of "same"."""

    def __init__(self, links: list[Link], n_rows: int, two_clusters: bool) -> None:
        self.edges: list[Edge] = [(a, b, number) for number, (a, b, same) in enumerate(links) if same or two_clusters]
        self.near: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for a, b, number in self.edges:
            self.near[a].append((b, number))
            self.near[b].append((a, number))
        self.part, self.blocks = _bridges(self.near, range(n_rows))

    def expected_error(self) -> float:
        return ERRORS[0] / (sum(ERRORS) + len(self.edges) - len(self.blocks))

    def paths(self, risks: dict[int, float], was_asked: Callable[[int, int], bool]) -> Iterable[tuple[float, int, int]]:
        """Yield (rows at risk by its open answers, one end, other end) of the heaviest path of each part."""
        for start in {part: row for row, part in self.part.items()}.values():
            far = self._far(start, risks)[0][1]
            yield from _best([(risk, far, row) for risk, row in self._far(far, risks)], was_asked)

    def _far(self, start: int, risks: dict[int, float]) -> list[tuple[float, int]]:
        """Return (rows at risk on the way, row) of all rows that a row is connected with, the farthest first."""
        reached = {start: 0.0}
        waiting = [start]
        while waiting:
            row = waiting.pop()
            for other, number in self.near[row]:
                if other not in reached:
                    reached[other] = reached[row] + risks.get(number, 0.0)
                    waiting.append(other)
        return sorted(((n, row) for row, n in reached.items()), key=lambda end: (-end[0], end[1]))


def _best(
    paths: list[tuple[float, int, int]], was_asked: Callable[[int, int], bool]
) -> Iterable[tuple[float, int, int]]:
    for n, a, b in sorted(paths, reverse=True):
        if a != b and not was_asked(a, b):
            yield n, a, b
            return


def bridges_of(near: dict[int, list[tuple[int, int]]], rows: Iterable[int]) -> dict[int, list[int]]:
    """Return the answers on no cycle, each with the rows on its smaller side."""
    return _bridges(near, rows)[1]


def _bridges(
    near: dict[int, list[tuple[int, int]]], rows: Iterable[int]
) -> tuple[dict[int, int], dict[int, list[int]]]:
    """Return the part of the graph that each row is in, and the answers on no cycle (Tarjan) with their blocks."""
    part: dict[int, int] = {}
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    blocks: dict[int, list[int]] = {}
    reached: list[int] = []
    for start in rows:
        if start in order:
            continue
        n_before, below = len(order), list[int]()
        order[start] = low[start] = len(order)
        reached.append(start)
        part[start] = start
        stack = [(start, -1, iter(near[start]))]
        while stack:
            row, through, others = stack[-1]
            for other, number in others:
                if number == through:
                    continue
                if other in order:
                    low[row] = min(low[row], order[other])
                    continue
                order[other] = low[other] = len(order)
                reached.append(other)
                part[other] = start
                stack.append((other, number, iter(near[other])))
                break
            else:
                stack.pop()
                if stack:
                    above = stack[-1][0]
                    low[above] = min(low[above], low[row])
                    if low[row] > order[above]:
                        blocks[through] = reached[order[row] :]  # rows that were reached through it
                        below.append(through)
        for number in below:
            if 2 * len(blocks[number]) > len(order) - n_before:
                inside = set(blocks[number])
                blocks[number] = [row for row in reached[n_before:] if row not in inside]
    return part, blocks


def rows_at_risk(links: Ints, labels: Ints, alike: Floats, eps: float) -> Floats:
    """Return how many rows are expected in the wrong cluster because two clusters are one.

    Parameters
    ----------
    links : array of shape (n_answers, 3)
        Two rows, and 1 for same or 0 for different.
    labels : array of shape (n_asked,)
        The cluster of each row, -1 for none.
    alike : array of shape (n_clusters, n_clusters)
        The probability, by the rows alone, that the rows of one cluster belong to another.
    eps : float
        The share of wrong answers to expect.

    Returns
    -------
    array of shape (n_clusters, n_clusters)
        Of clusters a and b, for the smaller one b; 0 elsewhere.
    """
    K = len(alike)
    sizes = np.bincount(labels[labels >= 0], minlength=K)
    apart = links[links[:, 2] == 0]
    ends = labels[apart[:, 0]], labels[apart[:, 1]]
    between = (ends[0] >= 0) & (ends[1] >= 0)
    n_apart = np.zeros((K, K))
    np.add.at(n_apart, (ends[0][between], ends[1][between]), 1.0)
    p = np.clip(alike, 1e-6, 1.0 - 1e-6)
    n_apart += n_apart.T
    log_odds = np.log(p / (1.0 - p)) + np.where(n_apart > 0, n_apart * np.log(eps / (1.0 - eps)), LOOKED_NEW)
    risk = sizes / (1.0 + np.exp(-log_odds))
    order = np.lexsort((np.arange(K), -sizes))  # larger clusters first, of equal ones the older
    rank = np.empty(K, dtype=np.intp)
    rank[order] = np.arange(K)
    return np.where(rank[:, None] < rank, risk, 0.0)
