"""The clusters that the rows alone suggest: k-means along the graph of near rows, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidelight.active.kernels import RowKernels
from sidelight.estimators._how_many import clearest_number

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]

STARTS, ROUNDS, SAMPLE, TRIES = 6, 15, 3000, 8
FORETOLD = 10.0  # answers about rows of different clusters that are taken to have said "different" before any came
APART, JOINED = 0.15, 0.33  # share of "same" among such answers: up to the first clusters differ, from the second not


class RowsAlone:
    """Clusters of the rows before anybody answered; worked out when first asked for, and never changed by answers.

    Parameters
    ----------
    kernels : RowKernels
        The rows.
    n_clusters : int or None
        How many clusters there are; None lets the graph of the rows say it.
    seed : int
        Draws the starts of k-means.
    """

    def __init__(self, kernels: RowKernels, n_clusters: int | None, seed: int) -> None:
        self._kernels, self._n_clusters, self._seed = kernels, n_clusters, seed

    @cached_property
    def labels(self) -> Ints:
        """The cluster of every row."""
        generator = np.random.default_rng(self._seed)
        n_clusters = self._n_clusters or clearest_number(self._kernels.known, generator).chosen
        view = self._kernels.views.get("graph", next(iter(self._kernels.views.values())))
        return _k_means(view, min(max(n_clusters, 2), len(view)), generator)

    @property
    def n_clusters(self) -> int:
        """How many there are."""
        return int(self.labels.max()) + 1

    def trust_in_number(self, rows: Sequence[int], links: Sequence[tuple[int, int, int]], eps: float) -> float:
        """Return how far answers agree that different clusters differ, from 0 to 1.

        Parameters
        ----------
        rows : sequence of int
            The rows that answers are about.
        links : sequence of (int, int, int)
            Positions of two of these rows, and whether the answer was "same".
        eps : float
            The share of wrong answers.
        """
        number = self.labels[list(rows)]
        said_same = [same for a, b, same in links if number[a] != number[b]]
        share = max(sum(said_same) / (len(said_same) + FORETOLD) - eps, 0.0) / (1.0 - 2.0 * eps)
        return float(np.clip((JOINED - share) / (JOINED - APART), 0.0, 1.0))


@np.errstate(invalid="ignore")  # as in gaussian.py
def _k_means(view: Floats, n_clusters: int, generator: np.random.Generator) -> Ints:
    n = len(view)
    some = view if n <= SAMPLE else view[generator.choice(n, SAMPLE, replace=False)]
    order = np.arange(len(some))

    best: tuple[float, Floats] | None = None
    for _ in range(STARTS):
        centres = _more_centres(some, some[generator.choice(len(some), 1)], n_clusters - 1, generator)
        for _ in range(ROUNDS):
            distances = _distances(some, centres)
            nearest = distances.argmin(axis=1)
            ones = np.ones(len(some), dtype=centres.dtype)  # sums are as precise as the centres
            sums = sp.csr_array((ones, (nearest, order)), shape=(n_clusters, len(some))) @ some
            sizes = np.bincount(nearest, minlength=len(centres))
            centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
        cost = float(distances.min(axis=1).sum())
        if best is None or cost < best[0]:
            best = (cost, centres)
    assert best is not None  # STARTS is positive
    return _distances(view, best[1]).argmin(axis=1)


def _more_centres(rows: Floats, centres: Floats, n_more: int, generator: np.random.Generator) -> Floats:
    """Add centres far from those there are, the best of several tries each (greedy k-means++)."""
    for _ in range(n_more):
        far = np.maximum(_distances(rows, centres).min(axis=1), 0.0)
        total = far.sum()
        chance = far / total if total > 0 else None
        tried = generator.choice(len(rows), TRIES, p=chance)
        costs = [np.minimum(far, _distances(rows, rows[[t]])[:, 0]).sum() for t in tried]
        centres = np.vstack([centres, rows[tried[int(np.argmin(costs))]]])
    return centres


def _distances(rows: Floats, centres: Floats) -> Floats:
    squares = np.einsum("ij,ij->i", rows, rows)[:, None] + np.einsum("ij,ij->i", centres, centres)
    return np.asarray(squares - 2.0 * rows @ centres.T)
