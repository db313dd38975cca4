"""Reading: one entry that looks inside the file, finds its reader, and says what it took everything for."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sidelight._core.params import check_choice
from sidelight.data.dataset import TOLD, Dataset
from sidelight.data.dataset import Note as NoteOfData
from sidelight.errors import InvalidParameter, SidelightError, UnknownName, UnreadableFile, nearest
from sidelight.files.limits import memory_limit, need_dense
from sidelight.files.problems import about_skipped, noticing, skipping
from sidelight.files.recognise import FORMATS, may_be_table, recognise
from sidelight.files.roles.plan import RoleRequest, asked
from sidelight.files.source import MAX_RATIO, MAX_UNPACKED, STANDARD_INPUT, Source, as_path, is_server
from sidelight.lazy import functions_of
from sidelight.words import Note, Setting, some_of

if TYPE_CHECKING:
    from sidelight.files.arrays.parquet import ParquetSource
    from sidelight.files.roles.columns import MemorySource
    from sidelight.files.text.delimited import DelimitedSource


# The reader of each format, of which only the one that is needed is imported; also of a table inside a zip archive.


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
    "distances": (_here("arrays.distances.read_distances"), ("encoding",)),
}
_BOOKS = {  # tables that come whole into memory: the file, and which part of it
    "workbook": _here("books.workbooks.read_workbook"),
    "sqlite": _here("books.databases.read_sqlite"),
    "json": _here("books.records.read_records"),
    "feather": _here("books.columns.read_feather"),
    "track": _here("text.tracks.read_track"),
    "baskets": _here("text.baskets.read_baskets"),
}


def read(
    path: Any,
    *,
    id: str | bool | None = None,
    bag: str | bool | None = None,
    label: str | Sequence[str] | bool | None = None,
    features: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] = (),
    show: str | Sequence[str] | bool | None = None,
    keep: str | Sequence[str] = (),
    sequence: str | bool | None = None,
    channels: Mapping[str, str | Sequence[str]] | None = None,
    events: Sequence[str] | bool | None = None,
    weight: str | None = None,
    label_file: Any = None,
    label_separator: str | None = None,
    same: Mapping[str, str] | None = None,
    label_level: str | None = None,
    label_numbers: str | None = None,
    bag_label: str | bool | None = None,
    truth: str | bool | None = None,
    text: str | Sequence[str] | bool | None = None,
    missing_words: str | Sequence[str] | bool | None = None,
    transpose: str | Sequence[str] = (),
    candidates: str | bool | None = None,
    components: str | Sequence[str] | bool | None = None,
    embed: str | None = None,
    whole: bool | None = None,
    format: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    bad_lines: str = "stop",
    max_memory: int | float | str | None = None,
) -> Dataset:
    """Read a file of any known format, and say what each of its columns was taken for.

    The format is recognised by content. Roles that are not given are guessed from names and values;
    ``data.roles`` says why. ``False`` forbids a guess.

    Parameters
    ----------
    path : str or path
        Delimited text (any separator, maybe gzipped), Parquet, NPZ, MATLAB 5, ARFF (dense, sparse, relational, Mulan,
        CLUS), C4.5 multi-instance, svmlight, IDX, KEEL, or a folder (or tar archive) of text files.
    id, bag, sequence : str or False, optional
        The column that names the row, the bag of the row, the recording or session of the row.
    label : str or sequence of str, optional
        One column (a name a cell, or several between separators), or several columns or patterns: columns of 0 and 1
        give label sets, columns of words give their combinations.
    features : str or sequence of str, optional
        Columns or patterns such as ``"f*"``; by default every column of numbers without another role.
    ignore : str or sequence of str
        Columns or patterns to leave out.
    show : str or sequence of str, optional
        Columns with texts, or paths of images and sounds, to show beside a row.
    keep : str or sequence of str
        Columns to carry along unchanged, in ``data.kept``, whatever else they are used for.
    channels : mapping of str to columns, optional
        The features of each channel, as names or patterns.
    events : sequence of str, optional
        Columns to count together into a co-occurrence table; ``weight`` names the column that says how often.
    weight : str, optional
        What each row of an event table counts for.
    label_file : path, optional
        A second file with the labels: a table whose first column (or the one called like the bag or row id) is the key,
        Mulan's XML beside an ARFF file, or the IDX file of labels.
    label_separator : str, optional
        The mark between several labels in one cell; by default every mark that joins labels into others.
    same : mapping of str to str, optional
        Labels that are other spellings: ``{"Zaunkonig": "Zaunkönig"}``. What differs in blanks, or in capitals from a
        much commoner label, is mended, and what looks alike is told; ``{"a": "a"}`` says that a label is its own.
    label_level : {"row", "bag"}, optional
        Whether labels in a table with bags speak of the row or of its bag; by default of the bag when all rows of every
        bag agree.
    label_numbers : {"rows", "shares", "present"}, optional
        What numbers beside the labels of bags say: how many rows of the bag, which share of them, or only that the
        label is there. By default rows where they add up to the rows, shares where they add up to 1 or 100.
    bag_label : str or False, optional
        The column that holds the labels of the bag, where ``label`` speaks of the row.
    truth : str or False, optional
        The column that says what each row truly is, beside labels that a fit learns from; jobs compare with it.
    text : str or sequence of str, optional
        Columns of texts whose words become the features, counted in a sparse matrix.
    missing_words : str or sequence of str, optional
        Words that say "nothing is known" in this file, beside empty cells, NA, ? and -; by default words and numbers
        such as ``k. A.`` and ``-999`` that come back among numbers are recognised, and said.
    transpose : str or sequence of str
        Matrices of a MATLAB or NPZ file that lie on their side: features x rows.
    candidates : str or False, optional
        The 0/1 matrix of a MATLAB or NPZ file, or the column of a table, that lists for each row the labels one of
        which is right.
    components : str or sequence of str or False, optional
        Columns that are principal components or an embedding, or patterns such as ``"emb_*"``: their relative
        variances are kept where other columns are standardised. By default those that look like it.
    embed : str, optional
        A folder of recordings, pictures or texts: what describes its rows, as in :func:`from_folder`.
    whole : bool, optional
        A folder of recordings or pictures: one row a file, instead of sounds or regions.
    format : str, optional
        Skip the recognition: "delimited", "parquet", "npz", "npy", "matlab", "arff", "keel", "c45", "svmlight",
        "idx" or "folder".
    separator, encoding, header : str, str, bool, optional
        How a text file is written, when the guess is wrong.
    bad_lines : {"stop", "skip"}
        What to do about a line of a text file, or of JSON lines, that is no row: refuse the file, or leave the
        line out, counted and named in ``notes``.
    max_memory : int or str, optional
        What the file may take, in bytes or as a text such as ``"8GB"``; by default half of what this process may have.
        A file that would take more is refused, with the numbers, before it is read.

    Returns
    -------
    Dataset
        X with its side information, ``roles`` and ``notes``.

    Examples
    --------
    >>> import sidelight as sl
    >>> data = sl.read("segments.csv", bag="recording", label="species")  # doctest: +SKIP
    """
    file = path if isinstance(path, Source) else Source(_as_source(path))
    _check_words(format, label_level, encoding)
    beside = None if label_file is None else as_path(label_file, "sidelight.read", "label_file")
    wanted = asked(
        id=id,
        bag=bag,
        label=label,
        features=features,
        ignore=ignore,
        show=show,
        keep=keep,
        sequence=sequence,
        channels=channels,
        events=events,
        weight=weight,
        label_separator=label_separator,
        same=same,
        label_level=label_level,
        label_numbers=label_numbers,
        bag_label=bag_label,
        truth=truth,
        text=text,
        missing_words=missing_words,
        transpose=transpose,
        candidates=candidates,
        components=components,
        embed=_as_word(embed),
        whole=whole,
    )
    how = {"separator": separator, "encoding": encoding, "header": header}
    check_choice("sidelight.read", "bad_lines", bad_lines, ("stop", "skip"))
    with memory_limit(max_memory), noticing() as notes, skipping(bad_lines == "skip") as skipped:
        name, data = _read_as(format, file, wanted, beside, how)
        kept = data.kept or _kept_features(data, file.path, keep)
        called = "standard input" if file.given == STANDARD_INPUT else file.given if file.address else data.path
        lost = [NoteOfData(about_skipped(skipped), TOLD)] if skipped else []
        data = replace(data, path=called, reader=name, kept=kept, notes=(*data.notes, *notes, *lost))
        return with_components(data, components)


def _as_word(embed: Any) -> str | None:
    if embed is not None and not isinstance(embed, str):
        raise InvalidParameter(
            f"The 'embed' parameter of sidelight.read must be the name of a card, or a file. Got {embed!r:.80} instead."
        )
    return embed


def with_components(data: Dataset, said: Any) -> Dataset:
    """Say which columns are components: those that somebody named, those that look like it, or none (False).

    Parameters
    ----------
    data : Dataset
        What was read; a table that was cut from a folder says itself.
    said : str, sequence of str, False or None
        What was asked for.
    """
    from sidelight._models.column_kinds import guess_components
    from sidelight.files.roles.choosing import match_columns

    if said is False or (said is None and data.components) or not data.n_features:
        return replace(data, components=()) if said is False else data
    if said is not None:
        match_columns(Path(data.path), data.feature_names, said, "components")
        return replace(data, components=(said,) if isinstance(said, str) else tuple(said))
    found, why = guess_components(data.X, data.feature_names)
    note = Note(
        f"components, whose relative variances are kept: {why}.",
        ["If they are measures: ", Setting("components", False), "."],
    )
    return replace(data, components=found, notes=(*data.notes, note)) if found else data


def _check_words(format: str | None, label_level: str | None, encoding: Any) -> None:
    if format is not None:
        check_choice("sidelight.read", "format", format, FORMATS)
    if label_level is not None:
        check_choice("sidelight.read", "label_level", label_level, ("row", "bag"))
    if encoding is not None and not isinstance(encoding, str):
        raise InvalidParameter(
            f"The 'encoding' parameter of sidelight.read must be the name of an encoding. Got {encoding!r:.80} instead."
        )


def _read_as(
    format: str | None, file: Source, wanted: RoleRequest, label_file: Path | None, how: dict[str, Any]
) -> tuple[str, Dataset]:
    """Read the file as the format that was named, or as the one it is recognised as; return which, and what it held."""
    try:
        name = format or recognise(file).format
        return name, read_as(name, file, wanted, label_file, **how)
    except OSError as error:  # a name that is too long, no permission, a file that vanishes while a folder is read
        raise UnreadableFile(
            f"{error.filename or file}: cannot be read ({error.strerror or error}). Check the path."
        ) from None


def _kept_features(data: Dataset, path: Path, keep: str | Sequence[str]) -> dict[str, Any]:
    """Keep columns of X, for formats whose other columns have no names."""
    if not keep or data.counts is not None:
        return {}
    from sidelight.files.roles.choosing import match_columns

    columns = match_columns(path, data.feature_names, keep, "keep")
    need_dense(path, data.n_rows, len(columns))
    cells = data.X[:, columns]
    cells = cells.toarray() if hasattr(cells, "toarray") else cells
    return {data.feature_names[j]: cells[:, k] for k, j in enumerate(columns)}


def _as_source(path: Any) -> str | Path:
    return path if isinstance(path, str) and is_server(path) else as_path(path, "sidelight.read")


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
    if name == "folder" and (label_file is not None or wanted.embed not in (None, "none")) and file.path.is_dir():
        name = "material"  # texts whose labels are in a table are cut like other material
    reader, more = _READERS[name]
    given = {"label_file": label_file, "encoding": encoding}
    return reader(file.path, wanted, *(given[key] for key in more))


def open_table(
    file: Source | Path, format: str | None = None, **how: Any
) -> DelimitedSource | ParquetSource | MemorySource | None:
    """Open a table that is read by its columns, as the format that is named or recognised; None for other formats."""
    from sidelight.files.arrays.parquet import ParquetSource
    from sidelight.files.text.delimited import DelimitedSource

    source = Source.of(file)
    name = format or recognise(source).format
    if name == "parquet":
        return ParquetSource(source)
    if name != "delimited":
        return None
    from sidelight.files.books.sheets import read_sheet

    is_plain = all(value is None for value in how.values())  # the user said nothing of how it is written
    sheet = read_sheet(source) if is_plain else None
    return DelimitedSource(source, **how) if sheet is None else sheet


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


def tables_in(path: Path) -> list[str]:
    """Return the members of a zip or tar archive that may be tables."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                names = [info.filename for info in archive.infolist() if not info.is_dir()]
        else:
            with tarfile.open(path, "r:*") as packed:
                names = [member.name for member in packed if member.isfile()]
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise UnreadableFile(f"{path}: a damaged archive ({error}). Fetch it again.") from None
    return [name for name in names if may_be_table(name)]


def read_archive(path: Path, part: str | None, wanted: RoleRequest, how: dict[str, Any]) -> Dataset:
    """Unpack one table of an archive into a temporary folder, and read it."""
    names = tables_in(path)
    if part is not None and part not in names:
        raise UnknownName(f"{path} holds no table {part!r}. {nearest(part, names)}")
    if part is None and len(names) != 1:
        example = f"{path}::{names[0]}" if names else ""
        raise UnreadableFile(
            f"{path}: an archive of {len(names)} tables ({some_of(names, 3)}): which one is meant? Name it: {example}"
        )
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
        if not zipfile.is_zipfile(path):
            return _untarred(path, name, target)
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


def _untarred(path: Path, name: str, target: Path) -> Path:
    limit = max(MAX_UNPACKED, MAX_RATIO * path.stat().st_size)
    with tarfile.open(path, "r:*") as archive:
        member = archive.getmember(name)
        stream = archive.extractfile(member)
        if stream is None or member.size > limit:
            raise UnreadableFile(f"{path}: {name} declares {member.size:,} bytes: a decompression bomb.")
        with target.open("wb") as out:
            shutil.copyfileobj(stream, out, 1 << 20)
    return target
