"""Event tables, one line an event: counted in batches, so that memory grows with combinations and not with lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.data.cooccurrence import CoOccurrence
from sidelight.data.readers.columns import Source
from sidelight.data.readers.dataset import Dataset
from sidelight.data.readers.plan import Plan


def event_table(source: Source, plan: Plan) -> Dataset:
    """Count the columns of a table together; a long table of (item, label) becomes label sets."""
    axes = [source.names[j] for j in plan.events]
    weight = None if plan.weight is None else source.names[plan.weight]
    dropped = [0]
    frames = (_without_gaps(frame, axes, dropped) for frame in source.frames(plan.events, plan.weight))
    counts = CoOccurrence.from_batches(frames, axes, weights=weight)
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


def _without_gaps(frame: Any, axes: list[str], dropped: list[int]) -> Any:
    if isinstance(frame, dict):
        keep = np.ones(len(frame[axes[0]]), dtype=bool)
        for axis in axes:
            keep &= frame[axis] != ""
        dropped[0] += int((~keep).sum())
        return {name: column[keep] for name, column in frame.items()}
    whole = frame
    for axis in axes:
        whole = whole.filter(whole[axis] != "")
    dropped[0] += len(frame) - len(whole)
    return whole
