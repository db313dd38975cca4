"""The spanning tree of labels with the largest mutual information (Chow and Liu 1968), from pair counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sidelight.estimators.hierarchy.counts import Floats, PairCounts, association, mutual_information

Ints = NDArray[np.intp]


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
