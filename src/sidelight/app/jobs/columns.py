"""Plain columns of a table, as text: for commands that join tables and do not look at features."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sidelight.app.jobs.first_look import check_there
from sidelight.errors import InvalidData, UnknownName, UnreadableFile, nearest
from sidelight.files.arrays.parquet import ParquetSource
from sidelight.files.recognise import recognise
from sidelight.files.text.delimited import DelimitedSource

ASSIGNMENTS = ("assignments.parquet", "assignments.csv")


class Columns:
    """A delimited or Parquet table whose columns are read by name."""

    def __init__(self, path: str) -> None:
        check_there(path)
        file = Path(path).expanduser()
        if file.is_dir():
            file = _assignments_in(file)
        self.path = str(file)
        kind = recognise(file).format
        if kind not in ("delimited", "parquet"):
            raise InvalidData(f"{self.path!r}: expected delimited text or Parquet, found {kind}. Convert it first.")
        self._source = ParquetSource(file) if kind == "parquet" else DelimitedSource(file)
        self.names: Sequence[str] = self._source.names

    def cells(self, name: str) -> list[str]:
        """Return one column as text."""
        if name not in self.names:
            raise UnknownName(f"{self.path!r} has no column {name!r}. {nearest(name, self.names)}")
        j = list(self.names).index(name)
        return [str(cell) for cell in self._source.load([], [j]).texts[j].objects().tolist()]

    def has_numbers_only(self, name: str) -> bool:
        """Say whether the first cells of a column are whole numbers: a count of rows rather than names."""
        j = list(self.names).index(name)
        return all(row[j].isdecimal() for row in self._source.sample())


def _assignments_in(folder: Path) -> Path:
    for name in ASSIGNMENTS:
        if (folder / name).is_file():
            return folder / name
    raise UnreadableFile(f"{str(folder)!r} is a folder without {ASSIGNMENTS[1]}. Name the folder of a run, or a table.")
