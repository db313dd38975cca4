"""The reader of each format; only the one that is needed is imported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidelight.data.dataset import Dataset
from sidelight.files.recognise import recognise
from sidelight.files.roles.plan import RoleRequest
from sidelight.files.source import Source

if TYPE_CHECKING:
    from sidelight.files.arrays.parquet import ParquetSource
    from sidelight.files.text.delimited import DelimitedSource

Reader = Callable[[Source, RoleRequest, Path | None, dict[str, Any]], Dataset]


def _delimited(file: Source, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.roles.tables import read_table
    from sidelight.files.text.delimited import DelimitedSource

    return read_table(DelimitedSource(file, **how), wanted, label_table(label_file))


def _parquet(file: Source, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.arrays.parquet import ParquetSource
    from sidelight.files.roles.tables import read_table

    return read_table(ParquetSource(file), wanted, label_table(label_file))


def _matlab(file: Source, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.matlab.reading import read_matlab

    return read_matlab(file.path, wanted)


def _c45(file: Source, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.text.c45 import read_c45

    return read_c45(file.path, wanted)


def _arff(file: Source, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.arff.reading import read_arff

    return read_arff(file.path, wanted, label_file, how["encoding"])


def _keel(file: Source, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.text.keel import read_keel

    return read_keel(file.path, wanted, how["encoding"])


def _svmlight(file: Source, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.text.svmlight import read_svmlight

    return read_svmlight(file.path, wanted)


def _idx(file: Source, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.arrays.idx import read_idx

    return read_idx(file.path, wanted, label_file)


def _npz(file: Source, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.arrays.npz import read_npz

    return read_npz(file.path, wanted)


def _npy(file: Source, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.arrays.npz import read_npy

    return read_npy(file.path, wanted)


def _folder(file: Source, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]) -> Dataset:
    from sidelight.files.text.folder import read_folder

    return read_folder(file.path, wanted, how["encoding"])


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


def open_table(file: Source | Path, format: str | None = None, **how: Any) -> DelimitedSource | ParquetSource | None:
    """Open a table that is read by its columns, as the format that is named or recognised; None for other formats."""
    from sidelight.files.arrays.parquet import ParquetSource
    from sidelight.files.text.delimited import DelimitedSource

    source = Source.of(file)
    name = format or recognise(source).format
    if name == "parquet":
        return ParquetSource(source)
    return DelimitedSource(source, **how) if name == "delimited" else None


def label_table(path: Path | None) -> Any:
    """Open a second table that holds the labels."""
    if path is None:
        return None
    from sidelight.files.text.delimited import DelimitedSource

    source = Source(path)
    return open_table(source) or DelimitedSource(source)
