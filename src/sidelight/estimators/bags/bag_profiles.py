"""Where bags lie by their words: two bags are near when they are alike to the same other bags.

With A the centred vectors of words (one unit row for each bag), the profile of a bag is its row of A A', its likeness
to every bag. Distances between profiles are those between rows of A V S, for A = U S V': words that many bags share
count more than in A itself, and what only single bags have fades. A few directions hold all that can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.extmath import randomized_svd

from sidelight._core.process import without_library_warnings
from sidelight.estimators._choice import Choice, as_good, choose
from sidelight.estimators.bags.bag_words import BagWords, lengths
from sidelight.progress import report

Floats = npt.NDArray[np.float64]
_RANK = 64  # directions kept; they count by the square of their size, and the next ones are noise
_BAGS = 4000  # bags that the directions are learnt from


@dataclass(frozen=True, slots=True)
class BagProfiles:
    """A map from the words of a bag to a point: ``unit(vector - mean) @ directions``.

    Attributes
    ----------
    rarity : array of shape (n_words,)
        log(bags / bags with the word), from the bags of ``fit``.
    mean : array of shape (2 * n_words,)
        The mean vector of a bag.
    directions : array of shape (2 * n_words, rank)
        V S, the largest column of length one.
    """

    rarity: Floats
    mean: Floats
    directions: Floats

    def points(self, bags: BagWords) -> Floats:
        """Return the point of every bag."""
        points = np.empty((bags.n_bags, self.directions.shape[1]))
        for block, vectors in bags.vectors(self.rarity):
            vectors -= self.mean
            points[block] = (vectors / lengths(vectors)) @ self.directions
        return points

    def word_weights(self, towards: Floats) -> Floats:
        """Return how much each word moves a bag along each row of ``towards``; of shape (len(towards), n_words)."""
        weights = towards @ self.directions.T
        n_words = len(self.rarity)
        return np.asarray((weights[:, :n_words] + weights[:, n_words:]) * self.rarity, dtype=np.float64)


def learn_profiles(bags: BagWords, generator: np.random.Generator) -> BagProfiles:
    """Learn rarity, mean and directions from the bags."""
    rarity = bags.rarity()
    total, kept = np.zeros(2 * len(rarity)), []
    chosen = np.zeros(bags.n_bags, dtype=bool)
    chosen[generator.choice(bags.n_bags, min(_BAGS, bags.n_bags), replace=False)] = True
    for block, vectors in bags.vectors(rarity):
        total += vectors.sum(axis=0)
        kept.append(vectors[chosen[block]])
    mean = total / bags.n_bags
    A = np.vstack(kept) - mean
    A /= lengths(A)
    rank = min(_RANK, *A.shape)
    _, sizes, V = randomized_svd(A, rank, random_state=int(generator.integers(2**31)))
    largest = sizes[0] if sizes[0] > 0 else 1.0  # all bags alike: every point is 0
    return BagProfiles(rarity, mean, V.T * (sizes / largest))


# The number of clusters without labels: the one whose clusters come back when they are made from other code books.


_SPLITS = 8  # of the code books into halves
_COMPARED = 2000  # bags that are compared
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
        return choose([1], [np.ones(1)])  # bags that all hold the same
    agreement = np.empty((len(tried), _SPLITS))
    for split in range(_SPLITS):
        halves = [_points(held, books, generator) for books in _halves(held.books.groups, generator)]
        for place, k in enumerate(tried):
            report("number of clusters", split * len(tried) + place, _SPLITS * len(tried), f"{k} clusters")
            agreement[place, split] = adjusted_rand_score(*(_clusters(points, k, generator) for points in halves))
    # two groups that each hold two come back as surely as four: the finest of the best is taken
    return choose(tried, list(agreement), lambda values: as_good(values)[-1])


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
    if held.n_bags <= _COMPARED:
        return held
    chosen = np.sort(generator.choice(held.n_bags, _COMPARED, replace=False))
    sizes = np.diff(held.bag_starts)[chosen]
    starts = np.append(0, np.cumsum(sizes))
    rows = np.repeat(held.bag_starts[chosen] - starts[:-1], sizes) + np.arange(starts[-1])
    return BagWords(held.words[rows], starts, held.books)
