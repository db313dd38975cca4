"""Which answers nothing confirms, and the question that would test most of them at once.

Rows are asked about once where that is enough, so answers form trees, and in a tree a wrong answer contradicts nothing:
it carries a block of rows, those on its smaller side, into the wrong cluster. An answer that closes a cycle tests every
answer on that cycle; the others are *open*. With eps the share of wrong answers to expect when so many were tested and
none was wrong, a check is due where a path of open answers puts more than ``WORTH`` rows at risk: eps times the sum of
their blocks. With exact answers that is a few questions of 100.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable

Link = tuple[int, int, int]  # two rows, and 1 for same or 0 for different
Edge = tuple[int, int, int]  # two nodes of a graph, and the number of the answer

WORTH = 0.12  # rows expected on the wrong side, by the answers of one path, from which a check is worth a question
PRIOR = (0.3, 6.0)  # Beta prior of the share of wrong answers, as in chains.py


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
        return PRIOR[0] / (sum(PRIOR) + len(self.edges) - len(self.blocks))

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
