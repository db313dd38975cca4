"""What strategies need to know about rows, for any belief that has the probability of each cluster for every row.

Our own belief has better answers to all of these (:mod:`sidelight.active.row_belief`).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._core.simplex import entropy

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]

CANDIDATES, REFERENCE = 2000, 400  # rows that questions are chosen from, and rows that influence is measured on


def squared_distances(A: Floats, B: Floats) -> Floats:
    """Squared distances between the rows of A and of B."""
    squares = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)
    return np.maximum(squares - 2.0 * A @ B.T, 0.0)


class RowsOfBelief:
    """A base of beliefs: ``posterior()`` and ``features`` are all it asks for."""

    n_rows: int
    rows: list[int]  # the rows asked about

    @property
    def features(self) -> Floats:
        """Dense rows whose distances mean something."""
        raise NotImplementedError

    def posterior(self, X: Any = None) -> Floats:
        """Return the probability of each cluster for all rows, or for new ones."""
        raise NotImplementedError

    def tell(self, a: int, b: int, same: bool, generator: np.random.Generator) -> None:
        """Learn one answer."""
        raise NotImplementedError

    def tell_all(self, answers: list[tuple[int, int, bool]], generator: np.random.Generator) -> None:
        """Learn some answers."""
        for a, b, same in answers:
            self.tell(a, b, same, generator)

    @cached_property
    def candidates(self) -> Ints:
        """The rows that may be asked about next: evenly spread over the table where there are many."""
        return np.unique(np.linspace(0, self.n_rows - 1, min(self.n_rows, CANDIDATES)).astype(np.intp))

    @cached_property
    def position(self) -> Ints:
        """The position of each row among the candidates, -1 for the others."""
        place = np.full(self.n_rows, -1, dtype=np.intp)
        place[self.candidates] = np.arange(len(self.candidates))
        return place

    @cached_property
    def _alike(self) -> Floats:
        """How alike candidates and reference rows are, from 0 to 1."""
        near = self.features[self.candidates]
        some = near[np.linspace(0, len(near) - 1, min(len(near), REFERENCE)).astype(np.intp)]
        apart = squared_distances(near, some)
        width = float(np.median(apart[apart > 0])) if (apart > 0).any() else 1.0
        return np.asarray(np.exp(-4.0 * apart / width))

    def places(self) -> Floats:
        """Return the probability of each cluster, and of a new one (0), for every candidate."""
        P = self.posterior()[self.candidates]
        return np.column_stack([P, np.zeros(len(P))])

    def influence(self, Q: Floats) -> Floats:
        """Return how many uncertain rows are near each candidate."""
        doubt = entropy(np.maximum(Q, 1e-12))
        some = np.linspace(0, len(Q) - 1, self._alike.shape[1]).astype(np.intp)
        return np.asarray(self._alike @ doubt[some])

    def certainty(self, row: int) -> float:
        """Return the probability of the likeliest cluster of a row."""
        return float(self.posterior()[row].max())

    def representative(self, row: int, cluster: int, unasked: Any) -> int | None:
        """Return the nearest row of a cluster that ``row`` was not asked against."""
        members = np.flatnonzero(self.posterior().argmax(axis=1) == cluster)
        members = members[members != row]
        apart = squared_distances(self.features[members], self.features[[row]])[:, 0]
        ranked = members[np.argsort(apart, kind="stable")].tolist()
        return next((int(other) for other in ranked if unasked(row, other)), None)
