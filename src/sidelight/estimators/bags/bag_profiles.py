"""Where bags lie by their words: two bags are near when they are alike to the same other bags.

With A the centred vectors of words (one unit row for each bag), the profile of a bag is its row of A A', its likeness
to every bag. Distances between profiles are those between rows of A V S, for A = U S V': words that many bags share
count more than in A itself, and what only single bags have fades. A few directions hold all that can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.utils.extmath import randomized_svd

from sidelight.estimators.bags.bag_words import BagWords, lengths

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
