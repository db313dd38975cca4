"""Table 3 of [Z09] on Corel, the same protocol on birdsong, the choice without labels, and bags in several clusters."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

import sidelight as sl
from bag_sets import birdsong, corel, sival, standardised_unit
from runner import Ledger, Sheet
from sidelight.errors import SidelightWarning
from sidelight.metrics import clustering_accuracy, micro_f1

TITLE = "Bags: table 3 of [Z09], and what it leaves open"
CS = tuple(2.0**p for p in range(-4, 5))
BALANCES = (0.0, 0.001, 0.01, 0.1, 1.0, 2.0, 3.0, 4.0, 5.0, 10.0)
SEEDS = (0, 1)
PAPER = {"M3IC-MBM": 54.0, "BAMIC minimal": 40.3, "BAMIC maximal": 47.3, "BAMIC average": 36.7}
PAPER_SECONDS = {"M3IC-MBM": 1.2, "BAMIC minimal": 267.8, "BAMIC maximal": 257.1, "BAMIC average": 261.6}
STARTS = {"normal": "M3IC-MBM, random weights as in the paper", "spread": "M3IC-MBM, spread rows (ours)"}
LEFT_OUT = range(6)  # SIVAL-6 without one class: the six choices of five classes
FIVE_CS = (1.0, 4.0, 16.0, 64.0)
SETS: dict[str, Callable[[], Any]] = {"Corel": corel, "birdsong": birdsong}


def fill(sheet: Sheet) -> None:
    """Measure and add the tables."""
    warnings.simplefilter("ignore", SidelightWarning)
    sheet.notes.append(
        "Protocol: standardised columns and unit-length rows (the paper does not say); M3IC with the paper's grid "
        "(9 x 10), five independent starts a grid point, of which the one with the lowest J wins, whether or not it "
        "leaves clusters empty, as the paper says; **the grid point is chosen by the truth, as the paper did**. BAMIC: "
        "best of ten runs by the truth, as the paper reports it. Two seeds for M3IC: mean, lowest and highest. "
        "scale=standard is the same without unit-length rows."
    )
    ledger = Ledger("bags_fidelity")
    for name in SETS:
        table_three(sheet, ledger, name)
    five_classes(sheet, ledger)
    choices(sheet, ledger)
    overlapping(sheet)
    sheet.say_if_busy()


def table_three(sheet: Sheet, ledger: Ledger, name: str) -> None:
    """Add the four rows of table 3 for one set."""
    runs = {}
    for init, label in STARTS.items():
        for scale in ("unit", "standard"):
            keys = [f"{name}/{init}/{scale}/{seed}" for seed in SEEDS]
            cells = [(key, lambda i=init, c=scale, s=s: grid(name, i, c, s)) for key, s in zip(keys, SEEDS)]
            found = ledger.run(cells, stage=f"{name}, {init}, {scale}")
            runs[f"{label}, scale={scale}"] = [found[key] for key in keys]
    corel_only = name == "Corel"
    rows = []
    for label, found in runs.items():
        best = [100 * max(cell["accuracy"] for cell in cells) for cells in found]
        middle = np.mean([100 * np.median([cell["accuracy"] for cell in cells]) for cells in found])
        spent = np.mean([cell["seconds"] for cells in found for cell in cells])
        rows.append((
            label, f"{np.mean(best):.1f} ({min(best):.1f} to {max(best):.1f})", f"{middle:.1f}",
            f"{spent:.3f} s a start", "54.0" if corel_only else "", "1.2 s" if corel_only else "",
        ))  # fmt: skip
    for kind in ("minimal", "maximal", "average"):
        for method in ("alternate", "faster_pam"):
            key = f"{name}/bamic/{kind}/{method}"
            cell = ledger.run([(key, lambda k=kind, m=method: bamic(name, k, m))], stage=key)[key]
            paper = f"BAMIC {kind}"
            accuracies = 100 * np.array(cell["accuracies"])
            rows.append((
                f"BAMIC {kind}, {method}", f"{accuracies.max():.1f}", f"{np.median(accuracies):.1f}",
                f"{cell['seconds']:.3f} s a run", f"{PAPER[paper]}" if corel_only else "",
                f"{PAPER_SECONDS[paper]} s" if corel_only else "",
            ))  # fmt: skip
    if corel_only:
        reached = 100 * float(np.mean([max(c["accuracy"] for c in cells) for cells in runs[next(iter(runs))]]))
        sheet.row(
            "Corel, M3IC-MBM with the paper's protocol, best by truth", f"{reached:.1f} %", ">= 54.0 %", reached >= 54.0
        )
    header = ("method", "best by truth, %", "median, %", "ours, time", "paper, %", "paper, time")
    sheet.section(
        f"Clustering accuracy on {name}", header, rows, "Median: over the grid (M3IC) or the ten runs (BAMIC)."
    )


def grid(name: str, init: str, scale: str, seed: int) -> list[dict[str, float]]:
    """Fit the whole grid of the paper with independent starts."""
    X, bags, truth = SETS[name]()
    generator = np.random.default_rng(seed)
    cells = []
    for C in CS:
        for balance in BALANCES:
            model = sl.MaxMarginBagClustering(
                len(np.unique(truth)), C=C, margin="paper", balance=balance, scale=scale, init=init, n_init=5,
                random_state=int(generator.integers(2**31)),
            )  # fmt: skip
            begin = time.perf_counter()
            model.fit(X, bags=bags)
            took = (time.perf_counter() - begin) / 5
            accuracy = clustering_accuracy(truth, model.bag_labels_)
            cells.append({"C": C, "balance": balance, "accuracy": accuracy, "seconds": took})
    return cells


def bamic(name: str, kind: str, method: str) -> dict[str, Any]:
    """Run k-medoids ten times, distances included in the time of each run."""
    X, bags, truth = SETS[name]()
    X = standardised_unit(X)
    accuracies, times = [], []
    for seed in range(10):
        begin = time.perf_counter()
        model = sl.estimators.BagKMedoids(
            len(np.unique(truth)), distance=kind, method=method, n_init=1, random_state=seed
        )
        model.fit(X, bags=bags)
        times.append(time.perf_counter() - begin)
        accuracies.append(clustering_accuracy(truth, model.bag_labels_))
    return {"accuracies": accuracies, "seconds": float(np.mean(times))}


def five_classes(sheet: Sheet, ledger: Ledger) -> None:
    """Add the five-class groups of SIVAL: the paper's balance and the mended margin, by truth and as a user must."""
    cells = [(f"sival/{left}", lambda left=left: five(left)) for left in LEFT_OUT]
    found = ledger.run(cells, stage="five classes of SIVAL")
    columns = {
        "paper": "the paper's balance, best by truth", "paper standard": "the same, standardised rows",
        "rest": "mended, best by truth", "default": "mended, defaults", "chosen": "mended, C by the data",
        "words": "words, defaults", "minimal": "BAMIC minimal",
        "maximal": "BAMIC maximal", "average": "BAMIC average",
    }  # fmt: skip
    rows = [
        (f"without class {left}", *(f"{100 * found[f'sival/{left}'][c]:.1f}" for c in columns)) for left in LEFT_OUT
    ]
    rows.append(("mean", *(f"{100 * np.mean([found[key][c] for key, _ in cells]):.1f}" for c in columns)))
    sheet.section(
        "Five of six classes of SIVAL, accuracy in %", ("bags", *columns.values()), rows,
        "[Z09] table 3 has other groups of five among 25 classes: M3IC 39 to 47 %, BAMIC 26 to 39 %, all chosen by "
        "truth. Here: standardised rows for BAMIC with its defaults; of the paper's margin its whole grid, five "
        "random starts a point, once with rows of length 1 and once with standardised rows; one start for C in "
        f"{', '.join(f'{C:g}' for C in FIVE_CS)} of the mended margin; seed 0.",
    )  # fmt: skip


