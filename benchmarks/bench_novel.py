"""Novel labels: DMNL against the figures of [Z17], and whether anything is novel at all.

Every cell is kept in a ledger: stop it when you like and start it again. Letter-Frost is not among the data used here.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

import sidelight as sl
from coverage_cells import bag_f1, in_order
from datasets import load, title
from protocol import gather, mean_and_spread
from runner import Ledger, Sheet
from sidelight.metrics import novel_instance_f1

TITLE = "Novel labels: DMNL, and whether anything is novel"
ROUNDS = int(os.environ.get("SIDELIGHT_ROUNDS", 5))
TRIED = int(os.environ.get("SIDELIGHT_TRIED", 100))  # generated sets of each kind
FIRST_SEED = 200  # away from the seeds of the tests and of the coverage page
PAPER = {"carroll": {4: 0.31, 8: 0.28, 16: 0.26}, "msrcv2": {4: 0.22, 8: 0.20, 16: 0.20}}
METHODS: dict[str, Callable[[int, int], Any]] = {
    "DMNL": lambda k, seed: sl.DMNL(n_novel=k, random_state=seed),
    "DMNL, manifold": lambda k, seed: sl.DMNL(n_novel=k, structure="manifold", random_state=seed),
    "ORLR + k-means": lambda k, seed: sl.NovelLabels(sl.OredLogisticRegression(), k, random_state=seed),
    "MIMLfast + k-means": lambda k, seed: sl.NovelLabels(sl.FastMIML(random_state=seed), k, random_state=seed),
    "MIML-NC + k-means": lambda k, seed: sl.NovelLabels(sl.NovelClassLogisticRegression(), k, random_state=seed),
    "coverage": lambda k, seed: sl.CoverageClustering(n_novel=k, random_state=seed),
}
SHARES = (0.0, 0.1)
TEXT = (
    "Labels 1 to k are never named. Seeds from {first} on: {rounds} (`SIDELIGHT_ROUNDS`; 5 by default). "
    "F_INL of all rows by features alone after a fit on all bags; held out: the rows of a fifth of the bags. "
    "Ridge and `lam` of DMNL were settled with the truth of these sets in view, on other seeds. ORLR and MIMLfast get "
    "novel labels by a threshold and k-means, MIML-NC tells novel rows by itself and k-means parts them "
    "(`NovelLabels`). Letter-Frost is not among the data used here; the paper has 0.26, 0.27 and 0.22 for it."
)


def fill(sheet: Sheet) -> None:
    """Compute what is missing and write the page."""
    warnings.simplefilter("ignore", sl.SidelightWarning)  # iteration limits and short bags, not the matter here
    found = Ledger("novel").run(cells(), stage="novel labels")
    rows = []
    for name, figures in PAPER.items():
        for k, quoted in figures.items():
            values = {
                (method, measure): gather(found, [f"{name}|{k}|{method}|{run}" for run in range(ROUNDS)], measure)
                for method in METHODS
                for measure in ("f", "f_out", "f_bag_out", "auc", "seconds")
            }
            for method in METHODS:
                shown = [_written(values[method, measure]) for measure in ("f", "f_out", "f_bag_out", "auc")]
                spent = np.median(values[method, "seconds"])
                rows.append((title(name), f"1-{k}", method, *shown, f"{spent:.1f} s", f"{quoted:.2f}"))
            ours = float(np.mean(values["DMNL", "f"]))
            sheet.row(f"F_INL of DMNL, {title(name)} 1-{k}", f"{ours:.3f}", f">= {quoted:.2f}", ours >= quoted)
    header = ["set", "novel", "method", "F_INL", "held out", "F_BNL held out", "AUC held out", "time of a fit", "[Z17]"]
    sheet.section("Table 2 of [Z17]", header, rows, TEXT.format(rounds=ROUNDS, first=FIRST_SEED))
    for share, least, most in ((0.0, 0, 0.1), (0.1, 0.9, 1.0)):
        alarms = np.mean([found[f"test|{share}|{seed}"]["p"] < 0.05 for seed in range(TRIED)])
        met = bool(least <= alarms <= most)
        target = f"at most {most:.0%}" if share == 0 else f"at least {least:.0%}"
        what = f"alarms of `novelty_test` at 0.05, {share:.0%} of the rows novel, {TRIED} sets"
        sheet.row(what, f"{alarms:.0%}", target, met)
    sheet.say_if_busy()


def _written(values: list[float]) -> str:
    """Write the mean, and the spread where there is one to speak of."""
    return mean_and_spread(values) if len(values) > 1 else f"{values[0]:.3f}"


def cells() -> list[tuple[str, Callable[[], Any]]]:
    """List every cell, the test first and then one seed after the other."""
    tests: list[tuple[str, Callable[[], Any]]] = [
        (f"test|{share}|{seed}", partial(alarm_cell, share, seed)) for seed in range(TRIED) for share in SHARES
    ]
    return tests + [
        (f"{name}|{k}|{method}|{run}", partial(novel_cell, name, k, method, run))
        for run in range(ROUNDS)
        for name, figures in PAPER.items()
        for k in figures
        for method in METHODS
    ]


def novel_cell(name: str, k: int, method: str, run: int) -> dict[str, float]:
    """Labels 1 to k are never named. Training rows with all bags; held-out ones with 80 % of the bags."""
    X, bags, y = load(name)
    new = in_order(bags)[:k]
    known = [c for c in bags.classes if c not in new]
    names, told = np.asarray(bags.classes, dtype=object)[y], bags.without_classes(new)
    begin = time.perf_counter()
    all_bags = METHODS[method](k, FIRST_SEED + run).fit(X, bags=told)
    spent = time.perf_counter() - begin
    is_test = np.zeros(bags.n_bags, dtype=bool)
    is_test[np.random.default_rng(FIRST_SEED + run).permutation(bags.n_bags)[: bags.n_bags // 5]] = True
    train, test = np.flatnonzero(~is_test[bags.codes]), np.flatnonzero(is_test[bags.codes])
    model = METHODS[method](k, FIRST_SEED + run).fit(X[train], bags=told[train])
    there = model.predict_labels(X[test])
    return {
        "f": float(novel_instance_f1(names, all_bags.predict_labels(X), known)),
        "f_out": float(novel_instance_f1(names[test], there, known)),
        "f_bag_out": bag_f1(bags[test], names[test], there, known, k),
        "auc": float(roc_auc_score(np.isin(names[test], new), model.novelty_score(X[test]))),
        "seconds": spent,
    }


def alarm_cell(share: float, seed: int) -> dict[str, float]:
    """Test a generated set: three named kinds, and a share of the rows of a fourth that nobody named."""
    generator = np.random.default_rng(1000 + seed)
    centres = generator.normal(scale=3.0, size=(4, 5))
    ids = np.repeat(np.arange(60), 5)
    y = np.concatenate([generator.choice(generator.choice(3, 2, replace=False), 5) for _ in range(60)])
    y[generator.random(300) < share] = 3
    labels = {b: {"abc"[k] for k in y[ids == b] if k < 3} for b in range(60)}
    X = centres[y] + generator.normal(size=(300, 5))
    found = sl.novelty_test(X, sl.Bags(ids, labels=labels, classes=list("abc")), random_state=seed)
    return {"p": found.p_value, "bayes": found.log_bayes_factor}
