"""Hausdorff distances between bags of rows: minimal, maximal and average.

All three come from one table, the distance from every row to the nearest row of every bag, which is a blocked matrix
product followed by minima over runs; the distances between single rows are never held.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_array

from sidelight._core.params import check_choice, settled_csr
from sidelight._core.segments import segment_max, segment_sum
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags
from sidelight.errors import InvalidData, as_invalid_data
from sidelight.progress import report

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

KINDS = ("minimal", "maximal", "average")
METRICS = ("euclidean", "precomputed")
_BLOCK = 1 << 21  # distances between single rows held together: 16 MB


def bag_distances(
    X: Any, bags: Any, X_other: Any = None, bags_other: Any = None, *, kind: str = "average", metric: str = "euclidean"
) -> Floats:
    """Measure how far bags of rows are from each other.

    With near(a, B) the distance from row a to the nearest row of bag B:

    - minimal: the least near(a, B) over the rows a of A;
    - maximal: the greatest of near(a, B) and near(b, A);
    - average: the sum of near(a, B) over A plus that of near(b, A) over B, divided by the number of rows of both.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        The rows; with ``metric="precomputed"`` the distances between rows, of shape (n_rows, n_rows), or between the
        rows and ``X_other``'s, of shape (n_rows, n_other_rows).
    bags : Bags or sequence of bag ids
        The bag of each row.
    X_other, bags_other : as X and bags, optional
        The bags to measure to; by default the same. With precomputed distances only ``bags_other`` is needed.
    kind : {"average", "minimal", "maximal"}, default="average"
        Which Hausdorff distance.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        The distance between rows. Precomputed ones must be finite and not negative.

    Returns
    -------
    distances : ndarray of shape (n_bags, n_other_bags)
        In the order of ``bags.names``; 0 between a bag and itself.

    Examples
    --------
    >>> import sidelight as sl
    >>> sl.estimators.bag_distances([[0.0], [1.0], [5.0]], ["a", "a", "b"], kind="maximal")
    array([[0., 5.],
           [5., 0.]])
    """
    check_choice("bag_distances", "kind", kind, KINDS)
    check_choice("bag_distances", "metric", metric, METRICS)
    with as_invalid_data("bag_distances"):
        X = check_array(settled_csr(X), accept_sparse="csr" if metric == "euclidean" else False, dtype=np.float64)
        if X_other is not None and metric != "precomputed":
            X_other = check_array(settled_csr(X_other), accept_sparse="csr", dtype=np.float64)
    bags = as_bags(bags, n_rows=X.shape[0])
    if metric == "precomputed":
        itself = bags_other is None
        other_bags = bags if itself else as_bags(bags_other, n_rows=X.shape[1])
        _check_distances(X, bags, other_bags, square=itself)
        source: Any = X
    else:
        itself = X_other is None
        X_other = X if itself else X_other
        if X_other.shape[1] != X.shape[1]:
            raise InvalidData(
                f"bag_distances got X with {X.shape[1]} features and X_other with {X_other.shape[1]}. Bring the same "
                "columns for both."
            )
        other_bags = bags if itself else as_bags(bags_other, n_rows=X_other.shape[0])
        source = (X, X_other)
    with np.errstate(over="ignore", invalid="ignore"):  # said below, with what to do
        distances = hausdorff(source, bags, other_bags, kind, itself=itself and metric == "euclidean")
    if not np.isfinite(distances).all():
        raise InvalidData(
            "bag_distances got rows so far apart that their squared distances overflow. Rescale the features first, "
            "for example with sl.Standardized or scikit-learn's StandardScaler."
        )
    if itself:
        distances = (distances + distances.T) / 2  # rounding differs between the two directions
        np.fill_diagonal(distances, 0.0)
    return distances


def hausdorff(source: Any, bags: Bags, other: Bags, kind: str, *, itself: bool) -> Floats:
    """Reduce row distances (a matrix, or a pair of row tables) to bag distances; everything was checked before.

    ``itself`` says that both are the same bags with symmetric distances: the way back is then the way forth.
    """
    forth = np.empty((bags.n_bags, other.n_bags))  # from the rows of ``bags``
    back = np.full((other.n_rows, bags.n_bags), np.inf) if kind != "minimal" and not itself else None
    other_order, other_starts = np.asarray(other.order), np.asarray(other.starts)
    is_precomputed = isinstance(source, np.ndarray)
    measure = _precomputed(source, other_order) if is_precomputed else _euclidean(source, other_order)
    for run in _runs(bags, len(other_order)):
        starts = bags.starts[run.start : run.stop + 1] - bags.starts[run.start]
        block, own = measure(bags.order[bags.starts[run.start] : bags.starts[run.stop]])
        near = _finish(np.minimum.reduceat(block, other_starts[:-1], axis=1), own)
        if kind == "minimal":
            forth[run] = -segment_max(-near, starts)
        else:
            forth[run] = segment_max(near, starts) if kind == "maximal" else segment_sum(near, starts)
        if back is not None:
            block += 0.0 if own is None else own
            back[:, run] = _finish(np.minimum.reduceat(block, starts[:-1], axis=0), None if own is None else 0.0).T
        report("bag distances", run.stop, bags.n_bags)
    if kind == "minimal":
        return forth
    if kind == "maximal":
        return np.maximum(forth, forth.T if back is None else segment_max(back, other_starts).T)
    returned = forth.T if back is None else segment_sum(back, other_starts).T
    return np.asarray((forth + returned) / (bags.sizes[:, None] + other.sizes[None, :]))


def _runs(bags: Bags, n_others: int) -> Iterator[slice]:
    """Yield runs of whole bags whose rows have few enough distances to all others."""
    first = 0
    while first < bags.n_bags:
        most = bags.starts[first] + max(1, _BLOCK // max(1, n_others))
        last = min(max(int(np.searchsorted(bags.starts, most, side="right")) - 1, first + 1), bags.n_bags)
        yield slice(first, last)
        first = last


def _finish(near: Floats, own: Any) -> Floats:
    """Turn what :func:`_euclidean` returns into distances; None: they are distances already."""
    if own is None:
        return near
    near += own
    np.maximum(near, 0.0, out=near)
    return np.sqrt(near, out=near)


def _precomputed(distances: Floats, other_order: Ints) -> Any:
    return lambda rows: (distances[np.ix_(rows, other_order)], None)


def _euclidean(source: tuple[Any, Any], other_order: Ints) -> Any:
    """Return a function from rows to squared distances without the rows' own squares, and these.

    Minima over bags need neither the own squares nor roots, so both wait until the minima are known. Dense rows are
    centred first, so that less is lost to cancellation, and the squares of the others are one more column.
    """
    X, X_other = source
    if not (isinstance(X, np.ndarray) and isinstance(X_other, np.ndarray)):
        targets = X_other[other_order]
        target_squares = _row_squares(targets)

        def measure_sparse(rows: Ints) -> tuple[Floats, Floats]:
            products = X[rows] @ targets.T
            block: Floats = products if isinstance(products, np.ndarray) else products.toarray()
            block *= -2.0
            block += target_squares
            return block, _row_squares(X[rows])[:, None]

        return measure_sparse
    centre = X_other.mean(axis=0)
    targets = X_other[other_order] - centre
    columns = np.column_stack([-2.0 * targets, _row_squares(targets)]).T

    def measure(rows: Ints) -> tuple[Floats, Floats]:
        own = X[rows] - centre
        return np.column_stack([own, np.ones(len(own))]) @ columns, _row_squares(own)[:, None]

    return measure


def _row_squares(X: Any) -> Floats:
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X)
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def _check_distances(D: Floats, bags: Bags, other: Bags, *, square: bool) -> None:
    if square and D.shape[0] != D.shape[1]:
        raise InvalidData(
            f"Precomputed distances between {D.shape[0]} rows must be a square table. Got {D.shape[0]} x {D.shape[1]}. "
            "Give bags_other when the columns are other rows."
        )
    if D.min() < 0:
        row, column = np.unravel_index(int(D.argmin()), D.shape)
        raise InvalidData(
            f"Precomputed distances must not be negative. Got {D.min()} between row {row} and column {column}. "
            "Pass distances, not similarities."
        )
