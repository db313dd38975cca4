"""Rows of any kind: `Standardized(DiscriminativeClustering)` without answers, and k-means on the same prepared rows.

No side information: what a user sees first. The number of classes is given.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

import relation_sets
import sidelight as sl
import view_sets
from runner import Ledger, Sheet
from sidelight._models.prepared_rows import Preparation
from sidelight.errors import ignore_warnings
from sidelight.metrics import normalized_mutual_information

TITLE = "Rows of any kind: quality without answers"
SEEDS = int(os.environ.get("ROWS_SEEDS", 10))
MINUTES = float(os.environ.get("ROWS_MINUTES", "inf"))
FIRST_SEED = 500
SHORT = 0.02
NUMBERS = ("iris", "wine", "breast", "digits", "digits-389", "letters-IJLT", "pendigits", "balance", "ionosphere")


def fill(sheet: Sheet) -> None:
    """Fit every set with every seed, and compare means."""
    seeds = range(FIRST_SEED, FIRST_SEED + SEEDS)
    cells = [
        (f"{name} {seed}", lambda draw=draw, seed=seed: compare(*draw(seed), seed))
        for seed in seeds
        for name, draw in sets().items()
    ]
    found = Ledger("rows_quality").run(cells, stage="rows", minutes=MINUTES)
    rows, n_met = [], 0
    for name in sets():
        some = [found[f"{name} {seed}"] for seed in seeds if f"{name} {seed}" in found]
        if not some:
            continue
        ours, theirs = (np.array([one[what] for one in some]) for what in ("ours", "kmeans"))
        met = bool(ours.mean() >= theirs.mean() - SHORT)
        n_met += met
        rows.append(
            (
                name, some[0]["kind"], len(some), f"{theirs.mean():.3f}",
                f"{ours.mean():.3f} ± {ours.std() / np.sqrt(len(ours)):.3f}", "yes" if met else "**no**",
                max(one["empty"] for one in some),
            )
        )  # fmt: skip
    sheet.notes.append(
        f"Normalised mutual information, mean over seeds from {FIRST_SEED} on ({SEEDS} wanted, ROWS_SEEDS), and its "
        "standard error; the number of classes is given, answers are not."
    )
    sheet.row("sets not below k-means on the same prepared rows by more than .02", f"{n_met} of {len(rows)}")
    header = ["set", "taken for", "draws", "k-means, prepared", "ours", "met", "empty clusters, at most"]
    sheet.section("Sets", header, rows)


def sets() -> dict[str, Callable[[int], Any]]:
    """Return how each set is drawn."""
    numbers: dict[str, Callable[[int], Any]] = {
        relation_sets.TITLES[name]: lambda seed, name=name: relation_sets.load(name)  # type: ignore[misc]
        for name in NUMBERS
    }
    words: dict[str, Callable[[int], Any]] = {
        "classic3": lambda seed: view_sets.classic3(),
        "newsgroups, 5, words of the body": lambda seed: _body(5, seed),
        "newsgroups, 20, words of the body": lambda seed: _body(20, seed),
        "newsgroups, 5, words there or not": lambda seed: _there(5, seed),
    }
    return numbers | words


def _body(n_groups: int, seed: int) -> tuple[Any, np.ndarray]:
    views, y = view_sets.newsgroups(n_groups, seed)
    return views["body"], y


def _there(n_groups: int, seed: int) -> tuple[Any, np.ndarray]:
    X, y = _body(n_groups, seed)
    return sp.csr_array((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape), y


def compare(X: Any, y: np.ndarray, seed: int) -> dict[str, Any]:
    """Return NMI of k-means and of ours, the kind of rows, and how many clusters stayed empty."""
    k, preparation = len(np.unique(y)), Preparation.of(X)
    theirs = KMeans(k, n_init=5, random_state=seed).fit_predict(np.asarray(preparation(X)))
    with ignore_warnings():
        model = sl.Standardized(sl.DiscriminativeClustering(k, random_state=seed)).fit(X)
    return {
        "ours": float(normalized_mutual_information(y, model.labels_)),
        "kmeans": float(normalized_mutual_information(y, theirs)),
        "kind": preparation.kind,
        "empty": k - len(np.unique(model.labels_)),
    }
