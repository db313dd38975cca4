"""What the rows of each cluster are, judged by the label sets of their bags alone.

Each row carries one of its bag's labels, and which is unknown. With theta[k, c] the share of class c in cluster k, the
likelihood of what is known is the product over rows of sum over the bag's labels of theta[cluster, label]; its maximum
is found by EM on counts of (cluster, label set), so the cost does not depend on the number of rows.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

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
    masks, kind = _distinct_sets(bags, np.flatnonzero(telling))
    number = np.full(bags.n_bags, -1, dtype=np.intp)
    number[telling] = kind
    of_row = number[bags.codes]
    labelled = of_row >= 0
    counts = np.zeros((n_clusters, masks.shape[0]))
    np.add.at(counts, (labels[labelled], of_row[labelled]), 1.0)
    return _em(counts, masks)


def bag_agreement(labels: np.ndarray, bags: Bags, shares: np.ndarray) -> float:
    """Return the micro-F1 between the label sets given for bags and those that their rows' clusters carry.

    A cluster carries the class of its largest share. Rows in clusters of a class that their bag lacks cost precision;
    a label that no row of its bag carries costs recall, so that putting each bag into one cluster does not pay.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Cluster of each row.
    bags : Bags
        The bags; only those with a complete, non-empty label set are judged.
    shares : ndarray of shape (n_clusters, n_classes)
        What :func:`class_shares` returned.
    """
    judged = bags.is_labelled & ~bags.is_partial & (np.diff(bags.label_matrix.indptr) > 0)
    if not judged.any():
        return 0.0
    width = bags.n_classes
    carried = np.unique(bags.codes * width + shares.argmax(axis=1)[labels])
    carried = carried[judged[carried // width]]
    listed = bags.label_matrix.tocoo()
    listed = (listed.coords[0].astype(np.intp) * width + listed.coords[1])[judged[listed.coords[0]]]
    return float(2 * np.isin(carried, listed).sum() / (len(carried) + len(listed)))


def _distinct_sets(bags: Bags, chosen: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
    """Return the different label sets of the chosen bags (sets x classes, CSR), and the set of each bag."""
    listed = sp.csr_array(bags.label_matrix)[chosen]
    number: dict[bytes, int] = {}
    kind = np.empty(len(chosen), dtype=np.intp)
    first: list[int] = []
    for b in range(len(chosen)):
        key = np.sort(listed.indices[listed.indptr[b] : listed.indptr[b + 1]]).tobytes()
        if key not in number:
            number[key] = len(first)
            first.append(b)
        kind[b] = number[key]
    return sp.csr_array(listed[first] != 0).astype(np.float64), kind


def _em(counts: np.ndarray, masks: sp.csr_array) -> np.ndarray:
    total = counts.sum(axis=1, keepdims=True)
    theta = np.full((len(counts), masks.shape[1]), 1.0 / masks.shape[1])
    for _ in range(_ROUNDS):
        inside = (masks @ theta.T).T
        ratio = np.divide(counts, inside, out=np.zeros_like(counts), where=inside > 0)
        new = theta * np.asarray(ratio @ masks) / np.maximum(total, 1.0)
        settled = np.abs(new - theta).max(initial=0.0) < _SETTLED
        theta = new
        if settled:
            break
    return theta
