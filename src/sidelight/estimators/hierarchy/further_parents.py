"""Labels that imply more than one other label: further parents beside the one in the tree, [P17] section 6.2.

A label p that is neither above nor below c is a further parent where the counts insist twice: p was seen on the rows of
c as often as a parent would be (n_c KL(r | 1 - a) stays small), and far more often than one that c only often goes with
(a likelihood ratio against 0.6 (1 - a), and against what p is seen beside c anyway).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.data.hierarchy import LabelTree
from sidelight.data.label_matrix import LabelMatrix
from sidelight.errors import InvalidData, UnknownName, nearest
from sidelight.estimators.hierarchy.candidates import Candidate
from sidelight.estimators.hierarchy.counts import Floats, PairCounts
from sidelight.estimators.hierarchy.edges import shortfalls, triple_evidence

# A tree that the user knows, matched with the columns of the labels.


def as_tree(tree: Any, labels: LabelMatrix) -> LabelTree:
    """Return the tree with its labels numbered as the columns.

    A LabelTree is matched by names when the labels have names, else by number. A cycle, a name that only one of them
    has, and a tree of another size are refused.
    """
    if not isinstance(tree, LabelTree):
        tree = LabelTree(np.asarray(tree), labels.names)
    if labels.has_names and set(tree.names) != set(labels.names):
        for name in tree.names:
            if name not in labels.names:
                raise UnknownName(f"The tree has the label {name!r}, which y lacks. {nearest(name, labels.names)}")
        lost = next(name for name in labels.names if name not in tree.names)
        raise UnknownName(f"y has the label {lost!r}, which the tree lacks. {nearest(lost, tree.names)}")
    if tree.n_labels != labels.n_labels:
        raise InvalidData(f"The tree has {tree.n_labels} labels but y has {labels.n_labels} columns.")
    if not labels.has_names or tree.names == labels.names:
        return LabelTree(tree.parents, labels.names if labels.has_names else tree.names)
    column = np.array([labels.names.index(name) for name in tree.names])
    parents = np.empty(tree.n_labels, dtype=np.intp)
    parents[column] = np.where(tree.parents >= 0, column[tree.parents], -1)
    return LabelTree(parents, labels.names)


Ints = NDArray[np.intp]
_MOST_SHORT = 3.0  # nats below the rate of a parent
_LEAST_EVIDENCE = 5.0  # nats above the rate of an associate
_ASSOCIATE = 0.6  # of the rate of a parent; 0.7 misses planted links with 100 rows at noise 0.3


def further_parents(counts: PairCounts, chosen: Candidate) -> list[tuple[int, int, float]]:
    """Return (parent, child, evidence in nats), the strongest first.

    Of several that are above each other only the lowest is kept, and what holds for a label is not repeated for those
    below it.
    """
    above = _above(chosen.parents)
    related = above | above.T | np.eye(len(above), dtype=bool)
    seen = counts.seen
    evidence = np.where(related | (seen[:, None] < seen[None, :]), -np.inf, _against_associates(counts, chosen.alphas))
    evidence[shortfalls(counts, chosen.alphas) > _MOST_SHORT] = -np.inf
    further: dict[tuple[int, int], float] = {}
    for p, c in np.argwhere(evidence >= _LEAST_EVIDENCE).tolist():
        meet = _meeting_point(chosen.parents, above, p, c)
        top = _child_towards(chosen.parents, p, meet)
        beside = triple_evidence(counts, chosen.alphas, chosen.shared, c, np.array([p]), int(chosen.parents[top]))[0]
        nats = min(float(evidence[p, c]), float(beside))
        if nats >= _LEAST_EVIDENCE:
            further[p, c] = nats
    kept = [
        (p, c, nats)
        for (p, c), nats in further.items()
        if not any((below, c) in further for below in np.flatnonzero(above[p]).tolist())
        and not any((p, higher) in further for higher in np.flatnonzero(above[:, c]).tolist())
    ]
    return sorted(kept, key=lambda link: -link[2])


def _against_associates(counts: PairCounts, alphas: Floats) -> Floats:
    """Log-likelihood ratio of the rate 1 - a of a parent against 0.6 (1 - a), for all [p, c]."""
    a = np.clip(alphas, 1e-3, 0.999)[:, None]
    lost = counts.child - counts.both
    return np.asarray(-counts.both * np.log(_ASSOCIATE) + lost * np.log(a / (1 - _ASSOCIATE * (1 - a))))


def _above(parents: Ints) -> NDArray[np.bool_]:
    """Return above[a, b]: a is an ancestor of b."""
    above = np.zeros((len(parents), len(parents)), dtype=bool)
    for label in range(len(parents)):
        a = int(parents[label])
        while a >= 0:
            above[a, label] = True
            a = int(parents[a])
    return above


def _meeting_point(parents: Ints, above: NDArray[np.bool_], p: int, c: int) -> int:
    """Return the lowest common ancestor of p and c, -1 for the root."""
    a = int(parents[c])
    while a >= 0 and not above[a, p]:
        a = int(parents[a])
    return a


def _child_towards(parents: Ints, label: int, ancestor: int) -> int:
    """Return the child of ``ancestor`` on the way down to ``label``."""
    while int(parents[label]) != ancestor:
        label = int(parents[label])
    return label
