"""Plain columns of a table, as text: for commands that join tables, and in search of columns that name rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sidelight.app.jobs.first_look import check_there, is_pattern, matching
from sidelight.app.jobs.output import words_of
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData, SidelightError, UnknownName, UnreadableFile, nearest
from sidelight.files.answers import find_answers
from sidelight.files.reading import open_table
from sidelight.files.recognise import recognise
from sidelight.files.source import Source
from sidelight.words import Sentence, Setting

FOLDER = "assignments"  # of runs that read their rows part by part
ASSIGNMENTS = ("assignments.parquet", "assignments.csv")


class Columns:
    """A delimited or Parquet table, or several files of one, whose columns are read by name."""

    def __init__(self, path: str | Source) -> None:
        source = Source.of(path)
        check_there(source.given)
        self.path = str(source.path)
        parts = next((f for f in (source.path / FOLDER, source.path) if any(f.glob("part-*.parquet"))), None)
        if parts is not None:
            source = Source(parts / "part-*.parquet")
        elif source.path.is_dir():
            source = Source(_assignments_in(source.path))
            self.path = str(source.path)
        files = [Source(file) for file in matching(source.given)] if is_pattern(source.given) else [source]
        self._sources = [self._opened(file) for file in files]
        self.names: Sequence[str] = [words_of(name) for name in self._sources[0].names]
        other = next((t.path for t in self._sources if [words_of(name) for name in t.names] != self.names), None)
        if other is not None:
            raise InvalidData(f"{str(other)!r} has other columns than the files before it.")
        self._read: dict[str, list[str]] = {}

    @staticmethod
    def _opened(source: Source) -> Any:
        table = open_table(source)
        if table is None:
            kind = recognise(source).format
            raise InvalidData(f"{str(source)!r}: expected delimited text or Parquet, found {kind}. Convert it first.")
        return table

    def cells(self, name: str) -> list[str]:
        """Return one column as text."""
        self.need(name)
        return self._read[words_of(name)]

    def need(self, *names: str) -> None:
        """Read several columns at once, which takes one pass over the table."""
        names = tuple(words_of(name) for name in names)
        for name in names:
            if name not in self.names:
                raise UnknownName(f"{self.path!r} has no column {name!r}. {nearest(name, self.names)}")
        places = {list(self.names).index(name): name for name in names if name not in self._read}
        if places:
            self._read |= {name: [] for name in places.values()}
            for source in self._sources:
                texts = source.load([], list(places)).texts
                for j, name in places.items():
                    self._read[name] += [str(cell) for cell in texts[j].objects().tolist()]

    def has_numbers_only(self, name: str) -> bool:
        """Say whether the first cells of a column are whole numbers: a count of rows rather than names."""
        j = list(self.names).index(words_of(name))
        return all(row[j].isdecimal() for row in self._sources[0].sample())


def _assignments_in(folder: Path) -> Path:
    for name in ASSIGNMENTS:
        if (folder / name).is_file():
            return folder / name
    raise UnreadableFile(
        f"{str(folder)!r} is a folder without {ASSIGNMENTS[1]}. Name the folder of a run, a table, or Parquet files of "
        f"one table as {str(folder / '*.parquet')!r}."
    )


_MOST_COLUMNS = 5  # of text that are read again in search of names
_READ_AGAIN = ("delimited", "parquet")  # formats whose columns can be read by name


def answers_by_column(data: Dataset, source: Source) -> tuple[str, dict[str, tuple[Path, int]]] | None:
    """Return a column and the answers beside the table that call the rows by its cells; None where there are none."""
    candidates = _candidates(data)
    table = _read(source, candidates)
    for column in candidates:
        cells = table.cells(column)
        beside = find_answers(data.path, cells) if len(set(cells)) == len(cells) else {}
        if beside:
            return column, beside
    return None


def with_column(error: UnknownName, asked: Collection[str], data: Dataset) -> UnknownName:
    """Return the error about an unknown row with the column to name the rows by, where one holds such names.

    Parameters
    ----------
    error : UnknownName
        What reading the answers said.
    asked : collection of str
        The names of rows in the answers.
    data : Dataset
        The table.
    """
    column = column_of_names(asked, data)
    if column is None:
        return error
    do: Sentence = [f"The column {column!r} has such names: name the rows by it, ", Setting("id", column), "."]
    return UnknownName(error.what, who=error.who, do=do)


def column_of_names(asked: Collection[str], data: Dataset, *, must_differ: bool = False) -> str | None:
    """Return the column of a table that holds most of the names in ``asked``; None where there is none."""
    names = set(asked)
    with suppress(SidelightError):
        candidates = _candidates(data)
        table = _read(Source(data.path), candidates)
        for column in candidates:
            cells = table.cells(column)
            is_name = not must_differ or len(set(cells)) == len(cells)
            if is_name and 2 * len(names.intersection(cells)) > len(names):
                return column
    return None


def columns_that_repeat(data: Dataset, source: Source) -> list[str]:
    """Return the columns of text whose names come back at least twice on average, those with most names first."""
    candidates = _candidates(data)
    table = _read(source, candidates)
    counts = {column: len(set(table.cells(column))) for column in candidates}
    repeated = [column for column, n_names in counts.items() if 2 <= n_names <= data.n_rows / 2]
    return sorted(repeated, key=lambda column: -counts[column])


def _read(source: Source, names: list[str]) -> Columns:
    table = Columns(source)
    table.need(*names)
    return table


def _candidates(data: Dataset) -> list[str]:
    if data.reader not in _READ_AGAIN:
        return []
    texts = [role.name for role in data.roles if role.kind == "text" and role.role != "id"]
    return texts[:_MOST_COLUMNS]
