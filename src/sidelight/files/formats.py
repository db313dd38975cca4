"""The reader of each format; only the one that is needed is imported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sidelight.data.dataset import Dataset
from sidelight.files.recognise import recognise
from sidelight.files.roles.plan import RoleRequest

Reader = Callable[[Path, RoleRequest, Path | None, dict[str, Any]], Dataset]


def _delimited(path: Path, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.roles.tables import read_table
    from sidelight.files.text.delimited import DelimitedSource

    return read_table(DelimitedSource(path, **how), wanted, label_table(label_file))


def _parquet(path: Path, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.arrays.parquet import ParquetSource
    from sidelight.files.roles.tables import read_table

    return read_table(ParquetSource(path), wanted, label_table(label_file))


def _matlab(path: Path, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.matlab.reading import read_matlab

    return read_matlab(path, wanted)


def _c45(path: Path, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.text.c45 import read_c45

    return read_c45(path, wanted)


def _arff(path: Path, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.arff.reading import read_arff

    return read_arff(path, wanted, label_file, how["encoding"])


def _keel(path: Path, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.text.keel import read_keel

    return read_keel(path, wanted, how["encoding"])


def _svmlight(path: Path, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.text.svmlight import read_svmlight

    return read_svmlight(path, wanted)


def _idx(path: Path, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.arrays.idx import read_idx

    return read_idx(path, wanted, label_file)


def _npz(path: Path, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.arrays.npz import read_npz

    return read_npz(path, wanted)


def _npy(path: Path, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.arrays.npz import read_npy

    return read_npy(path, wanted)


def _folder(path: Path, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.text.folder import read_folder

    return read_folder(path, wanted, how["encoding"])


READERS: dict[str, Reader] = {
    "delimited": _delimited,
    "parquet": _parquet,
    "npz": _npz,
    "npy": _npy,
    "matlab": _matlab,
    "arff": _arff,
    "keel": _keel,
    "c45": _c45,
    "svmlight": _svmlight,
    "idx": _idx,
    "folder": _folder,
}


def label_table(path: Path | None) -> Any:
    """Open a second table that holds the labels."""
    if path is None:
        return None
    from sidelight.files.arrays.parquet import ParquetSource
    from sidelight.files.text.delimited import DelimitedSource

    return ParquetSource(path) if recognise(path).format == "parquet" else DelimitedSource(path)
