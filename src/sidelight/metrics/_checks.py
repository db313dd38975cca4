"""What every metric checks first: labels of equal length, without holes, and at least one row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.contingency import Contingency, contingency, encode
from sidelight.errors import InvalidData

Ints = NDArray[np.intp]


def codes_of(judge: str, **labellings: Any) -> tuple[Ints, ...]:
    """Turn labellings of the same rows into codes 0, 1, ... each."""
    codes = {name: encode(labels, what=f"{name} of {judge}")[0] for name, labels in labellings.items()}
    check_lengths(judge, **codes)
    return tuple(codes.values())


def check_lengths(judge: str, **columns: Any) -> None:
    """Raise unless all columns have the same number of rows, and at least one."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        lengths_in_words = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise InvalidData(
            f"{judge} needs one label per row from each side, but {lengths_in_words}. Check that the rows match."
        )
    if 0 in lengths.values():
        raise InvalidData(f"{judge} has nothing to judge: {' and '.join(lengths)} have no rows.")


def meet(judge: str, **labellings: Any) -> Contingency:
    """Count how often the labels of the first labelling meet those of the second."""
    first, second = codes_of(judge, **labellings)
    return contingency(first, second)


def as_indicator(judge: str, name: str, Y: Any) -> Any:
    """Return a 0/1 matrix as a bool array or a CSR array of 0/1 counts; anything else is refused."""
    if hasattr(Y, "tocsr"):
        from scipy.sparse import csr_array

        Y = csr_array(Y, copy=True)
        Y.sum_duplicates()
        Y.eliminate_zeros()
        if not np.all(Y.data == 1):
            _refuse_entry(judge, name, Y.data[Y.data != 1][0])
        return Y.astype(np.int64)
    Y = as_array(judge, name, Y)
    if Y.ndim != 2:
        raise InvalidData(f"{judge} needs {name} as a matrix, one row per bag and one column per label; got {Y.shape}.")
    if Y.dtype != bool:
        if Y.dtype.kind not in "iuf":
            raise InvalidData(f"{judge} needs {name} as zeros and ones; got dtype {Y.dtype}.")
        ones = Y == 1
        if not np.all(ones | (Y == 0)):
            _refuse_entry(judge, name, Y[~(ones | (Y == 0))][0])
        Y = ones
    return Y


def as_array(judge: str, name: str, values: Any, dtype: Any = None) -> NDArray[Any]:
    """Return an array of what was given; rows of different lengths, and words among numbers, are refused."""
    if hasattr(values, "toarray"):
        values = values.toarray()
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        wanted = "numbers in rows of equal length" if dtype is not None else "rows of equal length"
        raise InvalidData(f"{judge} needs {name} as an array, {wanted}; got a {type(values).__name__}.") from error


def check_shapes(judge: str, **matrices: Any) -> None:
    """Raise unless all matrices have the same shape, with at least one row and one column."""
    shapes = {name: tuple(matrix.shape) for name, matrix in matrices.items()}
    if len(set(shapes.values())) > 1:
        shapes_in_words = " and ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InvalidData(
            f"{judge} needs matrices of the same shape; got {shapes_in_words}. Rows and labels must match."
        )
    if 0 in next(iter(shapes.values())):
        raise InvalidData(f"{judge} has nothing to judge: the matrices have shape {next(iter(shapes.values()))}.")


def _refuse_entry(judge: str, name: str, value: Any) -> None:
    raise InvalidData(f"{judge} needs {name} to hold zeros and ones only; got {value}. Threshold scores first.")
