"""Which way of clustering channels suits them, decided without truth.

Two questions. Do the channels show the same thing? Then rows that are near in one channel are near in another, more
often than clusters that merely occur together would explain, or no channel has groups of its own that are finer than
the clusters; channels of the other kind are left to the counts of their codes. And of the two graphs, which has
clusters that hang together: the silhouette of the labels on the balanced concatenation says it; ties go to the added
graphs.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from sidelight._core.params import as_seed
from sidelight._core.quiet import without_library_warnings
from sidelight._core.threads import one_thread
from sidelight.data.cooccurrence import CoOccurrence

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_SAMPLE = 2000  # rows of which silhouettes are taken
_FINER_SAMPLE = 1000
_FINER = (2, 3, 4)  # times as many groups as clusters
_CLEARLY = 0.15  # by which finer groups must hang together better: below that, added graphs do as well as counts
_CHANCE = 1e-3  # of codes that share nothing


def finer_groups(channels: Mapping[str, Floats], n_clusters: int, generator: np.random.Generator) -> float:
    """Return by how much groups finer than the clusters hang together better, in the mean of the channels alone.

    It is the silhouette of k-means with two to four times as many groups (the best of them) minus that with K.
    """
    gains = []
    for rows in channels.values():
        few = rows[_some(len(rows), _FINER_SAMPLE, generator)]
        seed = as_seed(generator)
        if _FINER[0] * n_clusters > len(few) // 5:  # groups of fewer than five rows say nothing
            continue
        own = _groups(few, n_clusters, seed)
        finer = [_groups(few, m * n_clusters, seed) for m in _FINER if m * n_clusters <= len(few) // 5]
        gains.append(max(finer) - own)
    return float(np.mean(gains)) if gains else 0.0


def codes_share(table: CoOccurrence) -> bool:
    """Say whether some two channels' codes share information: the likelihood-ratio test, corrected for many pairs."""
    pairs = list(combinations(table.axes, 2))
    for a, b in pairs:
        margin = table.margin(a, b)
        freedom = (margin.shape[0] - 1) * (margin.shape[1] - 1)
        if freedom > 0 and chi2.sf(2.0 * margin.total * margin.mutual_information(a, b), freedom) < _CHANCE / len(
            pairs
        ):
            return True
    return False


def silhouette(rows: Floats, labels: Ints, chosen: Ints) -> float:
    """Return the silhouette of labels on a sample of the rows; -1 where it has fewer than two clusters."""
    own = labels[chosen]
    if not 2 <= len(np.unique(own)) < len(own):
        return -1.0
    with one_thread():
        return float(silhouette_score(rows[chosen], own))


def sample_of(candidates: Ints, generator: np.random.Generator) -> Ints:
    """Take at most 2,000 of the rows."""
    return candidates[_some(len(candidates), _SAMPLE, generator)]


def shows_different_things(shared: float, finer: float) -> bool:
    """Say whether channels have groups of their own that only occur together."""
    return shared < 1.0 and finer > _CLEARLY


def _groups(rows: Floats, k: int, seed: int) -> float:
    with without_library_warnings(), one_thread():
        labels = KMeans(k, n_init=3, random_state=seed).fit_predict(rows)
    return silhouette(rows, labels, np.arange(len(rows)))


def _some(n: int, most: int, generator: np.random.Generator) -> Ints:
    return np.arange(n) if n <= most else np.sort(generator.choice(n, size=most, replace=False)).astype(np.intp)
