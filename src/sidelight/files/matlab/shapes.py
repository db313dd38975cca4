"""What a MATLAB variable looks like, and how it becomes an array of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sidelight.files.limits import need
from sidelight.files.problems import no_such_column
from sidelight.files.roles.plan import SAID


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
