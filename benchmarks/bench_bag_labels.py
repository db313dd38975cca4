"""Labels of held-out bags: coverage with and without the correction by held-out lists, against two simple answers.

Every cell is kept in a ledger: stop it when you like and start it again.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import sidelight as sl
from datasets import load, title
from protocol import mean_and_spread
from runner import Ledger, Sheet

TITLE = "Labels of held-out bags"
ROUNDS = int(os.environ.get("SIDELIGHT_ROUNDS", 20))
DENSITIES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5)
REAL = ("hja", "msrcv2", "carroll")
FIRST_SEED = 200  # away from the seeds of the other pages
METHODS = ("coverage", "coverage, not corrected", "nothing", "one against the rest")
TEXT = (
    "Hamming loss (the share of wrong entries of the table bags x labels) on a third of the bags, by a model of the "
    "others; mean and standard deviation over {rounds} splits (`SIDELIGHT_ROUNDS`), seeds from {first} on. Nothing: no "
    "label for any bag. One against the rest: a logistic regression for every label, on the mean of a bag's rows. "
    "Generated sets have 250 bags of at least 12 rows and 20 labels, each on a bag with the probability that the name "
    "says; rows of bags without a label come from one further kind, and the model has one novel cluster."
)


def fill(sheet: Sheet) -> None:
    """Compute what is missing and write the page."""
    warnings.simplefilter("ignore", sl.SidelightWarning)  # bags with more labels than rows, not the matter here
    found = Ledger("bag_labels").run(cells(), stage="labels of bags")
    rows = []
    for name in names():
        losses = {m: np.array([found[f"{name}|{run}"][m] for run in range(ROUNDS)]) for m in METHODS}
        labels = {m: np.mean([found[f"{name}|{run}"][f"labels {m}"] for run in range(ROUNDS)]) for m in METHODS[:2]}
        there = np.mean([found[f"{name}|{run}"]["labels"] for run in range(ROUNDS)])
        counts = f"{there:.2f}, {labels[METHODS[0]]:.2f}, {labels[METHODS[1]]:.2f}"
        rows.append((shown(name), *(mean_and_spread(losses[m]) for m in METHODS), counts))
        for other in METHODS[2:]:
            gap = losses["coverage"] - losses[other]
            error = float(gap.std(ddof=1) / np.sqrt(ROUNDS)) if ROUNDS > 1 else 0.0
            what = f"{shown(name)}: loss minus that of {other}"
            sheet.row(what, f"{gap.mean():+.4f}", f"<= one standard error ({error:.4f})", bool(gap.mean() <= error))
    share = [found[f"{name}|{run}"]["cost"] for name in names() for run in range(ROUNDS)]
    typical, most = (
        float(np.median(share)),
        float(np.max([np.median(part) for part in np.split(np.array(share), len(names()))])),
    )
    sheet.row("time of a fit with the correction, over one without; median", f"{typical:.2f}", "<= 1.2", typical <= 1.2)
    sheet.row("the same, of the set where it is largest", f"{most:.2f}")
    header = ["set", *METHODS, "labels a bag: there, coverage, not corrected"]
    sheet.section("Hamming loss", header, rows, TEXT.format(rounds=ROUNDS, first=FIRST_SEED))
    sheet.say_if_busy()


def names() -> list[str]:
    """List the sets."""
    return [*(str(density) for density in DENSITIES), *REAL]


def shown(name: str) -> str:
    """Write what a set is called."""
    return title(name) if name in REAL else f"generated, {name}"


def cells() -> list[tuple[str, Callable[[], Any]]]:
    """List every cell, one seed after the other."""
    return [(f"{name}|{run}", partial(cell, name, run)) for run in range(ROUNDS) for name in names()]


def generate(density: float, seed: int) -> tuple[np.ndarray, sl.Bags]:
    """Draw bags whose labels are there with the given probability, each carried by at least one row."""
    generator = np.random.default_rng(seed)
    n_bags, n_classes, n_features = 250, 20, 20
    centres = generator.standard_normal((n_classes + 1, n_features))
    Y = generator.random((n_bags, n_classes)) < density
    kinds, ids = [], []
    for bag, row in enumerate(Y):
        listed = np.flatnonzero(row)
        pool = listed if len(listed) else np.array([n_classes])
        kinds += [*listed.tolist(), *generator.choice(pool, max(12 - len(listed), 0)).tolist()]
        ids += [bag] * max(12, len(listed))
    X = centres[kinds] + generator.standard_normal((len(kinds), n_features))
    return X, sl.Bags.from_indicator(ids, Y.astype(np.int8))


def cell(name: str, run: int) -> dict[str, float]:
    """Fit two thirds of the bags every way, and judge the others."""
    seed = FIRST_SEED + run
    X, bags = load(name)[:2] if name in REAL else generate(float(name), seed)
    held_out = np.zeros(bags.n_bags, dtype=bool)
    held_out[np.random.default_rng(seed).permutation(bags.n_bags)[: bags.n_bags // 3]] = True
    train, test = np.flatnonzero(~held_out[bags.codes]), np.flatnonzero(held_out[bags.codes])
    truth = bags[test].label_matrix.toarray() > 0
    found: dict[str, float] = {"labels": float(truth.sum(axis=1).mean()), "nothing": float(truth.mean())}
    seconds = {}
    for method, calibrate in (("coverage, not corrected", False), ("coverage", True)):
        model = sl.CoverageClustering(n_novel=int(name not in REAL), calibrate=calibrate, random_state=seed)
        begin = time.perf_counter()
        model.fit(X[train], bags=bags[train])
        seconds[method] = time.perf_counter() - begin
        answer = model.predict_bags_proba(X[test], bags[test], labels=bags.classes) > 0.5
        found[method] = float((answer != truth).mean())
        found[f"labels {method}"] = float(answer.sum(axis=1).mean())
    found["cost"] = seconds["coverage"] / seconds["coverage, not corrected"]
    found["one against the rest"] = float((_one_against_rest(X, bags, train, test) != truth).mean())
    return found


def _one_against_rest(X: np.ndarray, bags: sl.Bags, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    seen, judged = (_means(X[rows], bags[rows]) for rows in (train, test))
    Y = bags[train].label_matrix.toarray() > 0
    answers = np.zeros((len(judged), Y.shape[1]), dtype=bool)
    for column, listed in enumerate(Y.T):
        if listed.any() and not listed.all():
            answers[:, column] = LogisticRegression(max_iter=500).fit(seen, listed).predict(judged)
        else:
            answers[:, column] = listed.all()
    return answers


def _means(X: np.ndarray, bags: sl.Bags) -> np.ndarray:
    return np.asarray(np.add.reduceat(X[bags.order], bags.starts[:-1], axis=0) / bags.sizes[:, None])
