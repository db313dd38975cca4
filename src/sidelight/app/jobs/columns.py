"""Plain columns of a table, as text: for commands that join tables and do not look at features."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sidelight.app.jobs.first_look import check_there
from sidelight.errors import InvalidData, UnknownName, UnreadableFile, nearest
from sidelight.files.formats import open_table
from sidelight.files.recognise import recognise
from sidelight.files.source import Source

ASSIGNMENTS = ("assignments.parquet", "assignments.csv")


class Columns:
    """A delimited or Parquet table whose columns are read by name."""

    def __init__(self, path: str | Source) -> None:
        source = Source.of(path)
        check_there(source.given)
        if source.path.is_dir():
            source = Source(_assignments_in(source.path))
        self.path = str(source.path)
        table = open_table(source)
        if table is None:
            kind = recognise(source).format
            raise InvalidData(f"{self.path!r}: expected delimited text or Parquet, found {kind}. Convert it first.")
        self._source = table
        self.names: Sequence[str] = self._source.names
        self._read: dict[str, list[str]] = {}

    def cells(self, name: str) -> list[str]:
        """Return one column as text."""
        self.need(name)
        return self._read[name]

    def need(self, *names: str) -> None:
        """Read several columns at once, which takes one pass over the table."""
        for name in names:
            if name not in self.names:
                raise UnknownName(f"{self.path!r} has no column {name!r}. {nearest(name, self.names)}")
        places = {list(self.names).index(name): name for name in names if name not in self._read}
        if places:
            texts = self._source.load([], list(places)).texts
            self._read |= {name: [str(cell) for cell in texts[j].objects().tolist()] for j, name in places.items()}

    def has_numbers_only(self, name: str) -> bool:
        """Say whether the first cells of a column are whole numbers: a count of rows rather than names."""
        j = list(self.names).index(name)
        return all(row[j].isdecimal() for row in self._source.sample())


def _assignments_in(folder: Path) -> Path:
    for name in ASSIGNMENTS:
        if (folder / name).is_file():
            return folder / name
    raise UnreadableFile(f"{str(folder)!r} is a folder without {ASSIGNMENTS[1]}. Name the folder of a run, or a table.")
