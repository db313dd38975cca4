"""More rows than memory: Parquet files, lazy frames and partitions of Dask as recipes for parts of whole bags."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._core.atomic import folder_beside
from sidelight._core.params import as_sequence, check_choice
from sidelight._models.passes import engine_for, rows_of
from sidelight.data.array_parts import ArrayRows
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags
from sidelight.data.parts import ByPart, Look, Part, PartedRows
from sidelight.errors import InvalidData, InvalidParameter, OutputExists, UnreadableFile, WrongKind
from sidelight.files.part_tables import Columns, DaskRows, LazyRows, ParquetRows, settle_columns
from sidelight.progress import report
from sidelight.words import counted


class Parts(PartedRows):
    """Rows that need not fit into memory, as recipes for parts of whole bags; made by one of the methods below.

    Nothing is read when an object is made but names, types and numbers of rows. Estimators that can be fitted by parts
    take it as ``X``: ``CoverageClustering().fit(parts)``.

    Parameters
    ----------
    sources : sequence of Source
        Where the rows are, in order; the methods below make them.
    feature_names : sequence of str
        What the columns are called.
    in_bags : bool
        Whether sources tell the bags of their rows.
    classes : sequence, default=None
        The known labels; by default those that occur, sorted.

    Attributes
    ----------
    n_rows, n_features, n_bags : int
        How many there are. For ``n_bags`` and ``classes`` the columns of bags and labels are read once.
    feature_names : tuple of str
        The columns that are features.
    classes : tuple
        The labels that occur.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X, ids = np.arange(8.0).reshape(4, 2), ["r1", "r1", "r2", "r2"]
    >>> parts = sl.Parts.from_arrays(X, bags=sl.Bags(ids, labels={"r1": {"wren"}}))
    >>> parts.n_rows, parts.n_bags, parts.classes
    (4, 2, ('wren',))
    """

    @classmethod
    def from_parquet(
        cls,
        paths: Any,
        *,
        bag: str | None = None,
        labels: str | None = None,
        features: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        separator: str = "|",
        empty: str = "unlabelled",
        classes: Sequence[Any] | None = None,
    ) -> Parts:
        """Take the rows of Parquet files.

        Parameters
        ----------
        paths : str, path or sequence of them
            Files, a folder, or a pattern such as ``"rows/*.parquet"``; files of a folder or pattern in the order of
            their names.
        bag : str, default=None
            The column that says which bag a row is in: whole numbers or text. The rows of a bag may be in several
            files. Without it every row is on its own.
        labels : str, default=None
            The column with the labels of a row's bag: a list, or text with ``separator`` between labels, the same in
            every row of the bag. An empty cell says that nobody looked, an empty list that no known label is there.
            Without ``bag`` they are labels of the row itself.
        features : sequence of str, default=None
            The columns of numbers to use; by default all of them, without ``bag``, ``labels`` and ``ignore``.
        ignore : sequence of str, default=()
            Columns that are no features.
        separator : str, default="|"
            What stands between labels in a cell of text.
        empty : {"unlabelled", "none"}, default="unlabelled"
            What an empty cell says: nobody looked, or none of the known labels is there.
        classes : sequence, default=None
            The known labels, in order; by default those that occur, sorted.
        """
        check_choice("Parts.from_parquet", "empty", empty, ("unlabelled", "none"))
        files = _files(paths)
        columns: Columns | None = None
        sources, n_before = [], 0
        for number, path in enumerate(files):
            report("reading footers", number, len(files))
            schema, n_rows = ParquetRows.look_into(path)
            columns = settle_columns(str(path), schema, columns, bag, labels, features, ignore, separator, empty)
            sources.append(ParquetRows(str(path), n_rows, columns, n_before))
            n_before += n_rows
        assert columns is not None  # there is at least one file
        if not n_before:
            raise InvalidData(f"There is not a single row in {counted(len(files), 'file')}, {str(files[0])!r} first.")
        return cls(sources, columns.features, in_bags=bag is not None or labels is not None, classes=classes)

    @classmethod
    def from_arrays(cls, X: Any, bags: Any = None, *, feature_names: Sequence[str] | None = None) -> Parts:
        """Take the rows of an array; one that is mapped from a file (``np.load(..., mmap_mode="r")``) stays there.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            The rows, of numbers.
        bags : Bags or sequence of bag ids, default=None
            Which bag each row is in, and the labels of bags.
        feature_names : sequence of str, default=None
            What the columns are called; x0, x1, ... by default.
        """
        X = np.asanyarray(X)
        if X.ndim != 2 or X.dtype.kind not in "fiub":
            raise WrongKind(f"Parts.from_arrays needs a table of numbers. Got an array of {X.dtype}, shape {X.shape}.")
        told = None if bags is None else as_bags(bags, n_rows=len(X))
        names = tuple(f"x{j}" for j in range(X.shape[1]))
        if feature_names is not None:
            names = tuple(map(str, as_sequence("Parts.from_arrays", "feature_names", feature_names)))
        if len(names) != X.shape[1]:
            raise InvalidData(f"X has {X.shape[1]} columns but feature_names has {len(names)}. Name every column.")
        classes = told.classes if isinstance(told, Bags) else None
        return cls([ArrayRows.of(X, told)], names, in_bags=told is not None, classes=classes)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        bag: str | None = None,
        labels: str | None = None,
        features: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        separator: str = "|",
        empty: str = "unlabelled",
        classes: Sequence[Any] | None = None,
    ) -> Parts:
        """Take the rows of a polars ``LazyFrame`` or ``DataFrame``; a lazy one is asked for slices of its rows.

        Parameters
        ----------
        frame : polars.LazyFrame or polars.DataFrame
            The rows. A query must give them in the same order every time.
        bag, labels, features, ignore, separator, empty, classes
            As in :meth:`from_parquet`.
        """
        import polars as pl

        if not isinstance(frame, (pl.LazyFrame, pl.DataFrame)):
            raise WrongKind(f"Parts.from_frame needs a polars LazyFrame or DataFrame. Got {type(frame).__name__}.")
        lazy = frame.lazy()
        schema = dict(lazy.collect_schema())
        columns = settle_columns("the frame", schema, None, bag, labels, features, ignore, separator, empty)
        n_rows = int(lazy.select(pl.len()).collect().item())
        return cls(
            [LazyRows(lazy, n_rows, columns)],
            columns.features,
            in_bags=bag is not None or labels is not None,
            classes=classes,
        )

    @classmethod
    def from_dask(
        cls,
        rows: Any,
        *,
        bag: str | None = None,
        labels: str | None = None,
        features: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        separator: str = "|",
        empty: str = "unlabelled",
        classes: Sequence[Any] | None = None,
        bags: Any = None,
    ) -> Parts:
        """Take the rows of a Dask DataFrame, or of a Dask Array with its bags beside it.

        Parameters
        ----------
        rows : dask.dataframe.DataFrame or dask.array.Array
            The rows. Partitions are counted now, and computed when they are read.
        bag, labels, features, ignore, separator, empty, classes
            Columns of a DataFrame, as in :meth:`from_parquet`.
        bags : Bags or sequence of bag ids, default=None
            The bags of an Array, whose columns have no names.
        """
        if hasattr(rows, "map_partitions") and hasattr(rows, "columns"):
            if bags is not None:
                raise InvalidParameter("Parts.from_dask: name the column of bags with bag=; bags= is for an Array.")
            schema, delayed, sizes = DaskRows.look_into(rows)
            columns = settle_columns("the frame", schema, None, bag, labels, features, ignore, separator, empty)
            ends = np.cumsum([0, *sizes]).tolist()
            sources = [
                DaskRows(one, n, columns, first) for one, n, first in zip(delayed, sizes, ends[:-1], strict=True)
            ]
            return cls(sources, columns.features, in_bags=bag is not None or labels is not None, classes=classes)
        if hasattr(rows, "to_delayed") and hasattr(rows, "chunks"):
            return cls._from_dask_array(rows, bags)
        raise WrongKind(f"Parts.from_dask needs a Dask DataFrame or Array. Got {type(rows).__name__}.")

    def apply(self, method: Callable[..., Any], *, bags: bool = False) -> WrittenByPart:
        """Return what a method of a fitted model says about the rows, part by part and never gathered.

        Parameters
        ----------
        method : callable
            ``model.predict``, ``model.predict_labels``, ``model.predict_proba``: one answer for each row it is given.
        bags : bool, default=False
            Whether the method is told the bags of the rows, with their labels, as ``bags=``.
        """
        plain = super().apply(method, bags=bags)
        return WrittenByPart(self, plain.method, bags, self.n_rows)

    @classmethod
    def _from_dask_array(cls, rows: Any, bags: Any) -> Parts:
        if rows.ndim != 2:
            raise WrongKind(f"Parts.from_dask needs a table: an Array with two axes. Got {rows.ndim}.")
        if any(n != n for n in rows.chunks[0]):  # NaN: not known yet
            rows = rows.compute_chunk_sizes()
        rows = rows.rechunk({1: -1})
        told = None if bags is None else as_bags(bags, n_rows=rows.shape[0])
        sources = DaskRows.of_chunks(rows, told)
        names = tuple(f"x{j}" for j in range(rows.shape[1]))
        return cls(sources, names, in_bags=told is not None, classes=None if told is None else told.classes)


class WrittenByPart(ByPart):
    """Answers about the rows of parts, which can be written as a folder of Parquet files."""

    def write(self, folder: str | Path, *, engine: Any = None) -> list[Path]:
        """Write one Parquet file for each part: row (counted from 1), bag, and the answer; returns the files.

        Parameters
        ----------
        folder : str or path
            A folder that is not there yet, or is empty. It appears when all of its files are there.
        engine : OnDask, default=None
            Let the workers of a cluster ask and write; the folder must be one that they see. This process does it by
            default.
        """
        folder = Path(folder)
        if folder.exists() and any(folder.iterdir()):
            raise OutputExists(f"{str(folder)!r} holds something already. Name another folder for the answers.")
        self.refuse_without_rows()
        assert self.parts is not None  # that was the question
        with folder_beside(folder) as beside:
            write = WriteAnswers(self, str(beside.absolute()))
            if engine is None:
                names = write.of_parts(self.parts.parts(), self.parts.look)
            else:
                with engine_for(engine, self.parts).over(self.parts) as passes:
                    names = sorted(chain.from_iterable(passes.together(write)))
            if folder.exists():
                folder.rmdir()
            os.replace(beside, folder)
        return [folder / name for name in names]


@dataclass(frozen=True, slots=True)
class WriteAnswers:
    """What is said about the rows of parts? The answers go to files, and only their names come back."""

    answers: ByPart
    folder: str

    def of_parts(self, parts: Sequence[Part], look: Look) -> list[str]:
        """Ask about part after part, and write a file for each."""
        import polars as pl

        for part in parts:
            report("writing answers", part.first_row, self.answers.n_rows)
            lists = part.lists()
            columns: dict[str, Any] = {"row": part.numbers() + 1}
            if lists is not None:
                columns["bag"] = np.repeat(lists.names, np.diff(lists.starts)).tolist()
            columns |= _columns_of(self.answers.of_rows(rows_of(part, look), lists))
            write_part(Path(self.folder), part.number, pl.DataFrame(columns))
        return [part_name(part.number) for part in parts]


def part_name(number: int) -> str:
    """Return the name of the file of a part."""
    return f"part-{number:06d}.parquet"


def write_part(folder: Path, number: int, frame: Any) -> None:
    """Write the file of a part, in a way that says in our words when the disk is full: polars has its own."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    (folder / part_name(number)).write_bytes(buffer.getbuffer())


