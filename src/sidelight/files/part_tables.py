"""Tables as sources of parts: which columns are what, and the cells of a range of rows as numbers and bags."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.data.array_parts import ArrayRows
from sidelight.data.bag_lists import BagLists, LabelSet
from sidelight.data.bags import Bags
from sidelight.errors import (
    InvalidData,
    InvalidParameter,
    MissingExtra,
    UnknownName,
    UnreadableFile,
    nearest,
    unknown_column,
)
from sidelight.words import Setting, some_of

Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns of all sources are; one object that all of them share."""

    features: tuple[str, ...]
    bag: str | None
    labels: str | None
    separator: str
    bag_is_text: bool
    empty: str = "unlabelled"  # or "none": what an empty cell says about labels


def settle_columns(
    path: str,
    schema: Mapping[str, Any],
    before: Columns | None,
    bag: str | None,
    labels: str | None,
    features: Sequence[str] | None,
    ignore: Sequence[str],
    separator: str,
    empty: str = "unlabelled",
) -> Columns:
    """Say what the columns of a table are, and refuse one that differs from the tables before it."""
    for role, name in (("bag", bag), ("labels", labels)):
        if name is not None and name not in schema:
            raise unknown_column(path, name, role, schema)
    if bag is not None and bag == labels:
        raise InvalidParameter(f"The column {bag!r} cannot name the bags and hold their labels, too. Name two columns.")
    wanted = before.features if before is not None else features
    apart = {bag, labels, *ignore}
    if wanted is None:
        wanted = [name for name, kind in schema.items() if kind.is_numeric() and name not in apart]
    for name in wanted:
        if name not in schema and before is not None:
            raise UnknownName(
                f"{path}: there is no column {name!r}, a feature of the files before it. {nearest(name, schema)}"
            )
        if name not in schema:
            raise unknown_column(path, name, "features", schema)
        if not (schema[name].is_numeric() or schema[name].is_(_boolean())):
            raise InvalidData(
                f"{path}, column {name!r}: expected numbers, found {schema[name]}.",
                do=["Leave the column out with ", Setting("ignore", name), "."],
            )
    if not wanted:
        raise InvalidData(f"{path}: no column holds numbers that could be features. It has {some_of(schema)}.")
    if before is not None and features is None:
        new = [name for name, kind in schema.items() if kind.is_numeric() and name not in {*wanted, *apart}]
        if new:
            raise InvalidData(
                f"{path}: column {new[0]!r} is not in the files before it. All files must have the same columns.",
                do=["Leave it out with ", Setting("ignore", new[0]), ", or name the ", Setting("features"), "."],
            )
    is_text = bag is not None and not schema[bag].is_integer()
    if before is not None and before.bag_is_text != is_text:
        raise InvalidData(
            f"{path}, column {bag!r}: bags are named by {'text' if is_text else 'whole numbers'} here and by "
            f"{'whole numbers' if is_text else 'text'} in the files before it. Write all files with one type."
        )
    return before or Columns(tuple(wanted), bag, labels, separator, is_text, empty)


