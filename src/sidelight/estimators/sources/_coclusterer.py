"""What all co-clusterers share: scikit-learn's biclustering attributes, information, and labels per axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BiclusterMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import as_sequence, check_number
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.errors import InvalidData, InvalidParameter, UnknownName, nearest
from sidelight.estimators._base import Estimator, fingerprint, rows_to_fit
from sidelight.estimators.sources._sweeps.alternating import Side, Table, cluster_sums
from sidelight.estimators.sources._sweeps.cluster_state import Cells, table_information, total_correlation

# The door for tables: a matrix (dense, CSR) or a CoOccurrence becomes joint probabilities over named axes.


Ints = NDArray[np.intp]
Floats = NDArray[np.float64]
_TWO = ("rows", "columns")


@dataclass(frozen=True)
class JointTable:
    """Joint probabilities over named axes; ``csr`` for two axes, ``coords`` for more (made on demand for two)."""

    axes: tuple[str, ...]
    shape: tuple[int, ...]
    margins: tuple[Floats, ...]
    csr: Any = None
    cells: tuple[Ints, Floats] | None = None

    @property
    def information(self) -> float:
        """The mutual information, or total correlation, of the whole table in nats."""
        values = self.csr.data if self.cells is None else self.cells[1]
        return total_correlation(values, self.margins)

    def coordinates(self) -> tuple[Ints, Floats]:
        """Return (n_axes, nnz) coordinates and the probabilities there."""
        if self.cells is not None:
            return self.cells
        coo = self.csr.tocoo()
        return np.stack([coo.row, coo.col]).astype(np.intp), np.asarray(coo.data, dtype=np.float64)

    def in_order(self, orders: tuple[Ints, Ints]) -> JointTable:
        """Return a two-way table with its rows and columns in other orders."""
        rows, columns = orders
        margins = self.margins[0][rows], self.margins[1][columns]
        csr = sp.csr_array(self.csr[rows][:, columns])
        csr.sort_indices()
        return JointTable(self.axes, self.shape, margins, csr=csr)

    def two_way(self, owner: object) -> Table:
        """Return the arrays that two-way solvers take."""
        if self.csr is None:
            raise InvalidData(
                f"{type(owner).__name__} takes tables with two axes, got {len(self.axes)}: {', '.join(self.axes)}. "
                "Take a margin (table.margin(a, b)), or use AnnealedCoclustering or InterleavedCoclustering."
            )
        return Table.of(self.csr)

    def sorted_cells(self) -> Cells:
        """Return the arrays that the annealing solver takes."""
        return Cells.from_coords(*self.coordinates(), self.shape)


def table_to_fit(estimator: Any, P: Any) -> JointTable:
    """Validate what a co-clusterer's ``fit`` was given: no negative count, at least one positive."""
    if isinstance(P, CoOccurrence):
        estimator.n_features_in_ = P.shape[1]
        estimator.data_fingerprint_ = fingerprint(np.vstack([P.counts, *P.coords]).T)
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_  # of an earlier fit on a data frame
        margins = tuple(P.marginal(axis) / P.total for axis in P.axes)
        if len(P.axes) == 2:
            return JointTable(P.axes, P.shape, margins, csr=P.to_csr() / P.total)
        return JointTable(P.axes, P.shape, margins, cells=(np.stack(P.coords).astype(np.intp), P.counts / P.total))
    if isinstance(P, np.ndarray) and P.ndim > 2:
        raise InvalidData(
            f"{type(estimator).__name__}: an array with {P.ndim} axes needs names for them. Pass "
            "CoOccurrence.from_matrix(array, axes=(...))."
        )
    X = rows_to_fit(estimator, P)
    _check_counts(estimator, X)
    csr = sp.csr_array(X)
    if not csr.has_canonical_format or (csr.nnz and csr.data.min() == 0.0):
        csr = csr.copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()
    total = np.sort(csr.data).sum()  # the same in whatever order the rows come
    csr = sp.csr_array((csr.data / total, csr.indices, csr.indptr), shape=csr.shape)
    margins = (np.asarray(csr.sum(axis=1)).ravel(), np.asarray(csr.sum(axis=0)).ravel())
    return JointTable(_TWO, tuple(csr.shape), margins, csr=csr)


