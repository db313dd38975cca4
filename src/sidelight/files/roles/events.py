"""Event tables, one line an event: counted in batches, so that memory grows with combinations and not with lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.data.cooccurrence import CoOccurrence
from sidelight.data.dataset import Dataset, LeftOut
from sidelight.data.parts import Look, Part, PartedRows
from sidelight.errors import InvalidData, UnknownName, nearest
from sidelight.files.limits import need_dense
from sidelight.files.part_tables import Columns, ParquetRows
from sidelight.files.problems import listing
from sidelight.files.roles.cells import is_gap
from sidelight.files.roles.columns import Coded, Coder, TableSource
from sidelight.files.roles.plan import Plan


def event_table(source: TableSource, plan: Plan) -> Dataset:
    """Count the columns of a table together; a long table of (item, label) becomes label sets."""
    axes = [source.names[j] for j in plan.events]
    weight = None if plan.weight is None else source.names[plan.weight]
    pieces = _Pieces(source, axes, weight)
    batches = pieces.coded(source.frames(plan.events, plan.weight))
    counts = _named(CoOccurrence.from_batches(batches, axes, weights=weight), pieces.coders)
    about: dict[str, Any] = {
        "counts": counts,
        "roles": plan.roles(),
        "doubts": tuple(plan.doubts),
        "left_out": pieces.left_out(),
        "location": source.location,
        "notes": source.notes,
    }
    if len(axes) != 2:
        return Dataset(np.empty((0, 0)), (), str(source.path), source.title, **about)
    rows, columns = (counts.labels[axis] or () for axis in axes)
    about["row_ids"] = np.empty(len(rows), dtype=object)
    about["row_ids"][:] = rows
    if plan.truth is not None and not plan.item_and_label:
        about["truth"], notes = _kinds(source, plan.events[0], plan.truth, rows)
        about["notes"] = (*source.notes, *notes)
    X, names = counts.to_csr(), tuple(map(str, columns))
    if plan.item_and_label:
        need_dense(source.path, *X.shape)
        Y = (X.toarray() > 0).astype(np.int8)
        empty = np.empty((len(rows), 0))
        return Dataset(empty, (), str(source.path), source.title, Y=Y, label_names=names, **about)
    return Dataset(X, names, str(source.path), source.title, **about)


class _Pieces:
    """Pieces of an event table on their way to the counter: names become codes, rows with a gap are left out."""

    def __init__(self, source: TableSource, axes: list[str], weight: str | None) -> None:
        self.source, self.weight = source, weight
        self.coders = {axis: Coder() for axis in axes}
        self.n_rows = 0
        self.gaps: dict[str, int] = {}  # column -> rows that have nothing there
        self.dropped: list[np.ndarray] = []  # numbers of the rows with a gap, piece by piece, counted from 0

    def coded(self, frames: Iterable[Any]) -> Iterator[dict[str, Any]]:
        """Yield every piece with codes for names, without the rows that have a gap."""
        for frame in frames:
            yield self._coded(frame)
        if sum(map(len, self.dropped)) == self.n_rows > 0:
            raise InvalidData(
                f"{self.source.path}: every row has a gap in {listing(list(self.gaps))}, so there is nothing to count."
            )

    def _coded(self, frame: Any) -> dict[str, Any]:
        batch: dict[str, Any] = {axis: coder.codes(frame[axis]) for axis, coder in self.coders.items()}
        holes = {axis: batch[axis] == self.coders[axis].found.get("", -1) for axis in batch}
        n = len(next(iter(batch.values())))
        if self.weight is not None:
            batch[self.weight] = weights = np.asarray(frame[self.weight], dtype=np.float64)
            holes[self.weight] = np.isnan(weights)
            wrong = np.isinf(weights) | (weights < 0)
            if wrong.any():
                row = int(wrong.argmax())
                raise InvalidData(
                    f"{self.source.path}, {self.source.location(self.n_rows + row)}, column {self.weight!r}: "
                    f"expected how "
                    f"often the event happened, a number from 0 on, found {weights[row]:g}. Correct the cell."
                )
        drop = np.zeros(n, dtype=bool)
        for name, hole in holes.items():
            if hole.any():
                self.gaps[name] = self.gaps.get(name, 0) + int(hole.sum())
                drop |= hole
        if drop.any():
            self.dropped.append(self.n_rows + np.flatnonzero(drop))
        self.n_rows += n
        return {name: column[~drop] for name, column in batch.items()} if drop.any() else batch

    def left_out(self) -> tuple[LeftOut, ...]:
        """Say which rows have a gap, and in which columns."""
        if not self.dropped:
            return ()
        rows = np.concatenate(self.dropped)
        return (LeftOut(rows + 1, "event gap", tuple(self.gaps), self.source.location(int(rows[0])), self.n_rows),)


def _kinds(
    source: TableSource, item: int, truth: int, names: Sequence[Any]
) -> tuple[np.ndarray[Any, np.dtype[np.object_]], list[str]]:
    """Return the kind of each item by its name, ``""`` where it has none or several, which is said."""
    coders = Coder(), Coder()
    seen: set[tuple[int, int]] = set()
    for frame in source.frames([item, truth], None):
        codes = [coder.codes(frame[source.names[j]]) for coder, j in zip(coders, (item, truth))]
        seen |= set(map(tuple, np.unique(np.stack(codes), axis=1).T.tolist()))
    items, kinds = (tuple(coder.found) for coder in coders)
    found: dict[str, set[str]] = {}
    for i, k in seen:
        found.setdefault(items[i], set()).update({kinds[k]} if not is_gap(kinds[k]) else ())
    sets = [found.get(str(name), set()) for name in names]
    out = np.array([next(iter(kind)) if len(kind) == 1 else "" for kind in sets], dtype=object)
    n_torn = sum(len(kind) > 1 for kind in sets)
    note = f"{n_torn} of {len(sets)} {source.names[item]!r} have several kinds in {source.names[truth]!r}: not compared"
    return out, [note] if n_torn else []


def _named(counts: CoOccurrence, coders: dict[str, Coder]) -> CoOccurrence:
    """Give the codes their names back, in order: whole numbers by size, words by letters."""
    coords, labels = [], {}
    for axis, codes in zip(counts.axes, counts.coords):
        seen = np.asarray(counts.labels[axis], dtype=np.intp)  # the coder's numbers that occur
        values = tuple(coders[axis].found)
        names = Coded(values, seen).names().tolist()
        order = sorted(range(len(names)), key=names.__getitem__)
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        coords.append(rank[codes])
        labels[axis] = [names[k] for k in order]
    return CoOccurrence(counts.axes, coords, counts.counts, counts.shape, labels)


# Event tables in many Parquet files, counted piece by piece: memory grows with combinations and not with events.


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
