"""How many clusters of sequences: as many as groups of sequences that find each other.

Rows of one sequence are alike because they are of one day, so halves of the rows would confirm every single day. Here
each row looks for the nearest mean among the *other* sequences, channel by channel: days of one person find each other.
The links are cut into k groups (spectral clustering), and the k of the largest modularity is taken: the share of links
inside groups, less what groups of these sizes would have by chance (Newman and Girvan, 2004; from 0.3 on they call it
structure).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.cluster import KMeans

from sidelight._core.prototypes import group_means, squared_distances
from sidelight._core.quiet import without_library_warnings
from sidelight._core.threads import one_thread
from sidelight.progress import report
from sidelight.results.jobs import Stability

FEWEST = 4  # sequences of which a number of groups can be asked
_CLEAR = 0.3  # modularity from which the paper speaks of structure
_SPLITS, _STARTS = 4, 5
_MOST_ROWS, _MOST_SEQUENCES, _MOST_CLUSTERS = 8000, 400, 20


def most_modular(channels: Sequence[np.ndarray], home: np.ndarray, generator: np.random.Generator) -> Stability:
    """Try numbers of groups of sequences, and take that of the largest modularity.

    Parameters
    ----------
    channels : sequence of ndarray of shape (n_rows, n_columns of the channel)
        The channels.
    home : ndarray of int
        The sequence of each row, 0 on; at least four sequences.
    generator : Generator
        Draws halves of the rows, whose scatter is the standard error.
    """
    chosen = _some_rows(home, generator)
    home = np.unique(home[chosen], return_inverse=True)[1]
    channels = [channel[chosen] for channel in channels]
    n = int(home.max()) + 1
    tried = list(range(2, min(_MOST_CLUSTERS, n - 1) + 1))
    scores = np.empty((len(tried), _SPLITS))
    with without_library_warnings(), one_thread():  # fewer different sequences than groups: some stay empty
        for split in range(_SPLITS):
            report("number of clusters", split, _SPLITS, f"half {split + 1}")
            rows = _half_of_each(home, generator)
            S = np.sum([_links(channel[rows], home[rows], n) for channel in channels], axis=0)
            scores[:, split] = _modularities(S + S.T, tried, int(generator.integers(2**31)))
    mean, error = scores.mean(axis=1), scores.std(axis=1) / np.sqrt(_SPLITS)
    best = int(mean.argmax())
    return Stability(
        tried, mean.tolist(), error.tolist(), tried[best], by="sequences", is_clear=bool(mean[best] >= _CLEAR)
    )


def _some_rows(home: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Take some sequences, and some rows of them."""
    n = int(home.max()) + 1
    rows = np.arange(len(home))
    if n > _MOST_SEQUENCES:
        rows = rows[np.isin(home, generator.choice(n, _MOST_SEQUENCES, replace=False))]
    if len(rows) > _MOST_ROWS:
        rows = np.sort(generator.choice(rows, _MOST_ROWS, replace=False))
    return rows


def _half_of_each(home: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Take half of the rows of every sequence, one at least."""
    order = generator.permutation(len(home))
    order = order[np.argsort(home[order], kind="stable")]
    sizes = np.bincount(home)
    place = np.arange(len(home)) - np.repeat(np.append(0, np.cumsum(sizes)[:-1]), sizes)
    return order[place < np.repeat((sizes + 1) // 2, sizes)]


def _links(X: np.ndarray, home: np.ndarray, n: int) -> np.ndarray:
    """Return the share of each sequence's rows whose nearest other sequence is each of the others."""
    squares = squared_distances(X, group_means(X, home, n))
    squares[np.arange(len(X)), home] = np.inf
    links = np.zeros((n, n))
    np.add.at(links, (home, squares.argmin(axis=1)), 1.0)
    return links / links.sum(axis=1, keepdims=True)


def _modularities(S: np.ndarray, tried: Sequence[int], seed: int) -> np.ndarray:
    degrees = S.sum(axis=1)
    vectors = np.linalg.eigh(S / np.sqrt(np.outer(degrees, degrees)))[1]
    return np.array([_modularity(S, degrees, _groups(vectors[:, -k:], k, seed)) for k in tried])


def _groups(U: np.ndarray, k: int, seed: int) -> np.ndarray:
    U = U / np.maximum(np.linalg.norm(U, axis=1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(KMeans(k, n_init=_STARTS, random_state=seed).fit_predict(U))


def _modularity(S: np.ndarray, degrees: np.ndarray, groups: np.ndarray) -> float:
    inside = S[groups[:, None] == groups].sum() / degrees.sum()
    shares = np.bincount(groups, weights=degrees) / degrees.sum()
    return float(inside - (shares**2).sum())
