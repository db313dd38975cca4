"""Sums over blocks through one binary tree, so that they have the same bits however the blocks are shared out.

Floating point sums depend on their order. Here the order belongs to the blocks alone: block i is leaf i, neighbours are
added two by two, and a last node without a sister goes up as it is. Whoever has a run of blocks adds up what the tree
adds up inside the run and hands on the nodes that are left, a few for each run; adding those up gives the sum of the
whole tree, bit for bit, for any number of runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import add, attrgetter
from typing import Any, NamedTuple

Sums = tuple[Any, ...]  # arrays or numbers that are added up side by side


class Node(NamedTuple):
    """The sums over the leaves ``number << level`` to ``(number + 1) << level``."""

    level: int
    number: int
    sums: Sums

    @property
    def first(self) -> int:
        """The first leaf below."""
        return self.number << self.level


def nodes_of(first: int, leaves: Iterable[Sums]) -> list[Node]:
    """Return the nodes that cover consecutive leaves, the first of which is leaf ``first`` of the tree."""
    return joined([Node(0, first + i, tuple(sums)) for i, sums in enumerate(leaves)])


def joined(nodes: Iterable[Node]) -> list[Node]:
    """Add up sisters as far as all of their leaves are there."""
    stack: list[Node] = []
    for node in sorted(nodes, key=attrgetter("first")):
        stack.append(node)
        while len(stack) > 1 and _are_sisters(*stack[-2:]):
            right, left = stack.pop(), stack.pop()
            stack.append(Node(left.level + 1, left.number // 2, _added(left.sums, right.sums)))
    return stack


def whole_sum(nodes: Iterable[Node], n_leaves: int) -> Sums:
    """Return the sums over all leaves, from nodes that cover each of them once."""
    left = joined(nodes)
    covered = 0
    for node in left:
        if node.first != covered:
            raise ValueError(f"the nodes cover leaf {min(node.first, covered)} twice or never")
        covered += 1 << node.level
    if covered != n_leaves or not left:
        raise ValueError(f"the nodes cover {covered} of {n_leaves} leaves")
    total = left.pop().sums
    while left:  # what has no sister goes up until it meets one
        total = _added(left.pop().sums, total)
    return total


def tree_sum(leaves: Sequence[Sums]) -> Sums:
    """Return the sums over leaves that are all here."""
    return whole_sum(nodes_of(0, leaves), len(leaves))


def _are_sisters(left: Node, right: Node) -> bool:
    return left.level == right.level and left.number % 2 == 0 and right.number == left.number + 1


def _added(left: Sums, right: Sums) -> Sums:
    return tuple(map(add, left, right))
