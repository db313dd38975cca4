"""Clusters that no question was about yet: k-means around the known ones, for the partition shown meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]

STARTS, ROUNDS, SAMPLE, TRIES = 6, 15, 3000, 8


@np.errstate(invalid="ignore")  # as in gaussian.py
def seeded_clusters(
    view: Floats, rows: Ints, labels: Ints, n_known: int, n_more: int, generator: np.random.Generator
) -> Ints:
    """Cluster all rows: known clusters stay near the rows that they were met in, ``n_more`` are found elsewhere."""
    n = len(view)
    some = view if n <= SAMPLE else view[generator.choice(n, SAMPLE, replace=False)]
    known = np.stack([view[rows[labels == k]].mean(axis=0) for k in range(n_known)])
    K, order = n_known + n_more, np.arange(len(some))

    best: tuple[float, Floats] | None = None
    for _ in range(STARTS):
        centres = _more_centres(some, known, n_more, generator)
        for _ in range(ROUNDS):
            distances = _distances(some, centres)
            nearest = distances.argmin(axis=1)
            ones = np.ones(len(some), dtype=centres.dtype)  # sums are as precise as the centres
            sums = sp.csr_array((ones, (nearest, order)), shape=(K, len(some))) @ some
            sizes = np.bincount(nearest, minlength=len(centres))
            centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
            centres[:n_known] = (centres[:n_known] + known) / 2.0
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
