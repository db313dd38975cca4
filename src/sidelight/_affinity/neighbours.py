"""The nearest rows of every row: exact by brute force, or by an inverted file with its recall measured.

A row is never its own neighbour, even among duplicates. Up to ``BRUTE_ROWS`` rows the answer is exact; above, rows are
searched by an inverted file: k-means cells, and only the cells nearby are searched; ``recall`` says how much of the
truth was found. Rows are kept in the order of their cells, so that two cells meet in one matrix product and one scan.
How many cells to probe is known before: a true neighbour is found when its cell is probed, so the true neighbours of a
sample of rows give the recall of every number of probes at once.

scikit-learn's modules are imported where they are used: they take .1 s, and a fitted model that places rows needs none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from sidelight._core.kernels import kernel
from sidelight._core.params import as_seed
from sidelight._core.quiet import without_library_warnings
from sidelight._core.segments import group_rows
from sidelight._core.threads import for_each_in_threads, one_blas_thread
from sidelight.errors import InvalidParameter
from sidelight.progress import report

BRUTE_ROWS = 25_000  # exact search of that many rows takes about 2 s; 100,000 take 45 s
METRICS = ("euclidean", "cosine")


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The ``k`` nearest rows of each row, nearest first.

    ``indices`` and ``distances`` have shape (n_rows, k); ``recall`` is the share of true neighbours found among
    sampled rows, 1.0 when the search was exact.
    """

    indices: np.ndarray
    distances: np.ndarray
    recall: float


def as_metric_rows(X: Any, metric: str) -> Any:
    """Return rows whose Euclidean distances mean ``metric``: for the cosine, rows of unit length.

    ||u - v||^2 = 2 - 2 cos(u, v) for unit rows, so that everything below knows one distance only. Rows of zeros stay.
    """
    if metric == "euclidean":
        return X
    if metric == "cosine":
        from sklearn.preprocessing import normalize

        return normalize(X)
    raise InvalidParameter(f"The metric must be one of {METRICS}. Got {metric!r} instead.")


def nearest_rows(X: Any, k: int, *, generator: np.random.Generator, exact_up_to: int = BRUTE_ROWS) -> Neighbours:
    """Find the ``k`` nearest other rows of every row of ``X``, in Euclidean distance.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_rows, n_features)
        The rows.
    k : int
        How many neighbours; fewer are returned when there are not that many other rows.
    generator : numpy.random.Generator
        Chooses the cells and the rows whose recall is measured; unused when the search is exact.
    exact_up_to : int
        Search by brute force up to that many rows.
    """
    n_rows = X.shape[0]
    k = min(k, n_rows - 1)
    if k < 1:
        return Neighbours(np.empty((n_rows, 0), dtype=np.intp), np.empty((n_rows, 0)), 1.0)
    if n_rows <= exact_up_to:
        return Neighbours(*_brute_force(X, k), recall=1.0)
    return Neighbours(*search(X, k, generator=generator))


def nearest_of(X: Any, queries: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the ``k`` nearest rows of ``X`` for each query, exactly; one that equals a row finds it at distance 0."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=min(k, X.shape[0]), algorithm="brute").fit(X)
    with one_blas_thread():  # scikit-learn limits BLAS by itself; only inside our count do overlapping fits restore it
        indices = search.kneighbors(queries, return_distance=False)
    distances = exact_distances(queries, X, indices)  # its own are roots of differences of large numbers
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(distances, order, axis=1)


def _brute_force(X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    indices, distances = nearest_of(X, X, k + 1)
    return drop_self(indices, distances)


def drop_self(indices: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Remove each row from its own list; among many duplicates it may be missing, then the farthest goes."""
    n_rows, width = indices.shape
    is_self = indices == np.arange(n_rows)[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    return indices[~is_self].reshape(n_rows, width - 1), distances[~is_self].reshape(n_rows, width - 1)


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
        from sklearn.metrics import pairwise_distances_argmin

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
    from sklearn.cluster import KMeans

    with without_library_warnings(), one_blas_thread():  # duplicates leave cells empty, which changes nothing here
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
