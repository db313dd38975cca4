"""A table inside a zip archive: its only table, or the member that is named (``tables.zip::birds.csv``)."""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from sidelight.data.dataset import Dataset
from sidelight.errors import SidelightError, UnknownName, UnreadableFile, nearest
from sidelight.files.roles.plan import RoleRequest
from sidelight.files.source import MAX_RATIO, MAX_UNPACKED, Source
from sidelight.words import some_of

TABLES = (".csv", ".tsv", ".txt", ".parquet", ".json", ".jsonl", ".xlsx", ".ods", ".arff", ".mat", ".npz", ".sqlite")


def tables_in(path: Path) -> list[str]:
    """Return the members of a zip archive that may be tables."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise UnreadableFile(f"{path}: a damaged zip archive ({error}). Fetch it again.") from None
    own = [name for name in names if not name.startswith("__MACOSX/") and not PurePosixPath(name).name.startswith(".")]
    return [name for name in own if PurePosixPath(name).suffix.lower() in TABLES]


def read_archive(path: Path, part: str | None, wanted: RoleRequest, how: dict[str, Any]) -> Dataset:
    """Unpack one table of an archive into a temporary folder, and read it."""
    from sidelight.files.formats import read_as
    from sidelight.files.recognise import recognise

    names = tables_in(path)
    if part is not None and part not in names:
        raise UnknownName(f"{path} holds no table {part!r}. {nearest(part, names)}")
    if part is None and len(names) != 1:
        example = f"{path}::{names[0]}" if names else ""
        raise UnreadableFile(f"{path}: an archive of {len(names)} tables ({some_of(names, 3)}). Name one: {example}")
    with TemporaryDirectory(prefix="sidelight-") as folder:
        inside = Source(_unpacked(path, part or names[0], Path(folder)))
        try:
            data = read_as(recognise(inside).format, inside, wanted, **how)
        except SidelightError as error:  # its message names a file of ours
            told = error.what.replace(str(inside.path), f"{path}::{part or names[0]}")
            raise type(error)(told, do=error.do) from None
    return replace(data, path=f"{path}::{part or names[0]}")


def _unpacked(path: Path, name: str, folder: Path) -> Path:
    """Write one member under a name of our own; one that unpacks to absurd sizes is refused."""
    target = folder / f"table{PurePosixPath(name).suffix.lower()}"
    try:
        with zipfile.ZipFile(path) as archive:
            info = archive.getinfo(name)
            if info.file_size > MAX_UNPACKED and info.file_size > MAX_RATIO * max(info.compress_size, 1):
                raise UnreadableFile(f"{path}: {name} unpacks to {info.file_size:,} bytes: a decompression bomb.")
            with archive.open(info) as packed, target.open("wb") as out:
                shutil.copyfileobj(packed, out, 1 << 20)
    except UnreadableFile:
        raise
    except Exception as error:  # wrong passwords, damaged members, methods that Python lacks
        raise UnreadableFile(f"{path}: {name} cannot be unpacked ({error}).") from None
    return target
