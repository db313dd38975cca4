"""Approximate nearest rows by an inverted file: k-means cells, and only the cells nearby are searched.

Rows are kept in the order of their cells, so that two cells meet in one matrix product and one scan. How many cells to
probe is known before: a true neighbour is found when its cell is probed, so the true neighbours of a sample of rows
give the recall of every number of probes at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from sidelight._core.kernels import kernel
from sidelight._core.params import as_seed
from sidelight._core.quiet import without_library_warnings
from sidelight._core.segments import group_rows
from sidelight._core.threads import for_each_in_threads, one_blas_thread
from sidelight.progress import report

RECALL = 0.95  # the graph hardly changes above: a missed neighbour is replaced by one that is almost as near
SAMPLE = 500  # rows whose recall is measured; its standard error is then below 0.003
_BLOCK = 4_000_000  # distances held at a time, 16 MB in each thread
_TOGETHER = 32  # cells between two reports of progress


def search(X: Any, k: int, *, generator: np.random.Generator, recall: float = RECALL) -> tuple[Any, Any, float]:
    """Find about the ``k`` nearest other rows of every row: indices, distances and the measured recall."""
    cells = Cells(X, generator)
    n_probe, neighbours = _probes(cells, k, recall, generator)
    indices = np.empty((X.shape[0], k), dtype=np.int32 if X.shape[0] < 2**31 else np.int64)
    distances = np.empty((X.shape[0], k))

    def fill(cell: int) -> None:
        members = cells.order[cells.starts[cell] : cells.starts[cell + 1]]
        if len(members):
            near = cells.order[cells.nearest(cells.places(cell), cells.near_enough(cell, n_probe, k), k)]
            gaps = exact_distances(X[members], X, near)
            order = np.argsort(gaps, axis=1, kind="stable")
            indices[members] = np.take_along_axis(near, order, axis=1)
            distances[members] = np.take_along_axis(gaps, order, axis=1)

    for at in range(0, cells.n_cells, _TOGETHER):
        report("neighbours", at, cells.n_cells)
        for_each_in_threads(fill, range(at, min(at + _TOGETHER, cells.n_cells)))
    return indices, distances, neighbours


class Cells:
    """Rows grouped by the nearest of about sqrt(n_rows) centres: float32, one cell after the other.

    A *place* is a row's number in this order; ``order[place]`` is its number in X.
    """

    def __init__(self, X: Any, generator: np.random.Generator) -> None:
        n_rows = X.shape[0]
        # float32 halves the traffic; the mean is taken off first because lengths far above the distances lose them
        rows = X.astype(np.float32) if sparse.issparse(X) else np.asarray(X - X.mean(axis=0), dtype=np.float32)
        self.n_cells = max(1, int(np.sqrt(n_rows)))
        few = generator.choice(n_rows, size=min(n_rows, 50 * self.n_cells), replace=False)
        centres = _centres(rows[few], self.n_cells, as_seed(generator))
        with one_blas_thread():
            cell_of = pairwise_distances_argmin(rows, centres)
        self.order, self.starts = group_rows(cell_of, self.n_cells)
        self.cell_at = cell_of[self.order]
        self.rows = rows[self.order]
        self.lengths = row_norms(self.rows, squared=True).astype(np.float32)
        gaps = row_norms(centres, squared=True) - 2 * centres @ centres.T
        self.nearby = np.argsort(gaps, axis=1, kind="stable")

    def places(self, cell: int) -> np.ndarray:
        """Return the places of one cell's rows."""
        return np.arange(self.starts[cell], self.starts[cell + 1])

    def near_enough(self, cell: int, n_probe: int, k: int) -> np.ndarray:
        """Return the ``n_probe`` cells nearest to one cell, itself first; more if they hold no more than k rows."""
        reach = np.cumsum(np.diff(self.starts)[self.nearby[cell]])
        return np.asarray(self.nearby[cell, : max(n_probe, 1 + int(np.searchsorted(reach, k, side="right")))])

    def nearest(self, queries: np.ndarray, cells: np.ndarray, k: int) -> np.ndarray:
        """Return the places of the ``k`` rows of some cells that are nearest to each query's place, itself left out."""
        best = np.full((len(queries), k), np.inf, dtype=np.float32)
        neighbours = np.full((len(queries), k), -1, dtype=np.intp)
        left = self.rows[queries]
        for first, last in zip(self.starts[cells], self.starts[cells + 1]):
            step = max(1, _BLOCK // max(1, last - first))
            for at in range(0, len(queries), step):
                part = slice(at, at + step)
                dots = safe_sparse_dot(left[part], self.rows[first:last].T, dense_output=True)
                dots = np.ascontiguousarray(dots, dtype=np.float32)
                keep_smallest(dots, self.lengths[first:last], first, queries[part], best[part], neighbours[part])
        return neighbours


def _centres(rows: Any, n_cells: int, seed: int) -> np.ndarray:
    with without_library_warnings(), one_blas_thread():  # duplicates leave cells empty, which harms nobody here
        return np.asarray(KMeans(n_cells, n_init=1, max_iter=10, random_state=seed).fit(rows).cluster_centers_)


def _probes(cells: Cells, k: int, recall: float, generator: np.random.Generator) -> tuple[int, float]:
    """Return how many cells must be probed for this recall, and the recall that this many have."""
    n_rows = len(cells.order)
    sample = np.sort(generator.choice(n_rows, size=min(SAMPLE, n_rows), replace=False))
    truth = cells.nearest(sample, np.arange(cells.n_cells), k)
    rank = np.argsort(cells.nearby, axis=1)  # rank[a, b]: cell b is the so-and-so nearest of cell a
    needed = np.sort(rank[cells.cell_at[sample][:, None], cells.cell_at[truth]], axis=None)
    n_probe = 1 + int(needed[int(np.ceil(recall * needed.size)) - 1])
    return n_probe, float(np.mean(needed < n_probe))


# float32 against the house rule: the block of products is what this scan waits for, and it is half as large
@kernel("void(float32[:, ::1], float32[::1], intp, intp[::1], float32[:, ::1], intp[:, ::1])")
def keep_smallest(dots: Any, lengths: Any, first: int, queries: Any, best: Any, found: Any) -> None:
    """Keep, of the candidates first, first + 1, ..., those with the smallest |c|^2 - 2 c'q; never the query itself."""
    k = best.shape[1]
    for i in range(dots.shape[0]):
        for j in range(dots.shape[1]):
            gap = lengths[j] - np.float32(2.0) * dots[i, j]
            if gap < best[i, k - 1] and first + j != queries[i]:
                at = k - 1  # insertion: after the first few hundred candidates this is rare
                while at > 0 and best[i, at - 1] > gap:
                    best[i, at] = best[i, at - 1]
                    found[i, at] = found[i, at - 1]
                    at -= 1
                best[i, at] = gap
                found[i, at] = first + j


def exact_distances(queries: Any, X: Any, found: np.ndarray) -> np.ndarray:
    """Return the float64 distance from each query to each of the rows of X found for it; copies are at exactly 0."""
    left, right = np.repeat(np.arange(len(found)), found.shape[1]), found.ravel()
    out = np.empty(len(left))
    step = max(1, _BLOCK // max(1, X.shape[1]))
    for at in range(0, len(left), step):
        part = slice(at, at + step)
        out[part] = row_norms(queries[left[part]] - X[right[part]])
    return out.reshape(found.shape)
