"""The answers of one fit: pairs and triplets together, and how likely each answer is under each truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sidelight._models.objective import Term
from sidelight.data.relations import Pairs, Triplets
from sidelight.estimators.relations.answer_terms import (
    LEAST,
    PairLikelihood,
    TripletLikelihood,
    pair_truths,
    triplet_truths,
)
from sidelight.estimators.relations.belief_propagation import posterior

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


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
