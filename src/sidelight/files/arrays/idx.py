"""IDX files (MNIST): a magic number, the sizes, then raw numbers; the labels lie in a second file beside it."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData, UnreadableFile
from sidelight.files.limits import need, need_dense
from sidelight.files.roles.builder import Builder
from sidelight.files.roles.columns import Coded
from sidelight.files.roles.labels import from_cells
from sidelight.files.roles.plan import RoleRequest
from sidelight.files.source import Source, read_up_to
from sidelight.words import Setting

_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def read_idx(path: Path, wanted: RoleRequest, label_file: Path | None = None) -> Dataset:
    """Read an IDX file of images or vectors, and the labels beside it when there are any."""
    array = load_idx(path)
    if array.ndim == 1:
        raise InvalidData(
            f"{path}: expected images or vectors, found {len(array)} single numbers: these are labels.",
            do=["Read the file of images; the labels are found beside it, or pass ", Setting("label_file"), "."],
        )
    need_dense(path, len(array), array.size // len(array))
    data = Builder(path, "IDX")
    data.features(array.reshape(len(array), -1).astype(np.float64), _pixel_names(array.shape[1:]))
    data.role(path.name, "feature", " x ".join(map(str, array.shape)) + " numbers")
    beside = label_file or (_labels_beside(path) if wanted.label is not False else None)
    if beside is not None:
        labels = load_idx(beside)
        if labels.ndim != 1 or len(labels) != len(array):
            raise InvalidData(
                f"{beside}: expected {len(array)} labels for {path.name}, found an array of {labels.shape}."
            )
        data.label_rows(from_cells(Coded.of(str(value) for value in labels.tolist()), None))
        data.role(beside.name, "label", "beside the images" if label_file is None else "you said so")
    return data.build()


def load_idx(path: Path) -> NDArray[Any]:
    """Return the array in an IDX file; the sizes it declares must fit its bytes."""
    with Source(path).open() as stream:
        start = read_up_to(stream, 4)
        if len(start) < 4 or start[:2] != b"\0\0" or start[2] not in _TYPES or not start[3]:
            raise UnreadableFile(f"{path}: expected the IDX magic number, found {start!r}.")
        sizes = read_up_to(stream, 4 * start[3])
        if len(sizes) < 4 * start[3]:
            raise UnreadableFile(f"{path}: the file stops inside its header. It was cut off: fetch it again.")
        shape = struct.unpack(f">{start[3]}I", sizes)
        dtype = np.dtype(_TYPES[start[2]])
        wanted = dtype.itemsize
        for size in shape:
            wanted *= size
        need(path, wanted, f"an array of {' x '.join(map(str, shape))}")
        data = stream.read()  # what is there, never what is declared
    if len(data) != wanted or not wanted:
        raise UnreadableFile(
            f"{path}: expected {wanted} bytes for an array of {' x '.join(map(str, shape))}, found {len(data)}. "
            "The file was cut off or damaged: fetch it again."
        )
    return np.frombuffer(data, dtype=dtype).reshape(shape)


def _labels_beside(path: Path) -> Path | None:
    """Find t10k-labels-idx1-ubyte beside t10k-images-idx3-ubyte, gzipped or not."""
    if "images" not in path.name:
        return None
    stem = path.name.removesuffix(".gz").replace("images", "labels")
    for old in ("idx3", "idx2", "idx4"):
        stem = stem.replace(old, "idx1")
    label_files = [path.with_name(name) for name in (stem, stem + ".gz") if path.with_name(name).is_file()]
    return label_files[0] if label_files else None


def _pixel_names(shape: tuple[int, ...]) -> tuple[str, ...]:
    if len(shape) == 2:
        return tuple(f"r{i}c{j}" for i in range(shape[0]) for j in range(shape[1]))
    return tuple(f"f{j}" for j in range(int(np.prod(shape, dtype=np.int64))))
