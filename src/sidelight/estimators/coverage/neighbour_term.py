"""A term that asks rows near each other for similar posteriors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Smoothness:
    """How much the posteriors of neighbours differ, for a symmetric graph ``W`` (rows x rows, sparse).

    value = 1/2 * sum_ij W[i, j] * |P_i - P_j|^2 = sum(P * (D P - W P))        with D the degrees of W
    """

    W: Any

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if P.ndim > 2:
            values, gradients = zip(*(self(p, log_p) for p, log_p in zip(P, log_P)))
            return np.stack(values), np.stack(gradients)
        degrees = np.asarray(self.W.sum(axis=1)).reshape(-1, 1)
        rough = degrees * P - self.W @ P
        return (P * rough).sum(), 2.0 * P * rough
