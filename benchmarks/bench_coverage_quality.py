"""Coverage against the methods of [PF14], [Z17] and Pham: rows, sub-classes, novel labels, bags, and counts chosen.

Every cell is kept in a ledger: stop it when you like and start it again. Cells go round by round, one seed a round, so
that a page written early holds fewer runs of everything rather than nothing of something; it says how many.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import sidelight as sl
from bench_instances_paper import METHODS
from bench_instances_paper import cells as paper_cells
from coverage_cells import (
    UNSEEN,
    bags_cell,
    count_cell,
    kernel_cell,
    novel_cell,
    rows_cell,
    sub_cell,
    sub_spectral,
    uneven_cell,
    unseen_cell,
)
from datasets import NAMES, title
from protocol import FRACTIONS, RUNS, gather, mean_and_spread
from runner import Ledger, Sheet

TITLE = "Coverage: rows, sub-classes, novel labels and bags"
ROUNDS = int(os.environ.get("SIDELIGHT_ROUNDS", RUNS))
FEWER = min(ROUNDS, 5)  # runs of what is only there to compare settings
NOVEL_SETS, NOVEL = ("msrcv2", "carroll"), (4, 8, 16)
UNSEEN_SETTINGS = {"default": "coverage", "plain": "coverage, `information=0`", "CSP": "CSP"}
ROUGH_ROWS = {"hja": (0.81, 0.56), "msrcv2": (0.78, 0.51), "carroll": (0.88, 0.73)}
ROUGH_SUB = {"hja": 0.63, "msrcv2": 0.66, "carroll": 0.71}
ROUGH_NOVEL = {"msrcv2": (0.28, 0.23, 0.20), "carroll": (0.55, 0.31, 0.26)}
BAG_METHODS = ("default", "ORLR", "ORLR, penalty 1.5", "shares")
HOW_TO_READ = (
    'How to read them: coverage is `CoverageClustering(boundary="straight")`, everywhere on this page; curved '
    "boundaries, the default, are on the page [coverage_boundary](coverage_boundary.md). Its penalty (1.5), its "
    "information (0.3) and its starts were settled with the truth of these very sets in view, on seeds 0 to 7: a grid "
    "of penalties from 0.01 to 30 by information from 0 to 1. One setting for all tasks was wanted; each task alone "
    'would take another. `penalty="auto"` looks at held-out lists only. The kernel map was chosen on seed 0. The sets '
    "for the counts were drawn so that the lists depend on the count; on freely overlapping groups a trial found few."
)
SETTINGS = {
    "default": "default",
    "`information=0`": "likelihood",
    '`penalty="auto"`': "auto",
    "kernel map in front": "kernel",
}
UNEVEN_FRACTIONS, UNEVEN_SETTINGS = (0.1, 0.3, 1.0), ("default", "`information=0`", "weight for all rows")
ROUGH_NOVEL_BAGS = {"msrcv2": (0.35, 0.28, 0.22)}
DMNL = {"msrcv2": (0.22, 0.20, 0.20), "carroll": (0.31, 0.28, 0.26)}


def fill(sheet: Sheet) -> None:
    """Compute what is missing and write the page."""
    warnings.simplefilter("ignore", sl.SidelightWarning)  # short bags and iteration limits, counted in the guide
    found = Ledger("coverage_quality").run(cells(), stage="coverage, quality")
    beside = Ledger("instances_paper").run(scenario_1(), stage="the methods of [PF14]")
    spent = sum(cell["seconds"] for cell in found.values()) / 60
    sheet.notes.append(
        f"Standardised features; {ROUNDS} runs, seeds 0 to {ROUNDS - 1} ({FEWER} where only settings are compared), "
        f"mean and standard deviation. Cells take {spent:.0f} minutes of one core together. Figures in brackets are "
        "the paper's own."
    )
    sheet.notes.append(HOW_TO_READ)
    rows_tables(sheet, found, beside)
    sub_tables(sheet, found)
    novel_tables(sheet, found)
    bag_tables(sheet, found)
    uneven_tables(sheet, found)
    unseen_tables(sheet, found)
    count_tables(sheet, found)


def cells() -> list[tuple[str, Callable[[], Any]]]:
    """List every cell, one seed after the other; with all bags labelled, K = C leaves nothing to chance."""
    listed: list[tuple[str, Callable[[], Any]]] = []

    def add(key: str, compute: Callable[..., dict[str, float]], *given: Any) -> None:
        listed.append((key, lambda: timed(compute, *given)))

    for name in ("carroll", "msrcv2", "hja"):
        add(f"rows|{name}|default|1.0|0", rows_cell, name, 1.0, 0, {})
        add(f"rows|{name}|likelihood|1.0|0", rows_cell, name, 1.0, 0, {"information": 0})
    for run in range(ROUNDS):
        for name in ("carroll", "msrcv2", "hja"):
            for fraction in FRACTIONS[:-1]:
                add(f"rows|{name}|default|{fraction}|{run}", rows_cell, name, fraction, run, {})
            add(f"sub|{name}|default|{run}", sub_cell, name, run)
            add(f"sub|{name}|CSP|{run}", sub_spectral, name, run)
            for method in BAG_METHODS:
                add(f"bags|{name}|{method}|{run}", bags_cell, name, method, run)
        for name in NOVEL_SETS:
            for k in NOVEL:
                for method in ("default", "one class"):
                    add(f"novel|{name}|{k}|{method}|{run}", novel_cell, name, k, method, run)
        if run < FEWER:
            for name in ("carroll", "msrcv2", "hja"):
                add(f"rows|{name}|kernel|1.0|{run}", kernel_cell, name, run)
                add(f"rows|{name}|auto|1.0|{run}", rows_cell, name, 1.0, run, {"penalty": "auto"})
            for name in NOVEL_SETS:
                for k in NOVEL:
                    add(f"novel|{name}|{k}|likelihood|{run}", novel_cell, name, k, "likelihood", run)
    for run in range(FEWER):
        for fraction in UNEVEN_FRACTIONS:
            for setting in UNEVEN_SETTINGS:
                add(f"uneven|{setting}|{fraction}|{run}", uneven_cell, setting, fraction, run)
        for name in UNSEEN:
            for evenly in (True, False):
                for setting in UNSEEN_SETTINGS:
                    add(f"unseen|{name}|{evenly}|{setting}|{run}", unseen_cell, name, evenly, setting, run)
    for run in range(RUNS):
        add(f"count|subclusters|{run}", count_cell, "n_subclusters", run)
        add(f"count|novel|{run}", count_cell, "n_novel", run)
    return listed


def scenario_1() -> list[tuple[str, Callable[[], Any]]]:
    """List the cells of the methods of [PF14] that stand beside ours; that benchmark shares its ledger."""
    return [(key, compute) for key, compute in paper_cells() if key.startswith("1|")]


def timed(compute: Callable[..., dict[str, float]], *given: Any) -> dict[str, float]:
    """Add the processor time that a cell took."""
    begin = time.process_time()
    return {**compute(*given), "seconds": time.process_time() - begin}


def of_runs(found: dict[str, Any], key: str, measure: str) -> list[float]:
    """One measure of a cell, run by run, as many as there are."""
    return gather(found, [f"{key}|{run}" for run in range(ROUNDS)], measure)


def cell(found: dict[str, Any], key: str, measure: str) -> str:
    """Mean and spread over the runs; a single run needs no spread."""
    values = of_runs(found, key, measure)
    return f"{values[0]:.3f}" if len(values) == 1 else mean_and_spread(values)


def mean(found: dict[str, Any], key: str, measure: str) -> float:
    """Mean over the runs."""
    return float(np.mean(of_runs(found, key, measure)))


def rows_tables(sheet: Sheet, found: dict[str, Any], beside: dict[str, Any]) -> None:
    """K = C."""
    for name in NAMES:
        for measure, rough, words in zip(("nmi", "nmi_alone"), ROUGH_ROWS[name], ("bags known", "features alone")):
            value = mean(found, f"rows|{name}|default|1.0", measure)
            sheet.row(f"{title(name)}, K = C, NMI, {words}", f"{value:.3f}", f">= {rough}", value >= rough)
    rows = []
    for name in NAMES:
        for label, measure in (("coverage, bags known", "nmi"), ("coverage, features alone", "nmi_alone")):
            rows.append([title(name), label, *(cell(found, f"rows|{name}|default|{f}", measure) for f in FRACTIONS)])
        for method in METHODS:
            keys = [
                [f"1|{name}|{method}|{1.0 if method == 'SP' else f}|{run}" for run in range(ROUNDS)] for f in FRACTIONS
            ]
            rows.append([title(name), method, *(mean_and_spread(gather(beside, some, "nmi")) for some in keys)])
    sheet.section(
        "Rows, K = C: NMI by the share of bags that are labelled",
        ["set", "method", *[f"{fraction:.0%}" for fraction in FRACTIONS]],
        rows,
        "Below coverage stand the methods of [PF14]; SP looks at no labels. With all bags labelled, coverage "
        "with K = C leaves nothing to chance.",
    )
    settings = []
    for name in NAMES:
        for label, method in SETTINGS.items():
            both = [cell(found, f"rows|{name}|{method}|1.0", m) for m in ("nmi", "nmi_alone")]
            changed = of_runs(found, f"rows|{name}|{method}|1.0", "changed") if method != "kernel" else []
            chosen = (
                sorted(set(of_runs(found, f"rows|{name}|{method}|1.0", "penalty"))) if method != "kernel" else [1.5]
            )
            penalties = ", ".join(f"{p:g}" for p in chosen)
            settings.append([title(name), label, penalties, *both, f"{np.mean(changed):.0%}" if changed else ""])
    sheet.section(
        "Rows, K = C: settings, all bags labelled",
        ["set", "setting", "penalty", "NMI, bags known", "features alone", "rows renamed by their bags"],
        settings,
        '`information=0` is the likelihood alone. `penalty="auto"` is chosen by held-out lists in every run. The '
        "kernel map: 200 Nystroem landmarks beside the features.",
    )


def sub_tables(sheet: Sheet, found: dict[str, Any]) -> None:
    """K > C."""
    rows = []
    for name in NAMES:
        value, spectral = mean(found, f"sub|{name}|default", "nmi"), mean(found, f"sub|{name}|CSP", "nmi")
        sheet.row(f"{title(name)}, sub-classes, NMI", f"{value:.3f}", f">= {ROUGH_SUB[name]}", value >= ROUGH_SUB[name])
        sheet.row(
            f"{title(name)}, sub-classes above the spectral method", f"{value - spectral:+.3f}", "> 0", value > spectral
        )
        rows += [
            [title(name), "coverage, bags known", *(cell(found, f"sub|{name}|default", m) for m in ("nmi", "purity"))],
            [title(name), "coverage, features alone", cell(found, f"sub|{name}|default", "nmi_alone"), ""],
            [title(name), "spectral, K > C", *(cell(found, f"sub|{name}|CSP", m) for m in ("nmi", "purity"))],
        ]
    sheet.section(
        "Sub-classes: only merged names on the bags, real classes to be found",
        ["set", "method", "NMI", "purity"],
        rows,
        "Classes 0+1, 2+3, ... share a name; as many clusters as real classes.",
    )


def novel_tables(sheet: Sheet, found: dict[str, Any]) -> None:
    """Labels that nobody named."""
    rows = []
    for name in NOVEL_SETS:
        for k, rough, paper in zip(NOVEL, ROUGH_NOVEL[name], DMNL[name]):
            value = mean(found, f"novel|{name}|{k}|default", "f")
            sheet.row(
                f"{title(name)}, novel 1-{k}, F_INL on training rows, features alone",
                f"{value:.3f}",
                f">= {rough}",
                value >= rough,
            )
            if name in ROUGH_NOVEL_BAGS:
                value, rough = (
                    mean(found, f"novel|{name}|{k}|default", "f_bags"),
                    ROUGH_NOVEL_BAGS[name][NOVEL.index(k)],
                )
                what = f"{title(name)}, novel 1-{k}, F_INL on training rows, bags known"
                sheet.row(what, f"{value:.3f}", f">= {rough}", value >= rough)
            for method, label in (
                ("default", "coverage"),
                ("likelihood", "coverage, `information=0`"),
                ("one class", "one novel class, then k-means"),
            ):
                key = f"novel|{name}|{k}|{method}"
                measures = [cell(found, key, m) for m in ("f", "f_bags", "f_out", "f_bag_out", "auc")]
                rows.append([title(name), f"1-{k}", label, *measures])
            rows.append([title(name), f"1-{k}", "DMNL [Z17]", f"({paper})", "", "", "", ""])
    sheet.section(
        "Novel labels, by the protocol of [Z17]",
        ["set", "novel", "method", "F_INL", "bags known", "held-out rows", "F_BNL, held-out bags", "AUC, held out"],
        rows,
        "Labels 1 to k are taken off every list. The first two columns judge training rows, all bags being there; the "
        "last three judge rows and bags that were held out, with 80 % of the bags to learn from.",
    )  # fmt: skip


def bag_tables(sheet: Sheet, found: dict[str, Any]) -> None:
    """Labels of held-out bags."""
    rows = [
        [
            title(name),
            method.replace("default", "coverage"),
            *(cell(found, f"bags|{name}|{method}", m) for m in ("hamming", "ranking", "precision")),
        ]
        for name in NAMES
        for method in BAG_METHODS
    ]
    sheet.section(
        "Labels of held-out bags",
        ["set", "method", "Hamming loss (low)", "ranking loss (low)", "average precision (high)"],
        rows,
        "80 % of the bags to learn from. ORLR is `OredLogisticRegression` as its paper has it (next to no penalty); "
        "with the penalty of coverage it differs only by the information term and by EM. `shares` gives every bag the "
        "labels' frequencies.",
    )


def uneven_tables(sheet: Sheet, found: dict[str, Any]) -> None:
    """Why information is weighed by the rows that somebody spoke of."""
    rows = [
        [setting, *(cell(found, f"uneven|{setting}|{fraction}", "right") for fraction in UNEVEN_FRACTIONS)]
        for setting in UNEVEN_SETTINGS
    ]
    sheet.section(
        "Uneven classes: rows named rightly by the share of bags that are labelled",
        ["information", *[f"{fraction:.0%}" for fraction in UNEVEN_FRACTIONS]],
        rows,
        "Generated bags of four classes, one of which has nine rows in ten. Weighing information by all rows instead "
        "of those of labelled bags lets the wish for even clusters outvote the lists when there are few.",
    )


def unseen_tables(sheet: Sheet, found: dict[str, Any]) -> None:
    """The defaults on sets that they were not chosen on."""
    rows = [
        [
            name,
            "even" if evenly else "uneven",
            words,
            *(cell(found, f"unseen|{name}|{evenly}|{setting}", m) for m in ("nmi", "nmi_new")),
        ]
        for name in UNSEEN
        for evenly in (True, False)
        for setting, words in UNSEEN_SETTINGS.items()
    ]
    sheet.section(
        "Sets that no default was chosen on, K = C",
        ["set", "classes", "method", "NMI, bags known", "NMI, new rows"],
        rows,
        "3,000 rows in bags of five; uneven: the k-th class in a random order is 1 / k as frequent as the first.",
    )


def count_tables(sheet: Sheet, found: dict[str, Any]) -> None:
    """Counts chosen by held-out likelihood."""
    rows: list[list[Any]] = []
    for what in ("subclusters", "novel"):
        pairs = [(found[f"count|{what}|{run}"]["truth"], found[f"count|{what}|{run}"]["chosen"]) for run in range(RUNS)]
        right = float(np.mean([a == b for a, b in pairs]))
        sheet.row(f"n_{what}='auto' on generated sets: the right count", f"{right:.0%}", ">= 70 %", right >= 0.7)
        chosen = {truth: [str(int(b)) for a, b in pairs if a == truth] for truth in sorted({a for a, _ in pairs})}
        rows += [[f"n_{what}", int(truth), ", ".join(counts)] for truth, counts in chosen.items()]
    sheet.section("Counts chosen by held-out bag likelihood", ["parameter", "truth", "chosen"], rows)
