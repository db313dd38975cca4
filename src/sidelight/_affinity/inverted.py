"""Approximate nearest rows by an inverted file: k-means cells, and only the cells nearby are searched.

All rows of a cell share their candidates, so a cell costs one matrix product and one scan. How many cells to probe is
found first, on a sample of rows whose true neighbours are known: doubled until the recall is enough.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from sidelight._core.kernels import kernel
from sidelight._core.params import as_seed
from sidelight._core.segments import group_rows
from sidelight.progress import report

RECALL = 0.95  # the graph hardly changes above: a missed neighbour is replaced by one that is almost as near
SAMPLE = 500  # rows whose recall is measured; its standard error is then below 0.003
_FIRST_PROBES = 8
_BLOCK = 4_000_000  # distances held at a time, 16 MB


def search(X: Any, k: int, *, generator: np.random.Generator, recall: float = RECALL) -> tuple[Any, Any, float]:
    """Find about the ``k`` nearest other rows of every row: indices, distances and the measured recall."""
    cells = Cells(X, generator)
    sample = np.sort(generator.choice(X.shape[0], size=min(SAMPLE, X.shape[0]), replace=False))
    truth = _true_neighbours(cells, sample, k)
    n_probe = min(_FIRST_PROBES, cells.n_cells)
    found = _recall(cells, sample, truth, k, n_probe)
    while found < recall and n_probe < cells.n_cells:
        n_probe = min(2 * n_probe, cells.n_cells)
        found = _recall(cells, sample, truth, k, n_probe)
    indices, distances = _search_everywhere(cells, k, n_probe)
    return indices, distances, found


class Cells:
    """Rows grouped by the nearest of about sqrt(n_rows) centres, as float32, with squared lengths."""

    def __init__(self, X: Any, generator: np.random.Generator) -> None:
        n_rows = X.shape[0]
        self.exact = X
        # float32 halves the traffic; the mean is taken off first because lengths far above the distances lose them
        self.rows = X.astype(np.float32) if sparse.issparse(X) else np.asarray(X - X.mean(axis=0), dtype=np.float32)
        self.n_cells = max(1, int(np.sqrt(n_rows)))
        few = generator.choice(n_rows, size=min(n_rows, 50 * self.n_cells), replace=False)
        self.centres = _centres(self.rows[few], self.n_cells, as_seed(generator))
        self.cell_of = pairwise_distances_argmin(self.rows, self.centres)
        self.order, self.starts = group_rows(self.cell_of, self.n_cells)
        self.lengths = row_norms(self.rows, squared=True).astype(np.float32)
        gaps = row_norms(self.centres, squared=True) - 2 * self.centres @ self.centres.T
        self.nearby = np.argsort(gaps, axis=1, kind="stable")

    def members(self, cell: int) -> np.ndarray:
        """Return the rows of one cell."""
        return self.order[self.starts[cell] : self.starts[cell + 1]]

    def candidates(self, cell: int, n_probe: int) -> np.ndarray:
        """Return the rows of the ``n_probe`` cells nearest to one cell, itself included."""
        return np.concatenate([self.members(c) for c in self.nearby[cell, :n_probe]])

    def nearest(self, queries: np.ndarray, candidates: np.ndarray, k: int) -> np.ndarray:
        """Return the ``k`` candidates nearest to each query row, itself left out, in no order; -1 where too few."""
        out = np.empty((len(queries), k), dtype=np.intp)
        right, lengths = self.rows[candidates].T, self.lengths[candidates]
        step = max(1, _BLOCK // len(candidates))
        for at in range(0, len(queries), step):
            part = queries[at : at + step]
            gaps = safe_sparse_dot(self.rows[part], right, dense_output=True)
            gaps *= np.float32(-2.0)
            gaps += lengths
            out[at : at + step] = smallest_k(np.ascontiguousarray(gaps, dtype=np.float32), candidates, part, k)
        return out


def _centres(rows: Any, n_cells: int, seed: int) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # duplicates leave cells empty, which harms nobody here
        return np.asarray(KMeans(n_cells, n_init=1, max_iter=10, random_state=seed).fit(rows).cluster_centers_)


# float32 against the house rule: the block of distances is what this scan waits for, and it is half as large
@kernel("intp[:, ::1](float32[:, ::1], intp[::1], intp[::1], intp)")
def smallest_k(gaps: np.ndarray, candidates: np.ndarray, queries: np.ndarray, k: int) -> np.ndarray:
    """For each row of ``gaps``, the candidates with the ``k`` smallest values, the query itself left out."""
    out = np.full((gaps.shape[0], k), -1, dtype=np.intp)
    best = np.empty(k, dtype=np.float32)
    for i in range(gaps.shape[0]):
        best[:] = np.inf
        for j in range(gaps.shape[1]):
            gap = gaps[i, j]
            if gap < best[k - 1] and candidates[j] != queries[i]:
                at = k - 1  # insertion: after the first few hundred candidates this is rare
                while at > 0 and best[at - 1] > gap:
                    best[at] = best[at - 1]
                    out[i, at] = out[i, at - 1]
                    at -= 1
                best[at] = gap
                out[i, at] = candidates[j]
    return out


def _search_everywhere(cells: Cells, k: int, n_probe: int) -> tuple[np.ndarray, np.ndarray]:
    n_rows = len(cells.cell_of)
    indices = np.empty((n_rows, k), dtype=np.int32 if n_rows < 2**31 else np.int64)
    distances = np.empty((n_rows, k))
    for cell in range(cells.n_cells):
        report("neighbours", cell, cells.n_cells)
        members = cells.members(cell)
        if len(members):
            probes = n_probe
            candidates = cells.candidates(cell, probes)
            while len(candidates) <= k and probes < cells.n_cells:  # crowded duplicates leave tiny cells behind
                probes = min(2 * probes, cells.n_cells)
                candidates = cells.candidates(cell, probes)
            found = cells.nearest(members, candidates, k)
            gaps = exact_distances(cells.exact[members], cells.exact, found)
            order = np.argsort(gaps, axis=1, kind="stable")
            indices[members] = np.take_along_axis(found, order, axis=1)
            distances[members] = np.take_along_axis(gaps, order, axis=1)
    return indices, distances


def exact_distances(queries: Any, X: Any, found: np.ndarray) -> np.ndarray:
    """Return the float64 distance from each query to each of the rows of X found for it; copies are at exactly 0."""
    left, right = np.repeat(np.arange(len(found)), found.shape[1]), found.ravel()
    out = np.empty(len(left))
    step = max(1, _BLOCK // max(1, X.shape[1]))
    for at in range(0, len(left), step):
        part = slice(at, at + step)
        out[part] = row_norms(queries[left[part]] - X[right[part]])
    return out.reshape(found.shape)


def _true_neighbours(cells: Cells, sample: np.ndarray, k: int) -> np.ndarray:
    return cells.nearest(sample, np.arange(len(cells.cell_of), dtype=np.intp), k)


def _recall(cells: Cells, sample: np.ndarray, truth: np.ndarray, k: int, n_probe: int) -> float:
    hits = 0
    for cell in np.unique(cells.cell_of[sample]):
        here = np.flatnonzero(cells.cell_of[sample] == cell)
        found = cells.nearest(sample[here], cells.candidates(cell, n_probe), k)
        hits += sum(len(np.intersect1d(f[f >= 0], t)) for f, t in zip(found, truth[here]))
    return hits / truth.size
