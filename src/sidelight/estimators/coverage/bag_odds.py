"""How probable it is that a bag carries a label: from the rows' probabilities, corrected by held-out lists.

If the errors of rows were independent, a bag would carry label c with odds e = 1 / prod_i (1 - P_ic) - 1. They are not:
many rows that are each a little wrong add up, so rare labels are predicted far too often. Held-out lists correct it,

    logit P(c in bag) = slope * log e + offset_c,

with one positive slope for all labels and offsets that are drawn towards their mean: a label that few bags carry leans
on the others. Slope 1 and offsets 0 are the plain product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

SURE = 30.0  # the most that -sum log(1 - P) may say: the odds of e^30 are certainty
DOUBT = 1e-9  # the least: no row has the label
APART = 1.0  # standard deviation of offsets around their mean
STEEP = 1.0  # standard deviation of the logarithm of the slope around 0


def log_odds(P: np.ndarray, order: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return log e of every bag and label, from the probabilities of rows and the rows of each bag."""
    missed = np.log1p(-np.minimum(P, 1.0 - 1e-12))  # log 0 would spoil the sums
    missing = np.clip(-np.add.reduceat(missed[order], starts[:-1], axis=0), DOUBT, SURE)
    return np.asarray(np.log(np.expm1(missing)))


@dataclass(frozen=True, slots=True)
class BagOdds:
    """The correction: one slope, and an offset for each known label; whatever stands behind them is left alone."""

    slope: float
    offsets: np.ndarray

    @classmethod
    def plain(cls, n_labels: int) -> BagOdds:
        """Correct nothing."""
        return cls(1.0, np.zeros(n_labels))

    @classmethod
    def unpack(cls, theta: np.ndarray) -> BagOdds:
        """Read the parameters of :func:`correction`."""
        return cls(float(np.exp(theta[0])), theta[1] + theta[2:])

    def probability(self, evidence: np.ndarray) -> np.ndarray:
        """Return the probability of every label for every bag, from log e."""
        scores = np.array(evidence)
        known = scores[:, : len(self.offsets)]
        known *= self.slope
        known += self.offsets
        return np.asarray(expit(scores))


def correction(
    evidence: np.ndarray, listed: np.ndarray
) -> tuple[Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], np.ndarray]:
    """Return what a correction minimises, minus the log likelihood of held-out lists, and where to start.

    The parameters are the logarithm of the slope, the mean of the offsets, and how far each is from it.

    Parameters
    ----------
    evidence : ndarray of shape (n_bags, n_labels)
        log e of bags whose lists the model did not see.
    listed : ndarray of shape (n_bags, n_labels)
        1 where the label is on the list.
    """

    def objective(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slope, middle, apart = np.exp(theta[0]), theta[1], theta[2:]
        scores = slope * evidence + middle + apart
        residual = expit(scores) - listed
        value = np.logaddexp(0.0, scores).sum() - (listed * scores).sum()
        value += 0.5 * (apart @ apart) / APART**2 + 0.5 * theta[0] ** 2 / STEEP**2
        by_slope = slope * (residual * evidence).sum() + theta[0] / STEEP**2
        return value, np.r_[by_slope, residual.sum(), residual.sum(axis=0) + apart / APART**2]

    return objective, np.zeros(evidence.shape[1] + 2)
