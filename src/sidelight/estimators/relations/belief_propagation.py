"""Belief propagation over answers: the probability of each row's cluster given its features and all answers at once.

An answer connects its rows, so what is known of one row tells something about the others, along chains of any length.
Messages run from answers to rows and back until they agree; where answers close no cycle the result is exact, else it
is the usual approximation. Every message costs O(K), because an answer only asks which of its rows are alike.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidelight._core.simplex import log_softmax

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

STAY = 0.3  # share of the old message that is kept: without it messages swing around cycles of "different"
LEAST = 1e-300  # below every chance that counts


def posterior(
    log_P: Floats,
    pairs: Ints,
    pair_chances: Floats,
    triplets: Ints,
    triplet_chances: Floats,
    *,
    max_rounds: int = 100,
    tol: float = 1e-4,
) -> Floats:
    """Return Q (n_rows, n_clusters), the probability of each cluster of each row given all answers.

    Parameters
    ----------
    log_P : array of shape (n_rows, n_clusters)
        The belief from features alone.
    pairs, pair_chances : array of shape (n_pairs, 2)
        The rows of each pair, and how likely its answer is when they are (different, same).
    triplets, triplet_chances : array of shape (n_triplets, 3) and (n_triplets, 4)
        The rows of each triplet, and how likely its answer is when (a, b, c, none) is the odd one.
    max_rounds, tol : int, float
        Most rounds of messages, and the largest change of a message at which they stop.
    """
    K, n_pairs = log_P.shape[1], pairs.size
    rows = np.concatenate([pairs.ravel(), triplets.ravel()])
    arrive = sp.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(len(log_P), len(rows)))
    messages = np.zeros((len(rows), K))
    for _ in range(max_rounds):
        belief = log_P + arrive @ messages
        others = np.exp(log_softmax(belief[rows] - messages))  # what each row would think without this answer
        said = np.concatenate(
            [
                _of_pairs(others[:n_pairs].reshape(-1, 2, K), pair_chances).reshape(-1, K),
                _of_triplets(others[n_pairs:].reshape(-1, 3, K), triplet_chances).reshape(-1, K),
            ]
        )
        said = log_softmax(np.log(np.maximum(said, LEAST)))
        change = float(np.abs(said - messages).max(initial=0.0))
        messages = STAY * messages + (1.0 - STAY) * said
        if change < tol:
            break
    return np.exp(log_softmax(log_P + arrive @ messages))


def _of_pairs(others: Floats, chances: Floats) -> Floats:
    """What each answer says about its rows: chance(different) + (chance(same) - chance(different)) p(other row)."""
    different, same = chances[:, 0, None, None], chances[:, 1, None, None]
    return different + (same - different) * others[:, ::-1]


def _of_triplets(others: Floats, chances: Floats) -> Floats:
    """The same for triplets: of each row, sum the chances over which of the three is odd."""
    said = np.empty_like(others)
    for row, (first, second) in enumerate(((1, 2), (0, 2), (0, 1))):
        f, s = others[:, first], others[:, second]
        both = f * s
        odd = {
            row: both.sum(axis=1, keepdims=True) - both,  # the other two are alike, this one is not
            first: s - both,
            second: f - both,
        }
        none = 1.0 - sum(odd.values())
        said[:, row] = chances[:, 3, None] * none + sum(chances[:, place, None] * p for place, p in odd.items())
    return said
