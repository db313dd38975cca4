"""Coverage with straight boundaries and as it comes: rows, sub-classes, novel labels, bags, unseen sets, candidates.

Every cell is kept in a ledger: stop it when you like and start it again. ``SIDELIGHT_ROUNDS`` sets the number of runs.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import sidelight as sl
from coverage_cells import UNSEEN, in_order, merged
from datasets import NAMES, folder, load, title
from protocol import RUNS, gather, mean_and_spread
from runner import Ledger, Sheet
from sidelight.metrics import hamming_loss, normalized_mutual_information, novel_instance_f1, ranking_loss

TITLE = "Coverage: boundaries that bend"
ROUNDS = int(os.environ.get("SIDELIGHT_ROUNDS", RUNS))
BOUNDARIES = ("straight", "auto")
NOVEL_SETS, NOVEL = ("msrcv2", "carroll"), (4, 8, 16)
FLOORS = {"hja": (0.81, 0.64), "msrcv2": (0.87, 0.70), "carroll": (0.915, 0.86)}
SUB_FLOORS = {"msrcv2": 0.68}
N_CANDIDATES = (2, 4)  # wrong candidates beside the right one


def fill(sheet: Sheet) -> None:
    """Compute what is missing and write the page."""
    warnings.simplefilter("ignore", sl.SidelightWarning)  # short bags and iteration limits, counted in the guide
    found = Ledger("coverage_boundary").run(cells(), stage="coverage, boundaries")
    sheet.notes.append(
        f'{ROUNDS} runs, seeds 0 to {ROUNDS - 1}, mean and standard deviation. "auto" is `CoverageClustering()` as it '
        "comes: held-out lists choose the boundary, without the truth. The widths, the strength and the number of "
        "landmarks were settled with the truth of HJA, MSRC v2 and Letter-Carroll in view, on seeds 0 to 7; letters "
        "and pen digits were not looked at."
    )
    rows_table(sheet, found)
    sub_table(sheet, found)
    novel_table(sheet, found)
    bags_table(sheet, found)
    unseen_table(sheet, found)
    candidates_table(sheet, found)


def cells() -> list[tuple[str, Callable[[], Any]]]:
    """List every cell, one seed after the other; straight boundaries with K = C leave nothing to chance."""
    listed: list[tuple[str, Callable[[], Any]]] = []

    def add(key: str, compute: Callable[..., dict[str, float]], *given: Any) -> None:
        listed.append((key, lambda: compute(*given)))

    for run in range(ROUNDS):
        for boundary in BOUNDARIES:
            for name in NAMES:
                add(f"rows|{name}|{boundary}|{run}", rows_cell, name, boundary, run)
                add(f"sub|{name}|{boundary}|{run}", sub_cell, name, boundary, run)
                add(f"bags|{name}|{boundary}|{run}", bags_cell, name, boundary, run)
            for name in NOVEL_SETS:
                for k in NOVEL:
                    add(f"novel|{name}|{k}|{boundary}|{run}", novel_cell, name, k, boundary, run)
            for name in UNSEEN:
                add(f"unseen|{name}|{boundary}|{run}", unseen_cell, name, boundary, run)
        for n_wrong in N_CANDIDATES:
            add(f"candidates|{n_wrong}|{run}", candidates_cell, n_wrong, run)
    return listed


def rows_cell(name: str, boundary: str, run: int) -> dict[str, float]:
    """K = C, all bags labelled."""
    X, bags, y = load(name)
    model = sl.CoverageClustering(boundary=boundary, random_state=run).fit(X, bags=bags)
    return judged(model, X, y)


def judged(model: Any, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """NMI with bags known and by features alone, and whether the boundary bends."""
    return {
        "nmi": float(normalized_mutual_information(y, model.labels_)),
        "alone": float(normalized_mutual_information(y, model.predict(X))),
        "curved": float(model.boundary_ == "curved"),
    }


def sub_cell(name: str, boundary: str, run: int) -> dict[str, float]:
    """Only merged names on the bags, as many clusters as real classes."""
    X, bags, y, counts = merged(name)
    return judged(
        sl.CoverageClustering(n_subclusters=counts, boundary=boundary, random_state=run).fit(X, bags=bags), X, y
    )


def novel_cell(name: str, k: int, boundary: str, run: int) -> dict[str, float]:
    """[Z17]: labels 1 to k are never named; training rows."""
    X, bags, y = load(name)
    new = in_order(bags)[:k]
    known = [c for c in bags.classes if c not in new]
    names, told = np.asarray(bags.classes, dtype=object)[y], bags.without_classes(new)
    model = sl.CoverageClustering(n_novel=k, boundary=boundary, random_state=run).fit(X, bags=told)
    return {
        "f": float(novel_instance_f1(names, model.predict_labels(X), known)),
        "f_bags": float(novel_instance_f1(names, model.predict_labels(X, bags=told), known)),
    }


def bags_cell(name: str, boundary: str, run: int) -> dict[str, float]:
    """Labels of held-out bags: 80 % of the bags to learn from."""
    X, bags, y = load(name)
    test_bag = np.zeros(bags.n_bags, dtype=bool)
    test_bag[np.random.default_rng(run).permutation(bags.n_bags)[: bags.n_bags // 5]] = True
    train, test = np.flatnonzero(~test_bag[bags.codes]), np.flatnonzero(test_bag[bags.codes])
    model = sl.CoverageClustering(boundary=boundary, random_state=run).fit(X[train], bags=bags[train])
    Y, P = bags[test].label_matrix.toarray(), model.predict_bags_proba(X[test], bags[test])
    told = Y.sum(axis=1) < Y.shape[1]
    return {
        "hamming": float(hamming_loss(Y, P > 0.5)),
        "ranking": float(ranking_loss(Y[told], P[told])),
        "right": float(np.mean(model.predict(X[test]) == y[test])),
    }


def unseen_cell(name: str, boundary: str, run: int) -> dict[str, float]:
    """Bags of five rows from sets that no default was chosen on: their rows, and rows that were left out."""
    X, y, classes = unseen(name)
    rows = np.random.default_rng(run).choice(len(y), size=3000, replace=False)
    ids = np.repeat(np.arange(600), 5)
    bags = sl.Bags(ids, labels={b: set(classes[y[rows[5 * b : 5 * b + 5]]]) for b in range(600)}, classes=list(classes))
    model = sl.CoverageClustering(boundary=boundary, random_state=run).fit(X[rows], bags=bags)
    rest = np.setdiff1d(np.arange(len(y)), rows)[:5000]
    return {
        "nmi": float(normalized_mutual_information(y[rows], model.labels_)),
        "new": float(normalized_mutual_information(y[rest], model.predict(X[rest]))),
    }


def unseen(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standardised rows, their classes as numbers, and the names."""
    data = sl.read(folder() / UNSEEN[name])
    classes, y = np.unique(data.y.astype(str), return_inverse=True)
    return StandardScaler().fit_transform(data.X), y, classes


