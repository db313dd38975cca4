"""Terms of information maximisation: I(Y, X; W) = H[mean of P] - mean of H[P_i], [P17] eq. (3.5).

Each is written as something to minimise, so the objective adds both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Balance:
    """Minus the entropy of the average posterior; low when clusters share the rows evenly.

    share[k] = mean_i P[i, k]
    value    = sum_k share[k] * log share[k]
    """

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        share = P.mean(axis=-2, keepdims=True)
        log_share = np.log(np.maximum(share, np.finfo(float).tiny))  # 0 log 0 = 0
        value = (share * log_share).sum(axis=(-2, -1))
        return value, P * ((log_share + 1.0) / P.shape[-2])


@dataclass(frozen=True, slots=True)
class Confidence:
    """The average entropy of a row's posterior; low when every row knows its cluster.

    value = -mean_i sum_k P[i, k] * log P[i, k]
    """

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = P.shape[-2]
        product = P * np.maximum(log_P, -1e300)  # 0 * -inf would be NaN; exp(-1e300) is 0 all the same
        return -product.sum(axis=(-2, -1)) / n, -(product + P) / n
