"""[B04]: the printed schedule (4.3.3), weights in an RKHS (5.1.1) and paired mixtures (1.5.1) on generated people."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bench_sources_fidelity import BASES, PAIRS, accounts, people, percent
from runner import Ledger, Sheet
from sidelight.metrics import error_accounts
from sources_trials import gaussian_kernel, kernel_weights, paired_mixtures, printed_schedule

TITLE = "Sources: what [B04] prints, mentions or proposes, tried"
TRIALS, SEEDS = 20, 5
LAMBDAS = (0.0, 1e-5, 1e-4, 1e-3)
BETAS = (0.0, 0.1, 0.5, 1.0)
STRONG, WEAK = "upper", "face"


def fill(sheet: Sheet) -> None:
    """Run what is missing and write the tables."""
    found = Ledger("sources_trials", source="bench_sources_trials.py").run(cells(), stage="trials")
    sheet.notes.append(
        "Data: `make_sources` with its presets (random_state 0), as on the page sources_fidelity. Errors in % of all "
        f"points, mean ± standard deviation over {TRIALS} trials (mixtures: {SEEDS}). Nothing here is part of the "
        "library: `benchmarks/sources_trials.py`."
    )
    schedule(sheet, found)
    kernels(sheet, found)
    mixtures(sheet, found)


def cells() -> list[tuple[str, Any]]:
    """Name every cell and say how to compute it."""
    todo: list[tuple[str, Any]] = [
        (f"schedule/{n}/{other}", partial(schedules, n, other)) for n in (5, 10) for other in PAIRS
    ]
    todo += [
        (f"kernel/{n}/{other}/{lam:g}", partial(kernel_cell, n, other, lam))
        for n in (5, 10)
        for other in PAIRS
        for lam in LAMBDAS
    ]
    todo += [(f"mixtures/{n}/{beta:g}", partial(mixture_cell, n, beta)) for n in (5, 10) for beta in BETAS]
    return todo


def schedules(n: int, other: str) -> dict[str, Any]:
    """Anneal by the printed schedule and by ours from single starts."""
    table = people(n, 0)[0].cooccurrence("face", other)
    printed = [printed_schedule(table, n, trial) for trial in range(TRIALS)]
    kept = []
    for trial in range(TRIALS):
        fitted = BASES["annealed"].set_params(n_clusters=n, random_state=trial).fit(table)
        kept.append((accounts(n, 0, fitted.axis_labels_["face"]), float(fitted.objective_)))
    return {
        "printed": [accounts(n, 0, labels) for labels, _, _ in printed],
        "printed, information": [end for _, end, _ in printed],
        "printed, best on the way": [best for _, _, best in printed],
        "ours": [errors for errors, _ in kept],
        "ours, information": [value for _, value in kept],
    }


def kernel_cell(n: int, other: str, lam: float) -> dict[str, Any]:
    """Weights in an RKHS from single starts."""
    seen = people(n, 0)[0]
    table = seen.cooccurrence("face", other)
    P = np.asarray(table.to_array(), dtype=float)
    both = gaussian_kernel(seen.prototypes("face")), gaussian_kernel(seen.prototypes(other))
    runs = [kernel_weights(P / P.sum(), both, n, lam, trial) for trial in range(TRIALS)]
    return {"errors": [accounts(n, 0, rows) for rows, _ in runs], "information": [kept for _, kept in runs]}


def mixture_cell(n: int, beta: float) -> dict[str, list[float]]:
    """Total error of both channels, each judged by the subjects."""
    seen, codes = people(n, 0)
    out: dict[str, list[float]] = {STRONG: [], WEAK: []}
    for seed in range(SEEDS):
        labels = paired_mixtures([seen.channels[STRONG], seen.channels[WEAK]], n, beta, seed)
        for name, one in zip((STRONG, WEAK), labels):
            out[name].append(error_accounts(seen.subjects, one, seen.sequences, codes[name]).shares()["total"])
    return out


def schedule(sheet: Sheet, found: dict[str, Any]) -> None:
    """The printed temperatures beside those measured on the table."""
    rows = []
    for n in (5, 10):
        for other in PAIRS:
            cell = found[f"schedule/{n}/{other}"]
            means = [f"{np.mean(cell[f'{way}, information']):.3f}" for way in ("printed", "ours")]
            errors = [percent(cell[way], column) for way in ("printed", "ours") for column in (1, 3)]
            rows.append((n, f"face/{other}", *means, *errors))
    header = (
        "subjects", "table", "information, printed", "information, ours", "RE, printed", "FE, printed", "RE, ours",
        "FE, ours",
    )  # fmt: skip
    text = (
        "T from 5 to 0.005 by 0.98, every entry visited 5 times a temperature, random start, no greedy finish, as "
        "printed; against a schedule measured on the table. Information of the clusters in nats."
    )
    sheet.section("4.3.3: the printed schedule of temperatures", header, rows, text)


def kernels(sheet: Sheet, found: dict[str, Any]) -> None:
    """Weights in an RKHS beside the weights of chapter 3."""
    rows = []
    for n in (5, 10):
        for other in PAIRS:
            for lam in LAMBDAS:
                cell = found[f"kernel/{n}/{other}/{lam:g}"]
                shown = [percent(cell["errors"], column) for column in (1, 3)]
                rows.append((n, f"face/{other}", f"{lam:g}", f"{np.mean(cell['information']):.3f}", *shown))
    header = ("subjects", "table", "lambda", "information of hard labels", "RE", "FE")
    text = (
        "Eq. (5.1) in its factored form: weights are a softmax over clusters of kernel expansions, with a Gaussian "
        "kernel on the prototypes of the codes (width: median distance) and a Tikhonov term. lambda = 0 is the same "
        "without the term."
    )
    sheet.section("5.1.1: weights in an RKHS", header, rows, text)


def mixtures(sheet: Sheet, found: dict[str, Any]) -> None:
    """Whether channels corrupt each other."""
    rows, claims = [], []
    for n in (5, 10):
        alone = {name: float(np.mean(found[f"mixtures/{n}/0"][name])) for name in (STRONG, WEAK)}
        for beta in BETAS:
            cell = found[f"mixtures/{n}/{beta:g}"]
            shown = [f"{100 * np.mean(cell[name]):.1f} ± {100 * np.std(cell[name]):.1f}" for name in (STRONG, WEAK)]
            rows.append((n, f"{beta:g}", *shown))
            if beta:
                strong, weak = (
                    (STRONG, WEAK) if alone[STRONG] <= alone[WEAK] else (WEAK, STRONG)
                )  # which one is stronger is seen from their errors alone
                claims.append(np.mean(cell[strong]) >= alone[strong] and np.mean(cell[weak]) <= alone[weak])
    header = ("subjects", "beta", f"{STRONG}, total error", f"{WEAK}, total error")
    text = "r[i, k] ~ p(k) p(x_i | k) r_other[i, k]^beta, diagonal Gaussians, 50 rounds; beta = 0: each channel alone."
    sheet.section("1.5.1: mixtures paired by a Boltzmann distribution", header, rows, text)
    what = "1.5.1: paired, the stronger channel is worse off than alone, and the weaker one better"
    sheet.row(what, f"in {sum(claims)} of {len(claims)} cells", "all", all(claims))
