"""Plain columns of a table, as text: for commands that join tables and do not look at features."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sidelight.app.jobs.first_look import check_there, is_pattern, matching
from sidelight.app.jobs.headings import words_of
from sidelight.errors import InvalidData, UnknownName, UnreadableFile, nearest
from sidelight.files.reading import open_table
from sidelight.files.recognise import recognise
from sidelight.files.source import Source

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