def _columns_of(answers: Any) -> dict[str, Any]:
    if answers.ndim == 1:
        return {"answer": answers.tolist()}
    return {f"answer_{k + 1}": answers[:, k] for k in range(answers.shape[1])}


def _files(paths: Any) -> list[Path]:
    """Return the files of a pattern, a folder or a sequence, in order."""
    if isinstance(paths, (str, Path)):
        text = str(paths)
        path = Path(text).expanduser()
        if any(mark in text for mark in "*?["):
            root = Path(path.anchor or ".")
            found = sorted(root.glob(str(path.relative_to(path.anchor)) if path.anchor else str(path)))
        else:
            found = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not found:
            raise UnreadableFile(f"{text!r}: there is no such file. Give Parquet files, a folder of them or a pattern.")
        paths = found
    try:
        files = [Path(path).expanduser() for path in paths]
    except TypeError:
        raise InvalidParameter(
            "Parts.from_parquet needs files, a folder, a pattern such as 'rows/*.parquet', or a list of files. "
            f"Got {paths!r:.80}."
        ) from None
    missing = [path for path in files if not path.is_file()]
    if missing or not files:
        raise UnreadableFile(
            f"Parts.from_parquet: {counted(len(missing), 'file is', 'files are')} not there, the first is "
            f"{str(missing[0]) if missing else 'unnamed'!r}. Check the paths."
        )
    return files
