"""What clustering a table of co-occurrences costs: the information it loses, and the mistakes it makes ([B04])."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight._core.contingency import contingency, encode
from sidelight._core.params import check_choice
from sidelight.errors import InvalidData, UnknownName, nearest
from sidelight.metrics._checks import as_array, check_lengths, codes_of
from sidelight.metrics.agreement import n_matched

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]


class ErrorAccounts(NamedTuple):
    """The four error counts of [B04] 4.3.3, in points."""

    quantisation: int  # QE: points given to the prototype of another sequence
    raw: int  # RE = TE - QE: what clustering adds; negative when clusters undo mistakes of the quantisation
    total: int  # TE: points off the diagonal of classes against matched clusters
    final: int  # FE: the same after every point follows the majority of its sequence
    n_points: int

    def shares(self) -> dict[str, float]:
        """The four as shares of all points."""
        return {name: getattr(self, name) / self.n_points for name in ("quantisation", "raw", "total", "final")}


def information_loss(table: Any, clusters: Any, *, unit: str = "nats") -> float:
    """Compute the information that clustering the axes of a table loses, D_KL(P || Q) of [B04] eq. (1.2).

    Q(x, y, ...) = P(x^, y^, ...) * P(x) / P(x^) * P(y) / P(y^) * ...

    For two axes this is the loss of mutual information; for any number, the loss of total correlation.

    Parameters
    ----------
    table : CoOccurrence, array-like of any number of axes, or sparse matrix
        Counts or probabilities; they are normalised.
    clusters : sequence of array-like, or mapping of axis name to array-like
        For each axis, the cluster of each of its codes; None leaves an axis as it is. A mapping, which may leave axes
        out, needs a :class:`~sidelight.data.CoOccurrence`.
    unit : {"nats", "bits"}
        The unit of the answer.

    Returns
    -------
    float
        At least 0; 0 when nothing is merged.

    Examples
    --------
    >>> from sidelight.metrics import information_loss
    >>> information_loss([[2, 0], [0, 2]], [[0, 0], [0, 0]], unit="bits")
    1.0
    """
    check_choice("information_loss", "unit", unit, ("nats", "bits"))
    coords, counts, shape = _cells(table)
    p = counts / counts.sum()
    log_ratio = np.log(p)
    merged: list[Ints] = []
    for axis, (codes, groups) in enumerate(zip(coords, _clusters_of_axes(table, clusters, shape))):
        log_ratio -= np.log(np.bincount(codes, p)[codes])
        grouped = codes if groups is None else encode(groups, what=f"clusters of axis {axis}")[0][codes]
        log_ratio += np.log(np.bincount(grouped, p)[grouped])
        merged.append(grouped)
    log_ratio -= np.log(_cell_masses(merged, p))
    loss = max(0.0, float(p @ log_ratio))  # rounding may leave -1e-17 where nothing is lost
    return loss / float(np.log(2.0)) if unit == "bits" else loss


def error_accounts(classes: Any, clusters: Any, sequences: Any, prototypes: Any) -> ErrorAccounts:
    """Keep the four error accounts of [B04] 4.3.3: quantisation, raw, total and final.

    Clusters are matched to classes one to one, so that the diagonal of their table is as large as it can be; for the
    final account every point first moves to the cluster that holds most points of its sequence (the cluster that
    appears first among equals), and clusters are matched again.

    Parameters
    ----------
    classes : array-like of hashable, shape (n_points,)
        The true class (subject) of each point.
    clusters : array-like of hashable, shape (n_points,)
        The cluster of each point, before sequences are consulted.
    sequences, prototypes : array-like of hashable, shape (n_points,)
        The sequence each point comes from, and the sequence whose prototype the point was given to.

    Examples
    --------
    >>> from sidelight.metrics import error_accounts
    >>> error_accounts(["ann", "ann", "ann", "bob"], [0, 0, 1, 1], ["s", "s", "s", "t"], ["s", "s", "t", "t"])
    ErrorAccounts(quantisation=1, raw=0, total=1, final=0, n_points=4)
    """
    judge = "error_accounts"
    truth, clustered = codes_of(judge, classes=classes, clusters=clusters)
    sequence, names = encode(sequences, what=f"sequences of {judge}")
    given, given_names = encode(prototypes, what=f"prototypes of {judge}")
    check_lengths(judge, classes=truth, clusters=clustered, sequences=sequence, prototypes=given)
    code_of = {name: code for code, name in enumerate(names)}
    same_name = np.array([code_of.get(name, -1) for name in given_names], dtype=np.intp)
    quantisation = int((same_name[given] != sequence).sum())
    total = _n_unmatched(clustered, truth)
    settled = contingency(sequence, clustered).row_favourite()[sequence]
    return ErrorAccounts(quantisation, total - quantisation, total, _n_unmatched(settled, truth), len(truth))


def _n_unmatched(clusters: Ints, classes: Ints) -> int:
    return len(classes) - n_matched(contingency(clusters, classes))


def _cells(table: Any) -> tuple[list[Ints], Floats, tuple[int, ...]]:
    """Find where the mass of a table lies, and how much of it."""
    if hasattr(table, "coords") and hasattr(table, "axes"):
        return list(table.coords), np.asarray(table.counts, dtype=np.float64), tuple(table.shape)
    if hasattr(table, "tocoo"):
        sparse = table.tocsr().tocoo()  # by way of CSR, which adds up cells that are stored twice
        coords: Any = (sparse.row, sparse.col)
        values, shape = np.asarray(sparse.data, dtype=np.float64), tuple(sparse.shape)
    else:
        dense = as_array("information_loss", "table", table, np.float64)
        dense = np.atleast_1d(dense)
        coords, values, shape = np.nonzero(dense), dense[np.nonzero(dense)], dense.shape
    if len(shape) < 2 or not np.all(np.isfinite(values)) or np.any(values < 0) or not values.sum() > 0:
        raise InvalidData(
            "information_loss needs a table of at least two axes with finite counts, none negative and one positive; "
            f"got shape {shape}" + (f" with smallest entry {values.min()}." if len(values) else ", all zero.")
        )
    kept = values > 0
    return [np.asarray(c, dtype=np.intp)[kept] for c in coords], values[kept], shape


def _clusters_of_axes(table: Any, clusters: Any, shape: tuple[int, ...]) -> list[Any]:
    axes = tuple(getattr(table, "axes", ()))
    if isinstance(clusters, Mapping):
        if not axes:
            raise InvalidData(
                "information_loss: only the axes of a CoOccurrence have names. Give the clusters as a list, one array "
                "per axis, or make the table with CoOccurrence.from_matrix."
            )
        for name in clusters:
            if name not in axes:
                raise UnknownName(f"information_loss: the table has no axis {name!r}. {nearest(name, axes)}")
        clusters = [clusters.get(name) for name in axes]
    if isinstance(clusters, str) or not hasattr(clusters, "__len__"):
        raise InvalidData(
            "information_loss needs clusters as a list with one array per axis, or a mapping of axis name to array; "
            f"got {clusters!r}."
        )
    if len(clusters) != len(shape):
        raise InvalidData(
            f"information_loss needs clusters for each of the {len(shape)} axes (None leaves one as it is); "
            f"got {len(clusters)}."
        )
    for axis, (groups, size) in enumerate(zip(clusters, shape)):
        count = len(groups) if hasattr(groups, "__len__") else groups
        if groups is not None and count != size:
            raise InvalidData(f"information_loss: axis {axis} has {size} codes, but {count!r:.80} clusters were given.")
    return list(clusters)


def _cell_masses(coords: list[Ints], p: Floats) -> Floats:
    """Find, for each entry, the mass of all entries with the same coordinates; axes are folded in one by one."""
    cell = coords[0]
    for codes in coords[1:]:
        cell = cell * (int(codes.max()) + 1) + codes
        cell = encode(cell)[0]  # at most as many cells as entries, so the next product cannot overflow
    masses: Any = np.bincount(cell, p)
    return masses[cell]
