"""The reader of each format, of which only the one that is needed is imported; also of a table inside a zip archive."""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sidelight.data.dataset import Dataset
from sidelight.errors import SidelightError, UnknownName, UnreadableFile, nearest
from sidelight.files.recognise import recognise
from sidelight.files.roles.plan import RoleRequest
from sidelight.files.source import MAX_RATIO, MAX_UNPACKED, Source
from sidelight.lazy import functions_of
from sidelight.words import some_of

if TYPE_CHECKING:
    from sidelight.files.arrays.parquet import ParquetSource
    from sidelight.files.roles.columns import MemorySource
    from sidelight.files.text.delimited import DelimitedSource


_here = functions_of("sidelight.files")


_READERS = {  # what each reader takes beside the path and the roles
    "npz": (_here("arrays.npz.read_npz"), ()),
    "npy": (_here("arrays.npz.read_npy"), ()),
    "matlab": (_here("matlab.reading.read_matlab"), ()),
    "arff": (_here("arff.reading.read_arff"), ("label_file", "encoding")),
    "keel": (_here("text.keel.read_keel"), ("encoding",)),
    "c45": (_here("text.c45.read_c45"), ()),
    "svmlight": (_here("text.svmlight.read_svmlight"), ()),
    "idx": (_here("arrays.idx.read_idx"), ("label_file",)),
    "folder": (_here("text.folder.read_folder"), ("encoding",)),
    "material": (_here("material.folder.read_material"), ("label_file",)),
}


_BOOKS = {  # tables that come whole into memory: the file, and which part of it
    "workbook": _here("books.workbooks.read_workbook"),
    "sqlite": _here("books.databases.read_sqlite"),
    "json": _here("books.records.read_records"),
    "feather": _here("books.columns.read_feather"),
}


def read_as(
    name: str, file: Source, wanted: RoleRequest, label_file: Path | None, *, encoding: str | None, **how: Any
) -> Dataset:
    """Read a file as the format that is named."""
    if name == "archive":
        return read_archive(file.path, file.part, wanted, {"label_file": label_file, "encoding": encoding, **how})
    table = open_table(file, name, encoding=encoding, **how) or open_book(file, name)
    if table is not None:
        from sidelight.files.material.listing import recipe_text
        from sidelight.files.roles.tables import read_table

        if name == "parquet" and recipe_text(file.path) is not None:
            from sidelight.files.material.folder import read_cut_table

            return read_cut_table(table, wanted, label_table(label_file))
        return read_table(table, wanted, label_table(label_file))
    if name == "folder" and label_file is not None and file.path.is_dir():
        name = "material"  # texts whose labels are in a table are cut like other material
    reader, more = _READERS[name]
    given = {"label_file": label_file, "encoding": encoding}
    return reader(file.path, wanted, *(given[key] for key in more))


def open_table(file: Source | Path, format: str | None = None, **how: Any) -> DelimitedSource | ParquetSource | None:
    """Open a table that is read by its columns, as the format that is named or recognised; None for other formats."""
    from sidelight.files.arrays.parquet import ParquetSource
    from sidelight.files.text.delimited import DelimitedSource

    source = Source.of(file)
    name = format or recognise(source).format
    if name == "parquet":
        return ParquetSource(source)
    return DelimitedSource(source, **how) if name == "delimited" else None


def open_book(file: Source, name: str) -> MemorySource | None:
    """Read a table in another coat (a workbook, a database, records); None for other formats."""
    if name == "server":
        from sidelight.files.books.databases import read_server

        return read_server(file)
    return _BOOKS[name](file.path, file.part) if name in _BOOKS else None


def label_table(path: Path | None) -> Any:
    """Open a second table that holds the labels."""
    if path is None:
        return None
    from sidelight.files.text.delimited import DelimitedSource

    source = Source(path)
    return open_table(source) or open_book(source, recognise(source).format) or DelimitedSource(source)


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
