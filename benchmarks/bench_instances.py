"""Speed, memory and growth of clustering the rows of labelled bags."""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans, SpectralClustering

import sidelight as sl
from datasets import load, made, title
from protocol import scores
from runner import Sheet, peak_megabytes, seconds
from sidelight._affinity.links import degrees
from sidelight._affinity.neighbours import nearest_rows
from sidelight._affinity.similarities import dense_local_scaling, graph_alpha_scale, graph_local_scaling
from sidelight._affinity.spectral import NormalisedSum
from sidelight.estimators.instances.bag_constraint import BagConstraint

TITLE = "Instances: speed, memory and growth"
TOL = 1e-4
LARGE = 200_000
CLEAR = 0.9  # spread of class centres at which the cells of the neighbour search are few
ASTRAY = 0.2  # share of rows that look like another class
MOST_DENSE = 20_000  # rows whose similarities are 1.6 GB


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    sheet.notes.append(
        "HJA: 4998 standardised rows, K = 13. Made data: 20 Gaussian classes in 48 dimensions, bags of 10 "
        "rows with one to three labels, seed 0, 20 neighbours. Load of the machine when the run began: "
        f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; above that number seconds are too long."
    )
    dense(sheet)
    products_and_graph(sheet)
    growth(sheet)
    million(sheet)
    new_rows(sheet)
    another_clusterer(sheet)


def dense(sheet: Sheet) -> None:
    """HJA with dense similarities against scikit-learn's spectral clustering."""
    X, bags, _ = load("hja")
    ours = sl.BagSpectralClustering(13, random_state=0)
    theirs = SpectralClustering(13, affinity="rbf", random_state=0)

    def yardstick() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # gamma = 1 leaves the similarities of standardised rows almost empty
            theirs.fit(X)

    sheet.time(
        "HJA, dense, against SpectralClustering(affinity='rbf')", lambda: ours.fit(X, bags=bags),
        yardstick=yardstick, ratio_at_most=0.3, repeats=3,
    )  # fmt: skip


def products_and_graph(sheet: Sheet) -> None:
    """Time 200,000 rows in 20,000 bags, whole and by parts."""
    X, bags, _ = made(LARGE, apart=CLEAR)
    begin = time.perf_counter()
    found = nearest_rows(X, 20, generator=np.random.default_rng(0))
    W, _ = graph_local_scaling(found)
    graph = time.perf_counter() - begin
    v = np.random.default_rng(0).standard_normal(LARGE).astype(W.dtype)
    Q = BagConstraint.from_bags(bags, dtype=W.dtype)
    of_W, of_Q = seconds(lambda: W @ v, repeats=15), seconds(lambda: Q.product(v), repeats=15)
    share = of_Q / of_W
    sheet.row(
        "a product with Q, as a share of one with W", f"{share:.1%} ({1e3 * of_Q:.2f} ms)", "<= 15%", share <= 0.15
    )
    begin = time.perf_counter()
    start = np.random.default_rng(0).standard_normal(LARGE).astype(W.dtype)
    _, V = eigsh(NormalisedSum.of(W).as_linear_operator(), 20, which="LA", v0=start, tol=TOL)
    eigen = time.perf_counter() - begin
    begin = time.perf_counter()
    KMeans(20, n_init=10, random_state=0).fit(V / np.linalg.norm(V, axis=1, keepdims=True))
    kmeans = time.perf_counter() - begin
    theirs = graph + eigen + kmeans
    begin = time.perf_counter()
    sl.BagSpectralClustering(20, affinity="neighbours", eigen_tol=TOL, random_state=0).fit(X, bags=bags)
    ours = time.perf_counter() - begin
    parts = f"graph {graph:.1f} s + eigsh {eigen:.1f} s + k-means {kmeans:.1f} s"
    what = "200,000 x 48 rows in 20,000 bags, against graph + eigsh + k-means (one run each)"
    sheet.row(what, f"{ours:.1f} s, {ours / theirs:.2f} x ({parts})", "<= 1.3 x", ours <= 1.3 * theirs)
    sheet.row("recall of the neighbour search on 500 of these rows", f"{found.recall:.3f}")


def growth(sheet: Sheet) -> None:
    """Follow the share of bags in one cluster as rows grow, where more rows do not help and where they do."""
    header = ("rows", "graph", "recall", "alpha used", "purity", "in one cluster", "purity, alpha = 0",
              "purity, alpha left", "in one cluster, left", "purity, dense", "in one cluster, dense")  # fmt: skip
    found = [grown(n, apart=CLEAR, astray=ASTRAY) for n in (5_000, 20_000, 80_000, LARGE)]
    text = (
        f"Clear classes, but {ASTRAY:.0%} of the rows look like another one: more rows do not make this easier. "
        "In truth no multi-label bag lies in one cluster. Dense similarities up to 20,000 rows."
    )
    sheet.section("Alpha = 0.7 on rows astray, rescaled and left alone", header, [row for row, _ in found], text)
    shares = [share for _, share in found]
    what = "multi-label bags in one cluster, rows astray, 5,000 to 200,000 rows"
    told = f"{min(shares):.1%} to {max(shares):.1%}"
    sheet.row(what, told, "within 1 point", max(shares) - min(shares) <= 0.01)
    found = [grown(n) for n in (5_000, 20_000, 80_000)]
    text = (
        "Overlapping classes: with more rows neighbours are nearer and labelled bags more. Dense similarities, "
        "whose alpha is never rescaled, show how much of the change is the data's."
    )
    sheet.section("Alpha = 0.7 on overlapping classes", header, [row for row, _ in found], text)
    shares = [share for _, share in found]
    what = "multi-label bags in one cluster, overlapping classes, 5,000 to 80,000 rows"
    told = f"{shares[0]:.1%} to {shares[-1]:.1%}"
    sheet.row(what, told, "does not grow", max(shares[1:]) <= shares[0])
    dense_against_graph(sheet)


