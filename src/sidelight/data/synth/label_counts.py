"""How many labels each bag carries, when only their average is given."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def draw_label_counts(n_bags: int, mean: float, most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw a number of labels from 1 to ``most`` for each bag, so that the average is ``mean`` to the nearest label.

    The numbers are 1 + Binomial(most - 1, p); then single labels are added or taken at random until the sum fits.
    """
    share = (mean - 1) / (most - 1) if most > 1 else 0.0
    counts = 1 + rng.binomial(most - 1, min(1.0, share), size=n_bags)
    missing = round(mean * n_bags) - int(counts.sum())
    while missing:
        step = 1 if missing > 0 else -1
        able = np.flatnonzero(counts < most) if step > 0 else np.flatnonzero(counts > 1)
        chosen = rng.choice(able, size=min(abs(missing), len(able)), replace=False)
        counts[chosen] += step
        missing -= step * len(chosen)
    return counts.astype(np.intp)
