"""The nearest rows of every row: exact by brute force, or by an inverted file with its recall measured.

A row is never its own neighbour, even among duplicates. Up to ``BRUTE_ROWS`` rows the answer is exact; above, rows are
searched by an inverted file: k-means cells, of which a row looks into those whose centres are hardly farther than the
nearest centre; ``recall`` says how much of the truth was found. Rows are kept in the order of their cells, so that rows
near each other look into the same cells and meet them in one matrix product and one scan. How far to look is known
before: a true neighbour is found when its cell is looked into, so the true neighbours of a sample of rows give the
recall of every reach at once.

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
from sidelight._core.process import for_each_in_threads, one_blas_thread, without_library_warnings
from sidelight._core.segments import group_rows
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
        return Neighbours(*drop_self(*nearest_of(X, X, k + 1)), recall=1.0)
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


def drop_self(indices: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Remove each row from its own list; among many duplicates it may be missing, then the farthest goes."""
    n_rows, width = indices.shape
    is_self = indices == np.arange(n_rows)[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    return indices[~is_self].reshape(n_rows, width - 1), distances[~is_self].reshape(n_rows, width - 1)


RECALL = 0.95  # the graph hardly changes above: a missed neighbour is replaced by one that is almost as near
SAMPLE = 500  # rows whose recall is measured; its standard error is then below 0.003
_BLOCK = 4_000_000  # distances held at a time, 16 MB in each thread
_ROWS = 1024  # rows that look into cells together
_TOGETHER = 32  # such blocks between two reports of progress
_GLANCE = 64  # candidates that are compared at once before any is looked at


def search(X: Any, k: int, *, generator: np.random.Generator, recall: float = RECALL) -> tuple[Any, Any, float]:
    """Find about the ``k`` nearest other rows of every row: indices, distances and the measured recall."""
    cells = Cells(X, generator)
    reach, measured = _reach(cells, k, recall, generator)
    n_rows = X.shape[0]
    indices = np.empty((n_rows, k), dtype=np.int32 if n_rows < 2**31 else np.int64)
    distances = np.empty((n_rows, k))

    def fill(at: int) -> None:
        places = np.arange(at, min(at + _ROWS, n_rows))
        members, near = cells.order[places], cells.order[cells.nearest(places, k, reach)]
        gaps = exact_distances(X[members], X, near)
        order = np.argsort(gaps, axis=1, kind="stable")
        indices[members] = np.take_along_axis(near, order, axis=1)
        distances[members] = np.take_along_axis(gaps, order, axis=1)

    for at in range(0, n_rows, _ROWS * _TOGETHER):
        report("neighbours", at, n_rows)
        for_each_in_threads(fill, range(at, min(at + _ROWS * _TOGETHER, n_rows), _ROWS))
    return indices, distances, measured


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
        self.centres = _centres(rows[few], self.n_cells, as_seed(generator))
        self.centre_lengths = row_norms(self.centres, squared=True).astype(np.float32)
        cell_of = np.empty(n_rows, dtype=np.intp)

        def assign(at: slice) -> None:
            cell_of[at] = self._gaps(rows[at]).argmin(axis=1)

        step = max(1, _BLOCK // self.n_cells)
        for_each_in_threads(assign, [slice(at, at + step) for at in range(0, n_rows, step)])
        self.order, self.starts = group_rows(cell_of, self.n_cells)
        self.cell_at = cell_of[self.order]
        self.rows = rows[self.order]
        self.lengths = row_norms(self.rows, squared=True).astype(np.float32)

    def ratios(self, places: np.ndarray) -> np.ndarray:
        """Return the squared distance of each place to every centre, as a multiple of that to the nearest one."""
        gaps = self._gaps(self.rows[places])
        gaps += self.lengths[places][:, None]
        least = np.finfo(np.float32).eps * (self.lengths[places] + self.centre_lengths.max())  # below, it is rounding
        gaps /= np.maximum(gaps.min(axis=1), least)[:, None]
        return gaps

    def nearest(self, places: np.ndarray, k: int, reach: float = np.inf) -> np.ndarray:
        """Return the places of the ``k`` nearest rows of each place, itself left out, among the cells within reach."""
        best = np.full((len(places), k), np.inf, dtype=np.float32)
        found = np.full((len(places), k), -1, dtype=np.intp)
        ratios = self.ratios(places)
        looks = self._looks(ratios, k, reach)
        left = self.rows[places]
        cells = np.flatnonzero(looks.any(axis=1) & (np.diff(self.starts) > 0))
        for cell in cells[np.argsort(ratios.min(axis=0)[cells], kind="stable")]:  # near ones first: more is passed over
            first, last = self.starts[cell], self.starts[cell + 1]
            who = np.flatnonzero(looks[cell])
            step = max(1, _BLOCK // (last - first))
            for at in range(0, len(who), step):
                lines = who[at : at + step]
                dots = safe_sparse_dot(left[lines], self.rows[first:last].T, dense_output=True)
                dots = np.ascontiguousarray(dots, dtype=np.float32)
                keep_smallest(dots, self.lengths[first:last], first, places, lines, best, found)
        return found

    def _gaps(self, rows: Any) -> Any:
        """Return the squared distances of rows to all centres, without the squared lengths of the rows."""
        dots = safe_sparse_dot(rows, self.centres.T, dense_output=True)
        dots *= np.float32(-2.0)
        dots += self.centre_lengths
        return dots

    def _looks(self, ratios: np.ndarray, k: int, reach: float) -> np.ndarray:
        """Return which cells (lines) are looked into for which rows (columns); together they hold more than k rows."""
        looks = ratios <= reach
        sizes = np.diff(self.starts).astype(np.float32)  # sums of these are near enough, and BLAS adds them up
        for row in np.flatnonzero(looks.astype(np.float32) @ sizes < k + 1):
            nearest = np.argsort(ratios[row], kind="stable")
            enough = 1 + int(np.searchsorted(np.cumsum(sizes[nearest]), k, side="right"))
            looks[row, nearest[:enough]] = True
        return np.ascontiguousarray(looks.T)


def _centres(rows: Any, n_cells: int, seed: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    # starting at rows drawn at random: k-means++ takes longer than all rounds, and spends its cells on stragglers
    fit = KMeans(n_cells, init="random", n_init=1, max_iter=10, random_state=seed)
    with without_library_warnings(), one_blas_thread():  # duplicates leave cells empty, which changes nothing here
        return np.asarray(fit.fit(rows).cluster_centers_, dtype=np.float32)


def _reach(cells: Cells, k: int, recall: float, generator: np.random.Generator) -> tuple[float, float]:
    """Return how much farther than the nearest centre those of other cells may be, and the recall of this reach."""
    n_rows = len(cells.order)
    sample = np.sort(generator.choice(n_rows, size=min(SAMPLE, n_rows), replace=False))
    truth = cells.nearest(sample, k)
    needed = np.sort(np.take_along_axis(cells.ratios(sample), cells.cell_at[truth], axis=1), axis=None)
    reach = float(needed[int(np.ceil(recall * needed.size)) - 1])
    return reach, float(np.mean(needed <= reach))


# float32 against the house rule: the block of products is what this scan waits for, and it is half as large
@kernel("void(float32[:, ::1], float32[::1], intp, intp[::1], intp[::1], float32[:, ::1], intp[:, ::1])")
def keep_smallest(dots: Any, lengths: Any, first: int, queries: Any, lines: Any, best: Any, found: Any) -> None:
    """Keep, of the candidates first, first + 1, ..., those with the smallest |c|^2 - 2 c'q; never the query itself.

    Row i of ``dots`` is about the query of line ``lines[i]``.
    """
    k = best.shape[1]
    for i in range(dots.shape[0]):
        line = lines[i]
        for begin in range(0, dots.shape[1], _GLANCE):
            own, sizes, worst = dots[i, begin : begin + _GLANCE], lengths[begin : begin + _GLANCE], best[line, k - 1]
            n_near = np.int32(0)
            for j in range(own.shape[0]):  # no branch: several candidates are compared by one instruction
                n_near += np.int32(sizes[j] - np.float32(2.0) * own[j] < worst)
            if n_near == 0:
                continue
            for j in range(own.shape[0]):
                gap = sizes[j] - np.float32(2.0) * own[j]
                if gap < best[line, k - 1] and first + begin + j != queries[line]:
                    at = k - 1  # insertion: after the first few hundred candidates this is rare
                    while at > 0 and best[line, at - 1] > gap:
                        best[line, at] = best[line, at - 1]
                        found[line, at] = found[line, at - 1]
                        at -= 1
                    best[line, at] = gap
                    found[line, at] = first + begin + j


def exact_distances(queries: Any, X: Any, found: np.ndarray) -> np.ndarray:
    """Return the float64 distance from each query to each of the rows of X found for it; copies are at exactly 0."""
    if not sparse.issparse(X):
        distances = np.empty(found.shape)
        left, right = (np.ascontiguousarray(rows, dtype=np.float64) for rows in (queries, X))
        measure(left, right, np.ascontiguousarray(found, dtype=np.intp), distances)
        return distances
    left, right = np.repeat(np.arange(len(found)), found.shape[1]), found.ravel()
    out = np.empty(len(left))
    step = max(1, _BLOCK // max(1, X.shape[1]))
    for at in range(0, len(left), step):
        part = slice(at, at + step)
        out[part] = row_norms(queries[left[part]] - X[right[part]])
    return out.reshape(found.shape)


_READ = "Array(float64, 2, 'C', readonly=True)"  # memory-mapped rows may not be written to


@kernel(f"void({_READ}, {_READ}, intp[:, ::1], float64[:, ::1])")
def measure(queries: Any, X: Any, found: Any, out: Any) -> None:
    """Fill in the distances from each query to the rows of X found for it."""
    for i in range(found.shape[0]):
        for place in range(found.shape[1]):
            row = found[i, place]
            total = 0.0
            for j in range(X.shape[1]):
                gap = queries[i, j] - X[row, j]
                total += gap * gap
            out[i, place] = np.sqrt(total)
