"""Label sets of new bags that hold a wanted share of the true labels, or all of them, with conformal risk control.

Bags whose lists were held out say how probable true labels are called. A threshold under which at most a share alpha of
them falls, one bag more counted as a miss, misses at most alpha in a new bag on average, whatever the model is worth.
"""

from __future__ import annotations

import numpy as np

from sidelight.estimators.coverage.held_out import BagOdds, HeldOut


def told_probabilities(held_out: HeldOut, odds: BagOdds) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability of every label on a held-out, complete list, and the number of its bag."""
    bag, label = np.nonzero(held_out.listed * held_out.is_complete[:, None])
    return odds.probability(held_out.evidence)[bag, label], np.unique(bag, return_inverse=True)[1]


def threshold_of_all(probability: np.ndarray, bag: np.ndarray, alpha: float) -> float:
    """Return the highest threshold that all labels of a new bag reach with probability 1 - alpha; or 0."""
    n = int(bag.max(initial=-1)) + 1
    least = np.full(n, np.inf)
    np.minimum.at(least, bag, probability)
    n_missed = int(np.floor(alpha * (n + 1) + 1e-9)) - 1  # bags that may have a label below; rounding is no miss
    return float(np.sort(least)[n_missed]) if 0 <= n_missed < n else 0.0


def threshold_of_share(probability: np.ndarray, bag: np.ndarray, alpha: float) -> float:
    """Return the highest threshold below which at most a mean share alpha of the labels of a new bag lies; or 0."""
    n = int(bag.max(initial=-1)) + 1
    if not n:
        return 0.0
    order = np.argsort(probability, kind="stable")
    sorted_, share = probability[order], (1.0 / np.bincount(bag))[bag][order]
    below = np.concatenate([[0.0], np.cumsum(share)])[np.searchsorted(sorted_, sorted_, side="left")]
    allowed = sorted_[(below + 1.0) / (n + 1) <= alpha + 1e-12]  # rounding is no miss
    return float(allowed[-1]) if len(allowed) else 0.0
