"""Bags of a million rows, answers and their closure, and counting events: what making and slicing knowledge costs."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl

import sidelight as sl
from runner import Sheet, seconds
from sidelight.errors import BagsWereCut

TITLE = "Bags, answers and tables of counts"
N_ROWS, N_BAGS = 1_000_000, 100_000
Case = tuple[str, Callable[[], Any], float]


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    sheet.notes.append(
        f"Generated data, seed 0: {N_ROWS:,} rows in {N_BAGS:,} bags, in random order, three of 25 labels in a bag. "
        "Times are medians of three calls after one that does not count."
    )
    sheet.say_if_busy()
    warnings.simplefilter("ignore", BagsWereCut)  # half of the rows are taken on purpose
    for what, function, at_most in [*bags(), *answers(), *counts()]:
        sheet.time(what, function, at_most=at_most, repeats=3)
    sheet.growth("Bags of integer ids", [100_000, 400_000, 1_600_000], lambda n: seconds(bags_of(n), repeats=3))
    sheet.row("memory at the peak while a million rows are put into bags", f"{peak_of(bags_of(N_ROWS)):.0f} MB")


def bags() -> Iterator[Case]:
    """Making bags, and what scikit-learn's splits do to them."""
    generator = np.random.default_rng(0)
    codes = generator.integers(0, N_BAGS, N_ROWS)
    words = np.array([f"recording {i}" for i in range(N_BAGS)])[codes].tolist()
    made = sl.Bags(codes)
    sets = {bag: set(three) for bag, three in zip(made.names, generator.integers(0, 25, (N_BAGS, 3)).tolist())}
    labelled = made.with_labels(sets)
    half = generator.permutation(N_ROWS)[: N_ROWS // 2]
    yield "Bags, integer ids", lambda: sl.Bags(codes), 1.0
    yield "Bags, ids as a list of strings", lambda: sl.Bags(words), 2.0
    yield "Bags with 100,000 label sets", lambda: sl.Bags(codes, sets), 2.0
    yield "half of the rows, in random order", lambda: labelled[half], 1.0
    yield "every other row", lambda: labelled[::2], 1.0
    yield "row order and starts", lambda: (sl.Bags(codes).order, sl.Bags(codes).starts), 2.0
    yield "BagKFold, five folds", lambda: list(sl.BagKFold(5).split(None, labelled)), 2.0
    yield "repr", lambda: repr(labelled), 0.1


def answers() -> Iterator[Case]:
    """Answers about pairs: reading, what follows, and the chains behind contradictions."""
    generator = np.random.default_rng(0)
    y = generator.integers(0, 10, 100_000)
    told = sl.Pairs.sample(y, 100_000, random_state=0)
    noisy = sl.Pairs.sample(y, 100_000, noise=0.1, random_state=0)
    few = sl.Pairs.sample(generator.integers(0, 5, 1000), 3000, random_state=0)
    table = [(*answer.rows, answer.answer) for answer in told.answers]
    yield "100,000 answers sampled from the truth", lambda: sl.Pairs.sample(y, 100_000, random_state=0), 1.0
    yield "100,000 answers from a list of tuples", lambda: sl.Pairs.from_table(table, n_rows=len(y)), 2.0
    yield "answers about half of 100,000 rows", lambda: told[np.arange(0, len(y), 2)], 0.1
    yield "100 contradictions with their chains", lambda: (noisy + noisy.empty(len(y))).contradictions(limit=100), 5.0
    yield f"closure of {few.n_answers:,} answers about 1000 rows", lambda: (few + few.empty(1000)).closure(), 1.0


def counts() -> Iterator[Case]:
    """Counting events."""
    generator = np.random.default_rng(0)
    codes = {axis: generator.integers(0, 300, N_ROWS) for axis in ("face", "upper", "lower")}
    frame = pl.DataFrame({axis: [f"{axis} {code}" for code in column] for axis, column in codes.items()})
    table = sl.CoOccurrence.from_codes(codes)
    yield "a million events, three axes of 300 codes", lambda: sl.CoOccurrence.from_codes(codes), 2.0
    yield "the same from a data frame of strings", lambda: sl.CoOccurrence.from_table(frame), 5.0
    yield "total correlation of its cells", table.total_correlation, 0.5
    yield "a two-way margin", lambda: table.margin("face", "upper"), 0.5


def bags_of(n: int) -> Callable[[], sl.Bags]:
    """Prepare bags of n rows, ten in a bag."""
    codes = np.random.default_rng(0).integers(0, n // 10, n)
    return lambda: sl.Bags(codes)


def peak_of(function: Callable[[], Any]) -> float:
    """Return the megabytes that a call holds at its peak; a process's peak would show the imports, which need more."""
    tracemalloc.start()
    function()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1024**2
