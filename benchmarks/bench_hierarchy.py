"""Trees of labels: speed and memory, and how the cost grows with labels and rows."""

from __future__ import annotations

import time
import warnings

import numpy as np

import sidelight as sl
from hierarchy_sets import drop, newsgroups
from runner import Sheet, peak_megabytes, seconds
from sidelight.errors import SidelightWarning

TITLE = "Hierarchy: speed and memory"


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    warnings.simplefilter("ignore", SidelightWarning)
    sheet.say_if_busy()
    sheet.notes.append(
        "Newsgroups: 2000 posts x 100 features, 27 labels, 30 % of the labels dropped. The others are drawn by "
        "`make_label_tree`, 30 % dropped. Default parameters, seed 0; a fit is tree, rates and weights."
    )
    data = newsgroups()
    Z = drop(data.Y, 0.3, np.random.default_rng(0))
    sheet.time("newsgroups, whole fit", lambda: sl.LatentHierarchyClassifier().fit(data.X, Z), at_most=3.0, repeats=3)
    sheet.time("newsgroups, tree from labels alone", lambda: sl.LatentHierarchyClassifier().fit(None, Z), repeats=3)
    joint = sl.LatentHierarchyClassifier(structure="joint", init="chow-liu", max_iter=60)
    sheet.time("newsgroups, the thesis' EM, one start, 60 rounds at most", lambda: joint.fit(data.X, Z), repeats=1)
    many_features(sheet)
    many_labels(sheet)
    growth(sheet)


def many_features(sheet: Sheet) -> None:
    """10,000 rows x 4096 features x 24 labels, the size of the thesis' Pascal 2007."""
    wide = sl.data.make_label_tree(10_000, n_features=4096, n_labels=24, missing=0.3, random_state=0)
    begin, processor = time.perf_counter(), time.process_time()
    sl.LatentHierarchyClassifier().fit(wide.X, wide.Y_incomplete)
    took, worked = time.perf_counter() - begin, time.process_time() - processor
    what = "10,000 rows x 4096 features x 24 labels, whole fit"
    sheet.row(what, f"{took:.1f} s, {worked:.1f} s of processor time on both cores", "<= 30 s", took <= 30)


def many_labels(sheet: Sheet) -> None:
    """500 labels x 10,000 rows x 100 features."""
    sample = sl.data.make_label_tree(10_000, n_features=100, n_labels=500, missing=0.3, random_state=0)
    begin = time.perf_counter()
    model = sl.LatentHierarchyClassifier(tree=sample.tree, tol=0.0, max_iter=6).fit(sample.X, sample.Y_incomplete)
    took = (time.perf_counter() - begin) / (model.n_iter_ + 1)
    sheet.row("500 labels x 10,000 rows x 100, tree given: an EM round", f"{took:.2f} s", "<= 8 s", took <= 8)
    begin = time.perf_counter()
    sl.LatentHierarchyClassifier().fit(None, sample.Y_incomplete)
    sheet.row("500 labels x 10,000 rows, tree from labels alone", f"{time.perf_counter() - begin:.1f} s")
    code = """
import sidelight as sl, warnings
warnings.simplefilter("ignore")
sample = sl.data.make_label_tree(10_000, n_features=100, n_labels=500, missing=0.3, random_state=0)
sl.LatentHierarchyClassifier(max_iter=2).fit(sample.X, sample.Y_incomplete)
"""
    megabytes = peak_megabytes(code)
    sheet.row(
        "500 labels x 10,000 rows x 100: peak memory, data included",
        f"{megabytes:.0f} MB",
        "<= 1500 MB",
        megabytes <= 1500,
    )


def growth(sheet: Sheet) -> None:
    """Cost against rows and against labels."""

    def by_rows(n_rows: int) -> float:
        sample = sl.data.make_label_tree(n_rows, n_features=50, n_labels=30, missing=0.3, random_state=0)
        return seconds(lambda: sl.LatentHierarchyClassifier().fit(sample.X, sample.Y_incomplete), repeats=1)

    def by_labels(n_labels: int) -> float:
        sample = sl.data.make_label_tree(5000, n_features=50, n_labels=n_labels, missing=0.3, random_state=0)
        return seconds(lambda: sl.LatentHierarchyClassifier().fit(sample.X, sample.Y_incomplete), repeats=1, warm_up=0)

    sheet.growth("whole fit, 50 features, 30 labels", [1000, 3000, 10_000, 30_000, 100_000], by_rows)
    sheet.growth("whole fit, 50 features, 5000 rows", [10, 30, 100, 300], by_labels, axis="labels")
