"""Forests over nodes 0..n-1: components by union-find, spanning edges, and parents-first orders.

A rooted forest is an array ``parents`` with -1 at the roots. Nothing here recurses, so chains of any length are fine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidelight._core.kernels import kernel
from sidelight.errors import InvalidData

Ints = NDArray[np.intp]


class RootedForest(NamedTuple):
    """A forest hung from the lowest node of each tree."""

    parents: Ints  # the parent of each node, -1 at roots
    edges: Ints  # which edge leads to the parent, -1 at roots
    order: Ints  # every node after its parent


def components(left: ArrayLike, right: ArrayLike, n_nodes: int) -> Ints:
    """Number the connected components 0, 1, ... in the order of their lowest node; one number per node."""
    left, right = _as_edges(left, right, n_nodes)
    roots, _ = _unite(left, right, n_nodes)
    return _number(roots)


def spanning_edges(left: ArrayLike, right: ArrayLike, n_nodes: int) -> NDArray[np.bool_]:
    """Mark the edges that, taken in their order, join two components; the others would close a cycle."""
    left, right = _as_edges(left, right, n_nodes)
    _, joins = _unite(left, right, n_nodes)
    return joins


def root_forest(left: ArrayLike, right: ArrayLike, n_nodes: int) -> RootedForest:
    """Hang a forest, given by its edges, from the lowest node of each tree.

    Raises
    ------
    InvalidData
        When the edges close a cycle.
    """
    left, right = _as_edges(left, right, n_nodes)
    _, joins = _unite(left, right, n_nodes)
    if not joins.all():
        edge = int(np.argmin(joins))
        raise InvalidData(f"Edge {edge} ({left[edge]}, {right[edge]}) closes a cycle, so the edges are no forest.")
    ends, others = np.concatenate([left, right]), np.concatenate([right, left])
    by_end = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[by_end], np.arange(n_nodes + 1)).astype(np.intp)
    edge_of = np.ascontiguousarray(by_end % max(len(left), 1))
    return RootedForest(*_hang(starts, np.ascontiguousarray(others[by_end]), edge_of))


def parents_first(parents: ArrayLike) -> Ints:
    """Order the nodes so that each comes after its parent; siblings keep their order.

    Raises
    ------
    InvalidData
        When a parent is out of range, or nodes are their own ancestors.
    """
    return np.concatenate([*levels(parents), np.empty(0, dtype=np.intp)])


def levels(parents: ArrayLike) -> list[Ints]:
    """Split the nodes by their distance from the root: roots first, then their children, siblings together."""
    parents = np.asarray(parents, dtype=np.intp)
    n = len(parents)
    if n and not (parents.min() >= -1 and parents.max() < n):
        bad = int(np.flatnonzero((parents < -1) | (parents >= n))[0])
        raise InvalidData(f"Node {bad} has the parent {parents[bad]}; parents are nodes 0..{n - 1}, or -1 for a root.")
    by_parent = np.argsort(parents, kind="stable").astype(np.intp)
    starts = np.searchsorted(parents[by_parent], np.arange(-1, n + 1)).astype(np.intp)  # children of p: starts[p + 1]
    order, ends = _walk(by_parent, starts)
    if len(order) < n:
        raise InvalidData(
            f"Node {_on_a_cycle(parents, order)} is its own ancestor: a forest has no cycles. "
            "Give one node of the cycle the parent -1."
        )
    return np.split(order, ends[:-1]) if n else []


def depths(parents: ArrayLike) -> Ints:
    """Count the steps from each node up to its root."""
    out = np.zeros(len(np.asarray(parents)), dtype=np.intp)
    for depth, nodes in enumerate(levels(parents)):
        out[nodes] = depth
    return out


def _as_edges(left: ArrayLike, right: ArrayLike, n_nodes: int) -> tuple[Ints, Ints]:
    left, right = np.array(left, dtype=np.intp), np.array(right, dtype=np.intp)  # copies: answers are frozen
    if left.shape != right.shape or left.ndim != 1:
        raise InvalidData(f"Edges need two ends each; got {left.shape} left and {right.shape} right ends.")
    for ends in (left, right):
        outside = np.flatnonzero((ends < 0) | (ends >= n_nodes))
        if len(outside):
            raise InvalidData(f"Edge {outside[0]} ends at node {ends[outside[0]]}, but the nodes are 0..{n_nodes - 1}.")
    return left, right


def _number(roots: Ints) -> Ints:
    """Turn roots, each the lowest node of its component, into 0, 1, ...; codes rise with the lowest node."""
    is_root = roots == np.arange(len(roots))
    return (np.cumsum(is_root) - 1)[roots].astype(np.intp)


def _on_a_cycle(parents: Ints, reached: Ints) -> int:
    unreached = np.ones(len(parents), dtype=bool)
    unreached[reached] = False
    node = int(np.argmax(unreached))
    for _ in range(len(parents)):  # after n steps upwards we are certainly on the cycle
        node = int(parents[node])
    return node


@kernel("Tuple((intp[::1], boolean[::1]))(intp[::1], intp[::1], intp)")
def _unite(left: Ints, right: Ints, n_nodes: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Union-find with path halving; the lower root wins, so the root is the lowest node of its component."""
    parent = np.arange(n_nodes)
    joins = np.zeros(left.shape[0], dtype=np.bool_)
    for e in range(left.shape[0]):
        a, b = left[e], right[e]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a != b:
            joins[e] = True
            if a < b:
                parent[b] = a
            else:
                parent[a] = b
    for v in range(n_nodes):  # a parent is never above its child, so one sweep reaches every root
        parent[v] = parent[parent[v]]
    return parent, joins


@kernel("Tuple((intp[::1], intp[::1], intp[::1]))(intp[::1], intp[::1], intp[::1])")
def _hang(starts: Ints, neighbours: Ints, edge_of: Ints) -> tuple[Ints, Ints, Ints]:
    """Walk each tree breadth first from its lowest node."""
    n = starts.shape[0] - 1
    parents, edges, order = np.full(n, -1), np.full(n, -1), np.empty(n, dtype=np.intp)
    seen = np.zeros(n, dtype=np.bool_)
    done = 0
    for root in range(n):
        if seen[root]:
            continue
        seen[root] = True
        order[done] = root
        end = done + 1
        while done < end:
            v = order[done]
            done += 1
            for k in range(starts[v], starts[v + 1]):
                u = neighbours[k]
                if not seen[u]:
                    seen[u] = True
                    parents[u], edges[u] = v, edge_of[k]
                    order[end] = u
                    end += 1
    return parents, edges, order


@kernel("Tuple((intp[::1], intp[::1]))(intp[::1], intp[::1])")
def _walk(by_parent: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """Walk all trees at once, level by level; returns the nodes reached and where each level ends."""
    n = starts.shape[0] - 2
    order, ends = np.empty(n, dtype=np.intp), np.empty(n + 1, dtype=np.intp)
    filled = 0
    for k in range(starts[0], starts[1]):  # children of -1: the roots
        order[filled] = by_parent[k]
        filled += 1
    done, n_levels = 0, 0
    while done < filled:
        end = filled
        ends[n_levels] = end
        n_levels += 1
        while done < end:
            v = order[done]
            done += 1
            for k in range(starts[v + 1], starts[v + 2]):
                order[filled] = by_parent[k]
                filled += 1
    return order[:filled], ends[:n_levels]