def five(left_out: int) -> dict[str, float]:
    """Fit every method to the bags of five classes."""
    X, bags, truth = sival(tuple(c for c in range(6) if c != left_out))

    def accuracy(model: Any, rows: np.ndarray = X) -> float:
        return float(clustering_accuracy(truth, model.fit(rows, bags=bags).bag_labels_))

    def margin(**settings: Any) -> float:
        return accuracy(sl.MaxMarginBagClustering(5, random_state=0, **settings))

    def paper(scale: str) -> float:
        settings = {"margin": "paper", "scale": scale, "init": "normal", "n_init": 5}
        return max(margin(C=C, balance=balance, **settings) for C in CS for balance in BALANCES)

    kinds = ("minimal", "maximal", "average")
    return {
        "paper": paper("unit"),
        "paper standard": paper("standard"),
        "rest": max(margin(n_init=1, C=C) for C in FIVE_CS),
        "default": margin(),
        "chosen": accuracy(sl.estimators.MaxMarginBagClusteringCV(5, Cs=FIVE_CS, n_init=2, random_state=0)),
        "words": accuracy(sl.BagWordClustering(5, random_state=0)),
        **{
            kind: accuracy(sl.estimators.BagKMedoids(5, distance=kind, random_state=0), standardised(X))
            for kind in kinds
        },
    }


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and variance 1."""
    return np.asarray((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12))  # constant columns stay 0


def choices(sheet: Sheet, ledger: Ledger) -> None:
    """Compare the choice without labels with the best, the median and the worst of the same grid."""
    rows = []
    for name in SETS:
        for scale in ("unit", "standard"):
            for seed in SEEDS[:1]:
                key = f"{name}/search/{scale}/{seed}"
                cell = ledger.run([(key, lambda n=name, c=scale, s=seed: choose(n, c, s))], stage=key)[key]
                rows.append(
                    (name, scale, seed, *(f"{100 * cell[x]:.1f}" for x in ("chosen", "oracle", "median", "worst")))
                )
    sheet.section(
        "C and balance without labels",
        ("set", "scale", "seed", "chosen, %", "oracle, %", "median, %", "worst, %"), rows,
        "`MaxMarginBagClusteringCV` with the paper's margin on a grid of 4 x 4. Chosen: by stability * evenness * "
        "margin. Oracle: the grid point that the truth would pick. Median and worst: of the same 16 points, what a "
        "guess gets.",
    )  # fmt: skip


def choose(name: str, scale: str, seed: int) -> dict[str, float]:
    """Search without labels, then look at the truth for every grid point."""
    X, bags, truth = SETS[name]()
    k = len(np.unique(truth))
    search = sl.estimators.MaxMarginBagClusteringCV(
        k, Cs=(0.25, 1.0, 4.0, 16.0), margin="paper", scale=scale, n_init=5, random_state=seed
    ).fit(X, bags=bags)
    generator = np.random.default_rng(seed)
    tried = []
    for C, balance in zip(search.cv_results_["C"], search.cv_results_["balance"]):
        model = sl.MaxMarginBagClustering(
            k,
            C=float(C),
            margin="paper",
            balance=float(balance),
            scale=scale,
            n_init=5,
            random_state=int(generator.integers(2**31)),
        )
        tried.append(clustering_accuracy(truth, model.fit(X, bags=bags).bag_labels_))
    chosen = clustering_accuracy(truth, search.bag_labels_)
    return {"chosen": chosen, "oracle": max(*tried, chosen), "median": float(np.median(tried)), "worst": min(tried)}


def overlapping(sheet: Sheet) -> None:
    """Compare memberships with the one-cluster output on generated overlapping bags."""
    rows = []
    for overlap in (0.0, 0.2, 0.4, 0.8):
        scores = []
        for seed in range(5):
            X, bags, Y = sl.data.make_overlapping_bags(n_bags=120, overlap=overlap, noise=0.3, random_state=seed)
            model = sl.MaxMarginBagClustering(4, random_state=seed).fit(X, bags=bags)
            one = np.eye(4, dtype=bool)[model.bag_labels_]
            order = linear_sum_assignment(-(Y.T.astype(float) @ one))[1]
            several = model.memberships(X, bags=bags)
            scores.append((micro_f1(Y, several[:, order]), micro_f1(Y, one[:, order]), several.sum(axis=1).mean()))
        several_f1, one_f1, clusters = np.mean(scores, axis=0)
        rows.append((overlap, f"{several_f1:.3f}", f"{one_f1:.3f}", f"{clusters:.2f}", f"{1 + overlap:.2f}"))
        if overlap == 0.4:
            sheet.row(
                "overlapping bags, F1 of memberships",
                f"{several_f1:.3f}",
                f"> {one_f1:.3f} (one cluster)",
                several_f1 > one_f1,
            )
    header = ("share in two groups", "F1, memberships", "F1, one cluster", "clusters a bag, found", "true")
    sheet.section(
        "Bags that belong to several groups", header, rows, "`make_overlapping_bags`, 120 bags, mean of five seeds."
    )