def clusters_of_axes(estimator: Any, joint: JointTable) -> tuple[int, ...]:
    """Read ``n_clusters``: one number for every axis, one per axis, or a mapping of axis names."""
    n_clusters = estimator.n_clusters
    if isinstance(n_clusters, Mapping):
        for axis in n_clusters:
            if axis not in joint.axes:
                raise UnknownName(
                    f"{type(estimator).__name__}: n_clusters names the axis {axis!r}, which the table does not have. "
                    + nearest(axis, joint.axes)
                )
        missing = [axis for axis in joint.axes if axis not in n_clusters]
        if missing:
            raise InvalidParameter(
                f"{type(estimator).__name__}: n_clusters says nothing about the axis {missing[0]!r}. Bring a number "
                f"for each of {', '.join(joint.axes)}, or one number for all."
            )
        wanted = [n_clusters[axis] for axis in joint.axes]
    elif isinstance(n_clusters, (Sequence, np.ndarray)) and not isinstance(n_clusters, str):
        wanted = list(n_clusters)
        if len(wanted) != len(joint.axes):
            raise InvalidParameter(
                f"{type(estimator).__name__}: n_clusters has {len(wanted)} numbers, but the table has "
                f"{len(joint.axes)} axes ({', '.join(joint.axes)}). Bring one number per axis."
            )
    else:
        wanted = [n_clusters] * len(joint.axes)
    for axis, k, n in zip(joint.axes, wanted, joint.shape):
        check_number(estimator, "n_clusters", k, integer=True, low=1)
        counted = {"rows": "n_samples", "columns": "n_features"}.get(axis, "n_codes")
        if k > n:
            raise InvalidParameter(
                f"{type(estimator).__name__} was asked for n_clusters={k} clusters of the axis {axis!r}, which has "
                f"{counted}={n} codes. Ask for at most {n}."
            )
    return tuple(int(k) for k in wanted)


def labels_to_start(estimator: Any, init: Any, joint: JointTable, n_clusters: tuple[int, ...]) -> list[Ints | None]:
    """Read ``init``: labels per axis as a mapping or a sequence with None where there are none."""
    if init is None:
        return [None] * len(joint.axes)
    if isinstance(init, Mapping):
        for axis in init:
            if axis not in joint.axes:
                raise UnknownName(
                    f"{type(estimator).__name__}.fit: init names the axis {axis!r}. {nearest(axis, joint.axes)}"
                )
        init = [init.get(axis) for axis in joint.axes]
    init = as_sequence(f"{type(estimator).__name__}.fit", "init", init, "labels (or None) for each axis")
    if len(init) != len(joint.axes):
        raise InvalidData(f"{type(estimator).__name__}.fit: init needs labels (or None) for {len(joint.axes)} axes.")
    starts: list[Ints | None] = []
    for axis, labels, n, k in zip(joint.axes, init, joint.shape, n_clusters):
        if labels is None:
            starts.append(None)
            continue
        codes = np.asarray(labels)
        if codes.shape != (n,) or codes.dtype.kind not in "iu" or codes.max() >= k:
            raise InvalidData(
                f"{type(estimator).__name__}.fit: init of the axis {axis!r} must be {n} integers below {k}, "
                f"got shape {codes.shape}, {codes.dtype}, largest {codes.max(initial=0)}."
            )
        starts.append(np.maximum(codes, 0).astype(np.intp))  # codes without mass carry -1
    return starts


def _check_counts(estimator: Any, X: Any) -> None:
    values = X.data if sp.issparse(X) else X
    name = type(estimator).__name__
    if values.size and values.min() < 0:
        raise InvalidData(
            f"Negative values in data passed to {name}: the smallest is {values.min():g}. A table of co-occurrences "
            "holds counts or weights; shift or clip them, or cluster rows with another estimator."
        )
    if values.size == 0 or values.max() == 0:
        raise InvalidData(f"{name}: the table is all zero, so nothing occurred together. Bring at least one count.")


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
