"""Event tables in many Parquet files, counted piece by piece: memory grows with combinations and not with events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sidelight.data.cooccurrence import CoOccurrence
from sidelight.errors import InvalidData, UnknownName, nearest
from sidelight.files.part_tables import Columns, ParquetRows

PIECE = 1 << 22  # events that are read together: two columns of names take some 200 MB


def count_parquet(files: Sequence[Path], axes: Sequence[str], *, weight: str | None = None) -> CoOccurrence:
    """Count columns of Parquet files together.

    Parameters
    ----------
    files : sequence of paths
        The files; where events are cut into files does not matter.
    axes : sequence of str
        The columns to count, at least two.
    weight : str, optional
        A column that says how often an event happened.
    """
    wanted = [*axes, *([weight] if weight else [])]
    return CoOccurrence.from_batches(_pieces(_checked(files, wanted), wanted), axes, weights=weight)


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


def _pieces(sources: Sequence[ParquetRows], wanted: Sequence[str]) -> Iterator[Any]:
    for source in sources:
        for first in range(0, source.n_rows, PIECE):
            yield source.cells(first, min(first + PIECE, source.n_rows), wanted)
