"""What makes each cluster different, in words: the features whose mean inside is far from the mean of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidelight._core.prototypes import mean_and_scale


def cluster_table(X: Any, labels: np.ndarray, features: Sequence[str], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return size, share and standing-out features of every cluster, as columns.

    A feature stands out by the difference between its mean in the cluster and over all rows, in standard deviations.
    """
    K, n = len(names), X.shape[0]
    sizes = np.bincount(labels, minlength=K)
    members = sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(K, n))
    mean, scale = mean_and_scale(X)
    inside = members @ (X @ sp.diags_array(1.0 / scale) if sp.issparse(X) else X / scale)
    inside = inside.toarray() if sp.issparse(inside) else np.asarray(inside)
    z = inside / np.maximum(sizes, 1)[:, None] - mean / scale
    return {
        "cluster": list(names),
        "rows": sizes.tolist(),
        "share": (sizes / n).round(4).tolist(),
        "stands out by": [_words(z[k], features) if sizes[k] else "(empty)" for k in range(K)],
    }


def _words(z: np.ndarray, features: Sequence[str], most: int = 4) -> str:
    order = np.argsort(-np.abs(z), kind="stable")[:most]
    return ", ".join(f"{features[j]} {'high' if z[j] > 0 else 'low'} ({z[j]:+.1f})" for j in order if abs(z[j]) >= 0.5)
