"""Parquet files through polars: only the columns that have a role are read, in slices when there are many rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.data.readers.columns import Coded, Loaded
from sidelight.data.readers.delimited import need_polars
from sidelight.data.readers.problems import header_only
from sidelight.errors import InvalidData, UnreadableFile
from sidelight.words import Setting

SLICE = 2_000_000


class ParquetSource:
    """A Parquet file as a table."""

    declares_words = False

    def __init__(self, path: Path) -> None:
        need_polars()
        import polars as pl

        self.path, self.title = path, "Parquet"
        self.notes: tuple[str, ...] = ()
        try:
            self._scan = pl.scan_parquet(path, glob=False)
            self._schema = self._scan.collect_schema()
            self.n_rows = int(self._scan.select(pl.len()).collect().item())
        except Exception as error:  # polars raises its own, OSError and, on damaged files, its panics
            raise _damaged(path, error) from None
        self.names = tuple(self._schema.names())
        if not self.n_rows:
            raise header_only(path, self.names)

    def sample(self) -> list[list[str]]:
        """Return the first rows as text."""
        frame = self._collect(self._scan.head(1000))
        columns = [_as_text(frame[name]) for name in self.names]
        return [list(row) for row in zip(*columns)]

    def load(self, numbers: Sequence[int], texts: Sequence[int]) -> Loaded:
        """Return some columns as numbers and some as text."""
        import polars as pl

        X = np.empty((self.n_rows, len(numbers)))
        for k, j in enumerate(numbers):
            name = self.names[j]
            series = self._collect(self._scan.select(name))[name]
            if series.dtype in (pl.String, pl.Categorical):
                series = series.cast(pl.String).str.strip_chars()
            try:
                values = series.cast(pl.Float64, strict=True)
            except pl.exceptions.PolarsError as error:
                raise InvalidData(
                    f"{self.path}, column {name!r}: expected numbers, found {self._schema[name]} values "
                    f"({str(error).splitlines()[0]}).",
                    do=["Leave the column out with ", Setting("ignore", name), "."],
                ) from None
            X[:, k] = values.fill_null(float("nan")).to_numpy()
        coded = {j: Coded.of(_as_text(self._collect(self._scan.select(self.names[j]))[self.names[j]])) for j in texts}
        return Loaded(X, coded)

    def frames(self, columns: Sequence[int], weight: int | None) -> Iterator[Any]:
        """Yield the columns in slices."""
        import polars as pl

        names = [self.names[j] for j in columns]
        scan = self._scan.select(names + ([] if weight is None else [self.names[weight]]))
        for start in range(0, self.n_rows, SLICE):
            frame = self._collect(scan.slice(start, SLICE))
            yield frame.with_columns(pl.col(name).cast(pl.String).fill_null("") for name in names)

    def place(self, row: int) -> str:
        """Say which row it is, from 1."""
        return f"row {row + 1}"

    def _collect(self, scan: Any) -> Any:
        try:
            return scan.collect()
        except Exception as error:  # polars raises its own, OSError and, on damaged files, its panics
            raise _damaged(self.path, error) from None


def _as_text(series: Any) -> list[str]:
    import polars as pl

    if series.dtype == pl.List(pl.String):  # a set of labels in one cell
        series = series.list.join("|")
    if series.dtype == pl.Boolean:
        series = series.cast(pl.Int8)
    try:
        return list(series.cast(pl.String).fill_null("").to_list())
    except pl.exceptions.PolarsError:
        return [str(value) for value in series.to_list()]


def _damaged(path: Path, error: Exception) -> UnreadableFile:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return UnreadableFile(
        f"{path}: a Parquet file that cannot be read ({reason}). It was cut off or damaged: fetch or write it again."
    )
