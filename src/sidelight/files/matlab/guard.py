"""Walk through a MATLAB 5 file before anything is allocated: every size it declares must fit into the bytes it has.

SciPy believes the sizes in the file; a few bytes can declare a cell array of a billion cells. The format: a 128-byte
header, then elements of (type, number of bytes, data), where a matrix nests flags, dimensions, a name and its parts.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sidelight.errors import UnreadableFile
from sidelight.files.limits import NAME, need, need_sparse
from sidelight.files.source import MAX_RATIO, MAX_UNPACKED

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
