"""What [Z09] says about its own optimisation: rounds of the cutting plane (theorem 2), and margin (1) beside (3)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import sidelight as sl
from bag_margin_printed import PrintedMargin
from bag_sets import birdsong, corel, sival
from runner import Ledger, Sheet
from sidelight.errors import SidelightWarning
from sidelight.estimators.bags.cutting_plane import concave_convex, margin_objective
from sidelight.estimators.bags.max_margin import BagMargin
from sidelight.metrics import clustering_accuracy

TITLE = "Bags: theorem 2 of [Z09], and its bag margin (1)"
CS = tuple(2.0**p for p in range(-4, 5))
BALANCES = (0.0, 0.001, 0.01, 0.1, 1.0, 2.0, 3.0, 4.0, 5.0, 10.0)
STARTS, EPS = 5, 0.01
MARGINS = {"(3), as M3IC-MBM": BagMargin, "(1), as printed": PrintedMargin}
SETS: dict[str, Any] = {"Corel": corel, "SIVAL, six classes": sival, "birdsong": birdsong}


def fill(sheet: Sheet) -> None:
    """Measure and add the tables."""
    warnings.simplefilter("ignore", SidelightWarning)
    sheet.notes.append(
        "The paper's grid (9 C x 10 balances), five random starts a point, eps_1 = eps_2 = 0.01, standardised rows of "
        "length 1, seed 0; of the five starts the one with the lowest J, by the margin that was optimised. Eq. (1) is "
        "optimised in the same way, by its linear pieces, although they do not bound it."
    )
    found = Ledger("bags_margin").run([(name, lambda name=name: measure(name)) for name in SETS], stage="sets")
    rounds(sheet, found)
    margins(sheet, found)


def rounds(sheet: Sheet, found: dict[str, Any]) -> None:
    """Compare the rounds of every inner problem with the bound of theorem 2."""
    rows, worst = [], 0.0
    for C in CS:
        most = [found[name]["rounds"][str(C)] for name in SETS]
        bounds = [max(2 / EPS, 8 * C * found[name]["R2"] / EPS**2) for name in SETS]
        worst = max(worst, *(m / b for m, b in zip(most, bounds)))
        rows.append((f"{C:g}", *(f"{m} of {b:,.0f}" for m, b in zip(most, bounds))))
    text = "Most rounds of any inner problem, of the bound max(2 / eps, 8 C R^2 / eps^2) with R^2 = k / (k - 1)."
    sheet.section("Theorem 2: rounds of the cutting plane", ("C", *SETS), rows, text)
    rounds_made = max(int(cell["rounds"][str(C)]) for cell in found.values() for C in CS)
    measured = f"{rounds_made} rounds; at most {worst:.3%} of the bound"
    sheet.row("most rounds of an inner problem, of the bound of theorem 2", measured, "<= 100 %", worst <= 1)


def margins(sheet: Sheet, found: dict[str, Any]) -> None:
    """Compare what is reached by either margin, judged by the truth and by the objective of either."""
    rows = []
    for name in SETS:
        for label in MARGINS:
            cells = found[name][label]
            accuracy = 100 * np.array([cell["accuracy"] for cell in cells])
            rows.append((
                name, label, f"{accuracy.max():.1f}", f"{np.median(accuracy):.1f}",
                *(f"{np.median([cell[key] for cell in cells]):.3f}" for key in ("J (1)", "J (3)")),
                f"{np.mean([cell['rose'] for cell in cells]):.0%}",
                f"{np.mean([cell['clusters'] for cell in cells]):.1f} of {found[name]['k']}",
            ))  # fmt: skip
    header = (
        "set", "margin", "best by truth, %", "median, %", "median J by (1)", "median J by (3)", "J rose",
        "clusters in use",
    )  # fmt: skip
    text = (
        "Over the 90 points of the grid. J by (1) is the objective of the paper's problem (2), J by (3) that of (6), "
        "at the weights that either margin led to; J rose: share of points with a start whose own objective went up."
    )
    sheet.section("The bag margin (1) beside the relaxed one (3)", header, rows, text)


def measure(name: str) -> dict[str, Any]:
    """Descend the whole grid of one set by both margins."""
    X, bags, truth = SETS[name]()
    k = len(np.unique(truth))
    model = sl.MaxMarginBagClustering(k, margin="paper", scale="unit")
    model._learn_scaling(X)
    relaxed = model._margin(X, bags, None)
    generator = np.random.default_rng(0)
    most, out = {str(C): 0 for C in CS}, {label: [] for label in MARGINS}
    for C in CS:
        for balance in BALANCES:
            starts = generator.standard_normal((STARTS, k, X.shape[1]))
            for label, kind in MARGINS.items():
                margin = kind(relaxed.rows, relaxed.order, relaxed.starts)
                fits = [
                    concave_convex(
                        margin, start, C=C, centre=relaxed.centre(), balance=balance, tol=EPS, inner_tol=EPS,
                        max_iter=100,
                    )
                    for start in starts
                ]  # fmt: skip
                if kind is BagMargin:
                    most[str(C)] = max(most[str(C)], *(int(fit.rounds.max()) for fit in fits))
                out[label].append(_judged(margin, fits, C, truth))
    return {"rounds": most, "R2": k / (k - 1), "k": k, **out}


def _judged(margin: BagMargin, fits: list[Any], C: float, truth: np.ndarray) -> dict[str, Any]:
    best = min(fits, key=lambda fit: fit.objective)
    labels = margin.witnesses(best.W)[1]
    both = {
        key: margin_objective(best.W, kind(margin.rows, margin.order, margin.starts).witnesses(best.W)[2], C)
        for key, kind in (("J (1)", PrintedMargin), ("J (3)", BagMargin))
    }
    return {
        "accuracy": float(clustering_accuracy(truth, labels)),
        "clusters": len(np.unique(labels)),
        "rose": any(bool((np.diff(fit.objectives) > C * EPS).any()) for fit in fits),
        **both,
    }
