"""The number of clusters without labels: the one whose clusters come back when they are made from other code books."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from sidelight._core.quiet import without_library_warnings
from sidelight.estimators._choice import Choice, choose_best, is_as_good
from sidelight.estimators.bags.bag_profiles import learn_profiles
from sidelight.estimators.bags.bag_words import BagWords
from sidelight.progress import report

_SPLITS = 8  # of the code books into halves
_BAGS = 2000  # bags that are compared
_STARTS = 5  # of k-means


def choose_n_clusters(held: BagWords, tried: Sequence[int], generator: np.random.Generator) -> Choice:
    """Split the code books into halves, cluster by each half, and compare: the adjusted Rand index of the clusters.

    Parameters
    ----------
    held : BagWords
        The words of the bags.
    tried : sequence of int
        Numbers of clusters.
    generator : Generator
        Draws the halves.
    """
    held = _some_bags(held, generator)
    if not np.ptp(_points(held, np.arange(held.books.n_books), generator), axis=0).any():
        return choose_best([1], [np.ones(1)])  # bags that all hold the same
    agreement = np.empty((len(tried), _SPLITS))
    for split in range(_SPLITS):
        halves = [_points(held, books, generator) for books in _halves(held.books.groups, generator)]
        for place, k in enumerate(tried):
            report("number of clusters", split * len(tried) + place, _SPLITS * len(tried), f"{k} clusters")
            agreement[place, split] = adjusted_rand_score(*(_clusters(points, k, generator) for points in halves))
    choice = choose_best(tried, list(agreement))
    # two groups that each hold two come back as surely as four: the finest of the best is taken
    choice["chosen"] = max(k for k, is_best in zip(tried, is_as_good(list(agreement))) if is_best)
    return choice


def _halves(groups: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Deal the books of every group into two halves."""
    first, second = [], []
    for group in np.unique(groups):
        books = generator.permutation(np.flatnonzero(groups == group))
        first.append(books[: len(books) // 2])
        second.append(books[len(books) // 2 :])
    return np.sort(np.concatenate(first)), np.sort(np.concatenate(second))


def _points(held: BagWords, books: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    some = held.books.some(books)
    words = held.words[:, books] - held.books.starts[books].astype(np.int32) + some.starts[:-1].astype(np.int32)
    part = BagWords(words, held.bag_starts, some)
    return learn_profiles(part, generator).points(part)


def _clusters(points: np.ndarray, k: int, generator: np.random.Generator) -> np.ndarray:
    with without_library_warnings():  # fewer different bags than clusters: they agree less
        kmeans = KMeans(k, n_init=_STARTS, random_state=int(generator.integers(2**31)))
        return np.asarray(kmeans.fit_predict(points))


def _some_bags(held: BagWords, generator: np.random.Generator) -> BagWords:
    if held.n_bags <= _BAGS:
        return held
    chosen = np.sort(generator.choice(held.n_bags, _BAGS, replace=False))
    sizes = np.diff(held.bag_starts)[chosen]
    starts = np.append(0, np.cumsum(sizes))
    rows = np.repeat(held.bag_starts[chosen] - starts[:-1], sizes) + np.arange(starts[-1])
    return BagWords(held.words[rows], starts, held.books)
