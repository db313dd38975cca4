"""Spectral clustering of a contingency table: [B04] Algorithm 3 by singular vectors; section 5.1 beyond two axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import svds
from sklearn.cluster import KMeans

from sidelight._core.params import as_generator, as_seed, check_choice, check_number
from sidelight._core.process import one_blas_thread
from sidelight.estimators._base import all_or_nothing
from sidelight.estimators.sources._coclusterer import (
    Coclusterer,
    Floats,
    Ints,
    JointTable,
    clusters_of_axes,
    labels_to_start,
    table_to_fit,
)
from sidelight.progress import report

# The leading left singular vectors of a normalised table, one connected component at a time.
#
# [B04] Algorithm 3 asks for eigenvectors of a matrix that is neither symmetric nor, in general, square; what works is
# the singular vectors of D_r^(-1/2) P D_c^(-1/2). A table of k blocks has the singular value 1 k times over, and
# Lanczos returns a repeated value once without saying so: hence the components. Beyond two axes each axis has its own
# unfolding, normalised like a two-way table, and its own left vectors: the higher-order SVD that section 5.1
# proposes.


DENSE_SIDE = 400  # a full decomposition with a side that short is faster than Lanczos, and never misses anything


def unfold(coords: Ints, values: Floats, shape: tuple[int, ...], axis: int) -> Any:
    """Return the CSR matrix (codes of ``axis`` x cells of the other axes that occur), normalised as a two-way table.

    entry = P[x] / sqrt(P_axis[x_axis] * P_others[x_others])

    Each unfolding is a table of its own, its columns the combinations of the other axes, and Algorithm 3 divides by
    *its* margins; for two axes nothing changes. Dividing by the margins of the single axes instead lets combinations of
    codes that are frequent alone and rare together decide: on ten generated people that errs by 30 % instead of 0 %.
    """
    cell = np.zeros(values.size, dtype=np.int64)
    for a in range(len(shape)):
        if a != axis:
            cell = np.unique(cell * shape[a] + coords[a], return_inverse=True)[1]
    n_cells = int(cell.max()) + 1
    of_code, of_cell = np.bincount(coords[axis], values), np.bincount(cell, values)
    scaled = values / np.sqrt(of_code[coords[axis]] * of_cell[cell])
    return sp.csr_array((scaled, (coords[axis], cell)), shape=(shape[axis], n_cells))


def left_singular_vectors(A: Any, k: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the ``k`` largest singular values of a sparse matrix and their left vectors as columns.

    Fewer come back when the matrix has fewer rows or columns.
    """
    m, n = A.shape
    graph = sp.csr_array(sp.block_array([[None, A], [A.T, None]])) if m + n > DENSE_SIDE else None
    n_parts, parts = connected_components(graph, directed=False) if graph is not None else (1, np.zeros(m + n))
    triples: list[tuple[float, Ints, Floats]] = []
    for part in range(n_parts):
        rows, columns = np.flatnonzero(parts[:m] == part), np.flatnonzero(parts[m:] == part)
        if rows.size and columns.size:
            values, vectors = _solve(A[rows][:, columns] if n_parts > 1 else A, k, rng)
            triples += [(float(value), rows, vector) for value, vector in zip(values, vectors.T)]
    triples.sort(key=lambda one: (-round(one[0], 9), -one[1].size))  # ties between blocks: the larger block first
    vectors = np.zeros((m, min(k, len(triples))))
    for column, (_, rows, vector) in enumerate(triples[:k]):
        vectors[rows, column] = vector
    return np.array([one[0] for one in triples[:k]]), vectors


