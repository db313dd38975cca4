"""What jobs share whose rows are read part by part: a sample to look at, and every row placed as it is read.

Methods that are no sum over rows are run on a sample of whole bags as if it were the table; then all rows are placed by
the model, as new rows are. Where a cluster has a folder that all of its workers see, they draw, place and write.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from shutil import move
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np

from sidelight._models.passes import AskTogether, Engine, OneLook, engine_for, rows_of
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.output import with_headings
from sidelight.app.jobs.parts import Cells, OpenParts, TableOfParts, arranged, cluster_of
from sidelight.app.jobs.placing import Place, Placed, place_of
from sidelight.app.jobs.result import Columns, Result, big, columns_of
from sidelight.data.bag_lists import WHOLE, Draw, Sample, joined_samples
from sidelight.data.dataset import Dataset
from sidelight.data.parts import Look, Part
from sidelight.files.parts import Parts, write_part
from sidelight.progress import report
from sidelight.words import counted

SURE = 0.9  # probability from which a row counts as sure
R = TypeVar("R", bound=Result)
Count = Callable[[Dataset, Placed], Counter[Any]]  # a function of a module: workers import it
Figures = Callable[[Any, Counter[Any]], dict[str, Any]]


@dataclass(frozen=True, eq=False)
class AllRows:
    """What a result says and writes of all rows, of which only a sample was ever in memory."""

    n_shown: int
    is_learnt_from_shown: bool
    n_rows: int = big()
    folder: TemporaryDirectory[str] = big()

    def told(self) -> list[str]:
        """Say where the assignments are, and what only a sample was looked at for, unless it has all rows."""
        where = "The assignments of all rows are the Parquet files in the folder assignments."
        if self.n_shown == self.n_rows:
            return [where]
        drawn = f"{counted(self.n_shown, 'row')} drawn by a hash: whole bags or sequences, and some rows of long ones"
        of_shown = f"Figures are of all rows; pictures and lists of rows and bags are of {drawn}."
        if self.is_learnt_from_shown:
            of_shown = (
                f"Everything was learnt from {drawn}; then all rows were placed part by part. Sizes and assignments "
                "are of all rows, the rest of this page is of those that were learnt from."
            )
        return [of_shown, where]

    def write(self, folder: Path) -> None:
        """Move the assignments of all rows to their place."""
        (folder / "assignments").mkdir()
        for path in sorted(Path(self.folder.name).iterdir()):
            move(path, folder / "assignments" / path.name)
        self.folder.cleanup()


@contextmanager
def sampled(
    config: RunConfig,
    *,
    n_rows: int,
    needs: Sequence[str] = (),
    named: Callable[[RunConfig], Iterable[str]] | None = None,
    lists_are: str = "bags",
    whole: int = WHOLE,
    empty: str = "unlabelled",
) -> Iterator[SampledRows]:
    """Open the files of a run; what is brought together on disk is there as long as the block lasts.

    Parameters
    ----------
    config : RunConfig
        The run.
    n_rows : int
        About how many rows to draw.
    needs : sequence of str
        What has to be named: bag, label.
    named : callable, optional
        The names of rows that must be in the sample.
    lists_are : {"bags", "rows", "sequences"}
        What labels are said of, or that rows stand in sequences and channels.
    whole : int
        Rows up to which a bag is drawn as a whole or not at all.
    empty : {"unlabelled", "none"}
        What an empty list of labels means.
    """
    opened = OpenParts(config.table, config.roles, lists_are=lists_are, needs=needs, empty=empty)
    with arranged(opened.parts, config.roles, config.options) as parts:
        names = frozenset(() if named is None else named(config))
        yield SampledRows(
            parts, opened.table, config.options, DrawRows(parts.draw(n_rows, whole=whole), opened.table, names)
        )


@dataclass(frozen=True, eq=False)
class SampledRows:
    """The rows of many files: all of them in parts, and a sample as a table of its own."""

    parts: Parts
    table: TableOfParts
    options: Any
    draw: DrawRows

    @cached_property
    def data(self) -> Dataset:
        """The sample: in whole bags, unless they are long."""
        drawn = sorted(chain.from_iterable(ask_all(self.parts, self.draw, self.options)), key=lambda one: one[0])
        rows, lists, numbers = joined_samples([sample for _, sample, _ in drawn])
        cells = {name: np.concatenate([own[name] for _, _, own in drawn]) for name in self.table.columns}
        return self.table.dataset(rows, lists, numbers, cells)

    @property
    def engine(self) -> Engine:
        """Who goes over the rows, as the options ask."""
        said = self.options
        return cluster_of(said) or engine_for(said.engine, self.parts, memory=said.memory, scratch=said.scratch)

    def with_all(
        self,
        result: R,
        count: Count | None = None,
        figures: Figures | None = None,
        *,
        place: Place | None = None,
        learnt: bool = True,
    ) -> R:
        """Place all rows and write them at once; put their figures in the place of those of the sample.

        Parameters
        ----------
        result : Result
            What was found in the sample.
        count, figures : callable
            What is counted of placed rows, and what that changes of the result: sizes and shares by default.
        place : callable, optional
            How rows are placed; by default as new rows are.
        learnt : bool
            Whether the sample is all that was learnt from.
        """
        model, n_shown = result.model, self.data.n_rows
        folder = TemporaryDirectory(prefix="sidelight-", dir=self.options.scratch)
        try:
            ask = PlaceRows(model, place or place_of(model), count or count_rows, self.table, folder.name)
            total: Counter[Any] = sum(ask_all(self.parts, ask, self.options), Counter())
        except BaseException:
            folder.cleanup()
            raise
        reading = replace(result.reading, n_rows=self.parts.n_rows)
        found = (figures or sizes_and_shares)(result, total)
        in_parts = AllRows(n_shown, learnt, self.parts.n_rows, folder)
        return replace(result, **{"reading": reading, **found, "in_parts": in_parts})


def count_rows(data: Dataset, placed: Placed) -> Counter[Any]:
    """Count rows by cluster, those that are sure, and bags."""
    total: Counter[Any] = Counter({("in", name): n for name, n in Counter(placed.rows["cluster"]).items()})
    total["rows"], total["sure"] = data.n_rows, int((np.asarray(placed.rows["probability"]) > SURE).sum())
    if data.bags is not None:
        total["bags"], total["labelled"] = data.bags.n_bags, int(data.bags.is_labelled.sum())
    return total


def sizes_and_shares(result: Any, total: Counter[Any]) -> dict[str, Any]:
    """Return what all rows change of a result with numbered clusters."""
    sizes = [total["in", k] for k in range(len(result.sizes))]
    found = {"sizes": sizes, "n_bags": total["bags"], "n_labelled": total["labelled"]}
    found["share_sure"] = total["sure"] / sum(sizes)
    return {name: value for name, value in found.items() if hasattr(result, name)}


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


def ask_all(parts: Parts, ask: AskTogether, options: Any) -> list[Any]:
    """Ask about all parts: the workers of a cluster where one is named, else this process."""
    with (cluster_of(options) or OneLook()).over(parts) as passes:
        return passes.together(ask)