def candidates_cell(n_wrong: int, run: int) -> dict[str, float]:
    """Pen digits: every row comes with ``n_wrong`` wrong names beside its own; rows right on 3,000 others."""
    X, y, classes = unseen("Pen digits")
    generator = np.random.default_rng(run)
    rows = generator.permutation(len(y))
    train, test = rows[:3000], rows[3000:6000]
    wrong = np.array([generator.permutation(np.delete(np.arange(len(classes)), c))[:n_wrong] for c in y[train]])
    sets = np.hstack([y[train, None], wrong])
    values = {}
    for boundary in BOUNDARIES:
        model = sl.CoverageClustering(boundary=boundary, random_state=run)
        model.fit(X[train], candidates=[set(classes[some].tolist()) for some in sets])
        values[boundary] = float(np.mean(model.predict_labels(X[test]) == classes[y[test]]))
    # The average of the candidates as targets: a row counts for each of them, with equal weights.
    copies, weights = np.repeat(X[train], n_wrong + 1, axis=0), np.full(sets.size, 1.0 / (n_wrong + 1))
    average = LogisticRegression(C=1 / 1.5, max_iter=2000).fit(copies, sets.ravel(), sample_weight=weights)
    return {**values, "average": float(np.mean(average.predict(X[test]) == y[test]))}


def of_runs(found: dict[str, Any], key: str, measure: str) -> list[float]:
    """One measure of a cell, run by run."""
    return gather(found, [f"{key}|{run}" for run in range(ROUNDS)], measure)


def mean(found: dict[str, Any], key: str, measure: str) -> float:
    """Mean over the runs."""
    return float(np.mean(of_runs(found, key, measure)))


def cell(found: dict[str, Any], key: str, measure: str) -> str:
    """Mean and spread over the runs."""
    return mean_and_spread(of_runs(found, key, measure))


