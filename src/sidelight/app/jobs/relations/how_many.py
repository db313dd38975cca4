"""How many clusters: the smallest number that explains answers which were held out.

Answers say more than rows: classes that touch are one cluster for the rows, and "different" for a person. Too few
clusters cannot keep the answers, further ones gain nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sidelight.data.relations import Pairs
from sidelight.errors import AnswersDisagree, ignore_warnings
from sidelight.estimators._how_many import NumberOfClusters
from sidelight.estimators.relations.cross_validation import DiscriminativeClusteringCV

FEWEST = 50  # answers from which their folds tell numbers of clusters apart; below the rows are asked
_MOST_ROWS, _MOST_CLUSTERS, _FOLDS = 2000, 12, 3
_STARTS = 20  # groups from which a set of clusters that all differ is sought


def held_out(points: np.ndarray, answers: Mapping[str, Any], seed: int) -> NumberOfClusters | None:
    """Try numbers of clusters from those that answers prove on, with answers held out; None where these are too few.

    Parameters
    ----------
    points : ndarray
        Standardised rows. Of many, some are taken, those with answers first.
    answers : mapping
        Pairs and triplets about them, by these names.
    seed : int
        Draws the folds and the rows.
    """
    some = _rows(len(points), answers, np.random.default_rng(seed))
    known = {name: side[some] for name, side in answers.items()}
    least = max(2, proven_clusters(known["pairs"]) if "pairs" in known else 2)
    most = max(min(_MOST_CLUSTERS, len(some) // 4), least + 1)
    if sum(side.n_answers for side in known.values()) < FEWEST or len(some) < 12:
        return None
    search = DiscriminativeClusteringCV(range(least, most + 1), cv=_FOLDS, random_state=seed)
    with ignore_warnings(AnswersDisagree):  # the fit to all answers says it
        choice = search.fit(_narrow(points[some]), **known).choice_
    return NumberOfClusters(
        [settings[0] for settings in choice["tried"]],
        choice["scores"],
        choice["errors"],
        choice["chosen"][0],
        by="answers",
    )


def proven_clusters(pairs: Pairs) -> int:
    """Return how many groups of rows answers prove to be different clusters, all of them from each other; at least 1.

    A group is two rows or more that answers join: one slip alone proves no cluster. Groups with answers that cannot all
    be true prove nothing.
    """
    same = pairs.codes == pairs.WORDS.index("same")
    ends = pairs.rows
    graph = coo_array((np.ones(int(same.sum())), tuple(ends[same].T)), shape=(pairs.n_rows, pairs.n_rows))
    group = connected_components(graph, directed=False)[1]
    sizes = np.bincount(group)
    apart: dict[int, set[int]] = {}
    broken: set[int] = set()
    for a, b in group[ends[~same]].tolist():
        if a == b:
            broken.add(a)
        elif min(sizes[a], sizes[b]) > 1:
            apart.setdefault(a, set()).add(b)
            apart.setdefault(b, set()).add(a)
    best = 1
    for start in sorted(apart.keys() - broken, key=lambda one: (-len(apart[one]), one))[:_STARTS]:
        clique, others = [start], apart[start] - broken
        while others:
            clique.append(max(others, key=lambda one: (len(apart[one] & others), -one)))
            others = others & apart[clique[-1]]
        best = max(best, len(clique))
    return best


def _narrow(points: np.ndarray) -> np.ndarray:
    """Turn wide rows into as many directions as there are rows: all distances stay, and 33 fits take seconds."""
    if points.shape[1] <= points.shape[0]:
        return points
    directions, sizes, _ = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    return np.asarray(directions * sizes)


def _rows(n_rows: int, answers: Mapping[str, Any], generator: np.random.Generator) -> np.ndarray:
    asked = np.zeros(n_rows)
    for side in answers.values():
        asked[side.rows.ravel()] = 1.0
    order = np.argsort(generator.random(n_rows) - asked, kind="stable")
    return np.sort(order[:_MOST_ROWS])
