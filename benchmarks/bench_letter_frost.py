"""The experiments of [PF14] section 5.4 on Letter-Frost, the paper's fourth set, drawn as the paper drew it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench_instances_paper import (
    METHODS,
    additive,
    at_alpha,
    panels_of_one,
    rounded,
    sampled,
    timed,
)
from datasets import load
from protocol import FRACTIONS, RUNS, cluster_counts, gather, mean_and_spread
from runner import Ledger, Sheet

TITLE = "Instances: the experiments of [PF14] on Letter-Frost"
ALPHAS = tuple(np.linspace(0, 1, 11).round(3).tolist())
SET = "frost"


def fill(sheet: Sheet) -> None:
    """Compute what is missing and write the page."""
    found = Ledger("letter_frost").run(cells(), stage="[PF14] on Letter-Frost")
    spent = sum(cell["seconds"] for cell in found.values())
    _, bags, _ = load(SET)
    sheet.notes.append(
        f"Words of Frost's poem as bags, letters drawn from UCI's letters without replacement (seed 0): {bags.n_bags} "
        f"bags. The paper's own draw is not public. Standardised features, local scaling with t = 7, alpha = 0.7, beta "
        f"= 20; {RUNS} runs, seeds 0 to {RUNS - 1}. All cells took {spent:.0f} seconds of a processor."
    )
    for measure in ("nmi", "purity"):
        scenario_1(sheet, found, measure)
    for measure in ("purity", "nmi"):
        scenario_2(sheet, found, measure)
    rows = [[f"{found[f'alpha|{a}'][m]:.3f}" for a in ALPHAS] for m in ("nmi", "purity")]
    header = ("measure", *(f"alpha {a:g}" for a in ALPHAS))
    sheet.section("Over alpha: K = C, all bags labelled", header, [("NMI", *rows[0]), ("purity", *rows[1])])
    header = ("measure", "symmetric", "additive")
    both = [[f"1|SpLearn|1.0|{run}" for run in range(RUNS)], [f"additive|{run}" for run in range(RUNS)]]
    listed = [(m, *(mean_and_spread(gather(found, keys, m)) for keys in both)) for m in ("nmi", "purity")]
    sheet.section("SpLearn by its normalisation: K = C, all bags labelled", header, listed)


def cells() -> list[tuple[str, Any]]:
    """List every cell: its key and how to compute it."""
    listed: list[tuple[str, Any]] = []

    def add(key: str, compute: Any, *given: Any) -> None:
        listed.append((key, lambda: timed(compute, SET, *given)))

    for run in range(RUNS):
        for method in METHODS:
            add(f"1|{method}|1.0|{run}", rounded, method, None, run)
            for fraction in FRACTIONS[:-1] if method != "SP" else ():
                add(f"1|{method}|{fraction}|{run}", sampled, method, fraction, run)
        for k in cluster_counts(load(SET)[1].n_classes):
            for method in METHODS[:4]:
                add(f"2|{method}|{k}|{run}", rounded, method, k, run)
        add(f"additive|{run}", additive, run)
    for alpha in ALPHAS:
        add(f"alpha|{alpha}", at_alpha, alpha)
    return listed


def scenario_1(sheet: Sheet, found: dict[str, Any], measure: str) -> None:
    """K = C over the share of labelled bags: figures 2 and 3."""
    values = {
        m: [
            gather(found, [f"1|{m}|{1.0 if m == 'SP' else f}|{run}" for run in range(RUNS)], measure) for f in FRACTIONS
        ]
        for m in METHODS
    }
    header = ("method", *(f"{f:.0%}" for f in FRACTIONS))
    rows = [(m, *map(mean_and_spread, values[m])) for m in METHODS]
    sheet.section(f"Scenario 1, {measure}: K = C, share of labelled bags", header, rows)
    drawn = panels_of_one("Letter-Frost", values, [100 * f for f in FRACTIONS], "labelled bags (%)", measure)
    sheet.figure(drawn, f"Scenario 1, {measure} (figures 2 and 3 of the paper): mean and deviation of {RUNS} runs.")


def scenario_2(sheet: Sheet, found: dict[str, Any], measure: str) -> None:
    """K from C to 2C with all bags labelled: figure 4."""
    counts = cluster_counts(load(SET)[1].n_classes)
    values = {
        m: [gather(found, [f"2|{m}|{k}|{run}" for run in range(RUNS)], measure) for k in counts] for m in METHODS[:4]
    }
    header = ("method", "K = C", *(f"step {s}" for s in range(2, 7)), "K = 2C")
    rows = [(m, *map(mean_and_spread, values[m])) for m in METHODS[:4]]
    sheet.section(f"Scenario 2, {measure}: K from C to 2C, all bags labelled", header, rows)
    drawn = panels_of_one("Letter-Frost", values, counts, "clusters K", measure)
    sheet.figure(drawn, f"Scenario 2, {measure} (figure 4 of the paper): mean and deviation of {RUNS} roundings.")
