"""The answers of one fit: pairs and triplets together, and how likely each answer is under each truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidelight._core.simplex import log_softmax
from sidelight._models.objective import Term
from sidelight.data.relations import Pairs, Triplets
from sidelight.estimators.relations.answer_terms import (
    LEAST,
    PairLikelihood,
    TripletLikelihood,
    pair_truths,
    triplet_truths,
)

# Belief propagation over answers: the probability of each row's cluster given its features and all answers at once.
#
# An answer connects its rows, so what is known of one row tells something about the others, along chains of any length.
# Messages run from answers to rows and back until they agree; where answers close no cycle the result is exact, else it
# is the usual approximation. Every message costs O(K), because an answer only asks which of its rows are alike.


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
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

    def violated(self, labels: Ints) -> dict[str, Ints]:
        """Return the numbers of the answers that ``labels`` break, by kind."""
        return {
            name: np.flatnonzero(type(answers)._truth(labels[answers.rows]) != answers.codes)
            for name, answers in (("pairs", self.pairs), ("triplets", self.triplets))
        }


def without_none(triplets: Any) -> Triplets:
    """Drop the answers "none": what [P17] calls DC-R-C."""
    return triplets.only(triplets.odd >= 0)
