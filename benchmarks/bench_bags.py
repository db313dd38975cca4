"""Clustering bags: speed and memory of margins, distances and medoids, and how the cost grows with the rows."""

from __future__ import annotations

import os
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

import sidelight as sl
from bag_sets import corel
from runner import Sheet, seconds
from sidelight.estimators.bags.k_medoids import alternate, faster_pam

TITLE = "Bags: speed and memory"


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    sheet.notes.append(
        "Corel: positives of elephant, fox and tiger, 300 bags, 1953 rows, 230 features. SIVAL's size and the large "
        "sets are generated (`groups`): each bag has one telling row among clutter. One start, seed 0, default "
        "parameters unless said; the paper's times are of 2009. Processor times are given beside the clock because the "
        f"machine was shared: load average {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores at the start."
    )
    X, bags, _ = corel()
    for scale in ("whitened", "standard"):
        one = sl.MaxMarginBagClustering(3, scale=scale, n_init=1, random_state=0)
        sheet.time(
            f"Corel, one start, scale={scale} (paper 1.2 s)", lambda one=one: one.fit(X, bags=bags), at_most=0.15
        )
        sheet.row(f"the same, scale={scale}", processor(lambda one=one: one.fit(X, bags=bags)))
    worst = slowest_grid_point(X, bags)
    sheet.row("Corel, slowest start over the paper's grid, scale=unit", f"{worst:.3f} s")
    for kind in ("minimal", "maximal", "average"):
        sheet.time(
            f"Corel, {kind} Hausdorff matrix and k-medoids, ten starts (paper 257 to 268 s)",
            lambda kind=kind: sl.estimators.BagKMedoids(3, distance=kind, random_state=0).fit(X, bags=bags),
            at_most=0.5,
        )
    medoids = sl.estimators.BagKMedoids(3, random_state=0)
    sheet.row("the same, average", processor(lambda: medoids.fit(X, bags=bags)))
    swaps_against_alternation(sheet, sl.estimators.bag_distances(X, bags))
    small, small_bags = groups(9_300)
    one = sl.MaxMarginBagClustering(5, n_init=1, random_state=0)
    sheet.time("300 bags x 31 rows x 30 features, one start", lambda: one.fit(small, bags=small_bags), at_most=0.3)

    def cost(n_rows: int) -> float:
        rows, of_rows = groups(n_rows)
        return seconds(lambda: one.fit(rows, bags=of_rows), repeats=3)

    sheet.growth(
        "one start, 5 clusters, 30 features, bags of 31 rows", [10_000, 31_000, 100_000, 310_000, 1_000_000], cost
    )
    large, large_bags = groups(1_000_000)
    begin = time.perf_counter()
    one.fit(large, bags=large_bags)
    took = time.perf_counter() - begin
    sheet.row("1,000,000 rows x 30 in 32,258 bags, one start", f"{took:.2f} s, {one.status_}", "<= 60 s", took <= 60)
    memory(sheet, large, large_bags)
    words(sheet)
    distances(sheet)


def distances(sheet: Sheet) -> None:
    """Measure Hausdorff distances at SIVAL's true size against the matrix products that they need at least."""
    X, bags = groups(46_500)

    def products() -> None:
        for begin in range(0, len(X), 2_000):
            X[begin : begin + 2_000] @ X.T

    took, least = (seconds(work, repeats=3) for work in (lambda: sl.estimators.bag_distances(X, bags), products))
    ratio = took / least
    sheet.row(
        "1,500 bags x 31 rows x 30 features, average Hausdorff distances",
        f"{took:.2f} s, {ratio:.1f} times the matrix products alone", "<= 4 times", ratio <= 4,
    )  # fmt: skip


def words(sheet: Sheet) -> None:
    """Measure clusters by words: SIVAL's size, and a million rows with what they allocate beside X."""
    small, small_bags = groups(11_410)
    model = sl.BagWordClustering(6, random_state=0)
    sheet.time("words, 369 bags x 31 rows x 30 features", lambda: model.fit(small, bags=small_bags), at_most=1.0)
    X, bags = groups(1_000_000, d=48)
    begin = time.perf_counter()
    model.fit(X, bags=bags)
    took = time.perf_counter() - begin
    sheet.row("words, 1,000,000 rows x 48 in 32,259 bags", f"{took:.1f} s", "<= 20 s", took <= 20)
    tracemalloc.start()
    model.fit(X, bags=bags)
    beside = tracemalloc.get_traced_memory()[1] / 2**30
    tracemalloc.stop()
    sheet.row("the same: peak memory beside X", f"{beside:.2f} GB", "<= 2 GB", beside <= 2)


def memory(sheet: Sheet, X: np.ndarray, bags: sl.Bags) -> None:
    """Measure what a fit of a million rows allocates at its peak, beside X."""
    one = sl.MaxMarginBagClustering(5, n_init=1, random_state=0)
    tracemalloc.start()
    one.fit(X, bags=bags)
    beside = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    ratio = 1 + beside / X.nbytes
    megabytes = f"X {X.nbytes / 2**20:.0f} MB, {beside / 2**20:.0f} MB beside it"
    sheet.row(
        "1,000,000 rows: peak memory of the fit, X included", f"{ratio:.2f} x X ({megabytes})", "<= 2 x X", ratio <= 2
    )


def processor(function: Callable[[], Any]) -> str:
    """Median processor time of five calls, all threads: what the work costs when other programs share the machine."""
    times = []
    for _ in range(5):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    return f"{np.median(times):.3f} s of processor time"


def slowest_grid_point(X: np.ndarray, bags: sl.Bags) -> float:
    """Time one start at the corners of the paper's grid."""
    times = []
    for C in (2.0**-4, 1.0, 2.0**4):
        for balance in (0.0, 1.0, 10.0):
            one = sl.MaxMarginBagClustering(
                3, C=C, margin="paper", balance=balance, scale="unit", n_init=1, random_state=0
            )
            times.append(seconds(lambda one=one: one.fit(X, bags=bags), repeats=3))
    return max(times)


def swaps_against_alternation(sheet: Sheet, D: np.ndarray) -> None:
    """Compare both k-medoids from the same twenty starts on Corel's average distances."""
    generator = np.random.default_rng(0)
    starts = [generator.choice(len(D), 8, replace=False) for _ in range(20)]
    swapped = [faster_pam(D, start).inertia for start in starts]
    moved = [alternate(D, start).inertia for start in starts]
    sheet.row(
        "Corel, 8 medoids, sum of distances, mean of 20 starts",
        f"FasterPAM {np.mean(swapped):.1f}, the paper's alternation {np.mean(moved):.1f}",
        "no higher",
        float(np.mean(swapped)) <= float(np.mean(moved)),
    )


def groups(n_rows: int, k: int = 5, size: int = 31, d: int = 30) -> tuple[np.ndarray, sl.Bags]:
    """Bags of 31 rows: clutter around 0 and one telling row for the bag's group."""
    generator = np.random.default_rng(0)
    n_bags = -(-n_rows // size)
    X = generator.normal(size=(n_rows, d))
    codes = np.arange(n_rows) // size
    first = np.arange(n_bags) * size
    X[first, np.arange(n_bags) % k] += 6.0
    return X, sl.Bags(codes)
