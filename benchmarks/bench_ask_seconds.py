"""What a person's time buys: adjusted Rand index by the simulated second, with pairs alone and with triplets too."""

from __future__ import annotations

import os
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import sidelight as sl
from relation_sets import TITLES, load
from runner import Ledger, Sheet
from sidelight.metrics import adjusted_rand_index

TITLE = "Ask: what a person's time buys"
SEEDS = int(os.environ.get("ASK_SEEDS", "5"))
STORED = os.environ.get("ASK_STORED", "") == "1"  # write the page from the cells that are there
SETS = ("iris", "wine", "balance", "digits")
SECONDS = (3.0, 4.0)  # of a question about two rows, and about three
AT = (60, 120, 180, 240, 300)
KINDS = ("pairs", "pairs and triplets")


class Cell(NamedTuple):
    """One conversation."""

    set: str
    kind: str
    seed: int

    @property
    def key(self) -> str:
        """Its name in the ledger."""
        return f"{self.set}/{self.kind}/{self.seed}"


def compute(cell: Cell) -> dict[str, Any]:
    """Ask until the time is up; note the agreement on the way, and how many questions there were."""
    X, y = load(cell.set)
    seconds = None if cell.kind == KINDS[0] else SECONDS
    session = sl.ActiveSession(X, len(np.unique(y)), seconds=seconds, random_state=cell.seed)
    person = sl.data.Labeller(pair_seconds=SECONDS[0], triplet_seconds=SECONDS[1])
    oracle = sl.Oracle(y, labeller=person, random_state=1000 + cell.seed)
    scores: dict[str, float] = {}
    for at in AT:
        while oracle.seconds < at and (question := session.ask()) is not None:
            session.tell(question, oracle(question))
        scores[str(at)] = round(float(adjusted_rand_index(y, session.labels_)), 4)
    n_triplets = sum(len(rows) == 3 for rows, _ in session.history)
    return {"ari": scores, "n": session.n_answers, "triplets": n_triplets}


def fill(sheet: Sheet) -> None:
    """Run what is missing and write the table and the figure."""
    ledger = Ledger("ask_seconds")
    cells = [Cell(name, kind, seed) for seed in range(SEEDS) for name in SETS for kind in KINDS]
    if not STORED:
        ledger.run([(cell.key, partial(compute, cell)) for cell in cells], stage="conversations")
    runs = {
        (name, kind): [
            ledger.cells[key] for seed in range(SEEDS) if (key := Cell(name, kind, seed).key) in ledger.cells
        ]
        for name in SETS
        for kind in KINDS
    }
    counts = [len(found) for found in runs.values()]
    sheet.notes.append(
        f"Adjusted Rand index, mean of {min(counts)} to {max(counts)} conversations a cell (set ASK_SEEDS), exact "
        f"answers, number of clusters given. A simulated person takes {SECONDS[0]:g} s on average for two rows and "
        f"{SECONDS[1]:g} s for three; triplets are asked where they promise more information a second."
    )
    rows = []
    for (name, kind), found in runs.items():
        if found:
            means = [np.mean([run["ari"][str(at)] for run in found]) for at in AT]
            asked = f"{np.mean([run['n'] for run in found]):.0f}, {np.mean([run['triplets'] for run in found]):.0f}"
            rows.append((TITLES[name], kind, *(f"{mean:.3f}" for mean in means), asked))
    sheet.section("By the second", ("set", "asked", *(f"{at} s" for at in AT), "questions, triplets among them"), rows)
    _figure(sheet, runs)


def _figure(sheet: Sheet, runs: dict[tuple[str, str], list[dict[str, Any]]]) -> None:
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(12, 3.2), layout="constrained")
    for ax, name in zip(drawn.subplots(1, len(SETS)), SETS):
        scores = {
            kind: [[run["ari"][str(at)] for run in runs[name, kind]] for at in AT] for kind in KINDS if runs[name, kind]
        }
        if scores:
            sl.plot.ScoreCurveDisplay(
                list(AT), scores, score_name="adjusted Rand index", answers_name="seconds of a person"
            ).plot(ax=ax)
            ax.get_legend().set_visible(name == SETS[0])
            ax.set_title(TITLES[name])
    sheet.figure(drawn, "Agreement by the simulated second: mean and 95 % band over the conversations")
