"""A term that asks bags with like label sets to have like clusters: [PF14] eq. (2) for any posterior matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class BagLikeness:
    """Minus the class-label likeness of bags times their cluster-label likeness, summed over pairs of bags.

    h[i, k] = sum of P[p, k] over the rows p of bag i,   size[k] = sum_p P[p, k]
    value   = -1/n sum_k h[:, k]' T h[:, k] / size[k]

    T is the constraint among bags, (Y'Y - mu I) as [PF14] eq. (12) prints it; ``constrain`` multiplies with it without
    forming it. With hard clusters and D = I this is minus the trace in [PF14] eq. (11), over n.

    ``gather`` (bags x rows, CSR) adds up the rows of each bag; ``codes`` is the bag of each row.
    """

    gather: Any
    codes: np.ndarray
    constrain: Callable[[np.ndarray], np.ndarray]

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        flat = P.reshape(-1, *P.shape[-2:])
        done = [self._one(one) for one in flat]
        return np.array([v for v, _ in done]).reshape(P.shape[:-2]), np.stack([G for _, G in done]).reshape(P.shape)

    def _one(self, P: np.ndarray) -> tuple[float, np.ndarray]:
        n = P.shape[0]
        size = np.maximum(P.sum(axis=0), np.finfo(float).tiny)  # an empty cluster: 0 / tiny = 0
        h = self.gather @ P
        Th = self.constrain(h)
        likeness = (h * Th).sum(axis=0) / size
        slope = (2.0 * Th[self.codes] - likeness) / size
        return -float(likeness.sum()) / n, -P * slope / n
