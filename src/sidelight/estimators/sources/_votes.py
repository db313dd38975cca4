"""What known rows say about new ones: the nearest of them vote, channel by channel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sidelight._affinity.neighbours import nearest_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_VOTERS = 10
_FAR = 30.0  # scales beyond which a row has no vote; keeps squares finite
_LANDMARKS = 10_000  # rows that new ones are compared with


def landmarks(n_rows: int, generator: np.random.Generator) -> Ints:
    """Choose the rows that new ones are compared with: all, or a random sample of them."""
    if n_rows <= _LANDMARKS:
        return np.arange(n_rows)
    return np.sort(generator.choice(n_rows, size=_LANDMARKS, replace=False)).astype(np.intp)


def votes(rows: Floats, known: Floats, labels: Ints, n_clusters: int) -> Floats:
    """Return how the nearest known rows of one channel vote on rows, shape (n_rows, n_clusters); rows sum to 1.

    A row that is known already is judged by itself and its copies: what a fit has seen keeps its cluster, also where a
    cluster has fewer rows than neighbours vote.
    """
    near, gaps = nearest_of(known, rows, _VOTERS)
    scale = gaps[:, [min(6, gaps.shape[1] - 1)]]
    weight = np.exp(-(np.minimum(gaps / np.where(scale > 0, scale, 1.0), _FAR) ** 2) / 2)
    is_known = gaps[:, 0] == 0.0
    weight[is_known] = gaps[is_known] == 0.0
    shares = np.zeros((len(rows), n_clusters))
    np.add.at(shares, (np.arange(len(rows))[:, None], labels[near]), weight)
    crowded = np.flatnonzero(gaps[:, -1] == 0.0)
    if len(crowded):
        shares[crowded] = _copies(known, near[crowded, 0], labels, n_clusters)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _copies(known: Floats, one: Ints, labels: Ints, n_clusters: int) -> Floats:
    """Count the clusters of all copies of some known rows: a column of a few values has more of them than vote."""
    kind = np.unique(known, axis=0, return_inverse=True)[1].ravel()
    counts = np.zeros((int(kind.max()) + 1, n_clusters))
    np.add.at(counts, (kind, labels), 1.0)
    return np.asarray(counts[kind[one]])