def rows_table(sheet: Sheet, found: dict[str, Any]) -> None:
    """K = C against the floors."""
    for name in NAMES:
        for measure, floor, words in zip(("nmi", "alone"), FLOORS[name], ("bags known", "features alone")):
            value = mean(found, f"rows|{name}|auto", measure)
            sheet.row(f"{title(name)}, K = C, NMI, {words}", f"{value:.3f}", f">= {floor}", value >= floor)
    rows = [
        [title(name), boundary, *(cell(found, f"rows|{name}|{boundary}", m) for m in ("nmi", "alone", "curved"))]
        for name in NAMES
        for boundary in BOUNDARIES
    ]
    sheet.section(
        "Rows, K = C", ["set", "boundary", "NMI, bags known", "features alone", "share of runs that bend"], rows
    )


def sub_table(sheet: Sheet, found: dict[str, Any]) -> None:
    """K > C: no worse than straight by more than 0.01."""
    rows = []
    for name in NAMES:
        straight, bent = (mean(found, f"sub|{name}|{boundary}", "nmi") for boundary in BOUNDARIES)
        floor = max(straight - 0.01, SUB_FLOORS.get(name, 0.0))
        sheet.row(f"{title(name)}, sub-classes, NMI", f"{bent:.3f}", f">= {floor:.3f}", bent >= floor)
        rows += [
            [title(name), boundary, *(cell(found, f"sub|{name}|{boundary}", m) for m in ("nmi", "alone"))]
            for boundary in BOUNDARIES
        ]
    sheet.section("Sub-classes", ["set", "boundary", "NMI, bags known", "features alone"], rows)


def novel_table(sheet: Sheet, found: dict[str, Any]) -> None:
    """Labels that nobody named: 0.03 better on average, no cell worse by more than a standard error."""
    rows, gains = [], []
    for name in NOVEL_SETS:
        for k in NOVEL:
            straight, bent = (np.array(of_runs(found, f"novel|{name}|{k}|{b}", "f")) for b in BOUNDARIES)
            gains.append(bent.mean() - straight.mean())
            error = float(straight.std() / np.sqrt(len(straight)))
            what = f"{title(name)}, novel 1-{k}, F_INL above straight boundaries"
            sheet.row(what, f"{gains[-1]:+.3f}", f">= {-error:.3f}", gains[-1] >= -error)
            rows += [
                [title(name), f"1-{k}", b, *(cell(found, f"novel|{name}|{k}|{b}", m) for m in ("f", "f_bags"))]
                for b in BOUNDARIES
            ]
    average = float(np.mean(gains))
    sheet.row(
        "novel labels, mean of the six cells above straight boundaries", f"{average:+.3f}", ">= +0.03", average >= 0.03
    )
    sheet.section(
        "Novel labels, training rows", ["set", "novel", "boundary", "F_INL, features alone", "bags known"], rows
    )


def bags_table(sheet: Sheet, found: dict[str, Any]) -> None:
    """Held-out bags: no loss may rise."""
    rows = []
    for name in NAMES:
        for measure in ("hamming", "ranking"):
            straight, bent = (mean(found, f"bags|{name}|{boundary}", measure) for boundary in BOUNDARIES)
            words = f"{title(name)}, held-out bags, {measure} loss"
            sheet.row(words, f"{bent:.3f}", f"<= {straight:.3f}", round(bent, 3) <= round(straight, 3))
        rows += [
            [title(name), b, *(cell(found, f"bags|{name}|{b}", m) for m in ("hamming", "ranking", "right"))]
            for b in BOUNDARIES
        ]
    header = ["set", "boundary", "Hamming loss (low)", "ranking loss (low)", "rows named rightly"]
    sheet.section("Bags that were held out", header, rows, "80 % of the bags to learn from.")


def unseen_table(sheet: Sheet, found: dict[str, Any]) -> None:
    """Sets that nobody looked at."""
    rows = [
        [name, boundary, *(cell(found, f"unseen|{name}|{boundary}", m) for m in ("nmi", "new"))]
        for name in UNSEEN
        for boundary in BOUNDARIES
    ]
    header = ["set", "boundary", "NMI, bags known", "NMI, new rows"]
    sheet.section("Sets that no default was chosen on", header, rows, "3,000 rows in bags of five, K = C.")


def candidates_table(sheet: Sheet, found: dict[str, Any]) -> None:
    """Candidates of rows."""
    rows = [
        [
            f"{n_wrong} wrong beside the right one",
            *(cell(found, f"candidates|{n_wrong}", m) for m in ("average", *BOUNDARIES)),
        ]
        for n_wrong in N_CANDIDATES
    ]
    sheet.section(
        "Candidates: rows named rightly, pen digits",
        ["candidates", "average of candidates as targets", "candidates, straight", "candidates, auto"],
        rows,
        "3,000 rows with made candidates, judged on 3,000 others. Average: softmax regression on every candidate of "
        "a row with equal weights and the same penalty.",
    )
