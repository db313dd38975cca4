"""How often answers are wrong, learnt from the answers: for all, for each annotator, by kind of mistake.

Given the probability of each truth, the answers of one annotator are draws from a confusion matrix. Expectation
maximisation finds it: the truth behind each answer given the answer, then the matrix given the truths.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from sidelight.data.relations import Pairs, Triplets
from sidelight.data.relations.answers import Answers
from sidelight.estimators.relations.answered import Answered, even_errors

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

PRIOR = (0.5, 4.5)  # wrong and right answers that each annotator is taken to have given before: 10 % wrong, weakly
SHARED = 10.0  # answers' worth of the common rate in the rate of one annotator
ROUNDS = 50
LEAST, MOST = 1e-3, 0.45  # rates are kept off certainty and off a coin toss


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """The share of wrong answers, of all and of each annotator, and which truths are mistaken for which."""

    eps: float
    by_annotator: Mapping[Hashable, float] = field(default_factory=dict)
    pair_confusion: Floats = field(default_factory=lambda: np.eye(2))
    triplet_confusion: Floats = field(default_factory=lambda: np.eye(4))
    uneven: bool = False

    @classmethod
    def evenly(cls, eps: float) -> Self:
        """One rate for all annotators and every kind of mistake."""
        return cls(eps, {}, even_confusion(2, eps), even_confusion(4, eps))

    def scaled(self, eps: float) -> ErrorRates:
        """Return the same with another share of wrong answers for all; what differs between people keeps its odds."""
        odds = eps / (1.0 - eps) * (1.0 - self.eps) / max(self.eps, 1e-6)

        def scale(rate: float) -> float:
            return float(np.clip(odds * rate / (1.0 - rate + odds * rate), LEAST, MOST))

        def scale_all(confusion: Floats) -> Floats:
            wrong = confusion * (1.0 - np.eye(len(confusion)))
            shares = wrong.sum(axis=1)
            wanted = np.array([scale(min(share, 1.0 - 1e-6)) if share > 0 else 0.0 for share in shares])
            wrong = wrong * (wanted / np.maximum(shares, 1e-12))[:, None]
            return np.asarray(wrong + np.diag(1.0 - wrong.sum(axis=1)))

        return replace(
            self,
            eps=scale(self.eps),
            by_annotator={name: scale(rate) for name, rate in self.by_annotator.items()},
            pair_confusion=scale_all(self.pair_confusion),
            triplet_confusion=scale_all(self.triplet_confusion),
        )

    @property
    def differ(self) -> bool:
        """Whether answers deserve different trust."""
        return self.uneven or len(set(self.by_annotator.values())) > 1

    def believed(self, pairs: Pairs, triplets: Triplets) -> Answered:
        """Return the answers with the chances that these rates give them."""
        chances = [self._chances(pairs, self.pair_confusion), self._chances(triplets, self.triplet_confusion)]
        return Answered(pairs, triplets, chances[0], chances[1])

    def _chances(self, answers: Answers, confusion: Floats) -> Floats:
        eps = np.array([self.by_annotator.get(name, self.eps) for name in answers.annotators])
        even = even_errors(answers.codes, len(answers.WORDS), eps)
        if not self.uneven:
            return even
        # An annotator's own rate scales the confusions of all.
        wrong = confusion * (1.0 - np.eye(len(confusion)))
        scale = eps / max(self.eps, LEAST)
        chances = wrong[:, answers.codes].T * scale[:, None]
        stay = 1.0 - scale[:, None] * wrong.sum(axis=1)[None, :]
        right = np.arange(len(confusion))[None, :] == answers.codes[:, None]
        return np.where(right, np.clip(stay, LEAST, 1.0), np.clip(chances, LEAST / 10, 1.0))


def even_confusion(n_words: int, eps: float) -> Floats:
    """Return the confusion matrix when all wrong answers are equally likely."""
    return np.full((n_words, n_words), eps / (n_words - 1)) + np.eye(n_words) * (1.0 - eps - eps / (n_words - 1))


def estimate_errors(answered: Answered, truths: tuple[Floats, Floats], *, confusion: bool) -> ErrorRates:
    """Estimate the rates from answers and from the probability of each truth, by a fit that did not see them."""
    kinds: list[tuple[Answers, Floats]] = [(answered.pairs, truths[0]), (answered.triplets, truths[1])]
    names = {name: None for answers, _ in kinds for name in answers.annotator_names}
    common = _rate(kinds, None, PRIOR)
    rates: dict[Hashable, float] = {}
    if names:
        prior = (SHARED * common, SHARED * (1.0 - common))
        rates = {name: _rate(kinds, name, prior) for name in names}
    tables = [
        _confusion(answers, T, common) if confusion else even_confusion(T.shape[1], common) for answers, T in kinds
    ]
    return ErrorRates(common, rates, tables[0], tables[1], confusion)


def _rate(kinds: list[tuple[Answers, Floats]], annotator: Hashable | None, prior: tuple[float, float]) -> float:
    """The rate of wrong answers of one annotator, or of all, by EM with a beta prior."""
    right, others, weights = [], [], []
    for answers, T in kinds:
        mine = np.array([annotator is None or name == annotator for name in answers.annotators], dtype=bool)
        own = T[mine, answers.codes[mine]]
        right.append(own)
        others.append((1.0 - own) / (T.shape[1] - 1))
        weights.append(answers.weights[mine])
    p_right, p_wrong, weight = np.concatenate(right), np.concatenate(others), np.concatenate(weights)
    eps = prior[0] / sum(prior)
    for _ in range(ROUNDS):
        wrong = eps * p_wrong
        share = wrong / np.maximum(wrong + (1.0 - eps) * p_right, 1e-300)  # both are 0 only for a chance of 0
        eps = (weight @ share + prior[0]) / (weight.sum() + sum(prior))
    return float(np.clip(eps, LEAST, MOST))


def _confusion(answers: Answers, T: Floats, common: float) -> Floats:
    """The confusion matrix of all annotators together, pulled towards even mistakes."""
    n_words = T.shape[1]
    even = even_confusion(n_words, common)
    table = even.copy()
    for _ in range(ROUNDS):
        joint = T * table[:, answers.codes].T
        joint /= np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)  # a chance of 0 stays 0
        counts = np.zeros((n_words, n_words))
        np.add.at(counts.T, answers.codes, joint * answers.weights[:, None])
        table = counts + SHARED * even
        table /= table.sum(axis=1, keepdims=True)
    return table
