"""What a large text holds: roles and commands by its first rows, counts by one pass that keeps no table in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sidelight.data.dataset import Dataset
from sidelight.files.reading import open_table, read
from sidelight.files.recognise import recognise
from sidelight.files.roles.cells import is_gap
from sidelight.files.source import Source
from sidelight.files.text.delimited import DelimitedSource
from sidelight.progress import report

LARGE = 1 << 28  # bytes from which on a text is not read as a whole
LOOKED_AT = 1 << 22  # bytes of it that are


def first_rows(source: Source, explicit: Mapping[str, Any]) -> Dataset | None:
    """Read the first rows of a large text; None for other files, and where nothing but the whole says what it holds."""
    if not source.path.is_file() or source.path.stat().st_size <= LARGE or source.is_packed:
        return None
    if "label_file" in explicit or recognise(source).format != "delimited":
        return None
    with TemporaryDirectory(prefix="sidelight-") as folder:
        start = Path(folder) / source.path.name
        with source.open() as file:
            start.write_bytes(file.read(LOOKED_AT).rpartition(b"\n")[0] + b"\n")
        data = read(start, **explicit)
    known = data.reader == "delimited" and data.X.shape[1] and data.counts is None and not data.kind
    return replace(data, path=str(source.path)) if known else None


def count(source: Source, data: Dataset) -> dict[str, Any]:
    """Count rows, gaps and labels of the whole file, a block at a time.

    Parameters
    ----------
    source : Source
        The file.
    data : Dataset
        What its first rows were taken for.
    """
    table = open_table(source, "delimited")
    assert isinstance(table, DelimitedSource)  # a large one
    numbers = [table.names.index(r.name) for r in data.roles if r.role == "feature" and r.kind in ("number", "0/1")]
    labels = [table.names.index(name) for name in data.columns("label")]
    one = labels[0] if len(labels) == 1 and data.y is not None else None
    n_rows = n_missing = 0
    told = Counter[str]()
    size = source.path.stat().st_size
    for frame in table.pieces(numbers, [] if one is None else [one]):
        n_rows += len(frame)
        for j in numbers:
            n_missing += int(frame[f"column_{j + 1}"].is_nan().sum())
        if one is not None:
            for value, n in frame[f"column_{one + 1}"].value_counts().iter_rows():
                told[value.strip()] += n
        report("counting", n_rows, max(size, n_rows), source.path.name)
    facts: dict[str, Any] = {"rows": n_rows, "missing cells": n_missing}
    return facts | (_labels(told) if one is not None else {})


def _labels(told: Counter[str]) -> dict[str, Any]:
    """Return how many rows have each label, the most frequent ones first."""
    known = {value: n for value, n in told.items() if not is_gap(value)}
    ordered = sorted(sorted(known.items()), key=lambda item: -item[1])
    return {"classes": len(known), "labelled rows": sum(known.values()), "rows with each label": dict(ordered[:12])}
