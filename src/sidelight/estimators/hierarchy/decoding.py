"""From marginals to label sets: the threshold that maximises the expected F1, and what further parents demand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sidelight.estimators.hierarchy.counts import Entries, Floats


def f1_threshold(Q: Floats) -> float:
    """Return the threshold on probabilities that maximises the expected micro F1; no truth is needed.

    F(t) = 2 sum_{q > t} q / (#{q > t} + sum q), and at its maximum t = F(t) / 2. Marginals fall along the tree, so any
    one threshold gives consistent label sets.
    """
    ordered = np.sort(Q, axis=None)[::-1]
    total = float(ordered.sum())
    if total <= 0:
        return 0.5
    F = 2 * np.cumsum(ordered) / (np.arange(1, ordered.size + 1) + total)
    return float(F.max() / 2)


def closed_upwards(Z: Entries, links: Sequence[tuple[int, int]]) -> Entries:
    """Mark the further parents of every label that was seen as seen, and their further parents."""
    if not links:
        return Z
    closed = Z.copy()
    for _ in links:  # a chain is no longer than the links
        for p, c in links:
            closed[closed[:, c] == 1, p] = 1
    return closed


def lowered(Q: Floats, links: Sequence[tuple[int, int]], parents: np.ndarray, order: np.ndarray) -> Floats:
    """Lower every label to its further parents, and its descendants with it; works on 0/1 states too."""
    if not links:
        return Q
    low = Q.copy()
    for _ in range(len(links) + 1):
        before = low.copy()
        for p, c in links:
            np.minimum(low[:, c], low[:, p], out=low[:, c])
        for c in order:
            if parents[c] >= 0:
                np.minimum(low[:, c], low[:, parents[c]], out=low[:, c])
        if (low == before).all():
            break
    return low
