"""How right other families are that are sure, where rows, bags or labels have a truth that no fit saw.

Clusters have no names of their own: they are matched with the classes that most of their rows bear, one to one. Rows
that answers were about do not count. Before: probabilities as the fit has them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

import bag_sets
import hierarchy_sets
import relation_sets
import sidelight as sl
from sidelight.errors import ignore_warnings
from sidelight.estimators._labelled_bags.row_temperature import temper
from sidelight.metrics import expected_calibration_error

ANSWERS = 150
RELATIONS = ("pima", "balance", "ionosphere", "digits-389", "letters-IJLT", "msrcv2-6", "hja")
BAGS = {"corel": bag_sets.corel, "birdsong": bag_sets.birdsong, "SIVAL": bag_sets.sival}
HIERARCHIES = ("newsgroups", "Church-FUN, subtree 32", "Church-FUN, subtree 10")
Cell = dict[str, list[float]]


def matched(P: np.ndarray, labels: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how sure each item is of its cluster, and whether that is the cluster of its class."""
    y = np.unique(y, return_inverse=True)[1]
    counts = np.zeros((max(P.shape[1], labels.max() + 1), y.max() + 1))
    np.add.at(counts, (labels, y), 1)
    clusters, classes = linear_sum_assignment(-counts)
    of = dict(zip(clusters.tolist(), classes.tolist()))
    right = np.array([of.get(label, -1) for label in labels.tolist()]) == y
    said = np.where(labels < P.shape[1], P[np.arange(len(P)), np.minimum(labels, P.shape[1] - 1)], 0.0)
    return said, right.astype(float)


def _cell(before: np.ndarray, after: np.ndarray, right: np.ndarray) -> Cell:
    return {"before": before.round(4).tolist(), "after": after.round(4).tolist(), "right": right.tolist()}


def answered(name: str, noise: float, seed: int) -> Cell:
    """Cluster by random answers about pairs."""
    X, y = relation_sets.load(name)
    pairs = sl.Pairs.sample(y, ANSWERS, noise=noise, random_state=seed)
    with ignore_warnings():
        model = sl.DiscriminativeClustering(len(np.unique(y)), random_state=seed).fit(X, pairs=pairs)
    P, others = model.predict_proba(X), np.setdiff1d(np.arange(len(y)), pairs.rows)
    plain = temper(P, 1.0 / model.calibration_["temperature"])
    (said, right), (before, _) = (matched(Q, P.argmax(axis=1), y) for Q in (P, plain))
    return _cell(before[others], said[others], right[others])


def asked(name: str, noise: float, seed: int) -> Cell:
    """Ask a hundred questions."""
    X, y = relation_sets.load(name)
    with ignore_warnings():
        session = sl.ActiveSession(X, len(np.unique(y)), random_state=seed)
        session.run(sl.Oracle(y, noise=noise, random_state=seed), 100)
    P, labels = session.predict_proba(), session.labels_
    others = np.setdiff1d(np.arange(len(y)), [row for rows, _ in session.history for row in rows])
    plain = temper(np.maximum(P, 1e-12), 1.0 / session.sureness().temperature)
    (said, right), (before, _) = (matched(Q, labels, y) for Q in (P, plain))
    return _cell(before[others], said[others], right[others])


def filled(name: str, lost: float, seed: int) -> Cell:
    """Drop labels; judge those that are filled in."""
    drawn = hierarchy_sets.SETS[name]()
    seen = hierarchy_sets.drop(drawn.Y, lost, np.random.default_rng(seed))
    with ignore_warnings():
        model = sl.LatentHierarchyClassifier(random_state=seed).fit(drawn.X, seen)
        added = (model.complete(drawn.X, seen) > 0) & (seen == 0)
        said = model.complete_proba(drawn.X, seen)[added]
    return _cell(said, said, (drawn.Y[added] > 0).astype(float))


def lost(name: str, dropped: float, seed: int) -> tuple[float, float, float, float]:
    """Return the share that is said to be lost, its lower end, and how many labels are filled in, and wrongly."""
    makes = hierarchy_sets.SETS
    drawn = makes[name]() if name in makes else hierarchy_sets.without_tree(name)
    seen = hierarchy_sets.drop(drawn.Y, dropped, np.random.default_rng(seed))
    with ignore_warnings():
        model = sl.LatentHierarchyClassifier(random_state=seed).fit(drawn.X, seen)
        added = (model.complete(drawn.X, seen) > 0) & (seen == 0)
    low, high = model.alpha_range_.tolist()
    return high, low, float(added.sum()), float((added & (drawn.Y == 0)).sum())


def in_bags(name: str, _: float, seed: int) -> Cell:
    """Cluster bags by what they hold."""
    X, bags, y = BAGS[name]()
    with ignore_warnings():
        model = sl.BagWordClustering(len(np.unique(y)), random_state=seed).fit(bag_sets.standardised_unit(X), bags=bags)
    said, right = matched(model.bag_proba_, model.bag_labels_, y)
    return _cell(said, said, right)


FAMILIES: dict[str, tuple[Any, tuple[str, ...], tuple[float, ...]]] = {
    f"relations, {ANSWERS} answers": (answered, RELATIONS, (0.0, 0.1)),
    "ask, 100 questions": (asked, RELATIONS, (0.0, 0.1)),
    "hierarchy, labels filled in": (filled, HIERARCHIES, (0.3,)),
    "bags (page: not called sure)": (in_bags, tuple(BAGS), (0.0,)),
}


def line(family: str, name: str, wrong: float, cells: list[Cell]) -> tuple[list[str], float]:
    """Return a line of the table, and the calibration error."""
    said, before, right = (np.concatenate([one[what] for one in cells]) for what in ("after", "before", "right"))
    what = "dropped" if family.startswith("hierarchy") else "wrong answers"
    columns, error = [family, f"{name}, {wrong:.0%} {what}" if wrong else name, f"{right.mean():.3f}"], float("nan")
    for values in (before, said):
        high = values >= 0.9
        error = float(expected_calibration_error(np.minimum(values, 1.0), right))
        share = f"{high.mean():.2f}: {right[high].mean():.2f}" if high.any() else "none"
        columns.append(f"{error:.3f}, {share}")
    return columns, error
