"""Parquet files that are parts of one table, some of them damaged, missing, empty or of other columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from attack.outcome import judged
from mutations import mutate

COUNT = 400
_KINDS = (
    "bytes",
    "column gone",
    "text",
    "gaps",
    "empty",
    "no parquet",
    "gone",
    "other numbers",
    "labels differ",
    "whole",
)


def attack(number: int, folder: Path) -> str:
    """Write parts, spoil one, and read, sample, judge or fit them."""
    import sidelight as sl

    rng = np.random.default_rng([10, number])
    rows = folder / "rows"
    rows.mkdir()
    for part in range(int(rng.integers(1, 4))):
        _frame(rng, part).write_parquet(rows / f"{part}.parquet")
    kind = str(rng.choice(_KINDS))
    _spoil(rows / "0.parquet", kind, rng)
    use = int(rng.integers(4))

    def call() -> Any:
        parts = sl.Parts.from_parquet(str(rows / "*.parquet"), bag="bag", labels="labels" if use != 1 else None)
        if use == 0:
            return sl.CoverageClustering(max_iter=3, random_state=0).fit(parts)
        if use == 1:
            return sl.DiscriminativeClustering(2, random_state=0).fit(parts)
        if use == 2:
            return parts.sample(30)
        return parts.apply(lambda X: X.sum(axis=1))

    verdict = judged(call)
    return verdict if verdict in ("accepted", "refused") else f"{kind}, {use}: {verdict}"


def _frame(rng: np.random.Generator, part: int) -> pl.DataFrame:
    n = 4 * int(rng.integers(5, 40))
    bags = [f"b{part}-{i // 4}" for i in range(n)]
    lists = {bag: "x|y" if rng.random() < 0.5 else "x" for bag in dict.fromkeys(bags)}
    columns = {name: rng.normal(size=n) + 4 * (np.arange(n) % 2) for name in "uvw"}
    return pl.DataFrame({"bag": bags, "labels": [lists[bag] for bag in bags], **columns})


def _spoil(path: Path, kind: str, rng: np.random.Generator) -> None:
    frame = pl.read_parquet(path)
    if kind == "bytes":
        path.write_bytes(mutate(path.read_bytes(), int(rng.integers(2**32)), ".parquet"))
    elif kind == "column gone":
        frame.drop(str(rng.choice(frame.columns))).write_parquet(path)
    elif kind == "text":
        frame.with_columns(pl.col("v").cast(pl.String)).write_parquet(path)
    elif kind == "gaps":
        gaps = pl.when(pl.int_range(frame.height) % 5 == 0).then(None)
        frame.with_columns(gaps.otherwise(pl.col(str(rng.choice(frame.columns)))).alias("w")).write_parquet(path)
    elif kind == "empty":
        frame.head(0).write_parquet(path)
    elif kind == "no parquet":
        path.write_text("bag,u\nb,1\n", encoding="utf-8")
    elif kind == "gone":
        path.unlink()
    elif kind == "other numbers":
        value = float(rng.choice([np.nan, np.inf, 1e300, -0.0]))
        frame.with_columns(pl.lit(value).alias("u")).write_parquet(path)
    elif kind == "labels differ":
        frame.with_columns(pl.Series("labels", ["x", "y"] * (frame.height // 2))).write_parquet(path)
