"""Why each label hangs where it hangs, and whether the gaps of its parent look like forgetting.

If c implies p, then on the rows where c was seen p is on, and whether p was seen there is a coin of its own: it depends
on no other label. Where it does depend on one, p was truly absent on some of these rows (the labels overlap and none
implies the other), or forgetting is not random.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy
from scipy.stats import chi2

from sidelight.estimators.hierarchy.candidates import Candidate
from sidelight.estimators.hierarchy.counts import Entries, Floats, PairCounts
from sidelight.estimators.hierarchy.edges import triple_evidence

_LEAST_CELL = 5.0  # expected rows in every cell of a table, below which chi-squared says little


def edge_evidence(counts: PairCounts, chosen: Candidate) -> tuple[Floats, Floats]:
    """Return the evidence for the parent of each label, and (both seen, label seen); NaN and 0 under the root."""
    n = len(chosen.parents)
    nats, seen = np.full(n, np.nan), np.zeros((n, 2))
    for c, p in enumerate(chosen.parents.tolist()):
        seen[c, 1] = counts.seen[c]
        if p >= 0:
            g = int(chosen.parents[p])
            nats[c] = triple_evidence(counts, chosen.alphas, chosen.shared, c, np.array([p]), g)[0]
            seen[c] = counts.both[p, c], counts.child[p, c]
    return nats, seen


def gap_p_values(Z: Entries, chosen: Candidate) -> Floats:
    """Test for each label whether the gaps of its parent, on the rows of the label, depend on any other label.

    A G-test of z_parent against every other label over the rows where the label was seen; the smallest of the p-values
    times their number (Bonferroni), at most 1. NaN under the root and where there are too few rows to tell.
    """
    p_values = np.full(len(chosen.parents), np.nan)
    for c, p in enumerate(chosen.parents.tolist()):
        if p < 0:
            continue
        rows = Z[Z[:, c] == 1]
        rows = rows[rows[:, p] >= 0]
        others = np.delete(rows, [c, p], axis=1)
        parent, known = rows[:, p].astype(np.float64), (others >= 0).astype(np.float64)
        on = (others == 1).astype(np.float64)
        G, can_tell = _g_tests(parent @ on, parent @ known, on.sum(axis=0), known.sum(axis=0))
        if can_tell.any():
            p_values[c] = min(1.0, float(can_tell.sum() * chi2.sf(G[can_tell].max(), 1)))
    return p_values


def _g_tests(both: Floats, first: Floats, second: Floats, total: Floats) -> tuple[Floats, np.ndarray]:
    """Return G of many two-by-two tables, and which have enough rows in every cell to be believed."""
    observed = np.stack([both, first - both, second - both, total - first - second + both])  # rows by first, second
    rest, other = total - first, total - second
    expected = np.stack([first * second, first * other, rest * second, rest * other]) / np.maximum(total, 1.0)
    G = 2 * xlogy(observed, np.maximum(observed, 1e-300) / np.maximum(expected, 1e-300)).sum(axis=0)
    return G, expected.min(axis=0) >= _LEAST_CELL
