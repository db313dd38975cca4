"""Which way of clustering channels suits them, decided without truth.

Two questions. Do the channels show the same thing? Then rows that are near in one channel are near in another, more
often than clusters that merely occur together would explain, or no channel has groups of its own that are finer than
the clusters; channels of the other kind are left to the counts of their codes. And of the two graphs, which has
clusters that hang together: the silhouette of the labels on the balanced concatenation says it; ties go to the added
graphs, and so do clusters that channels foretell more alike, each for itself, and together no worse: side by side,
groups of a single channel can hang together better than what all channels show.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import chi2
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score, silhouette_score

from sidelight._core.params import as_seed
from sidelight._core.quiet import without_library_warnings
from sidelight._core.threads import one_thread
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.estimators.sources._looks import graph_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_SAMPLE = 2000  # rows of which silhouettes are taken
_FINER_SAMPLE = 1000
_FINER = (2, 3, 4)  # times as many groups as clusters
_CLEARLY = 0.15  # by which finer groups must hang together better: below that, added graphs do as well as counts
_CHANCE = 1e-3  # of codes that share nothing
_NO_VOTE = 0.02  # added to shares of votes: a channel without a vote for a cluster is no proof against it


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


def foretold(
    channels: Mapping[str, Floats],
    weights: Mapping[str, float],
    labels: Ints,
    n_clusters: int,
    chosen: Ints,
    generator: np.random.Generator,
) -> tuple[float, float]:
    """Return how far two channels foretell the same clusters of rows, and how well all channels together foretell them.

    In every channel near rows vote. The first is the adjusted mutual information of what two channels say, averaged
    with the product of their weights; the second that of the labels and the cluster with the largest product of votes.
    """
    here, own = np.ones(len(chosen), dtype=bool), labels[chosen]
    votes = {name: _votes(graph_of(rows[chosen], here, generator), own, n_clusters) for name, rows in channels.items()}
    pairs = [(weights[a] * weights[b], votes[a], votes[b]) for a, b in combinations(channels, 2)]
    alike = sum(w * adjusted_mutual_info_score(a.argmax(axis=1), b.argmax(axis=1)) for w, a, b in pairs)
    product = sum(weights[name] * np.log(share + _NO_VOTE) for name, share in votes.items())
    together = adjusted_mutual_info_score(own, np.asarray(product).argmax(axis=1))
    return float(alike / sum(w for w, _, _ in pairs)), float(together)


def _votes(graph: Any, labels: Ints, n_clusters: int) -> Floats:
    """Return the share of each cluster in the similarity of each row to others."""
    member = sp.csr_array((np.ones(len(labels)), (np.arange(len(labels)), labels)), shape=(len(labels), n_clusters))
    votes = (graph @ member).toarray()
    votes[np.arange(len(labels)), labels] -= graph.diagonal()
    return np.asarray(votes / np.maximum(votes.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny))


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
