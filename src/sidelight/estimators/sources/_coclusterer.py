"""What all co-clusterers share: scikit-learn's biclustering attributes, information, and labels per axis."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BiclusterMixin
from sklearn.utils.validation import check_is_fitted

from sidelight.errors import InvalidParameter
from sidelight.estimators._base import Estimator
from sidelight.estimators.sources._sweeps.alternating import Side, cluster_sums
from sidelight.estimators.sources._sweeps.information import table_information
from sidelight.estimators.sources._tables import JointTable

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]


class Coclusterer(BiclusterMixin, Estimator):
    """Base of the estimators that take a table and return a cluster for every code of every axis."""

    def _publish(self, joint: JointTable, n_clusters: tuple[int, ...], labels: list[Ints]) -> None:
        """Store labels (-1 for codes without mass) and what the cluster table keeps."""
        table = cluster_table(joint, labels, n_clusters)
        self.axes_ = joint.axes
        self.axis_labels_ = {
            axis: np.where(mass > 0.0, found, -1).astype(np.intp)
            for axis, found, mass in zip(joint.axes, labels, joint.margins)
        }
        self.cluster_table_ = table
        self.margins_ = dict(zip(joint.axes, joint.margins))
        self.total_information_ = joint.information
        self.information_ = table_information(table)
        self.information_loss_ = max(0.0, self.total_information_ - self.information_)  # rounding may leave -1e-17
        if len(joint.axes) == 2:
            self.row_labels_, self.column_labels_ = self.axis_labels_.values()

    @property
    def rows_(self) -> NDArray[np.bool_]:
        """Which rows each bicluster holds, (row clusters * column clusters, n_rows), as in SpectralBiclustering."""
        self._check_two_axes("rows_")
        k, m = self.cluster_table_.shape
        return np.repeat(self.row_labels_[None, :] == np.arange(k)[:, None], m, axis=0)

    @property
    def columns_(self) -> NDArray[np.bool_]:
        """Which columns each bicluster holds, (row clusters * column clusters, n_columns)."""
        self._check_two_axes("columns_")
        k, m = self.cluster_table_.shape
        return np.tile(self.column_labels_[None, :] == np.arange(m)[:, None], (k, 1))

    def _check_two_axes(self, name: str) -> None:
        check_is_fitted(self, "axes_")
        if len(self.axes_) != 2:
            raise AttributeError(
                f"{type(self).__name__} has {name} for tables with two axes only; this one has {len(self.axes_)} "
                f"({', '.join(self.axes_)}). Look at axis_labels_."
            )

    def approximation(self) -> Floats:
        """Return Q, what the clusters make of the table: P(x^, y^) P(x) / P(x^) P(y) / P(y^) ... ([B04] theorem 1).

        Dense, of the shape of the whole table: for looking at small tables.
        """
        check_is_fitted(self, "cluster_table_")
        Q = self.cluster_table_
        for i, (labels, mass) in enumerate(zip(self.axis_labels_.values(), self.margins_.values())):
            of_cluster = np.bincount(labels[labels >= 0], mass[labels >= 0], minlength=self.cluster_table_.shape[i])
            share = np.where(labels >= 0, mass / np.maximum(of_cluster[labels], 1e-300), 0.0)  # a divisor, never used
            Q = np.take(Q, np.maximum(labels, 0), axis=i) * share.reshape([-1 if a == i else 1 for a in range(Q.ndim)])
        return np.asarray(Q)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that tables may be sparse and must not be negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def check_coclusterer(owner: object, candidate: Any, name: str) -> None:
    """Raise unless ``given`` is a co-clusterer that starts from labels and can be cloned."""
    if not isinstance(candidate, Coclusterer):
        shown = f"the class {candidate.__name__}, not an instance" if isinstance(candidate, type) else repr(candidate)
        raise InvalidParameter(
            f"The {name!r} parameter of {type(owner).__name__} must be a co-clusterer, such as "
            f"InformationCoclustering() or AnnealedCoclustering(). Got {shown}."
        )


def cluster_table(joint: JointTable, labels: list[Ints], n_clusters: tuple[int, ...]) -> Floats:
    """Add up the table over clusters, [B04] eq. (1.1); codes without mass add nothing wherever they are."""
    if joint.csr is not None:
        rows, columns = (np.maximum(found, 0).astype(np.intp) for found in labels)
        return cluster_sums(Side.of(joint.csr), rows, columns, (n_clusters[0], n_clusters[1]))
    coords, values = joint.coordinates()
    cell = np.ravel_multi_index([np.maximum(found, 0)[code] for found, code in zip(labels, coords)], n_clusters)
    sums: Any = np.bincount(cell, values, minlength=int(np.prod(n_clusters)))
    return np.asarray(sums.reshape(n_clusters))


def random_labels(
    joint: JointTable, n_clusters: tuple[int, ...], starts: list[Ints | None], rng: np.random.Generator
) -> list[Ints]:
    """Fill in random labels where ``starts`` has none."""
    return [
        rng.integers(k, size=n).astype(np.intp) if start is None else start
        for start, n, k in zip(starts, joint.shape, n_clusters)
    ]
