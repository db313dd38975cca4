"""Spectral clustering of a contingency table: [B04] Algorithm 3 by singular vectors; section 5.1 beyond two axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from sidelight._core.params import as_generator, as_seed, check_choice, check_number
from sidelight._core.threads import one_blas_thread
from sidelight.estimators._base import all_or_nothing
from sidelight.estimators.sources._coclusterer import Coclusterer, Floats, Ints
from sidelight.estimators.sources._tables import JointTable, clusters_of_axes, labels_to_start, table_to_fit
from sidelight.estimators.sources.singular import left_singular_vectors, unfold
from sidelight.progress import report


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
