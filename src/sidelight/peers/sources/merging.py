"""Agglomerative merging of groups of rows, from distances between groups that never see all pairs at once.

Distances between groups (nearest, farthest or mean pair) come from blocks of rows; merging then follows the
Lance-Williams rules with the groups' sizes, so average linkage is the mean over pairs of *rows*, as if every row had
been merged from the beginning.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sidelight._core.kernels import kernel
from sidelight.progress import report

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

LINKAGES = {"single": 0, "complete": 1, "average": 2}


def group_distances(X: Floats, groups: Ints, n_groups: int, linkage: str, *, block: int = 512) -> Floats:
    """Return the (n_groups x n_groups) Euclidean distances between groups of rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows.
    groups : intp array
        The group of each row, every group having at least one.
    linkage : {"single", "complete", "average"}
        Nearest, farthest or mean pair.
    block : int
        Rows looked at together; memory is block x n_rows.
    """
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups, minlength=n_groups)
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    X = X[order] - X.mean(axis=0)  # centred, so that squares of large coordinates do not drown small distances
    squares = np.einsum("ij,ij->i", X, X)
    reduce = {"single": np.minimum, "complete": np.maximum, "average": np.add}[linkage]
    to_groups = np.empty((len(X), n_groups))
    for begin in range(0, len(X), block):
        report("distances between groups", begin, len(X))
        rows = slice(begin, min(begin + block, len(X)))
        gap = squares[rows, None] + squares[None, :] - 2.0 * (X[rows] @ X.T)
        np.sqrt(np.maximum(gap, 0.0, out=gap), out=gap)
        to_groups[rows] = reduce.reduceat(gap, starts, axis=1)
    distances = reduce.reduceat(to_groups, starts, axis=0)
    if linkage == "average":
        distances /= sizes[:, None] * sizes[None, :]
    return np.asarray(0.5 * (distances + distances.T))


def merge(distances: Floats, sizes: Ints, n_clusters: int, linkage: str) -> tuple[Ints, Floats]:
    """Merge the two nearest groups until ``n_clusters`` remain; return the cluster of each group and the heights."""
    D = np.ascontiguousarray(distances, dtype=np.float64).copy()
    np.fill_diagonal(D, np.inf)
    owner = np.arange(len(D), dtype=np.intp)
    heights = np.zeros(max(0, len(D) - n_clusters))
    merge_groups(D, np.ascontiguousarray(sizes, dtype=np.float64).copy(), owner, heights, LINKAGES[linkage])
    return np.unique(owner, return_inverse=True)[1].astype(np.intp), heights


@kernel("void(float64[:, ::1], float64[::1], intp[::1], float64[::1], intp)")
def merge_groups(D: Floats, sizes: Floats, owner: Ints, heights: Floats, linkage: int) -> None:
    """Make ``heights.size`` merges in place; a merged group keeps the lower index, the other's row becomes inf."""
    n = D.shape[0]
    nearest = np.empty(n, dtype=np.intp)
    for i in range(n):
        nearest[i] = np.argmin(D[i])
    for m in range(heights.size):
        p = 0
        for i in range(n):
            if D[i, nearest[i]] < D[p, nearest[p]]:
                p = i
        q = nearest[p]
        if q < p:
            p, q = q, p
        heights[m] = D[p, q]
        for j in range(n):
            if j != p and j != q and D[p, j] < np.inf:
                if linkage == 0:
                    d = min(D[p, j], D[q, j])
                elif linkage == 1:
                    d = max(D[p, j], D[q, j])
                else:
                    d = (sizes[p] * D[p, j] + sizes[q] * D[q, j]) / (sizes[p] + sizes[q])
                D[p, j] = d
                D[j, p] = d
        sizes[p] += sizes[q]
        for j in range(n):
            D[q, j] = np.inf
            D[j, q] = np.inf
            if owner[j] == q:
                owner[j] = p
        for i in range(n):
            if nearest[i] in (p, q) or i in (p, q) or D[i, p] < D[i, nearest[i]]:
                nearest[i] = np.argmin(D[i])
