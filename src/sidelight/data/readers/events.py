"""Event tables, one line an event: counted in batches, so that memory grows with combinations and not with lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.data.cooccurrence import CoOccurrence
from sidelight.data.readers.columns import Coded, Coder, Source
from sidelight.data.readers.dataset import Dataset
from sidelight.data.readers.plan import Plan


def event_table(source: Source, plan: Plan) -> Dataset:
    """Count the columns of a table together; a long table of (item, label) becomes label sets."""
    axes = [source.names[j] for j in plan.events]
    weight = None if plan.weight is None else source.names[plan.weight]
    coders = {axis: Coder() for axis in axes}
    dropped = [0]
    frames = source.frames(plan.events, plan.weight)
    batches = (_coded(frame, coders, weight, dropped) for frame in frames)
    counts = _named(CoOccurrence.from_batches(batches, axes, weights=weight), coders)
    notes = [*source.notes]
    if dropped[0]:
        notes.append(f"{dropped[0]} rows with a gap in {' or '.join(axes)} were left out")
    if len(axes) != 2:
        return Dataset(
            np.empty((0, 0)), (), str(source.path), source.title, counts=counts, roles=plan.roles(), notes=tuple(notes)
        )
    rows, columns = (counts.labels[axis] or () for axis in axes)
    ids = np.empty(len(rows), dtype=object)
    ids[:] = rows
    X = counts.to_csr()
    if plan.item_and_label:
        Y = (X.toarray() > 0).astype(np.int8)
        names = tuple(map(str, columns))
        empty = np.empty((len(rows), 0))
        return Dataset(
            empty,
            (),
            str(source.path),
            source.title,
            row_ids=ids,
            Y=Y,
            label_names=names,
            counts=counts,
            roles=plan.roles(),
            notes=tuple(notes),
        )
    return Dataset(
        X,
        tuple(map(str, columns)),
        str(source.path),
        source.title,
        row_ids=ids,
        counts=counts,
        roles=plan.roles(),
        notes=tuple(notes),
    )


def _coded(frame: Any, coders: dict[str, Coder], weight: str | None, dropped: list[int]) -> dict[str, Any]:
    """Return a batch with codes for names, without the rows that have a gap."""
    batch: dict[str, Any] = {}
    keep: Any = True
    for axis, coder in coders.items():
        batch[axis] = coder.codes(frame[axis])
        if "" in coder.found:
            keep = keep & (batch[axis] != coder.found[""])
    if weight is not None:
        batch[weight] = np.asarray(frame[weight], dtype=np.float64)
    if keep is True:
        return batch
    dropped[0] += int((~keep).sum())
    return {name: column[keep] for name, column in batch.items()}


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
