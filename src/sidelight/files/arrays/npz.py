"""NumPy files: .npz archives of named arrays and single .npy arrays, opened without ever running what they hold.

Every array is checked before it is unpacked: its declared size must match its bytes, arrays of objects (pickles) are
refused, and so are archives that unpack to far more than they weigh.
"""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy
from numpy.typing import NDArray

from sidelight._core.archive import is_text
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData, TooLarge, UnreadableFile
from sidelight.files.arrays.bundles import read_bundle
from sidelight.files.limits import need, need_dense, need_sparse
from sidelight.files.problems import no_such_column
from sidelight.files.roles.builder import Builder
from sidelight.files.roles.columns import Coded
from sidelight.files.roles.labels import RowLabels, from_cells
from sidelight.files.roles.looks import inspect_column
from sidelight.files.roles.plan import SAID, RoleRequest
from sidelight.files.roles.said import said_of_cells
from sidelight.files.source import MAX_RATIO, MAX_UNPACKED, Source

_HEADER = 1 << 16


def read_npz(path: Path, wanted: RoleRequest) -> Dataset:
    """Read an archive of arrays: the features, and labels, bags and ids by their names and lengths."""
    return from_matrices(path, "NPZ", load_npz(path), wanted)


def read_npy(path: Path, wanted: RoleRequest) -> Dataset:
    """Read a single array as features."""
    with Source(path).open() as stream:
        data = stream.read()
    return from_matrices(path, "NPY", {path.name.split(".")[0] or "X": _array(path, path.name, data)}, wanted)


