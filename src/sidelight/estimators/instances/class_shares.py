"""What the rows of each cluster are, judged by the label sets of their bags alone.

Each row carries one of its bag's labels, nobody knows which. With theta[k, c] the share of class c in cluster k, the
likelihood of what is known is the product over rows of sum over the bag's labels of theta[cluster, label]; its maximum
is found by EM on counts of (cluster, label set), so the cost does not depend on the number of rows.
"""

from __future__ import annotations

import numpy as np

from sidelight.data.bags import Bags

_ROUNDS = 200
_SETTLED = 1e-6


def class_shares(labels: np.ndarray, bags: Bags, n_clusters: int) -> np.ndarray:
    """Return theta of shape (n_clusters, n_classes); rows sum to 1, or to 0 where no row of a cluster says anything.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Cluster of each row.
    bags : Bags
        The bags; bags without labels, with an empty or with a partial label set say nothing here.
    n_clusters : int
        Number of clusters.
    """
    if not bags.n_classes:
        return np.zeros((n_clusters, 0))
    telling = bags.is_labelled & ~bags.is_partial & (np.diff(bags.label_matrix.indptr) > 0)
    masks, kind = np.unique(bags.bag_label_mask()[telling], axis=0, return_inverse=True)
    number = np.full(bags.n_bags, -1, dtype=np.intp)
    number[telling] = kind.ravel()
    of_row = number[bags.codes]
    said = of_row >= 0
    counts = np.zeros((n_clusters, len(masks)))
    np.add.at(counts, (labels[said], of_row[said]), 1.0)
    return _em(counts, masks.astype(np.float64))


def _em(counts: np.ndarray, masks: np.ndarray) -> np.ndarray:
    total = counts.sum(axis=1, keepdims=True)
    theta = np.full((len(counts), masks.shape[1]), 1.0 / masks.shape[1])
    for _ in range(_ROUNDS):
        inside = theta @ masks.T
        ratio = np.divide(counts, inside, out=np.zeros_like(counts), where=inside > 0)
        new = theta * (ratio @ masks) / np.maximum(total, 1.0)
        settled = np.abs(new - theta).max(initial=0.0) < _SETTLED
        theta = new
        if settled:
            break
    return np.where(total > 0, theta, 0.0)
