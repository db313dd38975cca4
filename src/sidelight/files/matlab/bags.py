"""Bags in MATLAB files: cell arrays of matrices (MIML), and the ``DD`` struct of rows with their bags.

The dimension that all matrices of a cell array share is the features: some files keep instances as rows, some as
columns.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData
from sidelight.files.limits import need
from sidelight.files.problems import listing, no_such_column
from sidelight.files.roles.builder import Builder
from sidelight.files.roles.plan import SAID, RoleRequest


def is_numeric(value: Any) -> TypeGuard[Any]:
    """Say whether a variable is a matrix of numbers, full or sparse."""
    return (sp.issparse(value) or isinstance(value, np.ndarray)) and value.dtype.kind in "iufb" and value.ndim == 2


def is_whole(value: Any) -> bool:
    """Say whether all numbers are whole."""
    numbers = np.asarray(value, dtype=np.float64)
    return bool(np.isfinite(numbers).all() and (numbers == np.round(numbers)).all())


def is_marks(value: Any) -> bool:
    """Say whether a matrix holds only marks: -1, 0 and 1."""
    values = np.unique(value.data if sp.issparse(value) else np.asarray(value))
    return set(values.tolist()) <= {-1, 0, 1}


def is_bag_cell(value: Any) -> bool:
    """Say whether a variable is a cell array of matrices: a list of bags."""
    if not isinstance(value, np.ndarray) or value.dtype != object or value.size < 2:
        return False
    parts = value.reshape(-1)
    if not all((sp.issparse(p) or isinstance(p, np.ndarray)) and p.dtype.kind in "iufb" and p.ndim == 2 for p in parts):
        return False
    shapes = [p.shape for p in parts if p.shape[0] * p.shape[1]]
    return bool(shapes) and max(min(shape) for shape in shapes) > 1


def cell_size(value: Any) -> int:
    """Return how many numbers a cell array holds."""
    return sum(int(np.prod(np.shape(part), dtype=np.int64)) for part in value.reshape(-1))


def full(path: Path, value: Any) -> NDArray[Any]:
    """Return a full matrix."""
    if not sp.issparse(value):
        return np.asarray(value)
    n_rows, n_columns = value.shape
    need(path, 8 * n_rows * n_columns, f"a sparse matrix of {n_rows} x {n_columns}, needed as a full one,")
    return np.asarray(value.toarray())


def dense(path: Path, value: Any) -> NDArray[np.float64]:
    """Return a full matrix of float64."""
    return np.asarray(full(path, value), dtype=np.float64)


def as_names(values: NDArray[Any]) -> NDArray[np.object_]:
    """Return class numbers as text: 14.0 becomes "14", NaN becomes ""."""
    out = np.empty(len(values), dtype=object)
    unique, codes = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
    texts = np.empty(len(unique), dtype=object)
    texts[:] = ["" if v != v else f"{v:g}" if abs(v) < 1e15 else str(v) for v in unique.tolist()]
    out[:] = texts[codes.reshape(-1)]
    return out


def find_variable(path: Path, variables: dict[str, Any], wanted: Any) -> str | None:
    """Return the variable the user named; an unknown name is an error."""
    if not isinstance(wanted, str):
        return None
    if wanted not in variables:
        raise no_such_column(path, wanted, "a variable", list(variables))
    return wanted


def reason(wanted: Any, otherwise: str) -> str:
    """Return why a variable got its role."""
    return SAID if isinstance(wanted, str) else otherwise


LABELS = ("labels", "label", "y", "targets", "target", "classes", "class", "gnd", "truth", "gt")


def read_miml(path: Path, variables: dict[str, Any], wanted: RoleRequest, name: str) -> Dataset:
    """Read a cell array of bags with its targets."""
    cells = variables[name].reshape(-1)
    n_bags = len(cells)
    row_labels_name = _row_label_cell(variables, name, cells)
    sizes = [np.size(c) for c in variables[row_labels_name].reshape(-1)] if row_labels_name else None
    stacked, counts, notes = _stack(path, name, cells, sizes)
    ids = np.repeat(np.arange(1, n_bags + 1), counts)
    data = Builder(path, "MATLAB 5, MIML cells")
    data.features(stacked)
    data.notes += notes
    data.role(name, "feature", f"a cell array of {n_bags} matrices: one bag each")
    data.bags = Bags(ids)
    label_name = find_variable(path, variables, wanted.label) or _find_targets(variables, n_bags, skip={name})
    if label_name is not None:
        Y = as_marks(path, label_name, variables[label_name], n_bags)
        keep = counts > 0
        data.mark_bags(ids, Y[keep], (np.arange(1, n_bags + 1)[keep]).tolist())
        data.role(label_name, "label", reason(wanted.label, f"{Y.shape[1]} marks for each bag"), "0/1")
    if row_labels_name is not None:
        flat = np.concatenate([np.asarray(c).reshape(-1) for c in variables[row_labels_name].reshape(-1)])
        data.y = as_names(flat)
        data.label_names = data.label_names or tuple(dict.fromkeys(data.y.tolist()))
        data.role(row_labels_name, "label", "a cell array with one class for each row of a bag")
    if (counts == 0).any():
        data.notes.append(f"{int((counts == 0).sum())} bags without rows were left out")
    data.unused(variables)
    return data.build()


def _stack(
    path: Path, name: str, cells: NDArray[Any], sizes: list[int] | None
) -> tuple[NDArray[np.float64], NDArray[np.intp], list[str]]:
    """Stack bags as rows; the dimension that all bags share is the features, whichever way they lie."""
    arrays = [dense(path, c) for c in cells]
    full = [a for a in arrays if a.size]
    heights, widths = {a.shape[0] for a in full}, {a.shape[1] for a in full}
    if sizes is not None and all(a.shape[1] == n for a, n in zip(arrays, sizes) if a.size):
        lies_on_side = len(heights) == 1 and not all(a.shape[0] == n for a, n in zip(arrays, sizes) if a.size)
    else:
        lies_on_side = len(heights) == 1 and len(widths) > 1
    notes = []
    if len(heights) == 1 and len(widths) == 1 and len(full) > 1 and sizes is None:
        notes.append(f"every bag is {heights.pop()} x {widths.pop()}: rows were taken for instances")
        heights, widths = {0}, {0}
    if len(heights) > 1 and len(widths) > 1:
        raise InvalidData(
            f"{path}, variable {name!r}: expected matrices that share one dimension (the features), found heights "
            f"{listing(sorted(heights), 3)} and widths {listing(sorted(widths), 3)}."
        )
    upright = [a.T if lies_on_side else a for a in arrays]
    counts = np.array([a.shape[0] if a.size else 0 for a in upright], dtype=np.intp)
    return np.concatenate([a for a in upright if a.size]), counts, notes


def _row_label_cell(variables: dict[str, Any], name: str, cells: NDArray[Any]) -> str | None:
    for other, value in variables.items():
        if other == name or value.dtype != object or value.size != len(cells):
            continue
        parts = value.reshape(-1)
        if not all(
            isinstance(p, np.ndarray) and p.dtype.kind in "iufb" and min(p.shape, default=0) <= 1 for p in parts
        ):
            continue
        if all(p.size in np.shape(c) or (p.size == 0 and np.size(c) == 0) for p, c in zip(parts, cells)):
            return other
    return None


def _find_targets(variables: dict[str, Any], n_bags: int, skip: set[str]) -> str | None:
    targets = [
        k
        for k, v in variables.items()
        if k not in skip and is_numeric(v) and n_bags in v.shape and is_marks(v) and min(v.shape) >= 1
    ]
    named = [k for k in targets if k.lower() in LABELS]
    return next(iter(named or targets), None)


def as_marks(path: Path, name: str, value: Any, n_bags: int) -> NDArray[np.int8]:
    """Return marks (bags x labels) as 0 and 1, whichever way they lie and whether absent is 0 or -1."""
    marks = full(path, value)
    if marks.shape[0] != n_bags:
        marks = marks.T
    if marks.ndim != 2 or marks.shape[0] != n_bags:
        raise InvalidData(
            f"{path}, variable {name!r}: expected one row or column for each of the {n_bags} bags, found {value.shape}."
        )
    return (marks > 0).astype(np.int8)


def bag_of_row(fields: dict[str, Any]) -> str | None:
    """Find the field that says the bag of each row: a vector of whole numbers as long as X."""
    X = fields.get("X")
    if not is_numeric(X) or X.shape[0] < 2:
        return None
    for name in ("XtB", "bag", "bags", "B", "bagid", "bag_id"):
        value = fields.get(name)
        if is_numeric(value) and value.size == X.shape[0] and min(value.shape) == 1:
            return name
    return None


def read_dd(path: Path, name: str, fields: dict[str, Any]) -> Dataset:
    """Read a struct of rows, the bag of each row, and the labels of bags and rows."""
    X = dense(path, fields["X"]) if not sp.issparse(fields["X"]) else sp.csr_array(fields["X"], dtype=np.float64)
    where = bag_of_row(fields)
    assert where is not None  # the caller looked
    ids = dense(path, fields[where]).reshape(-1)
    if not np.isfinite(ids).all() or (ids != np.round(ids)).any():
        raise InvalidData(f"{path}, {name}.{where}: expected the number of a bag for each row, found {ids.min():g}.")
    ids = ids.astype(np.int64)
    data = Builder(path, "MATLAB 5, DD struct")
    data.features(X)
    data.role(f"{name}.X", "feature", f"{X.shape[0]} rows")
    data.role(f"{name}.{where}", "bag", "one number for each row of X")
    data.bags = Bags(ids.tolist())
    YB, order = fields.get("YB"), fields.get("B")
    if is_numeric(YB):
        names = dense(path, order).reshape(-1).astype(np.int64) if is_numeric(order) else np.arange(1, YB.shape[0] + 1)
        Y = as_marks(path, f"{name}.YB", YB, len(names))
        known = np.isin(names, ids)
        if not np.isin(ids, names).all():
            lost = sorted(set(ids.tolist()) - set(names.tolist()))
            raise InvalidData(f"{path}, {name}.YB: {len(lost)} bags have no row of labels: {listing(lost)}.")
        if not known.all():
            data.notes.append(f"{int((~known).sum())} labelled bags have no rows and were left out")
        data.mark_bags(ids.tolist(), Y[known], names[known].tolist())
        data.role(f"{name}.YB", "label", "marks for each bag", "0/1")
    YR = fields.get("YR")
    if is_numeric(YR) and YR.shape[0] == X.shape[0]:
        data.y = _row_classes(dense(path, YR))
        data.label_names = data.label_names or tuple(dict.fromkeys(v for v in data.y.tolist() if v))
        data.role(f"{name}.YR", "label", "a class for each row", "0/1")
    data.unused({f"{name}.{field}": value for field, value in fields.items()})
    return data.build()


def _row_classes(YR: NDArray[np.float64]) -> NDArray[np.object_]:
    if YR.shape[1] == 1:
        return as_names(YR.reshape(-1))
    hot = YR > 0
    names = np.array([str(k + 1) for k in range(YR.shape[1])], dtype=object)
    y = names[hot.argmax(axis=1)]
    y[~hot.any(axis=1)] = ""
    return y
