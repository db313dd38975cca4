"""MATLAB 5 files: MIML cells of bags, the ``DD`` struct of instance-annotated bags, or plain matrices.

The layouts are told apart by shapes, not by file names: a cell array of matrices that share one dimension is a list
of bags; a struct that holds the rows, the bag of each row and the labels of bags is a ``DD``; otherwise the largest
numeric matrix holds the features.
"""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sidelight._core.process import without_library_warnings
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData, UnreadableFile
from sidelight.files.arrays.bundles import read_bundle
from sidelight.files.limits import NAME, need, need_sparse
from sidelight.files.matlab.bags import (
    LABELS,
    as_marks,
    as_names,
    bag_of_row,
    cell_size,
    dense,
    find_variable,
    is_bag_cell,
    is_numeric,
    is_whole,
    read_dd,
    read_miml,
    reason,
)
from sidelight.files.problems import listing
from sidelight.files.roles.builder import Builder
from sidelight.files.roles.columns import Coded, MemorySource
from sidelight.files.roles.labels import RowLabels, from_cells, from_marks
from sidelight.files.roles.plan import SAID, RoleRequest
from sidelight.files.roles.tables import read_table
from sidelight.files.source import MAX_RATIO, MAX_UNPACKED, Source

_MATRIX, _COMPRESSED = 14, 15


_CELL, _STRUCT, _OBJECT, _SPARSE = 1, 2, 3, 5


_DEEPEST = 20


_ARRAY = 2 * NAME  # bytes of an array without its numbers


_INTEGERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 12: "i8", 13: "u8"}  # how indices may be stored


_WIDTHS = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8}  # bytes of one stored number, by its type


_LETTERS = (16, 17, 18)  # types of stored text: UTF-8, UTF-16, UTF-32


_CHAR, _COMPLEX = 4, 0x800  # the class of texts, and the flag of complex numbers


_ELEMENT_SIZES = {4: 1, 6: 8, 7: 4, 8: 1, 9: 1, 10: 2, 11: 2, 12: 4, 13: 4, 14: 8, 15: 8}


def check_mat5(path: Path, data: bytes) -> None:
    """Raise :class:`UnreadableFile` unless every element of the file is as long as it says."""
    order = "<" if data[126:128] == b"IM" else ">"
    position, taken = 128, 0
    while position < len(data):
        kind, size = _tag(path, data, position, order)
        start, end = position + 8, position + 8 + size
        if end > len(data):
            raise UnreadableFile(
                f"{path}: expected {size} bytes after byte {start}, found {len(data) - start}. "
                "The file was cut off: fetch it again, or save it again in MATLAB."
            )
        if kind == _COMPRESSED:
            body = _inflate(path, data[start:end], len(data))
            taken += len(body)
            inner, inner_size = _tag(path, body, 0, order)
            if inner == _MATRIX:
                taken += _check_matrix(path, body[8 : 8 + inner_size], inner_size, order, 0)
            position = end
        else:
            if kind == _MATRIX:
                taken += _check_matrix(path, data[start:end], size, order, 0)
            position = end + -size % 8
        need(path, taken, "what its variables declare")


def _inflate(path: Path, packed: bytes, file_size: int) -> bytes:
    limit = max(MAX_UNPACKED, MAX_RATIO * file_size)
    machine = zlib.decompressobj()
    try:
        body = machine.decompress(packed, limit + 1)
    except zlib.error as error:
        raise _damaged(path, f"a compressed part does not unpack: {error}") from None
    if len(body) > limit:
        raise UnreadableFile(
            f"{path}: {file_size} bytes unpack to more than {limit}; this looks like a decompression bomb. "
            "If you trust it, save it again in MATLAB with save('FILE', '-v6')."
        )
    if not machine.eof:
        raise UnreadableFile(
            f"{path}: a compressed variable stops in the middle. The file was cut off: fetch it again."
        )
    return body


def _tag(path: Path, data: bytes, at: int, order: str) -> tuple[int, int]:
    if at + 8 > len(data):
        raise UnreadableFile(f"{path}: the file stops in the middle of a variable. It was cut off: fetch it again.")
    kind, size = struct.unpack_from(order + "II", data, at)
    return kind, size


