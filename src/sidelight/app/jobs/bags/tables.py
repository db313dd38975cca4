"""Tables that every method of the bags job writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidelight.app.jobs.profiles import cluster_table
from sidelight.data.bags import Bags

USES = ("id", "bag", "feature", "show", "truth")


def bag_clusters(X: Any, labels: np.ndarray, features: Sequence[str], n_clusters: int) -> dict[str, list[Any]]:
    """Return sizes of the clusters in bags, and what ``X``, one row for each bag, stands out by."""
    table = cluster_table(X, labels, features, [str(k) for k in range(n_clusters)])
    return {("bags" if key == "rows" else key): values for key, values in table.items()}


def row_columns(bags: Bags, labels: np.ndarray, sure: np.ndarray) -> dict[str, list[Any]]:
    """Return the bag and the cluster of each row, and how sure the bag is of it."""
    names = [str(name) for name in bags.names]
    return {
        "bag": [names[code] for code in bags.codes.tolist()],
        "cluster": labels.tolist(),
        "probability": sure[bags.codes].round(4).tolist(),
    }


def bag_means(X: Any, bags: Bags) -> np.ndarray:
    """Return the mean row of each bag."""
    weights = 1.0 / bags.sizes[bags.codes]
    mean = sp.csr_array((weights, (bags.codes, np.arange(bags.n_rows))), shape=(bags.n_bags, bags.n_rows)) @ X
    return mean.toarray() if sp.issparse(mean) else np.asarray(mean)
