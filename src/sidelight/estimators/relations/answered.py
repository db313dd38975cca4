"""The answers of one fit: pairs and triplets together, and how likely each answer is under each truth."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidelight._core.simplex import log_softmax
from sidelight._models.objective import Term
from sidelight.data.relations import Pairs, Triplets

# Terms that reward agreement with answers about pairs and triplets of rows.
#
# Both are composite likelihoods: each answer counts by itself, as if no two answers shared a row. With disjoint answers
# that equals the joint likelihood [P17] eq. (3.4); with chains of answers it is a product of its marginals.
#
# What an answer says about the truth is a table, ``chances[m, t] = p(answer m | truth t)``: tables 3.1 and 3.2 of [P17]
# for a labeller who errs evenly, rows of a confusion matrix for one who does not.


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


STAY = 0.3  # share of the old message that is kept: without it messages swing around cycles of "different"
_NEVER = 1e-300  # below every chance that counts


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
        said = log_softmax(np.log(np.maximum(said, _NEVER)))
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


def even_errors(codes: Ints, n_words: int, eps: Floats) -> Floats:
    """Return p(answer | truth) when all wrong answers are equally likely: [P17] tables 3.1 and 3.2."""
    chances = np.repeat((eps / (n_words - 1))[:, None], n_words, axis=1)
    chances[np.arange(len(codes)), codes] = 1.0 - eps
    return chances


@dataclass(frozen=True, slots=True)
class Answered:
    """Pairs and triplets about the same rows, with p(answer | truth) for each answer."""

    pairs: Pairs
    triplets: Triplets
    pair_chances: Floats
    triplet_chances: Floats

    @classmethod
    def evenly(cls, pairs: Pairs, triplets: Triplets, eps: float) -> Self:
        """Believe every answer alike: each is wrong with probability ``eps``."""
        return cls(
            pairs,
            triplets,
            even_errors(pairs.codes, 2, np.full(pairs.n_answers, eps)),
            even_errors(triplets.codes, 4, np.full(triplets.n_answers, eps)),
        )

    @property
    def n_answers(self) -> int:
        """How many answers there are."""
        return self.pairs.n_answers + self.triplets.n_answers

    @property
    def total_weight(self) -> float:
        """The sum of the answers' weights."""
        return float(self.weights.sum())

    @property
    def weights(self) -> Floats:
        """The weight of each answer, pairs first."""
        return np.concatenate([self.pairs.weights, self.triplets.weights])

    @property
    def rows(self) -> Ints:
        """The rows that some answer is about, ascending."""
        return np.unique(np.concatenate([self.pairs.rows.ravel(), self.triplets.rows.ravel()]))

    def terms(self) -> list[tuple[float, Term]]:
        """Return the terms of the mean log likelihood of an answer."""
        share = 1.0 / max(self.total_weight, np.finfo(float).tiny)
        terms: list[tuple[float, Term]] = []
        if self.pairs.n_answers:
            p = self.pairs
            terms.append((share, PairLikelihood(p.rows, self.pair_chances, p.weights, p.n_rows)))
        if self.triplets.n_answers:
            t = self.triplets
            terms.append((share, TripletLikelihood(t.rows, self.triplet_chances, t.weights, t.n_rows)))
        return terms

    def truths(self, P: Floats) -> tuple[Floats, Floats]:
        """Return the probability of each truth of each pair and of each triplet."""
        return pair_truths(P, self.pairs.rows), triplet_truths(P, self.triplets.rows)

    def log_likelihood(self, P: Floats) -> float:
        """Return the mean log likelihood of an answer, by weight."""
        return self.log_likelihood_of(self.truths(P))

    def log_likelihood_of(self, truths: tuple[Floats, Floats]) -> float:
        """Return the same, given the probability of each truth of each pair and of each triplet."""
        total = float(self.weights @ self.log_likelihoods_of(truths))
        return total / self.total_weight if self.total_weight > 0 else float("nan")

    def log_likelihoods_of(self, truths: tuple[Floats, Floats]) -> Floats:
        """Return the log likelihood of each answer, pairs first."""
        kinds = zip((self.pair_chances, self.triplet_chances), truths)
        return np.concatenate([np.log(np.maximum((chances * T).sum(axis=1), LEAST)) for chances, T in kinds])

    def among(self, rows: Ints) -> Self:
        """Return the answers about these rows alone, each row numbered by its place in ``rows``."""
        place = np.full(self.pairs.n_rows, -1, dtype=np.intp)
        place[rows] = np.arange(len(rows))
        kept_pairs = (place[self.pairs.rows] >= 0).all(axis=1)
        kept_triplets = (place[self.triplets.rows] >= 0).all(axis=1)
        return replace(
            self,
            pairs=self.pairs[rows],
            triplets=self.triplets[rows],
            pair_chances=self.pair_chances[kept_pairs],
            triplet_chances=self.triplet_chances[kept_triplets],
        )

    def links(self) -> tuple[Ints, Ints]:
        """Return the pairs of rows said to be alike, and those said to differ, triplets taken apart."""
        apart = self.triplets.to_pairs()
        rows = np.concatenate([self.pairs.rows, apart.rows])
        same = np.concatenate([self.pairs.same, apart.same])
        return rows[same], rows[~same]

    def posterior(self, log_P: Floats) -> Floats:
        """Return the probability of each cluster of each row given its features and all answers together."""
        return posterior(
            log_P,
            self.pairs.rows,
            self.pair_chances ** self.pairs.weights[:, None],
            self.triplets.rows,
            self.triplet_chances ** self.triplets.weights[:, None],
        )