def _element(path: Path, data: bytes, at: int, order: str) -> tuple[int, int, int, int]:
    """Return (type, start, size, next) of the element at ``at``; short elements keep their data inside the tag."""
    kind, size = _tag(path, data, at, order)
    if kind >> 16:
        return kind & 0xFFFF, at + 4, kind >> 16, at + 8
    if at + 8 + size > len(data):
        raise _damaged(path, f"an element declares {size} bytes where {len(data) - at - 8} are left")
    return kind, at + 8, size, at + 8 + size + (-size % 8)


def _check_matrix(path: Path, data: bytes, size: int, order: str, depth: int) -> int:
    """Raise unless a matrix fits its bytes; return what it will take in memory."""
    if depth > _DEEPEST:
        raise _damaged(path, f"cells inside cells, {depth} deep")
    if len(data) < size:
        raise _damaged(path, f"a matrix declares {size} bytes where {len(data)} are left")
    if not size:
        return _ARRAY  # an empty cell
    _, start, n, at = _element(path, data, 0, order)
    if n != 8:
        raise _damaged(path, "a matrix without flags")
    (flags,) = struct.unpack_from(order + "I", data, start)
    kind = flags & 0xFF
    if kind > 15:  # opaque objects (17: tables, strings, function handles) are not arrays; SciPy leaves them closed
        return len(data)
    _, start, n, at = _element(path, data, at, order)
    if n % 4 or not 8 <= n <= 4 * 32:
        raise _damaged(path, f"a matrix with {n // 4} dimensions")
    dims = struct.unpack_from(f"{order}{n // 4}i", data, start)
    cells = 1
    for dim in dims:
        if dim < 0:
            raise _damaged(path, f"a matrix of size {dims}")
        cells *= dim
    _, _, n_name, at = _element(path, data, at, order)
    if n_name > 255:
        raise _damaged(path, f"a name of {n_name} bytes")
    if kind in (_CELL, _STRUCT, _OBJECT):
        return _check_children(path, data, at, order, kind, cells, depth)
    if kind == _SPARSE:
        _check_sparse(path, data, at, order, dims)
        return 2 * len(data)
    if kind in _ELEMENT_SIZES and cells > len(data) - at:
        # The numbers may be stored in fewer bytes than their class, but never in less than one byte each.
        raise _damaged(path, f"a matrix of size {dims} in {len(data) - at} bytes")
    if cells:
        _check_stored(path, data, at, order, kind, flags)
    return _ARRAY + cells * _ELEMENT_SIZES.get(kind, 8)


def _check_stored(path: Path, data: bytes, at: int, order: str, kind: int, flags: int) -> None:
    """Check the types in which numbers are stored: SciPy looks them up in a table without looking how long it is."""
    for _ in range(2 if flags & _COMPLEX else 1):
        stored, _, _, at = _element(path, data, at, order)
        if stored not in _WIDTHS and not (kind == _CHAR and stored in _LETTERS):
            raise _damaged(path, f"numbers of the unknown type {stored}")