def grown(n: int, **design: float) -> tuple[tuple[str, ...], float]:
    """Cluster ``n`` made rows on a graph and, while they fit, by all similarities; the table's row and the share."""
    X, bags, y = made(n, **design)
    begin = time.perf_counter()
    neighbours = nearest_rows(X, 20, generator=np.random.default_rng(0))
    W, _ = graph_local_scaling(neighbours)
    took = time.perf_counter() - begin
    alpha = 0.7 * graph_alpha_scale(X, degrees(W), 20, t=7, generator=np.random.default_rng(0))

    def judged(similarities: object, weight: float) -> dict[str, float]:
        model = sl.BagSpectralClustering(20, alpha=weight, affinity="precomputed", random_state=0)
        return scores(y, model.fit(similarities, bags=bags).labels_, bags)

    scaled, left = judged(W, alpha), judged(W, 0.7)
    told = [scaled["purity"], scaled["one_cluster"], judged(W, 0.0)["purity"], left["purity"], left["one_cluster"]]
    if n <= MOST_DENSE:
        dense = judged(dense_local_scaling(X)[0], 0.7)
        told += [dense["purity"], dense["one_cluster"]]
    figures = [f"{value:.3f}" for value in told] + [""] * (7 - len(told))
    row = (f"{n:,}", f"{took:.1f} s", f"{neighbours.recall:.2f}", f"{alpha:.5f}", *figures)
    print("  ", row, flush=True)
    return row, scaled["one_cluster"]


def dense_against_graph(sheet: Sheet) -> None:
    """Compare dense similarities with a graph, its alpha rescaled and left alone, on the paper's sets."""
    for name in ("hja", "msrcv2", "carroll"):
        X, bags, y = load(name)
        table = []
        for affinity, scaled in (("dense", True), ("neighbours", True), ("neighbours", False)):
            model = sl.BagSpectralClustering(bags.n_classes, affinity=affinity, random_state=0)
            if not scaled:
                W, _ = graph_local_scaling(nearest_rows(X, 20, generator=np.random.default_rng(0)))
                model = sl.BagSpectralClustering(bags.n_classes, affinity="precomputed", random_state=0)
                X = W
            judged = scores(y, model.fit(X, bags=bags).labels_, bags)
            how = affinity if scaled else "neighbours, alpha left at 0.7"
            table.append((how, f"{model.alpha_:.3f}", *(f"{judged[m]:.3f}" for m in ("nmi", "purity", "one_cluster"))))
        header = ("similarities", "alpha used", "NMI", "purity", "bags in one cluster")
        sheet.section(f"{title(name)}: dense against a graph", header, table)


def million(sheet: Sheet) -> None:
    """One million rows in a fresh process."""
    with TemporaryDirectory() as folder:
        clock = Path(folder) / "seconds"
        code = (
            "import time, pathlib, sidelight as sl; from datasets import made\n"
            f"X, bags, y = made(1_000_000, apart={CLEAR})\n"
            "t = time.perf_counter()\n"
            "sl.BagSpectralClustering(20, affinity='neighbours', random_state=0).fit(X, bags=bags)\n"
            f"pathlib.Path({str(clock)!r}).write_text(str(time.perf_counter() - t))"
        )
        peak = peak_megabytes(code)
        took = float(clock.read_text())
    sheet.row(
        "1,000,000 x 48 rows in 100,000 bags, memory at the peak", f"{peak / 1024:.2f} GB", "<= 8 GB", peak <= 8192
    )
    sheet.row("1,000,000 x 48 rows in 100,000 bags, time", f"{took:.0f} s")


def new_rows(sheet: Sheet) -> None:
    """How many training rows change cluster when features alone decide."""
    for name in ("hja", "msrcv2", "carroll"):
        X, bags, _ = load(name)
        model = sl.BagSpectralClustering(bags.n_classes, random_state=0).fit(X, bags=bags)
        changed = float(np.mean(model.predict(X) != model.labels_))
        sheet.row(f"{title(name)}: training rows that predict(X) without bags moves", f"{changed:.0%}")


def another_clusterer(sheet: Sheet) -> None:
    """Put the bag constraints into a linear rule; its default weight was chosen on these very sets."""
    rows = []
    for name in ("hja", "msrcv2", "carroll"):
        X, bags, y = load(name)
        for alpha in (0.0, 20.0):
            model = sl.estimators.BagDiscriminativeClustering(bags.n_classes, alpha=alpha, random_state=0).fit(
                X, bags=bags
            )
            judged = scores(y, model.labels_, bags)
            rows.append((title(name), f"{alpha:g}", *(f"{judged[m]:.3f}" for m in ("nmi", "purity", "one_cluster"))))
    text = "BagDiscriminativeClustering, seed 0. The weight 20 was chosen by looking at these sets."
    sheet.section(
        "Bag constraints in a linear rule", ("set", "alpha", "NMI", "purity", "bags in one cluster"), rows, text
    )
