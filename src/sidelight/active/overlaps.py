"""Which two clusters may be one: at most few answers tell them apart, and their rows look alike.

A cluster is founded by few answers, or by none where a row looked like no other. If one of them was wrong, the same
cluster exists twice, and in a tree of answers nothing contradicts that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]

LOOKED_NEW = np.log(0.1 / 0.9)  # log odds of two clusters not compared: one was nine times as probably new


def rows_at_risk(links: Ints, labels: Ints, alike: Floats, eps: float) -> Floats:
    """Return how many rows are expected in the wrong cluster because two clusters are one.

    Parameters
    ----------
    links : array of shape (n_answers, 3)
        Two rows, and 1 for same or 0 for different.
    labels : array of shape (n_asked,)
        The cluster of each row, -1 for none.
    alike : array of shape (n_clusters, n_clusters)
        The probability, by the rows alone, that the rows of one cluster belong to another.
    eps : float
        The share of wrong answers to expect.

    Returns
    -------
    array of shape (n_clusters, n_clusters)
        Of clusters a and b, for the smaller one b; 0 elsewhere.
    """
    K = len(alike)
    sizes = np.bincount(labels[labels >= 0], minlength=K)
    apart = links[links[:, 2] == 0]
    ends = labels[apart[:, 0]], labels[apart[:, 1]]
    between = (ends[0] >= 0) & (ends[1] >= 0)
    n_apart = np.zeros((K, K))
    np.add.at(n_apart, (ends[0][between], ends[1][between]), 1.0)
    p = np.clip(alike, 1e-6, 1.0 - 1e-6)
    n_apart += n_apart.T
    log_odds = np.log(p / (1.0 - p)) + np.where(n_apart > 0, n_apart * np.log(eps / (1.0 - eps)), LOOKED_NEW)
    risk = sizes / (1.0 + np.exp(-log_odds))
    order = np.lexsort((np.arange(K), -sizes))  # larger clusters first, of equal ones the older
    rank = np.empty(K, dtype=np.intp)
    rank[order] = np.arange(K)
    return np.where(rank[:, None] < rank, risk, 0.0)
