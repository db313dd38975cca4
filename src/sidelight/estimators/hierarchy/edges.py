"""The tree from pair counts: scores of edges, a gate, the maximum arborescence, and the test of triples.

Everything is [p, c], a log-likelihood in nats. ``alphas`` holds one rate per label; c under p means that p was seen in
Bin(n_c, 1 - alpha_p) of the rows where c was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from sidelight.estimators.hierarchy.arborescence import maximum_arborescence
from sidelight.estimators.hierarchy.counts import Floats, PairCounts, divergence

Ints = NDArray[np.intp]

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
