"""The cells of [Z17] on Letter-Frost: table 2, the measures of figures 3 and 4, and the times of table 3."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np

from novel_cells import FIRST_SEED, novel_cell
from protocol import gather, mean_and_spread
from runner import Ledger, Sheet

TITLE = "Novel labels: [Z17] on Letter-Frost"
ROUNDS = 5
SPLITS = (4, 8, 16)
METHODS = ("DMNL", "ORLR", "MIMLfast", "MIML-NC")
MEASURES = {"AUC": "auc", "accuracy": "accuracy", "F_BNL": "f_bag", "Hamming loss": "hamming"}
MINUTES = float(os.environ.get("NOVEL_MINUTES", "inf"))  # no cell begins after this many


def fill(sheet: Sheet) -> None:
    """Run what is missing and write the page."""
    planned = [
        (f"{k}|{method}|{run}", partial(novel_cell, "frost", k, method, run))
        for run in range(ROUNDS)
        for k in SPLITS
        for method in METHODS
    ]
    found = Ledger("novel_frost").run(planned, stage="[Z17] on Letter-Frost", minutes=MINUTES)
    if len(found) < len(planned):
        sheet.notes.append(
            f"Cells: {len(found)} of {len(planned)} were run, {len(planned) - len(found)} were not; the command "
            f"takes up there."
        )
    sheet.notes.append(
        f"Letter-Frost as on the page letter_frost. Labels 1 to k are never named; seeds from {FIRST_SEED} on, "
        f"n rounds. "
        "Training rows: all bags are fitted and their rows named by features alone. Held out: a fifth of the "
        "bags, after "
        "a fit without them. Mean ± standard deviation over rounds."
    )
    tables(sheet, found)


def tables(sheet: Sheet, found: dict[str, Any]) -> None:
    """Add the three tables."""
    first, second, third = [], [], []
    for k in SPLITS:
        for method in METHODS:
            keys = [f"{k}|{method}|{run}" for run in range(ROUNDS)]
            n = len(gather(found, keys, "f"))
            if n:
                both = [mean_and_spread(gather(found, keys, measure)) for measure in ("f", "f_out")]
                first.append(("Letter-Frost", f"1-{k}", method, n, *both))
                pairs = [(gather(found, keys, m), gather(found, keys, f"{m}_out")) for m in MEASURES.values()]
                shown = [f"{np.mean(inside):.3f} / {np.mean(outside):.3f}" for inside, outside in pairs]
                second.append(("Letter-Frost", f"1-{k}", method, *shown))
    for method in ("MIML-NC", "DMNL"):
        keys = [f"{k}|{method}|{run}" for k in SPLITS for run in range(ROUNDS)]
        times = [float(np.median(gather(found, keys, clock))) for clock in ("processor", "wall")]
        third.append(("Letter-Frost", method, *(f"{seconds:.1f} s" for seconds in times)))
    header = ("set", "novel", "method", "n", "F_INL, training rows", "F_INL, held out")
    sheet.section("Table 2 of [Z17]", header, first)
    sheet.section("Figures 3 and 4 of [Z17]: training / held out", ("set", "novel", "method", *MEASURES), second)
    text = "Median time of a fit on all bags; DMNL with its five starts."
    sheet.section("Table 3 of [Z17]", ("set", "method", "processor", "wall"), third, text)
    sheet.say_if_busy()
