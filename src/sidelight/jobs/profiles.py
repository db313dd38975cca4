"""What makes each cluster different, in words: the features whose mean inside is far from the mean of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def cluster_table(X: Any, labels: np.ndarray, features: Sequence[str], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return size, share and standing-out features of every cluster, as columns.

    A feature stands out by the difference between its mean in the cluster and over all rows, in standard deviations.
    """
    K, n = len(names), X.shape[0]
    sizes = np.bincount(labels, minlength=K)
    members = np.zeros((K, n))
    members[labels, np.arange(n)] = 1.0
    means = np.asarray(members @ X) / np.maximum(sizes, 1)[:, None]
    mean = np.asarray(X.mean(axis=0)).ravel()
    spread = np.sqrt(np.maximum(_mean_of_squares(X) - mean**2, 0.0))
    z = (means - mean) / np.where(spread > 0, spread, np.inf)
    return {
        "cluster": list(names),
        "rows": sizes.tolist(),
        "share": (sizes / n).round(4).tolist(),
        "stands out by": [_words(z[k], features) if sizes[k] else "(empty)" for k in range(K)],
    }


def _mean_of_squares(X: Any) -> np.ndarray:
    squares = X.multiply(X) if hasattr(X, "multiply") else np.square(X)
    return np.asarray(squares.mean(axis=0)).ravel()


def _words(z: np.ndarray, features: Sequence[str], most: int = 4) -> str:
    order = np.argsort(-np.abs(z), kind="stable")[:most]
    return ", ".join(f"{features[j]} {'high' if z[j] > 0 else 'low'} ({z[j]:+.1f})" for j in order if abs(z[j]) >= 0.5)
