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
from numpy.lib import format as npy

from sidelight._core.archive import is_text
from sidelight.data.dataset import Dataset
from sidelight.errors import TooLarge, UnreadableFile
from sidelight.files.arrays.matrices import from_matrices
from sidelight.files.limits import need, need_sparse
from sidelight.files.roles.plan import RoleRequest
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
