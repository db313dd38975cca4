"""The experiments of [PF14] section 5.4: all five methods in both scenarios, and the curve over alpha.

Every cell is kept in a ledger: stop it when you like and start it again. Runs at a fixed set of labels differ only in
the starts of k-means, so their eigenvectors are computed once.
"""

from __future__ import annotations

import time
import warnings
from functools import cache
from typing import Any

import numpy as np

import sidelight as sl
from datasets import NAMES, load, title
from protocol import (
    FRACTIONS,
    RUNS,
    cluster_counts,
    gather,
    label_some,
    mean_and_spread,
    scores,
    without_single_label_bags,
)
from runner import Ledger, Sheet
from sidelight._affinity.similarities import dense_local_scaling
from sidelight.estimators.instances.rounding import round_embedding

TITLE = "Instances: the experiments of [PF14]"
SETS = (*NAMES, "hja-multi")
METHODS = ("SP", "CSP", "CSP w.o.clml", "SpLearn", "SpReg")
ALPHAS = tuple(np.linspace(0, 1, 41).round(3).tolist())
REFERENCE = {"hja": (0.61, 0.73), "msrcv2": (0.54, 0.58), "carroll": (0.50, 0.50)}
STARTS, FEWER_STARTS = 10, 4  # of k-means, in scenario 1 and in the 2,240 roundings of scenario 2
COLOURS = {"SP": "#999999", "CSP": "#4477aa", "CSP w.o.clml": "#66ccee", "SpLearn": "#ee6677", "SpReg": "#ccbb44"}


def fill(sheet: Sheet) -> None:
    """Compute what is missing and write the page."""
    write_page(sheet, Ledger("instances_paper").run(cells(), stage="[PF14] section 5.4"))


def write_page(sheet: Sheet, found: dict[str, Any]) -> None:
    """Turn finished cells into tables and figures; cells that are still missing are left out, and counted."""
    missing = len([key for key, _ in cells() if key not in found])
    if missing:
        sheet.notes.append(
            f"**Not finished: {missing} of {len(cells())} runs are missing; the command takes up there.**"
        )
    spent = sum(cell["seconds"] for cell in found.values()) / 60
    sheet.notes.append(
        f"Standardised features, local scaling with t = 7, alpha = 0.7, beta = 20; {RUNS} runs, seeds 0 to {RUNS - 1}; "
        f"{STARTS} k-means starts in scenario 1, {FEWER_STARTS} in scenario 2. "
        f"All cells together took {spent:.0f} minutes of one core."
    )
    sheet.row("all cells, processor time", f"{spent:.1f} min", "<= 25 min on one core", spent <= 25)
    for name in NAMES:
        keys = [f"1|{name}|CSP|1.0|{run}" for run in range(RUNS)]
        for measure, least in zip(("nmi", "purity"), REFERENCE[name]):
            mean = float(np.mean(gather(found, keys, measure)))
            sheet.row(
                f"{title(name)}, K = C, all bags labelled, {measure}", f"{mean:.3f}", f">= {least}", mean >= least
            )
        share = float(np.mean(gather(found, keys, "one_cluster")))
        sheet.row(f"{title(name)}, multi-label bags in one cluster", f"{share:.1%}")
    first_scenario(sheet, found)
    second_scenario(sheet, found)
    rows = []
    for name in NAMES:
        both = [f"1|{name}|SpLearn|1.0|{run}" for run in range(5)], [f"additive|{name}|{run}" for run in range(5)]
        figures = [mean_and_spread(gather(found, keys, m)) for keys in both for m in ("nmi", "purity")]
        rows.append((title(name), *figures))
    header = ("set", "NMI, symmetric", "purity, symmetric", "NMI, additive", "purity, additive")
    sheet.section("SpLearn by its normalisation: K = C, all bags labelled, five runs", header, rows)
    alpha_curve(sheet, found)
    chosen_alpha(sheet, found)


def cells() -> list[tuple[str, Any]]:
    """List every cell: its key and how to compute it. The quick ones come first."""
    listed: list[tuple[str, Any]] = []

    def add(key: str, compute: Any, *given: Any) -> None:
        listed.append((key, lambda: timed(compute, *given)))

    for name in ("carroll", "msrcv2", "hja"):
        for method in METHODS:
            for run in range(RUNS):
                add(f"1|{name}|{method}|1.0|{run}", rounded, name, method, None, run)
        for alpha in ALPHAS:
            add(f"alpha|{name}|{alpha}", at_alpha, name, alpha)
        for fraction in FRACTIONS:
            for run in range(3):
                add(f"auto|{name}|{fraction}|{run}", at_auto, name, fraction, run)
        for run in range(5):
            add(f"additive|{name}|{run}", additive, name, run)
    for name in ("carroll", "msrcv2", "hja", "hja-multi"):
        for k in cluster_counts(rows_of(name)[1].n_classes):
            for method in METHODS[:4]:
                for run in range(RUNS):
                    add(f"2|{name}|{method}|{k}|{run}", rounded, name, method, k, run)
    for name in ("carroll", "msrcv2", "hja"):
        for run in range(RUNS):
            for fraction in FRACTIONS[:-1]:
                for method in METHODS[1:]:
                    add(f"1|{name}|{method}|{fraction}|{run}", sampled, name, method, fraction, run)
    return listed


