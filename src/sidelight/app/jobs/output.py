"""The output folder of a run: it appears whole or not at all, and an older one loses only what a run had written.

``run.toml`` lists the files of its run. Overwriting replaces these and nothing else, once the new ones are whole;
notes, tables and all other files in the folder stay. Names of files are fixed in the code and never come
from data.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar

from sidelight._core.atomic import check_writable, folder_beside, replacing
from sidelight.app.jobs.config import read_toml
from sidelight.errors import OutputExists, UnreadableFile
from sidelight.progress import interrupts
from sidelight.words import Sentence, Setting, some_of

if TYPE_CHECKING:
    from sidelight.app.jobs.result import Columns  # brings numpy, which is slow to import


# The headings of our own columns: words on pages, the same words without blanks in files.
#
# Columns under the user's own names, and labels that are columns, keep their names. Files of earlier versions had
# blanks in their headings: they are understood, too.


T = TypeVar("T")
_OURS = (
    "also in", "bags that disagree", "bits kept", "by features alone", "evidence (nats)", "for example",
    "further parents", "gaps look like forgetting", "in its words", "is called", "it was", "label added",
    "labels told rightly", "log likelihood", "made of", "may hold", "most frequent", "next cluster", "novel cluster",
    "number of clusters", "one of", "probability of same", "right label", "rows stand out by",
    "rows with the parent seen", "share kept", "share kept of nothing", "stands out by", "times chance", "too many",
    "typical rows", "witness row", "witnesses stand out by",
)  # fmt: skip
_CHANNEL = "cluster of "  # followed by the name of a channel or axis, which stays as it is


def without_blanks(words: str) -> str:
    """Return a heading in which every run of blanks and marks is one underscore."""
    return re.sub(r"[^A-Za-z0-9]+", "_", words).strip("_")


_FILE_OF = {words: without_blanks(words) for words in _OURS}
_WORDS_OF = {heading: words for words, heading in _FILE_OF.items()}


def heading(words: str) -> str:
    """Return how one of our columns is called in a file; any other name as it is."""
    if words.startswith(_CHANNEL):
        return without_blanks(_CHANNEL) + "_" + words.removeprefix(_CHANNEL)
    return _FILE_OF.get(words, words)


def words_of(heading: str) -> str:
    """Return what a column of a file is called here, whichever version wrote it."""
    channel = without_blanks(_CHANNEL) + "_"
    if heading.startswith(channel):
        return _CHANNEL + heading.removeprefix(channel)
    return _WORDS_OF.get(heading, heading)


def with_headings(columns: Mapping[str, T]) -> dict[str, T]:
    """Return columns as they are called in a file."""
    return {heading(name): cells for name, cells in columns.items()}


MANIFEST = "run.toml"
SESSION = "session.toml"  # of a sitting of `sidelight ask`
_TABLE_NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")
_OTHER: Sentence = ["Choose another ", Setting("out"), "."]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets take for the beginning of a formula
_FILE_ENDINGS = (
    ".csv",
    ".tsv",
    ".txt",
    ".parquet",
    ".html",
    ".json",
    ".toml",
    ".npz",
    ".gz",
)  # endings that are no folder's
Manifest = Callable[[Sequence[str]], str]


def check_free(out: Path, overwrite: bool) -> None:
    """Raise unless ``out`` may be written: it is new, empty, or an earlier run that may be overwritten."""
    if not out.name:
        raise OutputExists(f"{str(out)!r} is no name for a folder of results.", do=_OTHER)
    if out.is_symlink() and not out.exists():
        raise OutputExists(f"The output folder {str(out)!r} is a link that leads nowhere.", do=_OTHER)
    if out.exists() and not out.is_dir():
        raise OutputExists(f"The output folder {str(out)!r} is a file.", do=_OTHER)
    if not out.exists() and out.name.lower().endswith(_FILE_ENDINGS):
        raise OutputExists(
            f"{str(out)!r} is the name of a file, but several files are written, into a folder.",
            do=["Name a folder: ", Setting("out", str(out.with_name(out.name.split(".")[0] or "results"))), "."],
        )
    check_writable(out)
    if not out.is_dir() or not os.listdir(out):
        return
    if not overwrite:
        advice: Sentence = ["Choose another ", Setting("out"), ", or add ", Setting("overwrite", True), "."]
        raise OutputExists(f"The output folder {str(out)!r} is not empty.", do=advice)
    if not files_of_run(out):
        raise OutputExists(
            f"The output folder {str(out)!r} holds files, but no run.toml that lists them as files of a run, so "
            "nothing in it will be overwritten.",
            do=_OTHER,
        )


def check_sitting(out: Path) -> None:
    """Raise unless ``out`` may hold the answers of a person: it is new, empty, or holds an earlier sitting."""
    if (out / SESSION).is_file():
        check_writable(out)
    else:
        check_free(out, overwrite=False)


def files_of_run(out: Path) -> set[str]:
    """Return the files that the run in ``out`` wrote, as its run.toml lists them; strange names are not believed."""
    try:
        listed = read_toml(out / MANIFEST).get("files")
    except UnreadableFile:
        return set()
    names = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    return {name for name in names if _is_inside(out, name)}


@contextmanager
def output_folder(out: Path, manifest: Manifest, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary folder; its files move to ``out`` when the block ends without an error.

    Parameters
    ----------
    out : Path
        Where the files go.
    manifest : callable
        Returns the text of ``run.toml`` for the names of all files.
    overwrite : bool
        Whether the files of an earlier run may be replaced.
    """
    check_free(out, overwrite)
    with folder_beside(out) as work:
        yield work
        check_free(out, overwrite)
        names = sorted([*_files_in(work), MANIFEST])
        write_text(work / MANIFEST, manifest(names))
        interrupts.results_are_whole()
        if out.is_dir():
            _move_into(work, out, names, manifest)
        else:
            work.rename(out)


