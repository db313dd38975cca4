"""What carries figures 5.3 and 5.4 of [P17]: trees without what features say, and FastTag at a fixed threshold."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import sidelight as sl
from hierarchy_cells import JUDGES, NOISES, SEEDS, distance, split
from hierarchy_sets import SETS
from runner import Ledger, Sheet
from sidelight._models.label_logits import one_scale

TITLE = "Hierarchy: what carries the figures of chapter 5"
NAME, LAMBDA = "newsgroups", 1.0  # of the thesis' three the one that is best on newsgroups by the truth
FEATURES = {
    "as they are": lambda X, rng: X,
    "rows shuffled": lambda X, rng: X[rng.permutation(len(X))],
    "two columns of noise": lambda X, rng: rng.normal(size=(len(X), 2)),
}
FIXED = 0.25  # FastTag's scores above it are labels, whatever the labels look like


def fill(sheet: Sheet) -> None:
    """Run what is missing and write both tables."""
    todo = [
        (f"tree/{kind}/{noise}/{seed}", partial(learned, kind, noise, seed))
        for noise in NOISES
        for seed in SEEDS
        for kind in FEATURES
    ]
    todo += [(f"fasttag/{noise}/{seed}", partial(fasttag, noise, seed)) for noise in NOISES for seed in SEEDS]
    found = Ledger("hierarchy_checks").run(todo, stage="hierarchy checks")
    sheet.notes.append(
        f"Newsgroups, seeds 0 to 4, mean ± standard deviation. learn is the thesis' EM from W = 0, the tree before the "
        f"weights in every round, lambda = {LAMBDA:g}, as on the page hierarchy_fidelity, which has the other methods."
    )
    rows = [
        (noise, *(written([found[f"tree/{kind}/{noise}/{seed}"] for seed in SEEDS], 1) for kind in FEATURES))
        for noise in NOISES
    ]
    text = "Undirected Robinson-Foulds distance of `learn` to the true tree; what features cannot say, labels do."
    sheet.section("Figure 5.3: the tree by what features say", ("noise", *FEATURES), rows, text)
    kinds = ("fitted", "fixed")
    rows = [
        (
            noise,
            *(
                written([found[f"fasttag/{noise}/{seed}"][f"{kind} {judge}"] for seed in SEEDS], 3)
                for kind in kinds
                for judge in JUDGES
            ),
        )
        for noise in NOISES
    ]
    header = ("noise", *(f"{kind}, F1-{judge}" for kind in kinds for judge in JUDGES))
    text = f"FastTag with the threshold that it fits to the labels, and with scores above {FIXED:g}."
    sheet.section("Figure 5.4: FastTag by its threshold", header, rows, text)


def learned(kind: str, noise: float, seed: int) -> int:
    """Return how far the learned tree is from the true one."""
    data = SETS[NAME]()
    learn, _, Z = split(data, noise, seed)
    X = FEATURES[kind](data.X[learn], np.random.default_rng(seed))
    penalty = LAMBDA / X.shape[1] * float(one_scale(X)[1][0]) ** 2
    model = sl.LatentHierarchyClassifier(structure="joint", init="zero", penalty=penalty, threshold=None, max_iter=60)
    return distance(data, model.fit(X, Z), directed=False)


def fasttag(noise: float, seed: int) -> dict[str, float]:
    """Judge FastTag on test rows by both thresholds."""
    data = SETS[NAME]()
    learn, test, Z = split(data, noise, seed)
    model = sl.peers.FastTag().fit(data.X[learn], Z)
    said = {"fitted": model.predict(data.X[test]), "fixed": (model.decision_function(data.X[test]) > FIXED).astype(int)}
    return {f"{kind} {name}": judge(data.Y[test], P) for kind, P in said.items() for name, judge in JUDGES.items()}


def written(values: list[Any], digits: int) -> str:
    """Mean and standard deviation."""
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"