def timed(compute: Any, *given: Any) -> dict[str, float]:
    """Add the processor time that a cell took."""
    begin = time.process_time()
    return {**compute(*given), "seconds": time.process_time() - begin}


@cache
def rows_of(name: str) -> tuple[np.ndarray, sl.Bags, np.ndarray]:
    """Return a set; "hja-multi" is HJA without its single-label bags."""
    return without_single_label_bags(*load("hja")) if name == "hja-multi" else load(name)


@cache
def similarities(name: str) -> np.ndarray:
    """Return the dense similarities of a set, computed once."""
    return dense_local_scaling(rows_of(name)[0])[0]


def method_of(method: str, k: int, seed: int) -> Any:
    """Return an unfitted estimator of the paper's name."""
    common = {"affinity": "precomputed", "random_state": seed}
    return {
        "SP": lambda: sl.BagSpectralClustering(k, alpha=0, **common),
        "CSP": lambda: sl.BagSpectralClustering(k, **common),
        "CSP w.o.clml": lambda: sl.BagSpectralClustering(k, constraints="ambiguous", **common),
        "SpLearn": lambda: sl.peers.SpectralLearning(k, **common),
        "SpReg": lambda: sl.peers.RegularizedSpectralClustering(k, **common),
    }[method]()


@cache
def embedded(name: str, method: str, k: int) -> np.ndarray:
    """Fit once with all labels and return the embedding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.SidelightWarning)  # parts that cannot-links cut off are part of SpLearn
        return method_of(method, k, 0).fit(similarities(name), bags=rows_of(name)[1]).embedding_


def rounded(name: str, method: str, k: int | None, run: int) -> dict[str, float]:
    """Round the common embedding with this run's starts."""
    _, bags, y = rows_of(name)
    starts = STARTS if k is None else FEWER_STARTS
    k = k or bags.n_classes
    U = embedded(name, method, k)
    labels = round_embedding(U, "kmeans", k, generator=np.random.default_rng(run), n_init=starts)
    return scores(y, labels, bags)


def sampled(name: str, method: str, fraction: float, run: int) -> dict[str, float]:
    """Fit with the labels of some of the bags."""
    _, bags, y = rows_of(name)
    model = method_of(method, bags.n_classes, run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.SidelightWarning)
        model.fit(similarities(name), bags=label_some(bags, fraction, run))
    return scores(y, model.labels_, bags)


def at_alpha(name: str, alpha: float) -> dict[str, float]:
    """Fit at one alpha with all labels, rounded with three seeds."""
    _, bags, y = rows_of(name)
    model = sl.BagSpectralClustering(bags.n_classes, alpha=alpha, affinity="precomputed", random_state=0)
    U = model.fit(similarities(name), bags=bags).embedding_
    runs = [
        scores(y, round_embedding(U, "kmeans", bags.n_classes, generator=np.random.default_rng(s), n_init=10), bags)
        for s in range(3)
    ]
    return {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}


@cache
def additive_embedding(name: str) -> np.ndarray:
    """SpLearn with the normalisation of its own paper, all bags labelled."""
    model = sl.peers.SpectralLearning(
        rows_of(name)[1].n_classes, normalization="additive", affinity="precomputed", random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.SidelightWarning)
        return model.fit(similarities(name), bags=rows_of(name)[1]).embedding_


def additive(name: str, run: int) -> dict[str, float]:
    """Round that embedding with this run's starts."""
    _, bags, y = rows_of(name)
    U = additive_embedding(name)
    labels = round_embedding(U, "kmeans", bags.n_classes, generator=np.random.default_rng(run), n_init=STARTS)
    return scores(y, labels, bags)


def at_auto(name: str, fraction: float, run: int) -> dict[str, float]:
    """Choose alpha from the data, without the truth."""
    _, bags, y = rows_of(name)
    model = sl.BagSpectralClustering(bags.n_classes, alpha="auto", affinity="precomputed", random_state=run)
    model.fit(similarities(name), bags=label_some(bags, fraction, run))
    return {**scores(y, model.labels_, bags), "alpha": model.alpha_}


def first_scenario(sheet: Sheet, found: dict[str, Any]) -> None:
    """K = C over the share of labelled bags: figures 2 and 3."""
    for measure in ("nmi", "purity"):
        curves = {}
        for name in NAMES:
            for method in METHODS:
                keys = [
                    [f"1|{name}|{method}|{1.0 if method == 'SP' else f}|{run}" for run in range(RUNS)]
                    for f in FRACTIONS
                ]
                curves[name, method] = [gather(found, some, measure) for some in keys]
        rows = [
            (title(name), method, *(mean_and_spread(values) for values in curves[name, method]))
            for name in NAMES
            for method in METHODS
        ]
        header = ("set", "method", *(f"{f:.0%}" for f in FRACTIONS))
        sheet.section(f"Scenario 1, {measure}: K = C, share of labelled bags", header, rows)
        sheet.figure(
            panels(curves, NAMES, METHODS, [f * 100 for f in FRACTIONS], "labelled bags (%)", measure),
            f"Scenario 1, {measure} (figures 2 and 3 of the paper): mean and standard deviation of {RUNS} runs.",
        )


