"""Agglomerative clustering that starts from given groups: [B04] 4.3.2."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin

from sidelight._core.contingency import encode
from sidelight._core.kernels import kernel
from sidelight._core.params import as_sequence, check_choice, check_n_clusters
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.estimators._base import Estimator, all_or_nothing, rows_to_fit
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


class SeededAgglomerative(ClusterMixin, Estimator):
    """Merge given groups of rows until ``n_clusters`` remain; rows of one group always stay together.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    linkage : {"average", "single", "complete"}, default="average"
        Distance of two groups: mean, nearest or farthest pair of rows.

    Attributes
    ----------
    labels_ : ndarray of intp
        Cluster of each row.
    group_names_ : tuple
        The groups in the order of their first row.
    group_labels_ : ndarray of intp
        Cluster of each group.
    heights_ : ndarray
        Distance at each merge; a jump suggests where to stop.
    n_features_in_, data_fingerprint_ : int, str
        Number of features, a short name of the rows.

    Examples
    --------
    >>> import sidelight as sl
    >>> X = [[0.0], [0.2], [0.1], [5.0], [5.1], [9.0]]
    >>> sl.peers.SeededAgglomerative(2).fit(X, groups=["a", "a", "b", "c", "c", "d"]).group_labels_
    array([0, 0, 1, 1])
    """

    __metadata_request__fit = {"groups": True}

    def __init__(self, n_clusters: int = 2, *, linkage: str = "average") -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> SeededAgglomerative:
        """Merge groups of rows.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The rows.
        y : ignored
            Present for scikit-learn.
        groups : array-like of hashable, optional
            The group of each row, for example its sequence; every row alone by default.
        """
        check_choice(self, "linkage", self.linkage, tuple(LINKAGES))
        X = rows_to_fit(self, X, ensure_min_samples=1)
        names: Any = tuple(range(X.shape[0]))
        codes = np.arange(X.shape[0], dtype=np.intp)
        if groups is not None:
            groups = as_sequence(self, "groups", groups, "a sequence with the group of each row")
            if len(groups) != X.shape[0]:
                raise InvalidData(
                    f"SeededAgglomerative got {X.shape[0]} rows but {len(groups)} groups. Bring one per row."
                )
            codes, names = encode(groups, what="groups of SeededAgglomerative")
        if groups is not None and isinstance(self.n_clusters, int) and self.n_clusters > len(names):
            raise InvalidParameter(
                f"SeededAgglomerative was asked for n_clusters={self.n_clusters} clusters of {len(names)} groups. "
                f"Ask for at most {len(names)}: groups are merged, never cut."
            )
        check_n_clusters(self, self.n_clusters, len(names))
        X = X.toarray() if hasattr(X, "toarray") else X
        distances = group_distances(X, codes, len(names), self.linkage)
        self.group_labels_, self.heights_ = merge(distances, np.bincount(codes), self.n_clusters, self.linkage)
        self.group_names_ = tuple(names)
        self.labels_ = self.group_labels_[codes]
        return self

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
