"""Clusters of bags without any truth: words, margins and medoids beside k-means on bag means, on real and made bags."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

import sidelight as sl
from bag_sets import birdsong, corel, made_bags, sival
from runner import Ledger, Sheet
from sidelight.errors import SidelightWarning
from sidelight.metrics import clustering_accuracy

TITLE = "Bags: what each method finds without labels"
SEEDS = (0, 1, 2)
AIMS = {"SIVAL-6": 0.65, "Corel": 0.52, "birdsong": 0.86}
SETS: dict[str, Callable[[], Any]] = {"SIVAL-6": sival, "Corel": corel, "birdsong": birdsong}
MADE = ("one telling row", "rows alike", "overlapping")
METHODS: dict[str, Callable[[int, int], Any]] = {
    "words": lambda k, seed: sl.BagWordClustering(k, random_state=seed),
    "margin": lambda k, seed: sl.MaxMarginBagClustering(k, random_state=seed),
    "margin, rows": lambda k, seed: sl.MaxMarginBagClustering(
        k, margin="rows", scale="standard", C=4.0, random_state=seed
    ),
    "margin, rows, whitened": lambda k, seed: sl.MaxMarginBagClustering(k, margin="rows", C=4.0, random_state=seed),
    "margin, paper": lambda k, seed: sl.MaxMarginBagClustering(
        k, margin="paper", scale="standard", C=4.0, random_state=seed
    ),
    "medoids, average": lambda k, seed: sl.Standardized(sl.estimators.BagKMedoids(k, random_state=seed)),
}


def fill(sheet: Sheet) -> None:
    """Measure and add the tables."""
    warnings.simplefilter("ignore", SidelightWarning)
    sheet.notes.append(
        "Clustering accuracy, mean of seeds 0, 1 and 2; every method with its defaults and the true number of "
        "clusters; no truth is used otherwise. Bag means: k-means, ten starts, on the mean of the standardised rows of "
        "each bag. The standard error is that of a share among so many bags. SIVAL-6 has 6 of the 25 classes of the "
        "paper, so the five-class groups are the six choices of five among them, not those of [Z09] table 3."
    )
    ledger = Ledger("bags_quality")
    sets = {**SETS, **{name: lambda name=name: made_bags(name) for name in MADE}}
    compare(sheet, ledger, "Accuracy", sets)
    groups = {f"without class {(set(range(6)) - set(c)).pop()}": c for c in choices()}
    compare(sheet, ledger, "Five classes of SIVAL", {name: lambda c=c: sival(c) for name, c in groups.items()})
    numbers(sheet, ledger, sets)


def choices() -> Iterator[tuple[int, ...]]:
    """Yield the six choices of five classes."""
    yield from combinations(range(6), 5)


def compare(sheet: Sheet, ledger: Ledger, title: str, sets: dict[str, Callable[[], Any]]) -> None:
    """Add one table, a row for each set."""
    rows = []
    for name, load in sets.items():
        cells = ledger.run([(f"{title}/{name}", lambda load=load: accuracies(load))], stage=name)[f"{title}/{name}"]
        means, error = np.mean(cells["bag means"]), cells["error"]
        rows.append((
            name, str(cells["bags"]), f"{means:.3f}", *(f"{np.mean(cells[method]):.3f}" for method in METHODS),
            f"{error:.3f}", f"{cells['seconds']:.2f} s",
        ))  # fmt: skip
        words = float(np.mean(cells["words"]))
        if name in AIMS:
            sheet.row(f"{name}, words", f"{words:.3f}", f">= {AIMS[name]}", words >= AIMS[name])
        floor = means - error
        sheet.row(f"{name}, words against bag means", f"{words:.3f}", f">= {floor:.3f}", words >= floor)
    sheet.section(title, ("bags of", "bags", "bag means", *METHODS, "standard error", "words, time"), rows)


def accuracies(load: Callable[[], Any]) -> dict[str, Any]:
    """Return the accuracy of every method for every seed."""
    X, bags, truth = load()
    k, cells = len(np.unique(truth)), {}
    Z = StandardScaler().fit_transform(X)
    means = np.array([Z[bag.rows].mean(axis=0) for bag in bags.each()])
    cells["bag means"] = [
        clustering_accuracy(truth, KMeans(k, n_init=10, random_state=seed).fit_predict(means)) for seed in SEEDS
    ]
    times = []
    for name, method in METHODS.items():
        cells[name] = []
        for seed in SEEDS:
            begin = time.perf_counter()
            labels = method(k, seed).fit(X, bags=bags).predict_bag_clusters(X, bags)
            times += [time.perf_counter() - begin] if name == "words" else []
            cells[name].append(clustering_accuracy(truth, labels))
    mean = float(np.mean(cells["bag means"]))
    return {
        **cells, "bags": bags.n_bags, "error": float(np.sqrt(mean * (1 - mean) / bags.n_bags)),
        "seconds": float(np.median(times)),
    }  # fmt: skip


def numbers(sheet: Sheet, ledger: Ledger, sets: dict[str, Callable[[], Any]]) -> None:
    """Add the numbers of clusters that words chooses."""
    rows = []
    for name, load in sets.items():
        cell = ledger.run([(f"number/{name}", lambda load=load: chosen(load))], stage=name)[f"number/{name}"]
        rows.append((name, str(cell["true"]), ", ".join(map(str, cell["chosen"]))))
    sheet.section("The number of clusters chosen by stability, seeds 0, 1 and 2", ("bags of", "true", "chosen"), rows)


def chosen(load: Callable[[], Any]) -> dict[str, Any]:
    """Let the data choose."""
    X, bags, truth = load()
    found = [int(sl.BagWordClustering(random_state=seed).fit(X, bags=bags).n_clusters_) for seed in SEEDS]
    return {"true": len(np.unique(truth)), "chosen": found}