def second_scenario(sheet: Sheet, found: dict[str, Any]) -> None:
    """K from C to 2C with all bags labelled: figure 4, and HJA without its single-label bags."""
    for measure in ("purity", "nmi"):
        rows, curves, ticks = [], {}, {}
        for name in SETS:
            counts = cluster_counts(rows_of(name)[1].n_classes)
            ticks[name] = counts
            for method in METHODS[:4]:
                values = [
                    gather(found, [f"2|{name}|{method}|{k}|{run}" for run in range(RUNS)], measure) for k in counts
                ]
                curves[name, method] = values
                rows.append((named(name), method, *(f"{np.mean(v):.3f}" if v else "" for v in values)))
        header = ("set", "method", "K = C", *(f"step {s}" for s in range(2, 7)), "K = 2C")
        sheet.section(f"Scenario 2, {measure}: K from C to 2C, all bags labelled", header, rows)
        sheet.figure(
            panels(curves, SETS, METHODS[:4], ticks, "clusters K", measure),
            f"Scenario 2, {measure} (figure 4 of the paper): mean and standard deviation of {RUNS} roundings.",
        )


def alpha_curve(sheet: Sheet, found: dict[str, Any]) -> None:
    """Purity over alpha, figure 1, with the share of bags that ended in one cluster."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(9, 3.2), layout="constrained")
    for ax, name in zip(drawn.subplots(1, 3), NAMES):
        cells_ = [found[f"alpha|{name}|{alpha}"] for alpha in ALPHAS]
        ax.plot(ALPHAS, [c["purity"] for c in cells_], color=COLOURS["CSP"], label="purity")
        ax.axhline(cells_[0]["purity"], color=COLOURS["SP"], lw=1, label="purity, unconstrained")
        ax.plot(ALPHAS, [c["one_cluster"] for c in cells_], color="#ee6677", ls="--", label="bags in one cluster")
        ax.set(title=title(name), xlabel="alpha")
        ax.grid(alpha=0.3)
    drawn.axes[0].legend(fontsize=8, frameon=False)
    sheet.figure(drawn, "Purity over alpha (figure 1 of the paper), and the share of multi-label bags in one cluster.")


def chosen_alpha(sheet: Sheet, found: dict[str, Any]) -> None:
    """Compare alpha chosen from bag labels with the paper's 0.7."""
    rows = []
    for name in NAMES:
        for fraction in FRACTIONS:
            auto = [found[key] for run in range(3) if (key := f"auto|{name}|{fraction}|{run}") in found]
            fixed = [found[key] for run in range(3) if (key := f"1|{name}|CSP|{fraction}|{run}") in found]
            chosen = ", ".join(f"{c['alpha']:g}" for c in auto)
            both = [f"{np.mean([c[m] for c in side]):.3f}" for m in ("nmi", "purity") for side in (auto, fixed)]
            rows.append((title(name), f"{fraction:.0%}", chosen, *both))
    header = ("set", "labelled", "alpha chosen", "NMI, auto", "NMI, 0.7", "purity, auto", "purity, 0.7")
    text = '`alpha="auto"` keeps the weight whose clusters carry the bags\' label sets best; three runs each.'
    sheet.section("Alpha from the data", header, rows, text)


def panels(curves: Any, names: Any, methods: Any, ticks: Any, axis: str, measure: str) -> Any:
    """Draw one panel per set, one line per method."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(3.1 * len(names), 3.3), layout="constrained")
    for ax, name in zip(drawn.subplots(1, len(names)), names):
        at = ticks[name] if isinstance(ticks, dict) else ticks
        lines(ax, {method: curves[name, method] for method in methods}, at)
        ax.set(title=named(name), xlabel=axis)
    drawn.axes[0].set_ylabel(measure)
    drawn.axes[-1].legend(fontsize=7, frameon=False)
    return drawn


def panels_of_one(name: str, curves: dict[str, Any], at: Any, axis: str, measure: str) -> Any:
    """Draw the panel of a single set."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(4.4, 3.3), layout="constrained")
    ax = drawn.subplots()
    lines(ax, curves, at)
    ax.set(title=name, xlabel=axis, ylabel=measure)
    ax.legend(fontsize=7, frameon=False)
    return drawn


def lines(ax: Any, curves: dict[str, Any], at: Any) -> None:
    """Draw one line with deviations per method, where there are values."""
    for method, values in curves.items():
        there = [(x, v) for x, v in zip(at, values) if v]
        if there:
            x, mean, spread = zip(*((x, np.mean(v), np.std(v)) for x, v in there))
            ax.errorbar(x, mean, yerr=spread, color=COLOURS[method], capsize=2, label=method)
    ax.grid(alpha=0.3)


def named(name: str) -> str:
    """Return the title of a set."""
    return "HJA, multi-label bags" if name == "hja-multi" else title(name)
