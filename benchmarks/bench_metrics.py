"""The judges on a million rows, beside scikit-learn where it has them, and the compiled arithmetic below."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import metrics as sk

from runner import Sheet, seconds
from sidelight import metrics
from sidelight._core.forest import components
from sidelight.estimators.hierarchy.edges import maximum_arborescence

TITLE = "Metrics and the arithmetic below them"
N_ROWS = 1_000_000
Case = tuple[str, Callable[[], Any], Callable[[], Any] | None]


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    sheet.notes.append(
        f"Generated labels, seed 0: {N_ROWS:,} rows, 25 classes, 30 clusters, 100,000 bags, matrices of 10 labels. "
        "Times are medians of five calls after one that does not count (it loads SciPy and the compiled kernels)."
    )
    sheet.say_if_busy()
    for what, ours, yardstick in [*agreement(), *label_sets(), *the_rest()]:
        took = seconds(ours)
        beside = "" if yardstick is None else f"; scikit-learn {seconds(yardstick, repeats=3):.3f} s"
        sheet.row(what, f"{took:.3f} s{beside}", "< 1 s", took < 1)
    for what, weights in arborescences():
        took = seconds(lambda weights=weights: maximum_arborescence(weights))
        sheet.row(f"maximum arborescence, 500 nodes, {what}", f"{1000 * took:.1f} ms", "< 50 ms", took < 0.05)
    for what, function in forests():
        sheet.time(what, function)
    sheet.growth("NMI", [100_000, 400_000, 1_600_000], lambda n: seconds(nmi_of(n)))


def agreement() -> Iterator[Case]:
    """Clusters against classes."""
    generator = np.random.default_rng(0)
    classes, clusters = generator.integers(0, 25, N_ROWS), generator.integers(0, 30, N_ROWS)
    names = np.array([f"class {i}" for i in range(25)])[classes]
    many = generator.integers(0, 100_000, N_ROWS)
    nmi = metrics.normalized_mutual_information
    yield "NMI", lambda: nmi(classes, clusters), lambda: sk.normalized_mutual_info_score(classes, clusters)
    yield "NMI, classes as strings", lambda: nmi(names, clusters), None
    yield "NMI, 100,000 clusters", lambda: nmi(classes, many), None
    yield "purity", lambda: metrics.purity(classes, clusters), None
    yield "pair precision, recall and F", lambda: metrics.pair_precision_recall_f(classes, clusters), None
    yield (
        "adjusted Rand index",
        lambda: metrics.adjusted_rand_index(classes, clusters),
        lambda: sk.adjusted_rand_score(classes, clusters),
    )
    yield "clustering accuracy", lambda: metrics.clustering_accuracy(classes, clusters), None
    yield "clustering accuracy, 100,000 clusters", lambda: metrics.clustering_accuracy(classes, many), None
    yield "F_INL", lambda: metrics.novel_instance_f1(classes, clusters, range(10)), None
    n_labels = np.full(len(np.unique(many)), 2)
    yield "single-cluster share", lambda: metrics.single_cluster_share(clusters, many, n_labels), None
    yield "four error accounts", lambda: metrics.error_accounts(classes, clusters, many, many), None


def label_sets() -> Iterator[Case]:
    """Sets of labels; scikit-learn ranks row by row, minutes at this size, so ranks have no yardstick."""
    generator = np.random.default_rng(0)
    Y, scores = generator.random((N_ROWS, 10)) < 0.2, generator.random((N_ROWS, 10))
    G = scores > 0.8
    yield "micro F1", lambda: metrics.micro_f1(Y, G), None
    yield "macro F1", lambda: metrics.macro_f1(Y, G), None
    yield "Hamming loss", lambda: metrics.hamming_loss(Y, G), lambda: sk.hamming_loss(Y, G)
    yield "ranking loss", lambda: metrics.ranking_loss(Y, scores), None
    yield "average precision", lambda: metrics.average_precision(Y, scores), None
    yield "F_BNL", lambda: metrics.novel_bag_f1(Y, G, 4), None


def the_rest() -> Iterator[Case]:
    """Tables and trees."""
    generator = np.random.default_rng(0)
    table = sparse.random(4000, 4000, density=1 / 16, random_state=0, format="csr")
    groups = [generator.integers(0, 20, 4000) for _ in range(2)]
    yield "information loss, a million cells", lambda: metrics.information_loss(table, groups), None
    trees = [np.array([generator.integers(-1, v) if v else -1 for v in range(10_000)]) for _ in range(2)]
    yield "Robinson-Foulds, 10,000 labels", lambda: metrics.robinson_foulds(*trees), None


def arborescences() -> Iterator[tuple[str, np.ndarray]]:
    """Random weights, and weights whose cycles nest as deeply as they can."""
    generator = np.random.default_rng(0)
    yield "random weights", generator.normal(size=(500, 500))
    steps = np.abs(np.arange(500)[:, None] - np.arange(500)[None]) * -1.0
    steps[0] -= 1000.0
    yield "neighbours best, the root far away", steps


def forests() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Union-find and messages."""
    generator = np.random.default_rng(0)
    left, right = generator.integers(0, N_ROWS, size=(2, N_ROWS))
    yield "components, a million nodes and edges", lambda: components(left, right, N_ROWS)


def nmi_of(n: int) -> Callable[[], float]:
    """Prepare NMI of n rows."""
    classes, clusters = np.random.default_rng(0).integers(0, 25, size=(2, n))
    return lambda: metrics.normalized_mutual_information(classes, clusters)