def _check_sparse(path: Path, data: bytes, at: int, order: str, dims: tuple[int, ...]) -> None:
    """Check every row index and column pointer: SciPy writes to where they point."""
    if len(dims) != 2:
        raise _damaged(path, f"a sparse matrix with {len(dims)} dimensions")
    height, width = dims
    need_sparse(path, height, width, 0)
    rows, at = _indices(path, data, at, order)
    ends, at = _indices(path, data, at, order)
    kind, start, size, _ = _element(path, data, at, order)
    if size and kind not in _WIDTHS:
        raise _damaged(path, f"numbers of the unknown type {kind}")
    n_values = min(size, len(data) - start) // _WIDTHS.get(kind, 1)
    if len(ends) <= width:
        raise _damaged(path, f"a sparse matrix of {height} x {width} with {len(ends)} column pointers")
    ends = ends[: width + 1]
    if ends[0] != 0 or (np.diff(ends) < 0).any() or ends[-1] > min(len(rows), n_values):
        raise _damaged(
            path,
            f"a sparse matrix of {height} x {width} with column pointers from {ends[0]} to {ends[-1]} that do not fit "
            f"its {len(rows)} rows and {n_values} values",
        )
    rows = rows[: ends[-1]]
    if len(rows) and (rows.min() < 0 or rows.max() >= height):
        bad = rows.min() if rows.min() < 0 else rows.max()
        raise _damaged(path, f"row {bad} (counted from 0) in a sparse matrix of {height} x {width}")
    inside = np.ones(max(len(rows) - 1, 0), dtype=bool)
    starts = ends[1:-1]
    inside[starts[(starts > 0) & (starts < len(rows))] - 1] = False  # between two columns anything may follow
    if (np.diff(rows) <= 0)[inside].any():
        cells = np.repeat(np.arange(width), np.diff(ends)) * max(height, 1) + rows  # below 2^62: both are below 2^31
        if len(np.unique(cells)) < len(cells):
            raise _damaged(path, "a sparse matrix that names one cell twice")


def _indices(path: Path, data: bytes, at: int, order: str) -> tuple[NDArray[np.int64], int]:
    kind, start, size, following = _element(path, data, at, order)
    if size and kind not in _INTEGERS:
        raise _damaged(path, f"indices of type {kind} in a sparse matrix")
    dtype = np.dtype(order + _INTEGERS.get(kind, "i4"))
    count = min(size, len(data) - start) // dtype.itemsize
    return np.frombuffer(data, dtype=dtype, count=count, offset=start).astype(np.int64), following


def _check_children(path: Path, data: bytes, at: int, order: str, kind: int, cells: int, depth: int) -> int:
    n_fields = 1
    if kind == _OBJECT:
        _, _, _, at = _element(path, data, at, order)
    if kind != _CELL:
        _, start, n, at = _element(path, data, at, order)
        width = struct.unpack_from(order + "i", data, start)[0] if n >= 4 else 0
        _, _, n, at = _element(path, data, at, order)
        if not 0 < width <= 256:
            raise _damaged(path, f"field names of {width} bytes")
        n_fields = n // width
    if cells * n_fields > (len(data) - at) // 8:
        raise _damaged(path, f"{cells * n_fields} cells in {len(data) - at} bytes")
    taken = cells * n_fields * 8
    for _ in range(cells * n_fields):
        child, start, size, following = _element(path, data, at, order)
        if child != _MATRIX:
            raise _damaged(path, f"a cell of type {child}")
        taken += _check_matrix(path, data[start : start + size], size, order, depth + 1)
        at = following
    return taken


def _damaged(path: Path, found: str) -> UnreadableFile:
    return UnreadableFile(
        f"{path}: expected a well-formed MATLAB 5 file, found {found}. It is damaged: fetch it again, "
        "or save it again in MATLAB."
    )


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
    track = _label_track(path, variables)
    if track is not None:
        return read_table(track, wanted)
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


def _label_track(path: Path, variables: dict[str, Any]) -> MemorySource | None:
    """Return onsets, offsets and a label for each as a table; None for other variables."""
    by_key = {name.lower(): np.asarray(value).reshape(-1) for name, value in variables.items()}
    if not {"onsets", "offsets"} <= by_key.keys() or not by_key["onsets"].size:
        return None
    start, end, names = by_key["onsets"], by_key["offsets"], by_key.get("labels", np.array([]))
    labels = list(str(names[0])) if names.size == 1 else [str(name) for name in names.tolist()]
    numeric = start.dtype.kind in "fiu" and end.dtype.kind in "fiu"
    if not numeric or len(start) != len(end) or len(labels) not in (0, len(start)):
        return None
    columns: list[Any] = [start.astype(np.float64), end.astype(np.float64)]
    named = ["onset", "offset", "label"] if labels else ["onset", "offset"]
    return MemorySource(path, "MATLAB 5", named, [*columns, *([Coded.of(labels)] if labels else [])])


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
