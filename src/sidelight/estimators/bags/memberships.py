"""More than one cluster per bag: the threshold above which a margin counts as belonging, found without labels.

[Z09] section 5 leaves this open. Margins of clusters that a bag has a row for gather near 1, where training pushes
them, and the others lie well below: two heaps, which are parted where the variance between them is greatest (Otsu).
"""

from __future__ import annotations

import numpy as np

from sidelight._core.heaps import cut_between


def membership_threshold(margins: np.ndarray) -> float:
    """Return the margin that parts the two heaps of ``margins``, of shape (n_bags, n_clusters).

    Every bag's own cluster is a member anyway, so only the other margins are cut; those above 1 count as 1, because
    training does not care how far above 1 they are. Where nothing can be parted, no second cluster is let in.
    """
    if margins.shape[1] < 2 or len(margins) == 0:
        return np.inf
    capped = np.minimum(margins, 1.0)
    if float(np.ptp(capped)) < 1e-9:  # all alike: margins are of order one, so this is rounding
        return np.inf
    return cut_between(capped)


def members(margins: np.ndarray, threshold: float) -> np.ndarray:
    """Return which clusters each bag belongs to: its best one, and all whose margin reaches ``threshold``."""
    belongs = margins >= threshold
    belongs[np.arange(len(margins)), margins.argmax(axis=1)] = True
    return belongs
