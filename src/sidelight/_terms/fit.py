"""Terms that pull the posterior towards given distributions; the M-step of every EM here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class CrossEntropy:
    """Cross entropy between fixed targets Q and the posterior.

    value = -sum_ik Q[i, k] * log P[i, k]
    """

    Q: np.ndarray

    def add_rows(self, first: int, last: int, weight: float, P: np.ndarray, log_P: np.ndarray, G: np.ndarray) -> float:
        """Add the part about the rows ``first`` to ``last``: for objectives that visit rows block by block."""
        value, gradient = CrossEntropy(self.Q[first:last])(P, log_P)
        G += weight * gradient
        return weight * float(value)

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value = -np.where(self.Q > 0, self.Q * log_P, 0.0).sum(axis=(-2, -1))  # 0 * -inf counts as 0
        return value, np.broadcast_to(-self.Q, P.shape)
