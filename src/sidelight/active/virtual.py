"""The clusters that the rows alone suggest: k-means along the graph of near rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]

STARTS, ROUNDS, SAMPLE, TRIES = 6, 15, 3000, 8


@np.errstate(invalid="ignore")  # as in gaussian.py
def guessed_clusters(view: Floats, n_clusters: int, generator: np.random.Generator) -> Ints:
    """Cluster all rows."""
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
