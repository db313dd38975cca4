"""The reader of each format; only the one that is needed is imported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidelight.data.dataset import Dataset
from sidelight.files.recognise import recognise
from sidelight.files.roles.plan import RoleRequest
from sidelight.files.source import Source
from sidelight.lazy import functions_of

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
    "material": (_here("material.reading.read_material"), ("label_file",)),
}
_BOOKS = {  # tables that come whole into memory: the file, and which part of it
    "workbook": _here("books.workbooks.read_workbook"),
    "sqlite": _here("books.databases.read_sqlite"),
    "json": _here("books.records.read_records"),
    "feather": _here("books.arrow.read_feather"),
}


def read_as(
    name: str, file: Source, wanted: RoleRequest, label_file: Path | None, *, encoding: str | None, **how: Any
) -> Dataset:
    """Read a file as the format that is named."""
    if name == "archive":
        from sidelight.files.books.archives import read_archive

        return read_archive(file.path, file.part, wanted, {"label_file": label_file, "encoding": encoding, **how})
    table = open_table(file, name, encoding=encoding, **how) or open_book(file, name)
    if table is not None:
        from sidelight.files.material.metadata import recipe_text
        from sidelight.files.roles.tables import read_table

        if name == "parquet" and recipe_text(file.path) is not None:
            from sidelight.files.material.reading import read_cut_table

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
        from sidelight.files.books.servers import read_server

        return read_server(file)
    return _BOOKS[name](file.path, file.part) if name in _BOOKS else None


def label_table(path: Path | None) -> Any:
    """Open a second table that holds the labels."""
    if path is None:
        return None
    from sidelight.files.text.delimited import DelimitedSource

    source = Source(path)
    return open_table(source) or open_book(source, recognise(source).format) or DelimitedSource(source)
