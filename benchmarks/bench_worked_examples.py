"""What can be computed from the documents' pages alone: counts of sets, worked examples, theorems and captions."""

from __future__ import annotations

import numpy as np

import relation_sets
import sidelight as sl
from bag_sets import corel
from datasets import load
from runner import Sheet
from sidelight.metrics import answer_information, information_loss

TITLE = "Worked examples of the documents, computed again"
MIML = {"hja": "HJA birdsong", "msrcv2": "MSRC v2", "carroll": "Letter-Carroll", "frost": "Letter-Frost"}
CONSTRAINED = ("ionosphere", "pima", "balance", "digits-389", "letters-IJLT", "msrcv2-6", "hja")
ACTIVE = ("fertility", "parkinsons", "crabs", "sonar", "balance", "transfusion", "letters-IJ", "digits-389")
# [P17] tables 3.8 and 3.9: rows are the truth, columns what people said; the first is "different" or "none"
PEOPLE = {
    "Birdsong v2, pairs": [[142.42, 6.50], [8.92, 37.15]],
    "Birdsong v2, triplets": [
        [59.88, 3.46, 3.38, 3.62], [2.62, 14.73, 0.12, 0.62], [3.65, 0.31, 17.00, 0.38], [3.62, 0.31, 0.42, 15.88],
    ],
    "Flower, pairs": [[158.54, 4.54], [2.00, 29.92]],
    "Flower, triplets": [
        [75.88, 1.46, 1.73, 2.15], [0.88, 14.12, 0.08, 0.15], [1.19, 0.12, 13.42, 0.15], [1.23, 0.08, 0.04, 17.31],
    ],
}  # fmt: skip


def fill(sheet: Sheet) -> None:
    """Compute all of it; nothing here is drawn at random but Letter-Frost, whose counts do not depend on the draw."""
    sets(sheet)
    information(sheet)
    people(sheet)
    co_clustering(sheet)


def sets(sheet: Sheet) -> None:
    """Count what the sets hold."""
    rows = []
    for name, title in MIML.items():
        X, bags, _ = load(name)
        several = np.diff(bags.label_matrix.indptr)
        single = int((several == 1).sum())
        counts = (bags.n_classes, X.shape[1], single, bags.n_bags - single, bags.n_bags, len(X))
        means = (f"{len(X) / bags.n_bags:.2f}", f"{several.mean():.2f}")
        rows.append((title, " / ".join(map(str, (*counts, *means)))))
    header = (
        "set",
        "classes / features / single-label bags / multi-label bags / bags / rows / rows a bag / labels a bag",
    )
    sheet.section("Table 2 of [PF14]", header, rows)
    X, bags, animals = corel()
    counted = " / ".join(map(str, (len(np.unique(animals)), X.shape[1], bags.n_bags, len(X))))
    sheet.section("Table 2 of [Z09]", ("set", "classes / features / bags / rows"), [("Corel", counted)])
    for table, names in (("3.5", CONSTRAINED), ("4.1", ACTIVE)):
        counted = []
        for name in names:
            X, y = relation_sets.load(name)
            counted.append((relation_sets.TITLES[name], f"{len(X)} / {X.shape[1]} / {len(np.unique(y))}"))
        sheet.section(f"Table {table} of [P17]", ("set", "rows / features / classes"), counted)


def information(sheet: Sheet) -> None:
    """Bits that answers tell, theorem 3.4.1 and figure 3.6, and for the classes of HJA."""
    _, y = relation_sets.load("hja")
    shares = {f"{k} even clusters": np.ones(k) for k in (2, 3, 4, 5, 10, 20, 50)}
    shares["HJA birdsong"] = np.bincount(y)
    rows = []
    for name, share in shares.items():
        worth = answer_information(share)
        figures = (worth.pair, worth.triplet, 3 * worth.pair, 2 * worth.triplet)
        rows.append((name, *(f"{bits:.3f}" for bits in figures)))
    header = ("clusters", "one pair", "one triplet", "three pairs", "two triplets")
    sheet.section("Theorem 3.4.1 of [P17]: bits of right answers", header, rows)


def people(sheet: Sheet) -> None:
    """Accuracy of people that follows from the printed matrices."""
    rows = [(name, f"{100 * np.trace(m) / np.sum(m):.2f}") for name, m in PEOPLE.items()]
    sheet.section(
        "Tables 3.8 and 3.9 of [P17]: accuracy that follows from the matrix, %", ("answers", "accuracy"), rows
    )


def co_clustering(sheet: Sheet) -> None:
    """The 4 x 4 example of [B04] 1.4.3."""
    P = np.array([[0.1, 0.1, 0, 0], [0.1, 0.2, 0, 0], [0, 0, 0.05, 0.05], [0, 0, 0.15, 0.25]])
    halves = [0, 0, 1, 1]
    table = sl.CoOccurrence.from_matrix(P)
    clustered = table.aggregate({"rows": halves, "columns": halves})
    Q = clustered.to_array()[np.ix_(halves, halves)] * np.outer(table.marginal("rows"), table.marginal("columns"))
    Q /= np.outer(clustered.marginal("rows")[halves], clustered.marginal("columns")[halves])
    left, values, right = np.linalg.svd(P)
    low = left[:, :2] * values[:2] @ right[:2]
    even = low / low.sum()
    there = P > 0
    rows = [
        ("D_KL(P, Q), bits", f"{information_loss(P, [halves, halves], unit='bits'):.4f}"),
        ("D_KL(P, P_2), bits, P_2 normalised", f"{float((P[there] * np.log2(P[there] / even[there])).sum()):.4f}"),
        ("norm of P - Q", f"{np.linalg.norm(P - Q, 2):.4f}"),
        ("norm of P - P_2", f"{np.linalg.norm(P - low, 2):.4f}"),
    ]
    sheet.section("Section 1.4.3 of [B04]", ("what", "value"), rows)
