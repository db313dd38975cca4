"""Softmax-linear belief: P[i, k] is proportional to exp(x_i . W_k + b_k).

Parameters are one vector ``theta`` of W (features x clusters) followed by b, with any leading axes (starts, particles):
theta (..., d K + K) gives log P (..., n, K). X is touched only by ``@``, so CSR needs no second path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight._core.simplex import log_softmax


@dataclass(frozen=True, slots=True)
class SoftmaxLinear:
    """A linear score per cluster, turned into probabilities by a softmax."""

    n_features: int
    n_clusters: int

    @property
    def n_parameters(self) -> int:
        """Length of ``theta``."""
        return (self.n_features + 1) * self.n_clusters

    def unpack(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Split ``theta`` (..., d K + K) into views W (..., d, K) and b (..., K)."""
        d, K = self.n_features, self.n_clusters
        return theta[..., : d * K].reshape(*theta.shape[:-1], d, K), theta[..., d * K :]

    def pack(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Join W (..., d, K) and b (..., K) into ``theta``."""
        return np.concatenate([W.reshape(*W.shape[:-2], -1), b], axis=-1)

    def log_posterior(self, theta: np.ndarray, X: Any) -> np.ndarray:
        """Log P (..., n, K) of the rows of X."""
        W, b = self.unpack(theta)
        if W.ndim == 2:
            return log_softmax(
                np.asarray(X @ W.astype(X.dtype, copy=False)) + b
            )  # never a float64 copy of float32 rows
        # One product for all starts: fold the leading axes into the columns.
        lead = W.shape[:-2]
        folded = np.moveaxis(W, -2, 0).reshape(self.n_features, -1)
        scores = np.moveaxis(np.asarray(X @ folded).reshape(X.shape[0], *lead, self.n_clusters), 0, -2)
        return log_softmax(scores + b[..., None, :])

    def pullback(self, D: np.ndarray, X: Any) -> np.ndarray:
        """Gradient in ``theta`` from D = d value / d scores (..., n, K)."""
        lead = D.shape[:-2]
        folded = np.moveaxis(D, -2, 0).reshape(X.shape[0], -1)
        gradient_W = np.asarray(X.T @ folded.astype(X.dtype, copy=False)).reshape(
            self.n_features, *lead, self.n_clusters
        )
        return self.pack(np.moveaxis(gradient_W, 0, -2), D.sum(axis=-2))
