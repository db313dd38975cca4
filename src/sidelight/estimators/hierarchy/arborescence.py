"""The heaviest tree that hangs every node from a given root: Chu-Liu/Edmonds on a dense matrix, in time O(n**2).

Every node takes its best incoming edge. Walking these edges backwards either reaches the tree that already hangs from
the root, or closes a cycle; a cycle becomes one node whose incoming edges are worth what they gain over the cycle edge
they would replace. Unpacking the contracted nodes from the outermost inwards gives the tree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidelight._core.kernels import kernel
from sidelight.errors import InvalidData

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def maximum_arborescence(weights: ArrayLike, root: int = 0) -> Ints:
    """Find the parents of the arborescence with the largest sum of edge weights.

    Parameters
    ----------
    weights : array-like of shape (n, n)
        ``weights[p, c]``: what the edge from parent p to child c is worth; -inf where there is no edge. The diagonal
        and the edges into the root are ignored.
    root : int
        The node that everything hangs from.

    Returns
    -------
    parents : ndarray of intp, shape (n,)
        The parent of each node, -1 at the root. The lowest parent is taken among equals at each step.
    """
    weights = np.asarray(weights, dtype=np.float64)
    n = len(weights)
    if weights.shape != (n, n) or n == 0:
        raise InvalidData(f"An arborescence needs a square matrix of edge weights; got shape {weights.shape}.")
    if not 0 <= root < n:
        raise InvalidData(f"The root must be one of the nodes 0..{n - 1}; got {root}.")
    inward = weights.T.copy()  # inward[c, p], so that a kernel reads the candidates of one child in a row
    np.fill_diagonal(inward, -np.inf)
    inward[root] = -np.inf
    bad = np.argwhere(np.isnan(inward) | (inward == np.inf))
    if len(bad):
        child, parent = bad[0]
        raise InvalidData(
            f"The edge from {parent} to {child} has the weight {weights[parent, child]}; use finite ones."
        )
    parents, stuck = _edmonds(inward, root)
    if stuck >= 0:
        raise InvalidData(f"Node {stuck} cannot be reached from the root {root}. Give it an edge that leads there.")
    return parents


@kernel("Tuple((intp[::1], intp))(float64[:, ::1], intp)")
def _edmonds(inward: Floats, root: int) -> tuple[Ints, int]:
    """Contract and expand; ``inward`` is overwritten. Returns the parents, and a node that is cut off or -1."""
    n = inward.shape[0]
    heads = np.empty((n, n), dtype=np.intp)  # heads[s, u]: where the best edge from u into the group of slot s arrives
    for v in range(n):
        heads[v, :] = v
    slot = np.arange(n)  # slot[u]: the row of `inward` that speaks for the group of u
    group = np.arange(n)  # group[slot]: the number of the group; contracted ones are n, n + 1, ...
    outer = np.full(2 * n, -1)  # the group that swallowed a group
    tail, head = np.full(2 * n, -1), np.full(2 * n, -1)  # the edge each group took
    gain = np.zeros(n)  # what the group in a slot took its edge for
    state = np.zeros(n, dtype=np.intp)  # of a slot: 0 not seen, 1 on the path, 2 hangs from the root
    path = np.empty(n, dtype=np.intp)
    n_groups = n
    state[root] = 2
    for start in range(n):
        if state[slot[start]] == 2:
            continue
        length = 1
        path[0] = slot[start]
        state[path[0]] = 1
        while length > 0:
            s = path[length - 1]
            best, tail_node = -np.inf, -1
            for u in range(n):
                if inward[s, u] > best:
                    best, tail_node = inward[s, u], u
            if tail_node < 0:
                return np.full(n, -1), start
            tail[group[s]], head[group[s]], gain[s] = tail_node, heads[s, tail_node], best
            t = slot[tail_node]
            if state[t] == 0:
                state[t] = 1
                path[length] = t
                length += 1
            elif state[t] == 2:
                for k in range(length):
                    state[path[k]] = 2
                length = 0
            else:
                # the cycle t ... s becomes one group that lives on in slot t
                for u in range(n):
                    inward[t, u] -= gain[t]
                outer[group[t]] = n_groups
                while path[length - 1] != t:
                    c = path[length - 1]
                    length -= 1
                    outer[group[c]] = n_groups
                    for u in range(n):
                        if inward[c, u] - gain[c] > inward[t, u]:
                            inward[t, u] = inward[c, u] - gain[c]
                            heads[t, u] = heads[c, u]
                    for u in range(n):
                        if slot[u] == c:
                            slot[u] = t
                for u in range(n):
                    if slot[u] == t:
                        inward[t, u] = -np.inf
                group[t] = n_groups
                n_groups += 1
    parents = np.full(n, -1)
    replaced = np.zeros(n_groups, dtype=np.bool_)
    for g in range(n_groups - 1, -1, -1):
        if replaced[g] or head[g] < 0:
            continue
        parents[head[g]] = tail[g]
        inner = head[g]  # the edge enters here, so every group between this node and g gives up its own edge
        while inner != g:
            replaced[inner] = True
            inner = outer[inner]
    return parents, -1
