"""A tree that the user knows, matched with the columns of the labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.data.hierarchy import LabelTree
from sidelight.data.label_matrix import LabelMatrix
from sidelight.errors import InvalidData, UnknownName, nearest


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
