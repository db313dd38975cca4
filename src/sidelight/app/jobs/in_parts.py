"""What jobs share whose rows are read part by part: a sample to look at, and every row placed as it is read.

Methods that are no sum over rows are run on a sample of whole bags as if it were the table; then all rows are placed by
the model, as new rows are. Where a cluster has a folder that all of its workers see, they draw, place and write.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from shutil import move
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sidelight._models.on_dask import OnDask
from sidelight._models.passes import AskTogether, OneLook, rows_of
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.output import with_headings
from sidelight.app.jobs.parts import Cells, TableOfParts, arranged, cluster_of, open_parts
from sidelight.app.jobs.placing import Place, Placed, place_of
from sidelight.app.jobs.result import Columns, Result, big, columns_of
from sidelight.data.bag_lists import WHOLE, Draw, Sample, joined_samples
from sidelight.data.dataset import Dataset
from sidelight.data.parts import Look, Part
from sidelight.files.parts import Parts, write_part
from sidelight.progress import report
from sidelight.words import counted

if TYPE_CHECKING:
    from sidelight.app.report import Page

SHOWN = 10_000  # rows of the sample that pictures and lists are made of
SURE = 0.9  # probability from which a row counts as sure
R = TypeVar("R", bound=Result)
Count = Callable[[Dataset, Placed], Counter[Any]]


@dataclass(frozen=True, kw_only=True, eq=False)
class InParts:
    """A result of which only a sample was ever in memory; stands before the result of the job among the bases."""

    n_shown: int
    is_learnt_from_shown: bool
    folder: TemporaryDirectory[str] = big()

    def page(self) -> Page:
        """Say what was found, and of which rows."""
        shown: Page = super().page()  # type: ignore[misc] # the result of the job is the next base
        where = "The assignments of all rows are the Parquet files in the folder assignments."
        return replace(shown, sure=[*shown.sure, *self._told_of_sample(), where])

    def _told_of_sample(self) -> list[str]:
        """Say what only a sample was looked at for, unless it has all rows."""
        if self.n_shown == self.reading.n_rows:  # type: ignore[attr-defined] # of the result of the job
            return []
        drawn = f"{counted(self.n_shown, 'row')} drawn by a hash: whole bags or sequences, and some rows of long ones"
        if self.is_learnt_from_shown:
            return [
                f"Everything was learnt from {drawn}; then all rows were placed part by part. Sizes and assignments "
                "are of all rows, the rest of this page is of those that were learnt from."
            ]
        return [f"Figures are of all rows; pictures and lists of rows and bags are of {drawn}."]

    def write_assignments(self, folder: Path, *, disarm: bool) -> None:
        """Move the assignments of all rows to their place."""
        (folder / "assignments").mkdir()
        for path in sorted(Path(self.folder.name).iterdir()):
            move(path, folder / "assignments" / path.name)
        self.folder.cleanup()

    @property
    def assignment_files(self) -> dict[str, str]:
        """The files of assignments, and what they hold."""
        return {"assignments": "a folder of Parquet files: what each row was found to be"}


def in_parts(
    kind: type[R],
    result: Result,
    figures: dict[str, Any],
    folder: TemporaryDirectory[str],
    *,
    n_shown: int,
    learnt: bool,
) -> R:
    """Return a result with the figures of all rows in the place of those of the sample."""
    fields = {name: getattr(result, name) for name in result.__dataclass_fields__}
    own = {"n_shown": n_shown, "is_learnt_from_shown": learnt, "folder": folder}
    return kind(**{**fields, **figures, **own})


def work_on_sample(
    config: RunConfig,
    cluster: Callable[[Dataset, RunConfig], Any],
    kind: type[R],
    *,
    n_rows: int,
    needs: Sequence[str],
    figures: Callable[[Any, Counter[Any]], dict[str, Any]],
    count: Count,
    named: frozenset[str] = frozenset(),
    lists_are: str = "bags",
    whole: int = WHOLE,
) -> R:
    """Run a job on a sample as if it were the table, and place all rows.

    Parameters
    ----------
    config : RunConfig
        The run.
    cluster : callable
        The job, for a table that was read.
    kind : type
        The result, with :class:`InParts` among its bases.
    n_rows : int
        About how many rows to learn from.
    needs : sequence of str
        What has to be named: bags, labels.
    figures : callable
        What all rows change of a result, from what was counted while they were placed.
    count : callable
        What is counted of placed rows; a function of a module, for workers.
    named : frozenset of str
        Names of rows that must be in the sample.
    lists_are : {"bags", "sequences"}
        What rows stand together in.
    whole : int
        Rows up to which a bag is drawn as a whole or not at all.
    """
    options: Any = config.options
    parts = open_parts(config.table, config.roles, needs=needs, sequences=lists_are == "sequences")
    with arranged(parts, config.roles, options) as parts:
        classes = parts.classes if parts.in_bags else ()
        table = TableOfParts(config.table, parts.feature_names, classes, config.roles, lists_are)
        data = sample_of(parts, table, options, n_rows, named, whole)
        result = cluster(data, config)
        folder, total = write_all(parts, table, result.model, options, count)
    n_all = {"reading": replace(result.reading, n_rows=parts.n_rows)}
    return in_parts(kind, result, {**n_all, **figures(result, total)}, folder, n_shown=data.n_rows, learnt=True)


@dataclass(frozen=True, slots=True)
class DrawRows:
    """Which rows belong to a sample, or have one of these names?"""

    draw: Draw
    table: TableOfParts
    named: frozenset[str]

    def of_parts(self, parts: Sequence[Part], look: Look) -> list[tuple[int, Sample, Cells]]:
        """Read part after part, and keep what is drawn: the part's first row, the sample and its other columns."""
        return [(part.first_row, *self._drawn(part, look)) for part in parts]

    def _drawn(self, part: Part, look: Look) -> tuple[Sample, Cells]:
        report("drawing a sample", part.first_row, None)
        numbers, lists, cells = part.numbers(), part.lists(), self.table.cells(part)
        kept = self.draw.kept(lists, numbers)
        if self.named:
            own = self.table.roles.id
            names = (numbers + 1).tolist() if not isinstance(own, str) else cells[own].tolist()
            kept |= np.array([str(name) in self.named for name in names], dtype=bool)
        rows = rows_of(part, look)[kept]
        drawn = Sample(rows, None if lists is None else lists.take_rows(kept), numbers[kept])
        return drawn, {name: column[kept] for name, column in cells.items()}


