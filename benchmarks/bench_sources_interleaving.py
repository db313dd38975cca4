"""Tables 4.3, 4.6 and 4.8 of [B04] with the thesis' rounds and order, on generated people."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import sidelight as sl
from bench_sources_fidelity import BASES, PAIRS, accounts, people
from runner import Ledger, Sheet

TITLE = "Sources: interleaving as in chapter 4 of [B04]"
# method: rounds as in the thesis, trials here, trials in the thesis
PLAN = {"information": (15, 100, 100), "annealed": (5, 50, 50), "spectral": (15, 100, 100)}
ORDER = [("face", other) for other in PAIRS[::-1]]  # heights, lower bodies, upper bodies: the strongest last
BATCH = 10


def fill(sheet: Sheet) -> None:
    """Run what is missing and write the table."""
    found = Ledger("sources_interleaving").run(cells(), stage="interleaving")
    sheet.notes.append(
        "Data: `make_sources` with its presets (random_state 0). Each trial is a single start (spectral: the "
        "best of five, "
        "as the thesis); face/height, face/lower and face/upper are clustered in turn. Errors in % of all "
        "points, mean ± "
        "standard deviation over trials. A fit stops before its last round when nothing changes. The "
        "last column has the other order, upper bodies first and heights last. The thesis has no figures for weights."
    )
    rows = []
    for n in (5, 10):
        for method, (rounds, trials, wanted) in PLAN.items():
            runs = {what: joined(found, n, method, what, trials) for what in ("interleaved", "backwards", *PAIRS)}
            if all(len(values) for values in runs.values()):
                margins = {other: float(np.mean(runs[other][:, 3])) for other in PAIRS}
                best = min(margins, key=lambda other: margins[other])
                shown = [
                    written(runs["interleaved"][:, 1]),
                    written(runs["interleaved"][:, 3]),
                    written(runs[best][:, 3]),
                ]
                back = written(runs["backwards"][:, 3])
                rows.append(
                    (n, method, rounds, f"{len(runs['interleaved'])} of {wanted}", *shown, f"face/{best}", back)
                )
    header = (
        "subjects",
        "method",
        "rounds",
        "trials",
        "RE",
        "FE",
        "FE of the best margin",
        "best margin",
        "FE, height last",
    )
    sheet.section("Tables 4.3, 4.6 and 4.8 of [B04], errors in %", header, rows)


def cells() -> list[tuple[str, Any]]:
    """Name every cell: ten trials each."""
    return [
        (f"{n}/{method}/{what}/{first}", partial(trials_of, n, method, what, first))
        for method, (_, trials, _) in PLAN.items()
        for n in (5, 10)
        for what in ("interleaved", "backwards", *PAIRS)
        for first in range(0, trials, BATCH)
    ]


def trials_of(n: int, method: str, what: str, first: int) -> list[list[float]]:
    """Cluster in turn, or one margin alone, from single starts; return QE, RE, TE and FE of each."""
    seen = people(n, 0)[0]
    in_turn = what in ("interleaved", "backwards")
    table = seen.cooccurrence() if in_turn else seen.cooccurrence("face", what)
    order = ORDER if what == "interleaved" else ORDER[::-1]
    out = []
    for trial in range(first, first + BATCH):
        base = BASES[method].set_params(n_clusters=n, random_state=trial)
        if in_turn:
            base = sl.estimators.InterleavedCoclustering(base, margins=order, max_rounds=PLAN[method][0])
        out.append(accounts(n, 0, base.fit(table).axis_labels_["face"]))
    return out


def joined(found: dict[str, Any], n: int, method: str, what: str, trials: int) -> np.ndarray:
    """Put the batches of one cell together."""
    batches = [found.get(f"{n}/{method}/{what}/{first}", []) for first in range(0, trials, BATCH)]
    return np.array([trial for batch in batches for trial in batch])


def written(values: np.ndarray) -> str:
    """Write mean and deviation in percent."""
    return f"{100 * values.mean():.1f} ± {100 * values.std():.1f}"
