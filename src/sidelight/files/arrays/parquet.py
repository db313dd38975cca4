"""Parquet files through polars: only the columns that have a role are read, in slices when there are many rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.errors import InvalidData, UnreadableFile
from sidelight.files.arrays.nested import opened
from sidelight.files.limits import need
from sidelight.files.problems import header_only
from sidelight.files.roles.columns import Coded, Coder, Loaded
from sidelight.files.source import Source
from sidelight.words import Setting

SLICE = 2_000_000
_PIECE, _MOST = 1 << 21, 100_000  # cells and rows of a piece
_LONGEST = 4_000  # characters of a cell that are enough to see what it is


class ParquetSource:
    """A Parquet file as a table."""

    declares_words = False

    def __init__(self, file: Source | Path) -> None:
        import polars as pl

        path = Source.of(file).path
        self.path, self.title = path, "Parquet"
        try:
            self._scan = pl.scan_parquet(path, glob=False)
            self._scan, self.notes = opened(self._scan, self._scan.collect_schema())
            self._schema = self._scan.collect_schema()
            self.n_rows = int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())
        except (Exception, pl.exceptions.PanicException) as error:  # on damaged files polars panics, too
            raise _damaged(path, error) from None
        self.names = tuple(self._schema.names())
        if not self.n_rows:
            raise header_only(path, self.names)
        if not self.names:
            raise UnreadableFile(f"{path}: only nested columns, which are not read: {'; '.join(self.notes)[:200]}.")

    def sample(self) -> list[list[str]]:
        """Return the first rows as text; long cells are cut."""
        frame = self._collect(self._scan.head(1000))
        columns = [_as_text(frame[name], longest=_LONGEST) for name in self.names]
        return [list(row) for row in zip(*columns)]

    def load(self, numbers: Sequence[int], texts: Sequence[int]) -> Loaded:
        """Return some columns as numbers and some as text."""
        n_columns = len(numbers) + len(texts)
        need(self.path, 8 * self.n_rows * (n_columns + 1), f"{self.n_rows} rows of {n_columns} columns")
        self._need_texts(texts)
        X = np.empty((self.n_rows, len(numbers)))
        for k, j in enumerate(numbers):
            for start, series in self._slices(j):
                X[start : start + len(series), k] = self._as_numbers(series)
        return Loaded(X, {j: self._coded(j) for j in texts})

    def _as_numbers(self, series: Any) -> Any:
        import polars as pl

        if series.dtype in (pl.String, pl.Categorical):
            series = series.cast(pl.String).str.strip_chars()
        try:
            return series.cast(pl.Float64, strict=True).fill_null(float("nan")).to_numpy()
        except pl.exceptions.PolarsError as error:
            raise InvalidData(
                f"{self.path}, column {series.name!r}: expected numbers, found {series.dtype} values "
                f"({str(error).splitlines()[0]}).",
                do=["Leave the column out with ", Setting("ignore", series.name), "."],
            ) from None

    def _coded(self, j: int) -> Coded:
        """Encode a column of text slice by slice; a text that comes back is never written out again."""
        coder, taken = Coder(), 0
        for start, series in self._slices(j):
            taken += text_bytes(series)
            need(self.path, taken, f"the first {start + len(series)} texts of column {self.names[j]!r}")
            coder.add(series if is_text(series) else _as_text(series))
        return coder.result()

    def _need_texts(self, texts: Sequence[int]) -> None:
        """Estimate columns of text by their first cells, before the rest is unpacked."""
        for j in texts:
            first = self._collect(self._scan.select(self.names[j]).head(1000))[self.names[j]]
            mean = text_bytes(first) / max(len(first), 1)
            what = f"{self.n_rows} texts of {mean:.0f} bytes, as the first of column {self.names[j]!r} are,"
            need(self.path, mean * self.n_rows, what)

    def _slices(self, j: int) -> Iterator[tuple[int, Any]]:
        """Yield (first row, cells) of a column, piece by piece."""
        scan = self._scan.select(self.names[j])
        for start in range(0, self.n_rows, SLICE):
            yield start, self._collect(scan.slice(start, SLICE))[self.names[j]]

    def frames(self, columns: Sequence[int], weight: int | None) -> Iterator[Any]:
        """Yield the columns in slices."""
        import polars as pl

        names = [self.names[j] for j in columns]
        scan = self._scan.select(names + ([] if weight is None else [self.names[weight]]))
        for start in range(0, self.n_rows, SLICE):
            frame = self._collect(scan.slice(start, SLICE))
            yield frame.with_columns(pl.col(name).cast(pl.String).fill_null("") for name in names)

    def pieces(self, numbers: Sequence[int], texts: Sequence[int]) -> Iterator[Any]:
        """Yield polars frames of some rows each, ``column_<j>`` as Float64 (gaps NaN) or String."""
        import polars as pl

        chosen = list(dict.fromkeys([*numbers, *texts]))
        scan = self._scan.select(self.names[j] for j in chosen)
        step = min(_MOST, max(1000, _PIECE // max(len(chosen), 1)))
        for start in range(0, self.n_rows, step):
            frame = self._collect(scan.slice(start, step))
            columns = {f"column_{j + 1}": pl.Series(self._as_numbers(frame[self.names[j]])) for j in numbers}
            columns |= {f"column_{j + 1}": pl.Series(_as_text(frame[self.names[j]]), dtype=pl.String) for j in texts}
            yield pl.DataFrame(columns)

    def location(self, row: int) -> str:
        """Say which row it is, from 1."""
        return f"row {row + 1}"

    def _collect(self, scan: Any) -> Any:
        import polars as pl

        try:
            return scan.collect()
        except (Exception, pl.exceptions.PanicException) as error:  # on damaged files polars panics, too
            raise _damaged(self.path, error) from None


def is_text(series: Any) -> bool:
    """Say whether the cells are texts."""
    import polars as pl

    return series.dtype in (pl.String, pl.Categorical)


def text_bytes(series: Any) -> int:
    """Return how long all texts of a column are together, without writing any of them out."""
    import polars as pl

    if series.dtype == pl.Categorical:
        counts = series.value_counts()
        lengths = counts[series.name].cast(pl.String).str.len_bytes().cast(pl.Int64)
        return int((lengths * counts["count"]).sum() or 0)
    if series.dtype == pl.String:
        return int(series.str.len_bytes().cast(pl.Int64).sum() or 0)
    return 8 * len(series)


def _as_text(series: Any, longest: int | None = None) -> list[str]:
    import polars as pl

    if longest is not None and is_text(series):
        coder = Coder()
        codes = coder.codes(series).tolist()
        cut = [value[:longest] for value in coder.found]
        return [cut[code] for code in codes]
    if series.dtype == pl.List(pl.String):  # a set of labels in one cell
        series = series.list.join("|")
    if series.dtype == pl.Boolean:
        series = series.cast(pl.Int8)
    try:
        return list(series.cast(pl.String).fill_null("").to_list())
    except pl.exceptions.PolarsError:
        return [str(value) for value in series.to_list()]


def _damaged(path: Path, error: BaseException) -> UnreadableFile:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return UnreadableFile(
        f"{path}: a Parquet file that cannot be read ({reason}). It was cut off or damaged: fetch or write it again."
    )
