"""The note that a table cut from a folder carries; this file is quick to import, what cuts is not."""

from __future__ import annotations

from pathlib import Path

KEY = "sidelight"


def recipe_text(path: Path) -> str | None:
    """Return how a Parquet table was cut, as JSON, or None where it was not cut from a folder."""
    import polars as pl

    try:
        return pl.read_parquet_metadata(path).get(KEY)
    except (Exception, pl.exceptions.PanicException):  # damaged, or no Parquet: its reader says so
        return None