def _solve(A: Any, k: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    k = min(k, *A.shape)
    if min(A.shape) <= max(DENSE_SIDE, 2 * k + 2):
        if A.shape[1] > 4 * A.shape[0]:  # a wide unfolding: its short side squared is smaller
            squares, U = np.linalg.eigh((A @ A.T).toarray())
            order = np.argsort(squares)[::-1][:k]
            values, U = np.sqrt(np.maximum(squares[order], 0.0)), U[:, order]
        else:
            U, values, _ = np.linalg.svd(A.toarray(), full_matrices=False)
            values, U = values[:k], U[:, :k]
    else:
        U, values, _ = svds(A, k=k, v0=rng.standard_normal(min(A.shape)), return_singular_vectors="u")
        order = np.argsort(values)[::-1]
        values, U = values[order], U[:, order]
    signs = np.sign(U[np.abs(U).argmax(axis=0), np.arange(U.shape[1])])  # the sign is free: fix it
    return values, U * np.where(signs == 0, 1.0, signs)


class SpectralContingency(Coclusterer):
    r"""Cluster the axes of a table by k-means on the singular vectors of D_r^(-1/2) P D_c^(-1/2).

    Each axis is clustered on its own, from its own side of the decomposition, so the axes need not have the same
    number of clusters. With three axes or more the table is unfolded along each axis (the higher-order SVD) and each
    unfolding is normalised by its own margins.

    Parameters
    ----------
    n_clusters : int, sequence of int or dict of axis to int, default=3
        Clusters of each axis; also the number of singular vectors that describe its codes.
    scaling : {"mass", "unit", "none"}, default="mass"
        What is clustered: vectors times their singular values, divided by the square root of a code's mass (the
        principal coordinates of correspondence analysis, in which vectors of noise are short), rows of unit length,
        or the vectors as they are, which is what the thesis prints.
    n_init : int, default=5
        k-means replicates, as in [B04] 4.3.4.
    random_state : int, RandomState, Generator or None, default=None
        Seed of k-means and Lanczos.

    Attributes
    ----------
    axis_labels_ : dict of str to ndarray
        Cluster of each code of each axis; -1 where the table has no mass.
    row_labels_, column_labels_, rows_, columns_ : ndarray
        The same for tables with two axes, as scikit-learn's biclustering has it.
    singular_values_ : dict of str to ndarray
        The leading singular values of each axis' unfolding; a gap after the k-th speaks for k clusters.
    cluster_table_ : ndarray
        Joint probability of the clusters.
    information_, information_loss_, total_information_ : float
        Information kept and lost by the clusters, and that of the table, in nats.
    axes_, margins_, n_features_in_, data_fingerprint_ : tuple, dict, int, str
        Names of the axes, mass of every code, number of columns, a short name of the table.

    See Also
    --------
    InformationCoclustering : Keeps as much information as it can.
    MultiSourceClustering : From channels of numbers to clusters.

    Notes
    -----
    [B04] algorithm 3: k-means on the leading singular vectors of :math:`D_r^{-1/2} P D_c^{-1/2}`, with D the margins of
    the table P.

    Examples
    --------
    >>> import sidelight as sl
    >>> P = [[5, 5, 0, 0], [4, 6, 0, 0], [0, 0, 3, 3], [0, 1, 2, 3]]
    >>> co = sl.estimators.SpectralContingency(2, random_state=0).fit(P)
    >>> bool(co.row_labels_[0] == co.row_labels_[1] != co.row_labels_[2] == co.row_labels_[3])
    True
    """

    def __init__(
        self, n_clusters: Any = 3, *, scaling: str = "mass", n_init: int = 5, random_state: Any = None
    ) -> None:
        self.n_clusters = n_clusters
        self.scaling = scaling
        self.n_init = n_init
        self.random_state = random_state

    @all_or_nothing
    def fit(self, P: Any, y: Any = None, *, init: Any = None) -> SpectralContingency:
        """Cluster the axes of a table.

        Parameters
        ----------
        P : array, CSR matrix, data frame or CoOccurrence
            Counts or weights, none negative; a CoOccurrence may have more than two axes.
        y : ignored
            Present for scikit-learn.
        init : sequence of labels or dict of axis to labels, optional
            An earlier mapping of an axis: k-means then starts from the means of its groups, [B04] figure 4-5.
        """
        check_choice(self, "scaling", self.scaling, ("mass", "unit", "none"))
        check_number(self, "n_init", self.n_init, integer=True, low=1)
        joint = table_to_fit(self, P)
        clusters = clusters_of_axes(self, joint)
        starts = labels_to_start(self, init, joint, clusters)
        rng = as_generator(self.random_state)

        labels, values = [], {}
        for a, axis in enumerate(joint.axes):
            report("singular vectors", a, len(joint.axes))
            points, values[axis] = self._embed(joint, a, clusters[a], rng)
            labels.append(self._round(points, joint.margins[a] > 0.0, clusters[a], starts[a], rng))
        self._publish(joint, clusters, labels)
        self.singular_values_ = values
        return self

    def _embed(self, joint: JointTable, axis: int, k: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        coords, cells = joint.coordinates()
        values, U = left_singular_vectors(unfold(coords, cells, joint.shape, axis), k, rng)
        if self.scaling == "mass":
            U = U * values / np.sqrt(np.maximum(joint.margins[axis], 1e-300))[:, None]  # no mass, no cluster
        elif self.scaling == "unit":
            lengths = np.linalg.norm(U, axis=1, keepdims=True)
            U = U / np.where(lengths > 0.0, lengths, 1.0)
        return U, values

    def _round(self, points: Floats, there: Any, k: int, start: Ints | None, rng: np.random.Generator) -> Ints:
        """Run k-means on the codes that have mass, from the means of an earlier mapping when there is one."""
        labels, inside = np.zeros(len(points), dtype=np.intp), points[there]
        n = min(k, len(np.unique(inside, axis=0)))
        seeds: Any = "k-means++"
        if start is not None:
            sizes = np.bincount(start[there], minlength=k)
            if n == k and (sizes > 0).all():
                seeds = np.zeros((k, points.shape[1]))
                np.add.at(seeds, start[there], inside)
                seeds /= sizes[:, None]
        kmeans = KMeans(n, init=seeds, n_init=self.n_init if isinstance(seeds, str) else 1, random_state=as_seed(rng))
        with one_blas_thread():
            labels[there] = kmeans.fit_predict(inside)
        return labels
