"""Terms that families share: information, I(Y, X; W) = H[mean of P] - mean of H[P_i], and the pull to given posteriors.

Both parts of the information ([P17] eq. (3.5)) are written as something to minimise, so the objective adds both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sidelight._core.simplex import add_confidence


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


@dataclass(frozen=True, slots=True)
class Balance:
    """Minus the entropy of the average posterior; low when clusters share the rows evenly.

    share[k] = mean_i P[i, k]
    value    = sum_k share[k] * log share[k]
    """

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, slope = self._of_shares(P.mean(axis=-2))
        return value, P * (slope[..., None, :] / P.shape[-2])

    def of_share(self, share: np.ndarray) -> tuple[float, np.ndarray]:
        """The value, and its derivative by the mean posterior: for objectives that visit rows block by block."""
        value, slope = self._of_shares(share)
        return float(value), slope

    def _of_shares(self, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        log_share = np.log(np.maximum(share, np.finfo(float).tiny))  # 0 log 0 = 0
        return (share * log_share).sum(axis=-1), log_share + 1.0


@dataclass(frozen=True, slots=True)
class Confidence:
    """The average entropy of a row's posterior; low when every row knows its cluster.

    value = -mean_i sum_k P[i, k] * log P[i, k]

    ``n_rows`` is the number of rows of the mean; None takes those that are there, a block of rows needs to know.
    """

    n_rows: int | None = None

    def add_rows(self, first: int, last: int, weight: float, P: np.ndarray, log_P: np.ndarray, G: np.ndarray) -> float:
        """Add the part about the rows ``first`` to ``last`` of all ``n_rows``: for objectives that visit blocks."""
        return float(add_confidence(P, log_P, weight / (self.n_rows or len(P)), G))

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = self.n_rows or P.shape[-2]
        product = P * np.maximum(log_P, -1e300)  # 0 * -inf would be NaN; exp(-1e300) is 0 all the same
        return -product.sum(axis=(-2, -1)) / n, -(product + P) / n


@dataclass(frozen=True, slots=True, eq=False)
class OnRows:
    """Another term, asked about some of the rows only.

    value = term(P[rows], log P[rows])
    """

    term: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    rows: np.ndarray

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, G_rows = self.term(P[..., self.rows, :], log_P[..., self.rows, :])
        G = np.zeros_like(P)
        G[..., self.rows, :] = G_rows
        return value, G
