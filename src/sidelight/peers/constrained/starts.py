"""First centres for clusterers with answers: rows that must link are a good guess of a cluster (Basu et al. 2002)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import kmeans_plusplus

from sidelight._core.params import as_seed
from sidelight._core.prototypes import group_means, squared_distances

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


def centres_from_groups(X: Any, groups: Ints, n_clusters: int, generator: np.random.Generator) -> Floats:
    """Return the means of groups of linked rows, far from each other and large; k-means++ makes up for missing ones."""
    sizes = np.bincount(groups)
    several = np.flatnonzero(sizes > 1)
    place = np.full(len(sizes), -1, dtype=np.intp)
    place[several] = np.arange(len(several))
    rows = np.flatnonzero(place[groups] >= 0)
    if not len(several):
        return random_centres(X, n_clusters, generator)
    means = group_means(X[rows], place[groups[rows]], len(several))
    chosen = [int(np.argmax(sizes[several]))]
    nearest = squared_distances(means, means[chosen])[:, 0]
    while len(chosen) < min(n_clusters, len(several)):  # weighted farthest-first traversal
        chosen.append(int(np.argmax(nearest * sizes[several])))
        nearest = np.minimum(nearest, squared_distances(means, means[chosen[-1:]])[:, 0])
    return _filled(X, means[chosen], n_clusters, generator)


def random_centres(X: Any, n_clusters: int, generator: np.random.Generator) -> Floats:
    """Return rows chosen by k-means++."""
    centres, _ = kmeans_plusplus(X, n_clusters, random_state=as_seed(generator))
    return np.asarray(centres.toarray() if hasattr(centres, "toarray") else centres, dtype=np.float64)


def _filled(X: Any, centres: Floats, n_clusters: int, generator: np.random.Generator) -> Floats:
    """Add rows, each drawn with probability proportional to its squared distance from the centres so far."""
    while len(centres) < n_clusters:
        gaps = squared_distances(X, centres).min(axis=1)
        chances = gaps / gaps.sum() if gaps.sum() > 0 else np.full(len(gaps), 1.0 / len(gaps))
        row = X[[int(generator.choice(len(gaps), p=chances))]]
        centres = np.vstack([centres, row.toarray() if hasattr(row, "toarray") else row])
    return centres


def means_of(X: Any, labels: Ints, centres: Floats) -> Floats:
    """Return the mean row of each cluster; an empty one keeps its centre."""
    used = np.bincount(labels, minlength=len(centres)) > 0
    place = np.cumsum(used) - 1
    means = centres.copy()
    means[used] = group_means(X, place[labels], int(used.sum()))
    return means
