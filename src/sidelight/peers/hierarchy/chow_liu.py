"""The Chow-Liu tree of labels: the spanning tree of largest mutual information, from the labels alone."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import check_flag
from sidelight.data.hierarchy import LabelTree
from sidelight.estimators._base import all_or_nothing, reporting, rows_to_fit
from sidelight.estimators.hierarchy.counts import count_pairs
from sidelight.estimators.hierarchy.decoding import LearnsLabelSets, labels_to_fit
from sidelight.estimators.hierarchy.edges import spanning_tree

Ints = NDArray[np.intp]


class ChowLiuTree(LearnsLabelSets):
    """Join the labels by the tree with the largest sum of mutual information (Chow and Liu 1968).

    The links have no direction: each tree hangs from its most frequent label. It takes every 0 at its word, and knows
    nothing of features. It is what :class:`LatentHierarchyClassifier` is compared with.

    Parameters
    ----------
    positive : bool, default=False
        Link only labels that occur together more often than by chance. The usual tree also links labels that exclude
        each other, such as siblings, which says nothing about a hierarchy.

    Attributes
    ----------
    tree_ : LabelTree
        The tree; with ``positive=False`` it has one label under the root.
    link_information_ : ndarray of shape (n_labels,)
        Mutual information between each label and its parent in nats; 0 under the root.
    label_names_ : tuple of str
        The labels.
    n_features_in_, data_fingerprint_ : int, str
        As everywhere; not set when X was None.

    Examples
    --------
    >>> import sidelight as sl
    >>> Y = [{"bird", "wren"}, {"bird", "owl"}, {"frog"}, {"bird", "wren"}, {"bird", "owl"}, {"frog"}]
    >>> print(sl.peers.ChowLiuTree(positive=True).fit(None, Y).tree_.to_text())
    bird
      owl
      wren
    frog
    """

    def __init__(self, *, positive: bool = False) -> None:
        self.positive = positive

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the tree.

        Parameters
        ----------
        X : array, CSR matrix or None
            Not used; it may be None.
        y : LabelMatrix, matrix, data frame, or names of labels
            The labels of each row, as in :meth:`LatentHierarchyClassifier.fit`.
        """
        check_flag(self, "positive", self.positive)
        X = None if X is None else rows_to_fit(self, X)
        labels = labels_to_fit(self, X, y)
        counts = count_pairs(labels.values)
        reporting("Chow-Liu tree")(1, 1, "")
        parents, information = spanning_tree(counts, positive=bool(self.positive))
        self.label_names_ = labels.names
        self.tree_ = LabelTree(parents, labels.names)
        self.link_information_ = information / max(labels.n_rows, 1)
        return self
