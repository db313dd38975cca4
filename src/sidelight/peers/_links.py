"""What answers say about pairs of rows, and about which of two pairs is closer: the form that most methods want."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidelight.data.relations import Pairs, Triplets
from sidelight.data.relations.facts import Facts
from sidelight.errors import ConflictingAnswers
from sidelight.words import in_words

Floats = npt.NDArray[np.float64]


Ints = npt.NDArray[np.intp]


# Which columns of a triplet are alike, by the column of the odd one out; the odd one comes last.
ALIKE_FIRST = np.array([[1, 2, 0], [0, 2, 1], [0, 1, 2]])


@dataclass(frozen=True)
class Links:
    """Pairs of rows said to be alike or to differ; a triplet with an odd one out makes three of them, "none" no one.

    ``answers[m]`` is the number of the answer behind link m: that of a pair, or ``n_pairs`` + that of a triplet.
    """

    rows: Ints
    same: npt.NDArray[np.bool_]
    weights: Floats
    answers: Ints
    n_pairs: int
    n_rows: int

    @classmethod
    def of(cls, pairs: Pairs, triplets: Triplets) -> Links:
        """Take answers apart into links."""
        apart = triplets.to_pairs()
        decided = np.flatnonzero(triplets.odd >= 0)
        return cls(
            np.concatenate([pairs.rows, apart.rows]).reshape(-1, 2),
            np.concatenate([pairs.same, apart.same]),
            np.concatenate([pairs.weights, apart.weights]),
            np.concatenate([np.arange(pairs.n_answers), pairs.n_answers + np.repeat(decided, 3)]).astype(np.intp),
            pairs.n_answers,
            pairs.n_rows,
        )

    @cached_property
    def facts(self) -> Facts:
        """What follows from all links together."""
        return Facts(self.rows[:, 0], self.rows[:, 1], self.same, self.n_rows)

    def tell(self, links: list[int]) -> str:
        """Name the answers behind some links, in words."""
        numbers = list(dict.fromkeys(int(self.answers[m]) for m in links))
        return in_words([
            f"pair answer {number}" if number < self.n_pairs else f"triplet answer {number - self.n_pairs}"
            for number in numbers
        ])  # fmt: skip

    def check_consistent(self, who: str) -> None:
        """Refuse answers that say alike and differing of the same two rows, with the chain that does."""
        if not len(self.facts.conflicts):
            return
        against = int(self.facts.conflicts[0])
        one, other = (int(row) for row in self.rows[against])
        raise ConflictingAnswers(
            f"{who}: not all answers can be true. Rows {one} and {other} must link "
            f"({self.tell(self.facts.chain(one, other))}) but cannot link ({self.tell([against])}). Drop one of these "
            "answers, or choose a method that weighs answers, such as PCKMeans or DiscriminativeClustering."
        )


class Comparisons(NamedTuple):
    """Rows near[m, 0] and near[m, 1] are closer to each other than far[m, 0] and far[m, 1]."""

    near: Ints
    far: Ints
    weights: Floats


def compare(pairs: Pairs, triplets: Triplets, generator: np.random.Generator) -> Comparisons:
    """Return what answers say about distances.

    A triplet with an odd one out says that the other two are closer than either is to it. Pairs say nothing about one
    distance against another by themselves: every differing pair is compared with an alike one, drawn at random, and
    the other way round.
    """
    decided = triplets.odd >= 0
    ordered = np.take_along_axis(triplets.rows[decided], ALIKE_FIRST[triplets.odd[decided]], axis=1)
    alike, differing = np.flatnonzero(pairs.same), np.flatnonzero(~pairs.same)
    drawn = _matched(alike, differing, generator)
    near = np.concatenate([np.repeat(ordered[:, :2], 2, axis=0), pairs.rows[drawn[0]]])
    far = np.concatenate([ordered[:, [0, 2, 1, 2]].reshape(-1, 2), pairs.rows[drawn[1]]])
    weights = np.concatenate([
        np.repeat(triplets.weights[decided], 2), np.minimum(pairs.weights[drawn[0]], pairs.weights[drawn[1]])
    ])  # fmt: skip
    return Comparisons(near.reshape(-1, 2), far.reshape(-1, 2), weights)


def _matched(alike: Ints, differing: Ints, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw partners so that every answer of the larger side is used once."""
    n = max(len(alike), len(differing)) if len(alike) and len(differing) else 0
    return tuple(generator.permutation(np.resize(generator.permutation(side), n)) for side in (alike, differing))  # type: ignore[return-value] # two sides, two arrays


# Differences between pairs of rows, dense or sparse, and products with them.


def differences(X: Any, rows: Ints) -> Floats:
    """Return X[a] - X[b] for every pair (a, b) of ``rows``, as a dense array."""
    gaps = X[rows[:, 0]] - X[rows[:, 1]]
    return np.ascontiguousarray(gaps.toarray() if sp.issparse(gaps) else gaps, dtype=np.float64)


def squares(X: Any) -> Any:
    """Return every number squared; sparse rows stay sparse."""
    return sp.csr_array(X).multiply(X).tocsr() if sp.issparse(X) else X**2


LEAST_SPREAD = 1e-200  # of rows that vary less, units say nothing and have no inverse


def spread_of(X: Any) -> float:
    """Return the mean squared distance of a row to the mean row."""
    if sp.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        return max(float(X.multiply(X).sum() / X.shape[0] - mean @ mean), 0.0)
    return float(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
