"""A table of any length, block by block: each block is a Dataset, read with the same roles, whole bags together.

Delimited text and Parquet are read in pieces, so that a table of ten million rows takes the memory of one piece. When
the rows of a bag do not stand together, they are brought together on the disk first: every row goes to the bucket of
its bag (a number made of the bag's name), and a bucket, which fits into memory, is put into order when it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, cast

import numpy as np

from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData, nearest
from sidelight.files.arrays.parquet import ParquetSource
from sidelight.files.reading import label_table
from sidelight.files.roles.cells import further_marks, is_gap
from sidelight.files.roles.choosing import match_columns, plan_roles
from sidelight.files.roles.columns import Coded, Coder, MemorySource
from sidelight.files.roles.gaps import without_gap_words
from sidelight.files.roles.looks import inspect_column
from sidelight.files.roles.plan import Plan, RoleRequest
from sidelight.files.roles.tables import read_table
from sidelight.files.text.delimited import DelimitedSource
from sidelight.progress import report
from sidelight.words import Setting, some_of

_BUCKET = 1 << 23  # cells of a bucket
_MOST = 100_000  # rows of a block, unless a bag has more
_ROW = "row"  # the number of each row in the file, from 0


@dataclass(frozen=True)
class Features:
    """Where the features of a model are in a table.

    Attributes
    ----------
    names : tuple of str
        The features in the order of the model; ``"colour=red"`` is a word of the column ``"colour"``.
    numbers : tuple of str
        The columns of numbers that are needed.
    words : mapping of str to str
        Features that are a word of a column, and that column.
    texts : tuple of str
        Columns of texts whose words are features; a word that no text has counts as 0.
    """

    names: tuple[str, ...]
    numbers: tuple[str, ...]
    words: dict[str, str]
    texts: tuple[str, ...] = ()

    @classmethod
    def of_texts(cls, names: Sequence[str], n_words: int, texts: Sequence[str]) -> Features:
        """Return features that end with the words of texts; numbers stand before them."""
        return cls(tuple(names), tuple(names[: len(names) - n_words]), {}, tuple(texts))

    @classmethod
    def found(cls, path: Path, names: Sequence[str], columns: Sequence[str]) -> Features:
        """Find every feature among the columns of a table, or name those that are missing."""
        there = set(columns)
        numbers = tuple(name for name in names if name in there)
        words = {
            name: name.rpartition("=")[0] for name in names if name not in there and name.rpartition("=")[0] in there
        }
        missing = [name for name in names if name not in there and name not in words]
        if missing:
            has = "column" if len(missing) == 1 else f"{len(missing)} columns"
            raise InvalidData(
                f"{path} lacks the {has} {some_of(map(repr, missing), 8)}, which the model was fitted on. "
                f"{nearest(missing[0], columns)} Columns are found by name, in any order."
            )
        return cls(tuple(names), numbers, words)


class RowsInBlocks:
    """The rows of a table, as one Dataset after the other.

    Parameters
    ----------
    source : DelimitedSource or ParquetSource
        The table.
    wanted : RoleRequest
        The roles of columns; what is open is guessed once, from the first rows.
    features : sequence of str or None
        The features to hand out, in this order; None takes those that are guessed.
    label_file : path, optional
        A second table with the labels of bags.
    n_words : int
        How many of the last features are words of the columns of texts in ``wanted``.
    """

    def __init__(
        self,
        source: DelimitedSource | ParquetSource,
        wanted: RoleRequest,
        features: Sequence[str] | None,
        *,
        label_file: Path | None = None,
        n_words: int = 0,
    ) -> None:
        source = cast(Any, without_gap_words(source, wanted.missing_words))
        self.source, self.wanted, self.labels = source, wanted, label_table(label_file)
        if features is None:
            plan = plan_roles(source, wanted)
            features = [source.names[j] for j in plan.features]
        texts = [source.names[j] for j in match_columns(source.path, source.names, wanted.text or (), "text")]
        if texts and n_words:
            self.features = Features.of_texts(features, n_words, texts)
        else:
            self.features = Features.found(source.path, features, source.names)
        self.plan = plan_roles(source, replace(wanted, features=self.features.numbers, channels=None, events=False))
        if wanted.label_separator is None:
            self.plan.label_separator = _marks(source, self.plan)
        self.is_sorted_here = False

    @property
    def extra(self) -> list[str]:
        """Columns that are not used."""
        used = {*self.features.numbers, *self.features.words.values(), *self.features.texts}
        roles = _used(self.plan)
        return [name for j, name in enumerate(self.source.names) if name not in used and j not in roles]

    def __iter__(self) -> Iterator[Dataset]:
        numbers, texts = self._columns()
        if isinstance(self.source, DelimitedSource) and self.source.is_small():
            yield self._at_once(numbers, texts)
            return
        if self.plan.bag is None:
            yield from (self._dataset(frame, numbers, texts) for frame in self._numbered(numbers, texts))
            return
        bag = f"column_{self.plan.bag + 1}"
        n_rows, are_together = self._look_at_bags()
        if are_together:
            frames = _whole_bags(self._numbered(numbers, texts), bag)
            yield from (self._dataset(frame, numbers, texts) for frame in frames)
            return
        self.is_sorted_here = True
        n_buckets = max(1, -(-n_rows * (len(numbers) + len(texts)) // _BUCKET))
        with _bucketed(self._numbered(numbers, texts), bag, n_buckets) as frames:
            yield from (self._dataset(frame, numbers, texts) for frame in frames)

    def _columns(self) -> tuple[list[int], list[int]]:
        place = {name: j for j, name in enumerate(self.source.names)}
        numbers = [place[name] for name in self.features.numbers]
        of_words = (*self.features.words.values(), *self.features.texts)
        texts = [*_used(self.plan), *(place[name] for name in of_words)]
        exact = _kept_whole_numbers(self.source, self.plan)
        numbers = [j for j in numbers if j not in exact]
        return numbers, [j for j in dict.fromkeys([*texts, *exact]) if j not in numbers]

    def _numbered(self, numbers: list[int], texts: list[int]) -> Iterator[Any]:
        """Yield pieces with the number of each row."""
        seen = 0
        for frame in self.source.pieces(numbers, texts or ([] if numbers else [0])):
            frame = frame.with_row_index(_ROW, offset=seen)
            for start in range(0, len(frame), _MOST):
                yield frame[start : start + _MOST]
                report("placing rows", seen + min(start + _MOST, len(frame)), None, self.source.path.name)
            seen += len(frame)

    def _look_at_bags(self) -> tuple[int, bool]:
        """Count the rows, and say whether the rows of every bag stand together; 8 bytes a run of rows are kept."""
        assert self.plan.bag is not None  # the caller looked
        runs: list[np.ndarray] = []
        n_rows, last = 0, None
        for frame in self.source.pieces([], [self.plan.bag]):
            keys = frame.to_series(0).hash().to_numpy()
            begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
            starts = keys[begins]
            runs.append(starts[1:] if last is not None and len(starts) and starts[0] == last else starts)
            last = keys[-1] if len(keys) else last
            n_rows += len(keys)
        every = np.concatenate(runs) if runs else np.empty(0)
        return n_rows, len(np.unique(every)) == len(every)

    def _at_once(self, numbers: list[int], texts: list[int]) -> Dataset:
        """Read a small table as one block, without polars."""
        loaded = self.source.load(numbers, texts or ([] if numbers else [0]))
        rows = np.arange(len(loaded.X))
        if self.plan.bag is not None:
            codes = loaded.texts[self.plan.bag].codes  # numbered by their first appearance
            rows = np.argsort(codes, kind="stable")
            self.is_sorted_here = bool((rows[1:] < rows[:-1]).any())
        columns: dict[int, Any] = {j: loaded.X[rows, place] for place, j in enumerate(numbers)}
        columns |= {j: Coded.of(loaded.texts[j].objects()[rows]) for j in texts}
        report("placing rows", len(rows), None, self.source.path.name)
        return self._of_block(rows, columns, is_part=False)

    def _dataset(self, frame: Any, numbers: list[int], texts: list[int]) -> Dataset:
        columns: dict[int, Any] = {j: frame[f"column_{j + 1}"].to_numpy() for j in numbers}
        for j in texts:
            coder = Coder()
            coder.add(frame[f"column_{j + 1}"])
            columns[j] = coder.result()
        return self._of_block(frame[_ROW].to_numpy().astype(np.intp), columns, is_part=True)

    def _of_block(self, rows: np.ndarray, by_place: dict[int, Any], *, is_part: bool) -> Dataset:
        """Read one block as if it were a table of its own."""
        names = self.source.names
        columns = {names[j]: column for j, column in by_place.items()}
        words = {name: columns[column] for name, column in self.features.words.items()}
        roles = [*(names[j] for j in _used(self.plan)), *self.features.texts]
        kept = {name: columns[name] for name in dict.fromkeys([*self.features.numbers, *roles])}
        wanted = _by_name(self.plan, self.wanted, self.features.numbers)
        if kept:
            block = _Block(self.source.path, self.source.title, list(kept), list(kept.values()), rows)
            data = read_table(block, wanted, self.labels, is_part=is_part)
        else:
            data = Dataset(np.empty((len(rows), 0)), (), str(self.source.path), self.source.title)
        X = data.X if self.features.texts else self._in_order(data, words)
        return replace(
            data,
            X=X,
            feature_names=self.features.names,
            row_numbers=rows + 1,
            location=lambda row: f"row {rows[row] + 1}",
        )

    def _in_order(self, data: Dataset, words: dict[str, Any]) -> np.ndarray:
        where = {name: j for j, name in enumerate(data.feature_names)}
        X = np.empty((data.n_rows, len(self.features.names)))
        for k, name in enumerate(self.features.names):
            X[:, k] = data.X[:, where[name]] if name in where else _is_word(words[name], name)
        return X


class _Block(MemorySource):
    """Some rows of a table, with the numbers they have in it."""

    def __init__(self, path: Path, title: str, names: Sequence[str], columns: Sequence[Any], rows: np.ndarray) -> None:
        super().__init__(path, title, names, columns)
        self.rows = rows

    def location(self, row: int) -> str:
        """Say which row of the table it is, counted from 1."""
        return f"row {self.rows[row] + 1}"


def _marks(source: Any, plan: Plan) -> tuple[str, ...] | None:
    """Return what stands between several labels of one cell, by the first rows of the whole table."""
    column = plan.bag_label if plan.bag_label is not None else plan.labels[0] if len(plan.labels) == 1 else None
    cells = [] if column is None else [row[column] for row in source.sample()]
    mark = inspect_column("", cells).separator
    if mark is None:
        return None
    return (mark, *further_marks({part.strip() for cell in cells for part in cell.split(mark)}, mark))


def _kept_whole_numbers(source: Any, plan: Plan) -> list[int]:
    """Return features that are carried along and hold whole numbers: as text, which keeps every digit."""
    both = [j for j in plan.keep if j in plan.features]
    rows = source.sample() if both else []
    return [j for j in both if all(is_gap(row[j]) or row[j].lstrip("-").isdecimal() for row in rows)]


def _used(plan: Plan) -> list[int]:
    """Return the columns that say something about rows and are no features."""
    single = [j for j in (plan.id, plan.bag, plan.sequence, plan.bag_label) if j is not None]
    return list(dict.fromkeys([*single, *plan.labels, *plan.keep]))


def _by_name(plan: Plan, wanted: RoleRequest, numbers: Sequence[str]) -> RoleRequest:
    """Say every role by name, so that no block is understood otherwise than the first."""

    def named(j: int | None) -> str | bool:
        return False if j is None else plan.names[j]

    return replace(
        wanted,
        id=named(plan.id),
        bag=named(plan.bag),
        sequence=named(plan.sequence),
        bag_label=named(plan.bag_label),
        truth=False,
        label=tuple(plan.names[j] for j in plan.labels) or False,
        features=tuple(numbers),
        keep=tuple(plan.names[j] for j in plan.keep),
        ignore=(),
        show=False,
        missing_words=False,
        channels=None,
        events=False,
        weight=None,
        label_separator=plan.label_separator,
    )


def _is_word(column: Any, name: str) -> np.ndarray:
    """Return 1 where a column of words holds the word that a feature is called after."""
    word = name.rpartition("=")[2]
    holds = np.array([value == word and not is_gap(value) for value in column.values], dtype=np.float64)
    return holds[column.codes] if len(holds) else np.empty(0)


def _whole_bags(pieces: Iterator[Any], bag: str) -> Iterator[Any]:
    """Move the rows of the last bag of each piece to the next one, for it may go on there."""
    import polars as pl

    pending: Any = None
    for piece in pieces:
        if pending is None:
            pending = piece
            continue
        keys = pending[bag]
        changes = (keys[1:] != keys[:-1]).arg_true()
        cut = int(changes[-1]) + 1 if len(changes) else 0
        if cut:
            yield pending[:cut]
        pending = pl.concat([pending[cut:], piece])
    if pending is not None:
        yield pending


@contextmanager
def _bucketed(pieces: Iterator[Any], bag: str, n_buckets: int) -> Iterator[Iterator[Any]]:
    """Put rows into buckets on the disk, all rows of a bag into one, and hand out the buckets in order."""
    import io

    import polars as pl

    places: list[list[tuple[int, int]]] = [[] for _ in range(n_buckets)]
    with TemporaryFile(prefix="sidelight-") as handle:
        for piece in pieces:
            bucket = piece[bag].hash() % n_buckets
            for (number,), part in (
                piece.with_columns(bucket.alias("bucket")).partition_by("bucket", as_dict=True).items()
            ):
                packed = io.BytesIO()
                part.write_ipc_stream(packed)
                places[int(number)].append((handle.tell(), packed.tell()))
                handle.write(packed.getbuffer())

        def buckets() -> Iterator[Any]:
            for where in places:
                parts = []
                for start, size in where:
                    handle.seek(start)
                    parts.append(pl.read_ipc_stream(io.BytesIO(handle.read(size))))
                if parts:
                    frame = pl.concat(parts).with_columns(pl.col(_ROW).min().over(bag).alias("first"))
                    yield frame.sort("first", _ROW).drop("first")

        yield buckets()


def align(data: Dataset, features: Sequence[str] | None) -> Dataset:
    """Return the columns of X that a model wants, by name and in its order."""
    if features is None or tuple(features) == data.feature_names:
        return data
    where = {name: j for j, name in enumerate(data.feature_names)}
    missing = [name for name in features if name not in where]
    if missing:
        raise InvalidData(
            f"{data.path} lacks {some_of(map(repr, missing), 8)}, which the model was fitted on. "
            f"{nearest(missing[0], data.feature_names)}",
            do=["Columns that were taken for something else are named with ", Setting("features"), "."],
        )
    return replace(data, X=data.X[:, [where[name] for name in features]], feature_names=tuple(features))