def sample_of(
    parts: Parts,
    table: TableOfParts,
    options: Any,
    n_rows: int,
    named: frozenset[str] = frozenset(),
    whole: int = WHOLE,
) -> Dataset:
    """Return about so many rows, in whole bags unless they are long, as a table of their own."""
    asked = ask_all(parts, DrawRows(parts.draw(n_rows, whole=whole), table, named), options)
    drawn = sorted(chain.from_iterable(asked), key=lambda one: one[0])
    rows, lists, numbers = joined_samples([sample for _, sample, _ in drawn])
    cells = {name: np.concatenate([own[name] for _, _, own in drawn]) for name in table.columns}
    return table.dataset(rows, lists, numbers, cells)


@dataclass(frozen=True, slots=True)
class PlaceRows:
    """Where does each row belong? The answers go to files, and what is counted of them comes back."""

    model: Any
    place: Place
    count: Count
    table: TableOfParts
    folder: str
    ready: Callable[[Dataset], Dataset] | None = None  # what is done about gaps; they are refused otherwise
    folder_of_bags: str | None = None

    def of_parts(self, parts: Sequence[Part], look: Look) -> Counter[Any]:
        """Place part after part, and write a file for each."""
        import polars as pl

        total: Counter[Any] = Counter()
        for part in parts:
            report("writing assignments", part.number, None)
            whole = self.table.of_part(part, rows_of(part, look))
            data = whole if self.ready is None else self.ready(whole)
            total["left out"] += whole.n_rows - data.n_rows
            if not data.n_rows:
                continue
            placed = self.place(self.model, data)
            total.update(self.count(data, placed))
            columns = {"row": data.row_numbers.tolist(), **_named(data, placed.rows)}
            write_part(Path(self.folder), part.number, pl.DataFrame(with_headings(columns), strict=False))
            if self.folder_of_bags is not None and placed.bags:
                of_bags = pl.DataFrame(with_headings(placed.bags), strict=False)
                write_part(Path(self.folder_of_bags), part.number, of_bags)
        return total


def _named(data: Dataset, own: Columns) -> Columns:
    """Return the columns of rows; their numbers stand before them anyway."""
    columns = columns_of(data, own)
    return {name: cells for name, cells in columns.items() if name != "row" or data.row_ids is not None}


def write_all(
    parts: Parts, table: TableOfParts, model: Any, options: Any, count: Count, place: Place | None = None
) -> tuple[TemporaryDirectory[str], Counter[Any]]:
    """Place the rows of every part and write them at once: nothing of the size of the rows stays in memory."""
    folder = TemporaryDirectory(prefix="sidelight-", dir=options.scratch)
    try:
        ask = PlaceRows(model, place or place_of(model), count, table, folder.name)
        total: Counter[Any] = Counter()
        for share in ask_all(parts, ask, options):
            total.update(share)
    except BaseException:
        folder.cleanup()
        raise
    return folder, total


def ask_all(parts: Parts, ask: AskTogether, options: Any) -> list[Any]:
    """Ask about all parts: the workers of a cluster where they and we see one folder, else this process."""
    there = cluster_of(options)
    engine: OnDask | OneLook = OneLook() if there is None or options.scratch is None else there
    with engine.over(parts) as passes:
        return passes.together(ask)


def count_rows(data: Dataset, placed: Placed) -> Counter[Any]:
    """Count rows by cluster, and those that are sure."""
    total: Counter[Any] = Counter({("rows", name): n for name, n in Counter(placed.rows["cluster"]).items()})
    total["sure"] = int((np.asarray(placed.rows["probability"]) > SURE).sum())
    return total