def load_npz(path: Path) -> dict[str, Any]:
    """Return the arrays of an archive; scipy's sparse layout (data, indices, indptr, shape) becomes one matrix."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            total = sum(member.file_size for member in members)
            if total > MAX_UNPACKED and total > MAX_RATIO * path.stat().st_size:
                raise UnreadableFile(
                    f"{path}: {path.stat().st_size} bytes unpack to {total}; this looks like a decompression bomb. "
                    "If you trust it, load it with numpy and save it again with np.savez."
                )
            need(path, total, f"{len(members)} arrays")
            arrays = {member.filename.removesuffix(".npy"): _member(path, archive, member) for member in members}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise UnreadableFile(f"{path}: a damaged archive ({error}). Fetch or save it again.") from None
    if not arrays:
        raise UnreadableFile(f"{path}: expected arrays, found an empty archive.")
    return _sparse(path, arrays)


def _member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Any:
    with archive.open(member) as stream:
        data = stream.read(member.file_size + 1)  # a member that unpacks to more than it declares is refused below
    if len(data) > member.file_size:
        raise UnreadableFile(
            f"{path}, array {member.filename!r}: unpacks to more than it declares: damaged or hostile."
        )
    return _array(path, member.filename, data)


def _array(path: Path, name: str, data: bytes) -> Any:
    stream = io.BytesIO(data)
    try:
        version = npy.read_magic(stream)
        if version == (1, 0):
            shape, fortran, dtype = npy.read_array_header_1_0(stream, max_header_size=_HEADER)
        else:
            shape, fortran, dtype = npy.read_array_header_2_0(stream, max_header_size=_HEADER)
    except Exception as error:  # the header is a Python literal: any kind of error may come out of a damaged one
        raise UnreadableFile(f"{path}, array {name!r}: expected a NumPy header ({error}). Save it again.") from None
    if dtype.hasobject:
        raise UnreadableFile(
            f"{path}, array {name!r}: holds Python objects, which can run code when they are opened. "
            "Save it as numbers or text: np.savez(FILE, X=X.astype(float), labels=labels.astype(str))."
        )
    size = dtype.itemsize
    for n in shape:
        size *= int(n)
    left = len(data) - stream.tell()
    if size != left or any(n < 0 for n in shape):
        raise UnreadableFile(
            f"{path}, array {name!r}: expected {size} bytes for shape {shape} of {dtype}, found {left}. "
            "The file was cut off or damaged: save it again."
        )
    need(path, size + 8 * math.prod(shape), f"the array {name!r} of {' x '.join(map(str, shape))}")
    array = np.frombuffer(data, dtype=dtype, offset=stream.tell()) if size else np.empty(0, dtype=dtype)
    if not is_text(array):
        raise UnreadableFile(
            f"{path}, array {name!r}: holds characters that do not exist. It is damaged: save it again."
        )
    return array.reshape(shape, order="F" if fortran else "C")


def _sparse(path: Path, arrays: dict[str, Any]) -> dict[str, Any]:
    import scipy.sparse as sp

    if not {"data", "indices", "indptr", "shape"} <= set(arrays):
        return arrays
    rest = {k: v for k, v in arrays.items() if k not in ("data", "indices", "indptr", "shape", "format", "_is_array")}
    form = arrays.get("format")
    name = form.item() if form is not None and form.size == 1 else b"csr"
    name = name.decode("latin-1") if isinstance(name, bytes) else str(name)
    maker = {"csr": sp.csr_array, "csc": sp.csc_array}.get(name)
    try:
        if maker is None:
            raise ValueError(f"the format {name!r}; csr and csc are read")
        shape = tuple(int(n) for n in arrays["shape"].reshape(-1))
        if len(shape) != 2 or min(shape) < 0:
            raise ValueError(f"the shape {shape}")
        need_sparse(path, *shape, len(arrays["data"]))
        matrix = maker((arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"]), shape=shape)
        matrix.check_format(full_check=True)
    except TooLarge:
        raise
    except Exception as error:  # SciPy raises whatever damaged indices lead it to
        raise UnreadableFile(f"{path}: expected a sparse matrix, found {error}. Save it again.") from None
    return {"X": sp.csr_array(matrix), **rest}


# Named arrays that are already numbers (NPZ): which one holds the features, which the labels, bags and row names.


_ROLES = {
    "bag": ("bags", "bag", "bag_ids", "bag_id", "groups", "group"),
    "id": ("ids", "id", "row_ids", "names", "index"),
    "sequence": ("sequences", "sequence", "sessions", "session"),
    "label": ("y", "labels", "label", "target", "targets", "classes", "Y", "y_true", "gt", "gnd", "truth", "truelabel"),
}


_FEATURE_NAMES = ("feature_names", "columns", "features", "terms", "vocabulary")


_LABEL_NAMES = ("label_names", "class_names", "target_names")


def from_matrices(path: Path, title: str, arrays: dict[str, Any], wanted: RoleRequest) -> Dataset:
    """Make a data set of named arrays."""
    told = {*_FEATURE_NAMES, *(name for role in ("bag", "id", "sequence") for name in _ROLES[role])} & set(arrays)
    if not told and not any(isinstance(getattr(wanted, role), str) for role in ("bag", "id", "sequence")):
        bundle = read_bundle(path, title, arrays, wanted)
        if bundle is not None:
            return bundle
    name = _features(path, arrays, wanted)
    X = arrays[name]
    n = X.shape[0]
    if not sp.issparse(X):
        need_dense(path, n, X.size // n)
    data = Builder(path, title)
    X = X if sp.issparse(X) else np.ascontiguousarray(X.reshape(n, -1), dtype=np.float64)
    data.features(X, _texts(arrays, _FEATURE_NAMES, X.shape[1]))
    data.role(name, "feature", SAID if wanted.features else f"the largest matrix, {n} x {X.shape[1]}")
    sides = {role: _vector(path, arrays, wanted, role, n, name, data) for role in _ROLES}
    labels = _labels(path, arrays, sides["label"], n)
    data.bags = _bags(path, sides["bag"], labels, arrays.get("bag_labels"))
    if labels is not None and len(labels.codes) == n and (data.bags is None or labels.is_single):
        data.label_rows(labels)
    data.label_names = () if labels is None else labels.names
    data.unused(arrays)
    return data.build(
        row_ids=None if sides["id"] is None else _names(sides["id"]),
        sequence=None if sides["sequence"] is None else _names(sides["sequence"]),
    )


def _features(path: Path, arrays: dict[str, Any], wanted: RoleRequest) -> str:
    if isinstance(wanted.features, str):
        if wanted.features not in arrays:
            raise no_such_column(path, wanted.features, "features", list(arrays))
        name = wanted.features
        if not _is_matrix(arrays[name]):
            raise InvalidData(f"{path}, array {name!r}: expected a matrix of numbers, found {_kind(arrays[name])}.")
        return name
    matrices = [k for k, v in arrays.items() if _is_matrix(v)]
    if not matrices:
        listed = ", ".join(f"{k} ({_kind(v)})" for k, v in list(arrays.items())[:5])
        raise InvalidData(f"{path}: expected a matrix of numbers, found {listed}. Save the features as X.")
    if "X" in matrices:
        return "X"
    return max(matrices, key=lambda k: int(np.prod(arrays[k].shape, dtype=np.int64)))


def _vector(
    path: Path, arrays: dict[str, Any], wanted: RoleRequest, role: str, n: int, name: str, data: Builder
) -> Any:
    said = getattr(wanted, role)
    if said is False:
        return None
    if isinstance(said, str):
        if said not in arrays:
            raise no_such_column(path, said, role, list(arrays))
        value, why = arrays[said], SAID
        if role != "label" and value.shape[:1] != (n,):
            raise InvalidData(f"{path}, array {said!r}: expected {n} entries, one for each row, found {value.shape}.")
    else:
        fits = [k for k in _ROLES[role] if k in arrays and k != name and (role == "label" or arrays[k].shape == (n,))]
        if not fits:
            return None
        said, value, why = fits[0], arrays[fits[0]], "its name and its length"
    data.role(said, role, why, "text" if value.dtype.kind in "US" else "number")
    return value


def _labels(path: Path, arrays: dict[str, Any], value: Any, n: int) -> RowLabels | None:
    if value is None:
        return None
    if sp.issparse(value):
        need_dense(path, *value.shape)
    dense = value.toarray() if sp.issparse(value) else value
    if dense.ndim == 2 and dense.shape[1] > 1:
        names = _texts(arrays, _LABEL_NAMES, dense.shape[1]) or tuple(str(k) for k in range(dense.shape[1]))
        unique, codes = np.unique(dense > 0, axis=0, return_inverse=True)
        sets = tuple(frozenset(names[k] for k in np.flatnonzero(row).tolist()) for row in unique)
        return RowLabels(sets, codes.reshape(-1).astype(np.intp), names)
    return from_cells(Coded.of(str(v) for v in _names(dense.reshape(-1)).tolist()), None)


def _bags(path: Path, ids: Any, label_sets: RowLabels | None, own: Any) -> Bags | None:
    if ids is None:
        return None
    names = _names(ids)
    if own is not None and own.dtype.kind in "US":
        cells, rows = [str(cell) for cell in _names(own).tolist()], Bags(names.tolist())
        exact = said_of_cells(Coded.of(cells), rows.codes, rows.n_bags) if len(cells) == len(names) else None
        if exact is not None:
            return exact.bags(names.tolist(), rows.names)
        label_sets = from_cells(Coded.of(cells), inspect_column("", cells[:1000]).separator)
    if label_sets is None:
        return Bags(names.tolist())
    plain = Bags(names.tolist())
    if len(label_sets.codes) == len(names):
        sets = label_sets.of_bags(plain.codes, plain.n_bags)
    elif len(label_sets.codes) == plain.n_bags:
        sets = [label_sets.sets[code] for code in label_sets.codes.tolist()]
    else:
        raise InvalidData(
            f"{path}: expected one label for each of {len(names)} rows or {plain.n_bags} bags, "
            f"found {len(label_sets.codes)}."
        )
    return Bags(names.tolist(), labels=dict(zip(plain.names, sets)), classes=label_sets.names)


def _names(value: NDArray[Any]) -> NDArray[Any]:
    flat = value.reshape(-1)
    if flat.dtype.kind == "S":
        return np.array([v.decode("utf-8", errors="replace") for v in flat.tolist()], dtype=object)
    if flat.dtype.kind == "f":
        whole = np.isfinite(flat).all() and (flat == np.round(flat)).all() and (np.abs(flat) < 2**53).all()
        return flat.astype(np.int64) if whole else np.array([f"{v:g}" for v in flat.tolist()], dtype=object)
    if flat.dtype.kind in "iu":
        return flat.astype(np.int64)
    return np.array([str(v) for v in flat.tolist()], dtype=object)


def _texts(arrays: dict[str, Any], names: tuple[str, ...], n: int) -> tuple[str, ...] | None:
    for name in names:
        if name in arrays and arrays[name].dtype.kind in "US" and arrays[name].size == n:
            return tuple(str(v) for v in _names(arrays[name]).tolist())
    return None


def _is_matrix(value: Any) -> bool:
    return value.dtype.kind in "iufb" and value.ndim >= 2 and value.shape[0] > 0


def _kind(value: Any) -> str:
    return f"{' x '.join(map(str, value.shape)) or 'one'} {value.dtype}"
