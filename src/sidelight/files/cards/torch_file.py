"""The tensors of a PyTorch file (.pth), read without PyTorch and without running anything.

Such a file is a pickle with the raw numbers beside it (in a zip, or, until 2020, behind it in the same stream). A
pickle may name any function; the reader here knows the three kinds of names that a table of tensors needs and refuses
the rest. Tensors have strides: what is stored may lie in another order than what is meant.
"""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.errors import UnreadableFile

MOST_BYTES = 2 << 30  # of all tensors together
_MOST_TENSORS = 100_000
_STREAM_MAGIC = 0x1950A86A20F9469CFC6C  # the number that a file of the old kind begins with
_TYPES: Mapping[str, type[np.generic]] = {
    "FloatStorage": np.float32,
    "HalfStorage": np.float16,
    "DoubleStorage": np.float64,
    "LongStorage": np.int64,
    "IntStorage": np.int32,
}


@dataclass(frozen=True, slots=True)
class _Storage:
    key: str
    type: type[np.generic]
    size: int


@dataclass(frozen=True, slots=True)
class _Tensor:
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class _Table(pickle.Unpickler):
    """An unpickler that makes tables of tensors, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what one of the known names stands for."""
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if module == "torch" and name in _TYPES:
            return _TYPES[name]
        raise pickle.UnpicklingError(f"it names {module}.{name}, which a table of tensors does not need")

    def persistent_load(self, pid: Any) -> _Storage:
        """Return where the numbers of a tensor lie."""
        what, kind, key, _, size = pid[:5]
        if what != "storage" or kind not in _TYPES.values() or not 0 <= size <= MOST_BYTES:
            raise pickle.UnpicklingError("a tensor without numbers")
        return _Storage(str(key), kind, int(size))


def _tensor(storage: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: Any) -> _Tensor:
    if not isinstance(storage, _Storage):
        raise pickle.UnpicklingError("a tensor without numbers")
    return _Tensor(storage, int(offset), tuple(map(int, shape)), tuple(map(int, strides)))


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Return the tensors of a .pth file, by name.

    Parameters
    ----------
    path : Path
        What ``torch.save(model.state_dict(), path)`` wrote.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UnreadableFile(f"{path}: {path.stat().st_size:,} bytes of weights are more than are read.")
        table, numbers = _of_zip(path) if zipfile.is_zipfile(path) else _of_stream(path)
        if not isinstance(table, dict) or not 0 < len(table) <= _MOST_TENSORS:
            raise ValueError("no table of tensors")
        return {str(name): _placed(one, numbers) for name, one in table.items() if isinstance(one, _Tensor)}
    except UnreadableFile:
        raise
    except OSError as error:
        raise UnreadableFile(f"{path}: cannot be read ({error.strerror or error}).") from None
    except Exception as error:  # a tampered pickle or zip fails in a hundred ways
        raise UnreadableFile(f"{path}: no file of tensors that can be trusted ({error}).".replace("\n", " ")) from None


def _of_zip(path: Path) -> tuple[Any, dict[str, NDArray[Any]]]:
    with zipfile.ZipFile(path) as archive:
        if sum(info.file_size for info in archive.infolist()) > MOST_BYTES:
            raise ValueError("it unpacks to more than is read")
        inside = next(name for name in archive.namelist() if name.endswith("data.pkl"))
        table = _Table(io.BytesIO(archive.read(inside))).load()
        root = inside[: -len("data.pkl")]
        numbers = {s.key: np.frombuffer(archive.read(f"{root}data/{s.key}"), s.type) for s in _storages(table)}
    return table, numbers


def _of_stream(path: Path) -> tuple[Any, dict[str, NDArray[Any]]]:
    with path.open("rb") as file:
        if _Table(file).load() != _STREAM_MAGIC:
            raise ValueError("it does not begin as such files do")
        _Table(file).load(), _Table(file).load()  # the version, and the machine
        table = _Table(file).load()
        known = {storage.key: storage for storage in _storages(table)}
        numbers = {}
        for key in map(str, _Table(file).load()):
            (size,) = struct.unpack("<q", file.read(8))
            if key in known and size != known[key].size:
                raise ValueError(f"storage {key} is of another size than its tensors")
            kind = np.dtype(known[key].type)
            numbers[key] = np.frombuffer(file.read(size * kind.itemsize), kind)
    return table, numbers


def _storages(table: Any) -> set[_Storage]:
    return {one.storage for one in table.values() if isinstance(one, _Tensor)} if isinstance(table, dict) else set()


def _placed(one: _Tensor, numbers: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Return a tensor by its strides; one that would reach outside its numbers is refused."""
    flat = numbers[one.storage.key]
    if len(one.shape) != len(one.strides) or min((*one.shape, *one.strides, one.offset, 0)) < 0:
        raise ValueError("a tensor of no shape")
    last = one.offset + sum((n - 1) * step for n, step in zip(one.shape, one.strides))
    if 0 not in one.shape and last >= flat.size:
        raise ValueError("a tensor reaches outside its numbers")
    if np.prod(one.shape, dtype=float) > max(flat.size, 1):
        raise ValueError("a tensor is larger than its numbers")  # strides of 0 would make much of little
    steps = tuple(step * flat.itemsize for step in one.strides)
    return np.array(np.lib.stride_tricks.as_strided(flat[one.offset :], one.shape, steps), order="C")
