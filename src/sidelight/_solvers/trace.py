"""How a solver went: one value per iteration, whether it converged, and where it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# Solvers call ``report(done, total, note)`` once per iteration; estimators bind it to sidelight.progress.
Reporter = Callable[[int, int, str], None]


def silent(done: int, total: int, note: str = "") -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class Solution:
    """Where a solver ended and how it got there: ``trace[t]`` is the objective after iteration t."""

    parameters: np.ndarray
    value: float
    trace: np.ndarray
    converged: bool

    @property
    def n_iter(self) -> int:
        """Number of iterations made."""
        return len(self.trace) - 1
