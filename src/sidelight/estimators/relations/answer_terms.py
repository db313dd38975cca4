"""Terms that reward agreement with answers about pairs and triplets of rows.

Both are composite likelihoods: each answer counts by itself, as if no two answers shared a row. With disjoint answers
that equals the joint likelihood [P17] eq. (3.4); with chains of answers it is a product of its marginals.

What an answer says about the truth is a table, ``chances[m, t] = p(answer m | truth t)``: tables 3.1 and 3.2 of [P17]
for a labeller who errs evenly, rows of a confusion matrix for one who does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

LEAST = 1e-12  # a likelihood below this counts as this, so that answers taken as certain stay finite


@dataclass(frozen=True, slots=True, eq=False)
class PairLikelihood:
    """Minus the log likelihood of answers about pairs.

    same[m] = sum_k P[a[m], k] * P[b[m], k]
    value   = -sum_m weights[m] * log(chances[m, 0] * (1 - same[m]) + chances[m, 1] * same[m])

    Parameters
    ----------
    rows : array of int, shape (n_answers, 2)
        a and b of each answer.
    chances : array of shape (n_answers, 2)
        Probability of the answer if the rows differ, and if they are alike.
    weights : array of shape (n_answers,)
        What each answer counts.
    n_rows : int
        How many rows P has.
    """

    rows: Ints
    chances: Floats
    weights: Floats
    n_rows: int
    _scatter: sp.csr_array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_scatter", _scatter(self.rows, self.n_rows))

    def __call__(self, P: Floats, log_P: Floats) -> tuple[Floats, Floats]:
        both = P[..., self.rows[:, 0], :] * P[..., self.rows[:, 1], :]
        slope = self.chances[:, 1] - self.chances[:, 0]
        likelihood = np.maximum(self.chances[:, 0] + slope * both.sum(axis=-1), LEAST)
        pull = -(self.weights * slope / likelihood)[..., None] * both
        value = -(self.weights * np.log(likelihood)).sum(axis=-1)
        return value, _gather(self._scatter, [pull, pull])


@dataclass(frozen=True, slots=True, eq=False)
class TripletLikelihood:
    """Minus the log likelihood of answers about triplets.

    all3[m]    = sum_k P[a[m], k] * P[b[m], k] * P[c[m], k]
    p(c odd)   = sum_k P[a, k] P[b, k] - all3, and so on for a and b
    p(none)    = 1 - p(a odd) - p(b odd) - p(c odd)
    value      = -sum_m weights[m] * log sum_t chances[m, t] * p(t)            t = a odd, b odd, c odd, none

    Parameters
    ----------
    rows : array of int, shape (n_answers, 3)
        a, b and c of each answer.
    chances : array of shape (n_answers, 4)
        Probability of the answer if a, b or c is the odd one out, and if none is.
    weights : array of shape (n_answers,)
        What each answer counts.
    n_rows : int
        How many rows P has.
    """

    rows: Ints
    chances: Floats
    weights: Floats
    n_rows: int
    _scatter: sp.csr_array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_scatter", _scatter(self.rows, self.n_rows))

    def __call__(self, P: Floats, log_P: Floats) -> tuple[Floats, Floats]:
        A, B, C = (P[..., self.rows[:, column], :] for column in range(3))
        a_odd, b_odd, c_odd, none = self.chances.T
        # The likelihood is a sum over clusters of products of two and of three; each gradient in log P is the sum of
        # the products that hold the row.
        bc = (a_odd - none)[:, None] * (B * C)
        ac = (b_odd - none)[:, None] * (A * C)
        ab = (c_odd - none)[:, None] * (A * B)
        abc = (3 * none - a_odd - b_odd - c_odd)[:, None] * (A * B * C)
        likelihood = np.maximum(none + (ab + ac + bc + abc).sum(axis=-1), LEAST)
        pull = -(self.weights / likelihood)[..., None]
        value = -(self.weights * np.log(likelihood)).sum(axis=-1)
        return value, _gather(self._scatter, [pull * (ab + ac + abc), pull * (ab + bc + abc), pull * (ac + bc + abc)])


def pair_truths(P: Floats, rows: Ints) -> Floats:
    """Return p(differ) and p(alike) of each pair, of shape (n_answers, 2)."""
    same = np.clip(np.einsum("mk,mk->m", P[rows[:, 0]], P[rows[:, 1]]), 0.0, 1.0)
    return np.stack([1.0 - same, same], axis=1)


def triplet_truths(P: Floats, rows: Ints) -> Floats:
    """Return p(a odd), p(b odd), p(c odd) and p(none) of each triplet, of shape (n_answers, 4)."""
    A, B, C = (P[rows[:, column]] for column in range(3))
    all3 = (A * B * C).sum(axis=-1)
    odd = np.stack([(pair).sum(axis=-1) - all3 for pair in (B * C, A * C, A * B)], axis=1)
    odd = np.clip(odd, 0.0, 1.0)
    return np.concatenate([odd, np.clip(1.0 - odd.sum(axis=1, keepdims=True), 0.0, 1.0)], axis=1)


def _scatter(rows: Ints, n_rows: int) -> sp.csr_array:
    """The matrix that adds what belongs to (answer, place) to the row that stands there."""
    targets = rows.T.ravel()
    return sp.csr_array((np.ones(len(targets)), (targets, np.arange(len(targets)))), shape=(n_rows, len(targets)))


def _gather(scatter: sp.csr_array, pulls: list[Floats]) -> Floats:
    stacked = np.concatenate(pulls, axis=-2)
    if stacked.ndim == 2:
        return np.asarray(scatter @ stacked)
    lead, K = stacked.shape[:-2], stacked.shape[-1]
    folded = np.moveaxis(stacked, -2, 0).reshape(stacked.shape[-2], -1)
    return np.moveaxis((scatter @ folded).reshape(-1, *lead, K), 0, -2)
