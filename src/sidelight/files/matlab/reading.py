"""MATLAB 5 files: MIML cells of bags, the ``DD`` struct of instance-annotated bags, or plain matrices.

The layouts are told apart by shapes, not by file names: a cell array of matrices that share one dimension is a list
of bags; a struct that holds the rows, the bag of each row and the labels of bags is a ``DD``; otherwise the largest
numeric matrix holds the features.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sidelight._core.quiet import without_library_warnings
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData, UnreadableFile
from sidelight.files.arrays.bundles import read_bundle
from sidelight.files.matlab.bags import LABELS, as_marks, bag_of_row, read_dd, read_miml
from sidelight.files.matlab.guard import check_mat5
from sidelight.files.matlab.shapes import (
    as_names,
    cell_size,
    dense,
    find_variable,
    is_bag_cell,
    is_numeric,
    is_whole,
    reason,
)
from sidelight.files.problems import listing
from sidelight.files.roles.builder import Builder
from sidelight.files.roles.columns import Coded
from sidelight.files.roles.labels import RowLabels, from_cells, from_marks
from sidelight.files.roles.plan import SAID, RoleRequest
from sidelight.files.source import Source


def read_matlab(path: Path, wanted: RoleRequest) -> Dataset:
    """Read a MATLAB 5 file."""
    variables = load_variables(path)
    structs = {k: v for k, v in variables.items() if v.dtype.names and v.size == 1}
    for name, value in structs.items():
        fields = {field: value.reshape(-1)[0][field] for field in value.dtype.names}
        if bag_of_row(fields) is not None:
            return read_dd(path, name, fields)
    if not any(is_numeric(v) or is_bag_cell(v) for v in variables.values()) and len(structs) == 1:
        (value,) = structs.values()
        variables = {field: value.reshape(-1)[0][field] for field in value.dtype.names}
    if not isinstance(wanted.bag, str):
        bundle = read_bundle(path, "MATLAB 5, arrays of the same rows", variables, wanted)
        if bundle is not None:
            return bundle
    cells = [k for k, v in variables.items() if is_bag_cell(v)]
    if wanted.features is None and cells:
        return read_miml(path, variables, wanted, max(cells, key=lambda k: cell_size(variables[k])))
    if isinstance(wanted.features, str) and wanted.features in cells:
        return read_miml(path, variables, wanted, wanted.features)
    return _plain(path, variables, wanted)


def load_variables(path: Path) -> dict[str, Any]:
    """Return the variables of a MATLAB 5 file, after its sizes were checked."""
    from scipy.io import loadmat

    with Source(path).open() as stream:
        data = stream.read()
    if len(data) < 136:
        raise UnreadableFile(f"{path}: expected variables after the MATLAB header, found the end of the file.")
    check_mat5(path, data)
    try:
        with without_library_warnings():  # duplicate names; what was read is described anyway
            variables = loadmat(io.BytesIO(data))
    except MemoryError:
        raise UnreadableFile(f"{path}: the file declares more than memory holds. It is damaged or hostile.") from None
    except Exception as error:  # SciPy's parser raises whatever a damaged file leads it to
        raise UnreadableFile(
            f"{path}: a MATLAB 5 file that cannot be read ({type(error).__name__}: {error}). Save it again in MATLAB."
        ) from None
    arrays = {k: v for k, v in variables.items() if not k.startswith("__")}
    if not arrays:
        raise UnreadableFile(
            f"{path}: expected matrices, found none. Save the variables again with save('FILE', '-v7')."
        )
    return arrays


def _plain(path: Path, variables: dict[str, Any], wanted: RoleRequest) -> Dataset:
    numeric = {k: v for k, v in variables.items() if is_numeric(v) and v.ndim == 2}
    name = find_variable(path, variables, wanted.features)
    if name is None:
        if not numeric:
            raise InvalidData(f"{path}: expected a matrix of numbers, found {listing(list(variables))}.")
        name = max(numeric, key=lambda k: int(np.prod(numeric[k].shape, dtype=np.int64)))
    if name not in numeric:
        raise InvalidData(f"{path}, variable {name!r}: expected a matrix of numbers, found {variables[name].dtype}.")
    X = sp.csr_array(numeric[name], dtype=np.float64) if sp.issparse(numeric[name]) else dense(path, numeric[name])
    names, row_ids = _names_of(variables, X.shape)
    data = Builder(path, "MATLAB 5, plain matrices")
    data.features(X, names)
    data.role(name, "feature", reason(wanted.features, f"the largest matrix, {X.shape[0]} x {X.shape[1]}"))
    label = find_variable(path, variables, wanted.label) if wanted.label is not False else None
    if label is None and wanted.label is None:
        label = _plain_label(numeric, name, X.shape[0])
    if label is not None:
        data.label_rows(_plain_labels(path, label, variables[label], X.shape[0]))
        data.role(label, "label", reason(wanted.label, f"{X.shape[0]} entries, one for each row"))
    if isinstance(wanted.bag, str):
        bag = find_variable(path, variables, wanted.bag)
        assert bag is not None  # find_variable raises for an unknown name
        data.bags = Bags(_vector(path, bag, variables[bag], X.shape[0]).tolist())
        data.role(bag, "bag", SAID)
    data.unused(variables)
    return data.build(row_ids=row_ids)


def _plain_label(numeric: dict[str, Any], name: str, n_rows: int) -> str | None:
    fits = [k for k, v in numeric.items() if k != name and n_rows in v.shape and n_rows > 1 and not sp.issparse(v)]
    named = [k for k in fits if k.lower() in LABELS]
    vectors = [k for k in fits if min(numeric[k].shape) == 1 and is_whole(numeric[k])]
    return next(iter(named or vectors), None)


def _plain_labels(path: Path, name: str, value: Any, n_rows: int) -> RowLabels:
    if n_rows not in value.shape:
        raise InvalidData(
            f"{path}, variable {name!r}: expected one entry for each of the {n_rows} rows, found {value.shape}."
        )
    if value.dtype != object and min(value.shape) > 1:
        return from_marks(as_marks(path, name, value, n_rows))
    return from_cells(Coded.of(_vector(path, name, value, n_rows).tolist()), None)


def _vector(path: Path, name: str, value: Any, n_rows: int) -> NDArray[np.object_]:
    if value.size != n_rows:
        raise InvalidData(f"{path}, variable {name!r}: expected {n_rows} entries, found {value.shape}.")
    if value.dtype == object:
        out = np.empty(n_rows, dtype=object)
        out[:] = [str(np.asarray(v).reshape(-1)[0]) if np.size(v) else "" for v in value.reshape(-1)]
        return out
    return as_names(dense(path, value).reshape(-1))


def _names_of(variables: dict[str, Any], shape: tuple[int, int]) -> tuple[tuple[str, ...] | None, Any]:
    """Take cell arrays of strings, as long as X is high or wide, for the names of rows and features."""
    features, rows = None, None
    for value in variables.values():
        if value.dtype != object or value.size not in shape or not value.size:
            continue
        parts = [np.asarray(p).reshape(-1) for p in value.reshape(-1)]
        if not all(p.size == 1 and p.dtype.kind == "U" for p in parts):
            continue
        texts = [str(p[0]) for p in parts]
        if len(set(texts)) < len(texts):
            continue
        if value.size == shape[1]:
            features = tuple(texts)
        elif rows is None:
            rows = np.array(texts, dtype=object)
    return features, rows
