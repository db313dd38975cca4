"""All methods that learn from answers side by side, with right and with wrong answers: which one to choose."""

from __future__ import annotations

from typing import Any

import numpy as np

from relation_cells import METHODS, THESIS_SETS, every_draw, refusals, run, values, written
from relation_sets import TITLES
from runner import Sheet

TITLE = "Relations: which method to choose"
SETS = tuple(name for name in THESIS_SETS if name != "hja")  # thirteen classes on 4998 rows take most of the time
AT = (("pairs", (0.2, 0.6)), ("triplets", (0.1, 0.3)))
COLUMNS = tuple((kind, share) for kind, shares in AT for share in shares)
WRONG = (0.0, 0.2, 0.1)
SHOWN = tuple(name for name in METHODS if name not in ("DC hard", "DC without none"))
CHOOSE = {
    "k-means": "no answers at all",
    "ours": "the default: few or many answers, right or wrong, any shape of cluster, new rows",
    "DC": "the thesis' method, linear boundaries",
    "Xing": "which features matter, in milliseconds",
    "ITML": "a metric for other tools; clusters that are compact in it",
    "LSML": "a metric from comparisons of distances only",
    "SCML": "a metric with few directions, from triplets",
    "sparse LP": "a metric with few features",
    "constrained EM": "elliptic clusters, answers that are right",
    "SSSVaD": "features that matter in one cluster and not in another",
    "COP-KMeans": "answers that must all be kept, or refused with the reason",
    "PCK-Means": "k-means that bends a little",
    "MPCK-Means": "the same, with weights of features",
    "propagation": "clusters of any shape on a neighbour graph; no wrong answers",
}

# What ITML (0.2N and 0.6N pairs) and SCML (0.1N and 0.3N triplets) of metric-learn 0.7 with k-means reached: the lower
# of two measurements, of 3 and of 5 to 6 draws. None: the package fails.
OLD_PACKAGE: dict[str, tuple[float | None, ...]] = {
    "ionosphere": (0.364, 0.411, None, 0.139),
    "pima": (0.157, 0.199, 0.038, 0.142),
    "balance": (0.395, 0.327, 0.291, 0.298),
    "digits-389": (0.956, 0.972, 0.875, 0.932),
    "letters-IJLT": (0.718, 0.777, 0.542, 0.563),
    "digits": (0.638, 0.788, None, 0.726),
    "wine": (0.904, 0.942, 0.865, 0.899),
    "breast": (0.778, 0.863, 0.692, 0.780),
    "pendigits": (0.599, 0.660, 0.588, 0.564),
}
NEAR = 0.03  # how far below the old package a mean may be


def fill(sheet: Sheet) -> None:
    """Run what is missing and write the tables."""
    found = old_package(sheet)
    for wrong in WRONG:
        found = run(every_draw(SETS, AT, SHOWN, wrong), f"{wrong:.0%} wrong answers")
    sheet.notes += [
        "Adjusted Rand index, mean over six sets of [P17] ("
        + ", ".join(TITLES[name] for name in SETS)
        + "); all methods "
        "see the same answers and have their defaults. The cells are those of "
        "[relations_fidelity](relations_fidelity.md), with wrong answers added; a table uses the draws that every "
        "method has (RELATIONS_DRAWS sets how many are run). An empty cell: refused, or not run yet, on some set. "
        "Seconds are wall-clock on a busy machine: compare them with each other.",
        "k-means sees no answers. Triplets answered none say nothing to most methods; `ours` and DC use them.",
    ]
    for wrong in sorted(WRONG):
        n_draws = _common_draws(found, wrong)
        rows = [_row(found, method, wrong, n_draws) for method in SHOWN]
        header = ("method", *(f"{share:g}N {kind}" for kind, share in COLUMNS), "seconds, 0.6N pairs", "refused")
        sheet.section(f"{wrong:.0%} of the answers wrong", header, rows, f"Mean over {n_draws} draw(s) on each set.")
    sheet.section("Which one to choose", ("method", "choose it for"), [(name, CHOOSE[name]) for name in SHOWN])
    _verdict(sheet, found)


def old_package(sheet: Sheet) -> dict[str, Any]:
    """Compare ITML and SCML with what their old package reached; both take seconds, so they have all 20 draws."""
    of_column = ("ITML", "ITML", "SCML", "SCML")
    names = tuple(OLD_PACKAGE)
    run(every_draw(names, AT[:1], ("ITML",), draws=20), "ITML")
    found = run(every_draw(names, AT[1:], ("SCML",), draws=20), "SCML")
    rows, near, total = [], 0, 0
    for name, targets in OLD_PACKAGE.items():
        cells = []
        for (kind, share), method, target in zip(COLUMNS, of_column, targets):
            reached = values(found, name, kind, share, method)
            cells.append(f"{written(reached)} ({'fails' if target is None else f'{target:.3f}'})")
            if target is not None and len(reached):
                total += 1
                near += bool(reached.mean() >= target - NEAR)
        rows.append((TITLES[name], *cells))
    sheet.row(
        f"ITML and SCML not below the old package by more than {NEAR}", f"{near} of {total}", f"{total}", near == total
    )
    columns = tuple(f"{method}, {share:g}N {kind}" for (kind, share), method in zip(COLUMNS, of_column))
    text = "Mean and standard error; in brackets metric-learn 0.7, which no longer runs: the lower of two measurements."
    sheet.section("The same methods in their old package", ("set", *columns), rows, text)
    return found


def _common_draws(found: dict[str, Any], wrong: float) -> int:
    """Return how many draws every method that ran has, refused or not, on every set."""
    counts = [
        len(values(found, name, kind, share, method, wrong=wrong)) + refusals(found, name, kind, share, method, wrong)
        for name in SETS
        for kind, share in COLUMNS
        for method in SHOWN
    ]
    return max(1, min((count for count in counts if count), default=1))


def _row(found: dict[str, Any], method: str, wrong: float, n_draws: int) -> tuple[str, ...]:
    cells = []
    for kind, share in COLUMNS:
        means = [values(found, name, kind, share, method, wrong=wrong, n_draws=n_draws) for name in SETS]
        cells.append(f"{np.mean([m.mean() for m in means]):.3f}" if all(len(m) for m in means) else "")
    seconds = [values(found, name, "pairs", 0.6, method, "seconds", wrong) for name in SETS]
    spent = np.concatenate(seconds) if seconds else np.zeros(0)
    refused = sum(refusals(found, name, kind, share, method, wrong) for name in SETS for kind, share in COLUMNS)
    return (method, *cells, f"{spent.mean():.2f}" if len(spent) else "", str(refused) if refused else "")


def _verdict(sheet: Sheet, found: dict[str, Any]) -> None:
    """Count where ours is ahead of every other method."""
    for wrong in sorted(WRONG):
        ahead, total = 0, 0
        for name in SETS:
            for kind, share in COLUMNS:
                ours = values(found, name, kind, share, "ours", wrong=wrong)
                others = [
                    values(found, name, kind, share, method, wrong=wrong, n_draws=len(ours))
                    for method in SHOWN
                    if method != "ours"
                ]
                others = [other.mean() for other in others if len(other)]
                if len(ours) and others:
                    total += 1
                    ahead += bool(ours.mean() >= max(others))
        if total:
            sheet.row(f"ours ahead of every other method, {wrong:.0%} wrong", f"in {ahead} of {total} cells")
