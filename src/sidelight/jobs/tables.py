"""From a table on disk to rows: which columns are features, which one names the row."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.errors import InvalidData, MissingExtra, UnknownName, UnreadableFile, nearest


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows with names: X (n_rows, n_features), the features' names and one id per row."""

    X: np.ndarray
    features: Sequence[str]
    ids: Sequence[Any]
    id_name: str


def read_rows(path: str, *, id_column: str | None = None, features: Sequence[str] = ()) -> Rows:
    """Read a CSV or Parquet table; features are the numeric columns, or those that match the given patterns."""
    frame = _read_frame(path)
    if frame.height == 0 or frame.width == 0:
        raise InvalidData(f"{path!r} has {frame.height} rows and {frame.width} columns: there is nothing to cluster.")
    if id_column is not None and id_column not in frame.columns:
        raise UnknownName(f"{path!r} has no column {id_column!r} for the row id. {nearest(id_column, frame.columns)}")
    chosen = _choose(frame, path, features, id_column)
    X = _numbers(frame, path, chosen)
    ids = frame[id_column].to_list() if id_column is not None else list(range(frame.height))
    return Rows(X, chosen, ids, id_column or "row")


def _read_frame(path: str) -> Any:
    try:
        import polars
    except ImportError as error:
        raise MissingExtra("polars", "jobs", "Reading a table") from error
    if not Path(path).is_file():
        raise UnreadableFile(f"Cannot read {path!r}: there is no such file. Check the path.")
    try:
        if path.endswith((".parquet", ".pq")):
            return polars.read_parquet(path)
        return polars.read_csv(path, infer_schema_length=10_000)
    except (polars.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise UnreadableFile(f"{path!r} cannot be read as a table: {reason}. It should be CSV or Parquet.") from error


def _choose(frame: Any, path: str, patterns: Sequence[str], id_column: str | None) -> list[str]:
    if not patterns:
        numeric = [name for name, kind in frame.schema.items() if kind.is_numeric() and name != id_column]
        if not numeric:
            raise InvalidData(f"{path!r} has no numeric column to use as a feature. Its columns: {frame.columns}.")
        return numeric
    chosen: list[str] = []
    for pattern in patterns:
        matched = [name for name in frame.columns if fnmatch.fnmatchcase(name, pattern) and name not in chosen]
        if not matched:
            raise UnknownName(f"{path!r} has no column that matches {pattern!r}. {nearest(pattern, frame.columns)}")
        chosen += matched
    for name in chosen:
        if not frame.schema[name].is_numeric():
            example = next((value for value in frame[name].to_list() if value is not None), None)
            raise InvalidData(
                f"Column {name!r} of {path!r} should hold numbers to be a feature, but holds {frame.schema[name]}, "
                f"for example {example!r}. Leave it out of --features, or turn it into numbers."
            )
    return chosen


def _numbers(frame: Any, path: str, chosen: list[str]) -> np.ndarray:
    X = np.ascontiguousarray(frame.select(chosen).to_numpy(), dtype=np.float64)
    for column, name in enumerate(chosen):
        bad = np.flatnonzero(~np.isfinite(X[:, column]))
        if len(bad):
            raise InvalidData(
                f"Column {name!r} of {path!r} has {len(bad)} missing or infinite values, the first in data row "
                f"{bad[0] + 1}. Fill or drop them, or leave the column out with --features."
            )
    return X
