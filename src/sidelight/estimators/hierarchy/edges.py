"""The tree from pair counts: scores of edges, a gate, the maximum arborescence, and the test of triples.

Everything is [p, c], a log-likelihood in nats. ``alphas`` holds one rate per label; c under p means that p was seen in
Bin(n_c, 1 - alpha_p) of the rows where c was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from sidelight._core.kernels import kernel
from sidelight.errors import InvalidData
from sidelight.estimators.hierarchy.counts import Floats, PairCounts, association, divergence, mutual_information

# The heaviest tree that hangs every node from a given root: Chu-Liu/Edmonds on a dense matrix, in time O(n**2).
#
# Every node takes its best incoming edge. Walking these edges backwards either reaches the tree that already hangs
# from the root, or closes a cycle; a cycle becomes one node whose incoming edges are worth what they gain over the
# cycle edge they would replace. Unpacking the contracted nodes from the outermost inwards gives the tree.


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


# The spanning tree of labels with the largest mutual information (Chow and Liu 1968), from pair counts.


def spanning_tree(counts: PairCounts, *, positive: bool = False) -> tuple[Ints, Floats]:
    """Return parents and G on the link to the parent (Prim), each tree hung from its most frequent label."""
    G = association(counts) if positive else mutual_information(counts)
    np.fill_diagonal(G, -np.inf)
    n, seen = len(G), counts.seen
    parents, gained = np.full(n, -1, dtype=np.intp), np.zeros(n)
    inside = np.zeros(n, dtype=bool)
    best, source = np.full(n, -np.inf), np.full(n, -1, dtype=np.intp)
    for _ in range(n):
        reach = np.where(inside, -np.inf, best)
        c = int(reach.argmax())
        if reach[c] >= 0:
            parents[c], gained[c] = source[c], reach[c]
        else:  # nothing is linked to what is inside: the next tree starts at its most frequent label
            c = int(np.where(inside, -1.0, seen).argmax())
        inside[c] = True
        nearer = G[c] > best
        best[nearer], source[nearer] = G[c, nearer], c
    return parents, gained


_SWEEPS = 10  # over all labels; three is the most that was ever needed
_FORBIDDEN = -1e6  # nats; finite, so that the root is always better


def edge_gains(counts: PairCounts, alphas: Floats) -> Floats:
    """Score every edge against hanging c from the root: what knowing z_c tells about z_p if c implies p.

    n_pc log(1 - a) + (n_c - n_pc) log a + LL(z_p | z_c = 0, free rate) - LL(z_p)
    """
    a = np.clip(alphas, 1e-3, 1.0)[:, None]
    only_child = counts.child - counts.both
    only_parent = counts.parent - counts.both
    neither = counts.rows - counts.both - only_child - only_parent
    without = only_parent / np.maximum(only_parent + neither, 1e-12)  # rate of p where c was not seen
    alone = counts.parent / np.maximum(counts.rows, 1e-12)
    implied = xlogy(counts.both, 1 - alphas[:, None]) + xlogy(only_child, a)
    implied = implied + xlogy(only_parent, without) + xlogy(neither, 1 - without)
    gains = implied - xlogy(counts.parent, alone) - xlogy(counts.rows - counts.parent, 1 - alone)
    return np.asarray(gains)


def shortfalls(counts: PairCounts, alphas: Floats) -> Floats:
    """Measure how far p stays below the rate that a parent of c has: n_c KL(r | 1 - a), 0 where it does not."""
    kept = 1 - np.clip(alphas, 1e-3, 0.999)[:, None]
    r = counts.rate
    return np.where(r < kept, counts.child * divergence(r, kept + 0 * r), 0.0)


def heaviest_tree(gains: Floats) -> Ints:
    """Return the parents of the best tree; an edge that gains nothing hangs from the root instead."""
    n = len(gains)
    weights = np.full((n + 1, n + 1), -np.inf)
    weights[0, 1:] = 0.0
    weights[1:, 1:] = gains
    parents = maximum_arborescence(weights, 0)[1:] - 1
    gained = np.where(parents >= 0, gains[parents, np.arange(n)], 0.0)
    return np.where(gained <= 0, -1, parents).astype(np.intp)


def gated(counts: PairCounts, gains: Floats, short: Floats, gate: float) -> Floats:
    """Forbid the edges without positive association, and those whose parent stays too far below its rate."""
    return np.where((short > gate) | ~counts.is_positive, _FORBIDDEN, gains)


def triple_evidence(counts: PairCounts, alphas: Floats, shared: bool, c: int, p: Ints, g: int) -> Floats:
    """Log-likelihood ratio of c under each p against c beside p, under g (-1: the root).

    u = (1 - a) n_p / n_g is how often a sibling of c would be seen on the rows of c:
    L = n_pc log((1 - a) / u) + (n_c - n_pc) log(a / (1 - u))
    """
    a = np.clip(alphas[p], 1e-3, 0.999)
    if g >= 0:
        share = counts.parent[p, g] / np.maximum(counts.parent[g, p], 1e-9)
        if not shared:  # what was seen of p and g is thinned by different rates
            share = share * (1 - alphas[g]) / (1 - a)
    else:
        share = counts.seen[p] / np.maximum(np.diag(counts.rows)[p], 1.0) / (1 - a)
    u = (1 - a) * np.clip(share, 1e-6, 1 - 1e-6)
    k, n = counts.both[p, c], counts.child[p, c]
    return np.asarray(k * np.log((1 - a) / u) + (n - k) * np.log(a / (1 - u)))


def settle_triples(
    counts: PairCounts, parents: Ints, alphas: Floats, short: Floats, gate: float, *, shared: bool
) -> Ints:
    """Move labels up to their grandparent or down below a larger sibling until the test of triples moves none."""
    parents, seen = parents.copy(), counts.seen
    by_size = np.argsort(-seen, kind="stable")
    for _ in range(_SWEEPS):
        moved = False
        for c in by_size:
            for _ in range(len(parents)):
                goal = _better_parent(counts, parents, alphas, short, gate, shared, int(c), seen)
                if goal == parents[c]:
                    break
                parents[c], moved = goal, True
        if not moved:
            break
    return parents


def _better_parent(
    counts: PairCounts, parents: Ints, alphas: Floats, short: Floats, gate: float, shared: bool, c: int, seen: Floats
) -> int:
    p = int(parents[c])
    if p >= 0:
        g = int(parents[p])
        may_move = g < 0 or short[g, c] <= gate
        if may_move and triple_evidence(counts, alphas, shared, c, np.array([p]), g)[0] < 0:
            return g
    siblings = np.flatnonzero((parents == p) & (seen > seen[c]) & (short[:, c] <= gate))
    siblings = siblings[siblings != c]
    if len(siblings):
        evidence = triple_evidence(counts, alphas, shared, c, siblings, p)
        best = int(evidence.argmax())
        if evidence[best] > 0:
            return int(siblings[best])
    return p
