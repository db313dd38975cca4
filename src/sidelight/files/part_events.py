"""Event tables in many Parquet files, counted piece by piece: memory grows with combinations and not with events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.data.cooccurrence import CoOccurrence
from sidelight.data.parts import Look, Part, PartedRows
from sidelight.errors import InvalidData, UnknownName, nearest
from sidelight.files.part_tables import Columns, ParquetRows

_TIMES = "sidelight times"  # a column name that no event table is likely to have
PIECE = 1 << 22  # events that are read together: two columns of names take some 200 MB


def count_parquet(
    files: Sequence[Path], axes: Sequence[str], *, weight: str | None = None, engine: Any = None
) -> CoOccurrence:
    """Count columns of Parquet files together.

    Parameters
    ----------
    files : sequence of paths
        The files; where events are cut into files does not matter.
    axes : sequence of str
        The columns to count, at least two.
    weight : str, optional
        A column that says how often an event happened.
    engine : OnDask, optional
        Let the workers of a cluster count: each its share of the pieces. This process counts by default.
    """
    wanted = [*axes, *([weight] if weight else [])]
    parts = EventParts(_checked(files, wanted))
    count = CountEvents(tuple(axes), weight)
    if engine is None:
        return count.of_parts(parts.parts(), parts.look)
    with engine.over(parts) as passes:
        shares = passes.together(count)
    return shares[0] if len(shares) == 1 else CoOccurrence.from_batches(map(_as_batch, shares), axes, weights=_TIMES)


@dataclass(frozen=True, slots=True)
class CountEvents:
    """How often did each combination happen?"""

    axes: tuple[str, ...]
    weight: str | None

    def of_parts(self, parts: Sequence[Part], look: Look) -> CoOccurrence:
        """Count the events of some pieces, one after the other."""
        wanted = [*self.axes, *([self.weight] if self.weight else [])]
        pieces = (source.cells(first, last, wanted) for part in parts for source, first, last in part.pieces)  # type: ignore[attr-defined] # sources of events are tables
        return CoOccurrence.from_batches(pieces, self.axes, weights=self.weight)


class EventParts(PartedRows):
    """Events of files as pieces that are read together; they have names and no features."""

    def __init__(self, sources: Sequence[ParquetRows]) -> None:
        super().__init__(list(sources), (), in_bags=False)
        vars(self)["look"] = Look(np.zeros(0), np.ones(0))  # there are no numbers to look at

    def parts(self, n_blocks: int | None = None) -> list[Part]:
        """Return one recipe for each piece; pieces never go over the end of a file."""
        found: list[Part] = []
        row = 0
        for source in self.sources:
            for first in range(0, source.n_rows, PIECE):
                last = min(first + PIECE, source.n_rows)
                found.append(Part(len(found), ((source, first, last),), row + first, len(found), (0, last - first)))
            row += source.n_rows
        return found


def _as_batch(counts: CoOccurrence) -> dict[str, Any]:
    """Return counts as a table of combinations that each happened so often."""
    columns: dict[str, Any] = {}
    for axis, codes in zip(counts.axes, counts.coords):
        names = counts.labels[axis]
        assert names is not None  # counted by name
        own = np.empty(len(names), dtype=object)
        own[:] = names
        columns[axis] = own[codes]
    return {**columns, _TIMES: counts.counts}


def _checked(files: Sequence[Path], wanted: Sequence[str]) -> list[ParquetRows]:
    """Look into the footers of all files before one of them is counted."""
    sources: list[ParquetRows] = []
    types: dict[str, Any] = {}
    for path in files:
        schema, n_rows = ParquetRows.look_into(path)
        for name in wanted:
            if name not in schema:
                raise UnknownName(f"{path} has no column {name!r}. {nearest(name, list(schema))}")
            if types.setdefault(name, schema[name]) != schema[name]:
                raise InvalidData(
                    f"{path}: column {name!r} holds {schema[name]}, but {types[name]} in {files[0]}. Events with the "
                    "same name would be counted apart: write the files with one type."
                )
        sources.append(ParquetRows(str(path), n_rows, Columns((), None, None, "|", bag_is_text=False), 0))
    return sources