class TableRows(ABC):
    """A source whose cells come as polars frames."""

    n_rows: int
    columns: Columns
    first_number: int

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What the features are called, for a message."""
        return self.columns.features

    @abstractmethod
    def cells(self, first: int, last: int, names: Sequence[str]) -> Any:
        """Return these columns of these rows as a polars frame."""

    def texts(self, first: int, last: int, names: Sequence[str]) -> dict[str, list[str | None]]:
        """Return these columns of these rows as text; None where a cell is empty."""
        frame = self.cells(first, last, names)
        return {
            name: [None if value is None else str(value) for value in frame[name].to_list()] for name in frame.columns
        }

    def rows(self, first: int, last: int) -> NDArray[Any]:
        """Return the features; a gap is NaN."""
        import polars as pl

        frame = self.cells(first, last, self.columns.features)
        same = set(frame.dtypes)
        kind = pl.Float32 if same == {pl.Float32} else pl.Float64
        try:
            numbers = frame.select(pl.all().cast(kind).fill_null(float("nan")))
        except pl.exceptions.PolarsError as error:
            raise InvalidData(f"{self.place(first)}: {str(error).splitlines()[0]}") from None
        return np.ascontiguousarray(numbers.to_numpy())

    def lists(self, first: int, last: int) -> BagLists | None:
        """Return the bags: one for each run of rows with the same name."""
        columns = self.columns
        if columns.bag is None:
            if columns.labels is None:
                return None
            cells = self.cells(first, last, [columns.labels])[columns.labels]  # of rows: each is a bag of its own
            names, starts = self.numbers(first, last).astype(np.int64), np.arange(last - first + 1)
            return BagLists(names, starts, *self._label_sets(cells, starts, names, first))
        frame = self.cells(first, last, [columns.bag, *([columns.labels] if columns.labels else [])])
        ids = frame[columns.bag]
        if ids.null_count():
            row = int(ids.is_null().arg_max() or 0)
            raise InvalidData(
                f"{self.place(first + row)}: nothing in the column {columns.bag!r}, which names the bag of the row. "
                "Fill it, or leave such rows out of the file."
            )
        begin, names = _runs(ids, is_text=columns.bag_is_text)
        starts = np.append(begin, len(ids)).astype(np.intp)
        if columns.labels is None:
            return BagLists(names, starts, (None,), np.zeros(len(names), dtype=np.intp))
        return BagLists(names, starts, *self._label_sets(frame[columns.labels], starts, names, first))

    def _label_sets(
        self, cells: Any, starts: Ints, names: NDArray[Any], first: int
    ) -> tuple[tuple[LabelSet, ...], Ints]:
        """Read what is said of each bag: the different cells once, and the same in every row of a bag."""
        import polars as pl

        if cells.dtype.is_nested():
            cells = cells.cast(pl.List(pl.String)).list.sort().list.join("\0") + "\0"  # an empty list stays a list
            sets_of, mark = cells, "\0"
        else:
            sets_of, mark = cells.cast(pl.String), self.columns.separator
        changes = sets_of.ne_missing(sets_of.shift(1)).to_numpy().copy()
        changes[starts[:-1]] = False  # another bag may say something else
        if changes.any():
            row = int(changes.argmax())
            bag = names[np.searchsorted(starts, row, side="right") - 1 :][:1].tolist()[0]
            raise InvalidData(
                f"{self.place(first + row)}: bag {bag!r} has another list of labels here than in its first row. "
                f"Column {self.columns.labels!r} must say the same in every row of a bag."
            )
        of_bags = sets_of.gather(starts[:-1])
        distinct = of_bags.unique(maintain_order=True)
        places = {value: code for code, value in enumerate(distinct.to_list())}
        of_bag = np.fromiter((places[value] for value in of_bags.to_list()), dtype=np.intp, count=len(of_bags))
        nothing = frozenset[Hashable]() if self.columns.empty == "none" else None
        sets = (_label_set(value, mark) for value in distinct.to_list())
        return tuple(nothing if members is None else members for members in sets), of_bag

    def numbers(self, first: int, last: int) -> Ints:
        """Return the numbers of these rows among the rows of all sources."""
        return np.arange(self.first_number + first, self.first_number + last)

    def place(self, row: int) -> str:
        """Say which row it is, counted from 1."""
        return f"row {self.first_number + row + 1}"

    def only(self, first: int, last: int) -> tuple[Any, int, int]:
        """Return the source itself: it is a name of a table, and small."""
        return self, first, last


@dataclass(frozen=True, slots=True)
class ParquetRows(TableRows):
    """A Parquet file."""

    path: str
    n_rows: int
    columns: Columns
    first_number: int

    @staticmethod
    def look_into(path: Path) -> tuple[dict[str, Any], int]:
        """Return the types of the columns and the number of rows, from the footer."""
        import polars as pl

        try:
            scan = pl.scan_parquet(path, glob=False)
            return dict(scan.collect_schema()), int(scan.select(pl.len()).collect().item())
        except (Exception, pl.exceptions.PanicException) as error:  # on damaged files polars panics, too
            raise _damaged(path, error) from None

    def cells(self, first: int, last: int, names: Sequence[str]) -> Any:
        """Read these columns of these rows."""
        import polars as pl

        try:
            scan = pl.scan_parquet(self.path, glob=False).select(names)
            return (scan if (first, last) == (0, self.n_rows) else scan.slice(first, last - first)).collect()
        except (Exception, pl.exceptions.PanicException) as error:
            raise _damaged(self.path, error) from None

    def place(self, row: int) -> str:
        """Name the file and the row, counted from 1."""
        return f"{self.path}, row {row + 1}"


@dataclass(frozen=True, slots=True)
class LazyRows(TableRows):
    """A query of polars."""

    frame: Any
    n_rows: int
    columns: Columns
    first_number: int = 0

    def cells(self, first: int, last: int, names: Sequence[str]) -> Any:
        """Ask for these columns of these rows."""
        return self.frame.select(names).slice(first, last - first).collect()


@dataclass(frozen=True, slots=True)
class DaskRows(TableRows):
    """A partition of a Dask DataFrame, computed by whoever reads it."""

    partition: Any
    n_rows: int
    columns: Columns
    first_number: int
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @staticmethod
    def look_into(frame: Any) -> tuple[dict[str, Any], list[Any], list[int]]:
        """Return the types of the columns, the partitions, and how many rows each has."""
        import dask
        import polars as pl

        partitions = list(frame.to_delayed())
        sizes = dask.compute(*map(dask.delayed(len), partitions))  # a query for lengths reads several files as one
        return dict(pl.from_pandas(frame._meta).schema), partitions, [int(n) for n in sizes]

    @staticmethod
    def of_chunks(array: Any, bags: Bags | None) -> list[Any]:
        """Return one source for each chunk of rows of a Dask Array."""
        whole = ArrayRows.of(np.empty((array.shape[0], 0)), bags)
        if whole.order is not None:
            raise InvalidData(
                "Parts.from_dask: the rows of some bags of the Array do not stand together. Sort the rows by bag first."
            )
        ends = np.cumsum([0, *array.chunks[0]]).tolist()
        chunks = array.to_delayed().ravel()
        return [ChunkRows(chunk, whole.only(a, z)[0]) for chunk, a, z in zip(chunks, ends, ends[1:])]

    def cells(self, first: int, last: int, names: Sequence[str]) -> Any:
        """Compute the partition, once for questions that follow each other, and take these columns and rows."""
        import polars as pl

        if "frame" not in self._kept:
            self._kept["frame"] = pl.from_pandas(computed(self.partition))
        return self._kept["frame"].select(names).slice(first, last - first)

    def __getstate__(self) -> tuple[Any, ...]:
        return self.partition, self.n_rows, self.columns, self.first_number  # what was computed stays here

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for name, value in zip(("partition", "n_rows", "columns", "first_number", "_kept"), (*state, {})):
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True, eq=False)
class ChunkRows:
    """A chunk of rows of a Dask Array; ``told`` knows everything but the numbers."""

    chunk: Any
    told: ArrayRows

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.told.n_rows

    def rows(self, first: int, last: int) -> NDArray[Any]:
        """Compute the chunk and return these rows."""
        return np.asarray(computed(self.chunk))[first:last]

    def lists(self, first: int, last: int) -> BagLists | None:
        """Return the bags of these rows."""
        return self.told.lists(first, last)

    def numbers(self, first: int, last: int) -> Ints:
        """Return the numbers of these rows in the Array."""
        return self.told.numbers(first, last)

    def place(self, row: int) -> str:
        """Say which row it is, counted from 1."""
        return self.told.place(row)

    def only(self, first: int, last: int) -> tuple[ChunkRows, int, int]:
        """Return the chunk itself: a recipe."""
        return self, first, last


def computed(delayed: Any) -> Any:
    """Compute a delayed value here: on a worker, too, it is the worker's own business."""
    try:
        import dask
    except ImportError:
        raise MissingExtra("dask", "dask", "Reading a Dask collection") from None
    return dask.compute(delayed, scheduler="synchronous")[0]