def _move_into(work: Path, out: Path, names: Sequence[str], manifest: Manifest) -> None:
    """Replace the files of an earlier run one by one; run.toml lists old and new files until the last is there."""
    old = files_of_run(out)
    strangers = [name for name in names if name not in old and os.path.lexists(out / name)]
    if strangers:
        raise OutputExists(
            f"{str(out)!r} holds {some_of(map(repr, strangers), 3)}, which no run wrote, so it will not be replaced.",
            do=_OTHER,
        )
    write_text(out / MANIFEST, manifest(sorted({*names, *old})))
    for name in names:
        if name != MANIFEST:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(work / name, out / name)
    for name in old - set(names):
        (out / name).unlink(missing_ok=True)
        if (out / name).parent != out and not os.listdir((out / name).parent):
            (out / name).parent.rmdir()
    os.replace(work / MANIFEST, out / MANIFEST)


def check_file_free(out: Path, *, overwrite: bool) -> None:
    """Raise unless the file ``out`` may be written."""
    if out.is_dir():
        raise OutputExists(f"{str(out)!r} is a folder. Name a file, such as {str(out / 'table.csv')!r}.")
    if out.exists() and not overwrite:
        raise OutputExists(
            f"{str(out)!r} exists.", do=["Choose another name, or add ", Setting("overwrite", True), "."]
        )
    check_writable(out)


def table_path(folder: Path, name: str) -> Path:
    """Return the place of a table; a name that did not come from our own code is a mistake of ours."""
    path = folder / f"{name}.csv"
    if not _TABLE_NAME.fullmatch(name) or path.exists():
        raise ValueError(f"{name!r} is no name for a table: fixed, lower-case and unique names only.")
    return path


def write_text(path: Path, text: str) -> None:
    """Write a text file as UTF-8, whole or not at all."""
    with replacing(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as handle:
        handle.write(text)


def write_csv(path: Path, columns: Columns, *, disarm: bool = False) -> None:
    """Write columns of equal length as UTF-8 CSV, whole or not at all.

    Parameters
    ----------
    path : Path
        The file.
    columns : mapping of str to sequence
        Titles and cells.
    disarm : bool
        Whether texts that a spreadsheet would run as a formula get an apostrophe in front. They no longer equal the
        names in the user's table then, so this is for reading and not for joining.
    """
    columns = disarmed(with_headings(columns)) if disarm else with_headings(columns)
    with replacing(path, "w", encoding="utf-8", errors="backslashreplace", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(columns.keys())
        writer.writerows(zip(*columns.values()))


def csv_text(columns: Columns, *, disarm: bool = False) -> str:
    """Return columns of equal length as the text of a CSV file; ``disarm`` as for :func:`write_csv`."""
    columns = disarmed(with_headings(columns)) if disarm else with_headings(columns)
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(columns.keys())
    writer.writerows(zip(*columns.values()))
    return buffer.getvalue()


def write_parquet(path: Path, columns: Columns) -> None:
    """Write columns of equal length as Parquet, whole or not at all."""
    import polars

    buffer = io.BytesIO()  # polars writes to descriptors on its own, and says in its own words when the disk is full
    named = with_headings(columns).items()
    series = [polars.Series(name, [_plain(cell) for cell in cells], strict=False) for name, cells in named]
    polars.DataFrame(series).write_parquet(buffer)
    with replacing(path) as handle:
        handle.write(buffer.getbuffer())


def disarmed(columns: Columns) -> Columns:
    """Return columns without a title or cell that a spreadsheet takes for a formula."""
    return {_disarmed(name): disarmed_cells(cells) for name, cells in columns.items()}


def disarmed_cells(cells: Iterable[Any]) -> list[Any]:
    """Return cells of which no spreadsheet takes a text for a formula."""
    return [_disarmed(cell) for cell in cells]


def _disarmed(cell: Any) -> Any:
    """Return a text that no spreadsheet takes for a formula; numbers stay numbers."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _plain(cell: Any) -> Any:
    """Return text that can be written as UTF-8; text that can be is returned as it is, not copied."""
    if not isinstance(cell, str) or cell.isascii():
        return cell
    try:
        cell.encode("utf-8")
        return cell
    except UnicodeEncodeError:
        return cell.encode("utf-8", "backslashreplace").decode("utf-8")


def _files_in(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def _is_inside(out: Path, name: str) -> bool:
    """Say whether ``name`` is a plain file below ``out``, also after following links."""
    parts = PurePosixPath(name).parts
    if not parts or PurePosixPath(name).is_absolute() or ".." in parts or "\0" in name or "\\" in name:
        return False
    folder = os.path.realpath(out / Path(*parts).parent)
    return os.path.commonpath([folder, os.path.realpath(out)]) == os.path.realpath(out)
