"""Why each label hangs where it hangs: counts on its edge, and nats against its grandparent."""

from __future__ import annotations

import numpy as np

from sidelight.estimators.hierarchy.candidates import Candidate
from sidelight.estimators.hierarchy.counts import Floats, PairCounts
from sidelight.estimators.hierarchy.edges import triple_evidence


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