def _runs(ids: Any, *, is_text: bool) -> tuple[Ints, NDArray[Any]]:
    """Return where the name of the bag changes, and the names."""
    import polars as pl

    if is_text:
        ids = ids.cast(pl.String)
        begin = np.flatnonzero((ids != ids.shift(1)).fill_null(True).to_numpy())
        names = np.empty(len(begin), dtype=object)
        names[:] = ids.gather(begin).to_list()
        return begin, names
    values = ids.cast(pl.Int64).to_numpy()
    begin = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]])) if len(values) else np.zeros(0, int)
    return begin, values[begin]


def _label_set(value: str | None, mark: str) -> LabelSet:
    if value is None or (mark != "\0" and not value.strip()):
        return None
    return frozenset(part.strip() for part in value.split(mark) if part.strip())


def _boolean() -> Any:
    import polars as pl

    return pl.Boolean


def _damaged(path: Any, error: BaseException) -> UnreadableFile:
    with suppress(OSError), Path(path).open("rb") as handle:
        if handle.read(4) not in (b"PAR1", b"PARE"):
            return UnreadableFile(
                f"{path}: this is no Parquet file, and several files are read part by part as Parquet files. Name "
                "those alone, or write the others as Parquet with sidelight convert."
            )
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return UnreadableFile(
        f"{path}: a Parquet file that cannot be read ({reason}). It was cut off or damaged: fetch or write it again."
    )
