"""From marginals to label sets: the threshold that maximises the expected F1, and what further parents demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.data.coerce import as_label_matrix
from sidelight.data.label_matrix import LabelMatrix
from sidelight.errors import InvalidData, SidelightWarning, warn
from sidelight.estimators._base import Estimator
from sidelight.estimators.hierarchy.counts import Entries, Floats


def f1_threshold(Q: Floats) -> float:
    """Return the threshold on probabilities that maximises the expected micro F1; no truth is needed.

    F(t) = 2 sum_{q > t} q / (#{q > t} + sum q), and at its maximum t = F(t) / 2. Marginals fall along the tree, so any
    one threshold gives consistent label sets.
    """
    ordered = np.sort(Q, axis=None)[::-1]
    total = float(ordered.sum())
    if total <= 0:
        return 0.5
    F = 2 * np.cumsum(ordered) / (np.arange(1, ordered.size + 1) + total)
    return float(F.max() / 2)


def closed_upwards(Z: Entries, links: Sequence[tuple[int, int]]) -> Entries:
    """Mark the further parents of every label that was seen as seen, and their further parents."""
    if not links:
        return Z
    closed = Z.copy()
    for _ in links:  # a chain is no longer than the links
        for p, c in links:
            closed[closed[:, c] == 1, p] = 1
    return closed


def lowered(Q: Floats, links: Sequence[tuple[int, int]], parents: np.ndarray, order: np.ndarray) -> Floats:
    """Lower every label to its further parents, and its descendants with it; works on 0/1 states too."""
    if not links:
        return Q
    low = Q.copy()
    for _ in range(len(links) + 1):
        before = low.copy()
        for p, c in links:
            np.minimum(low[:, c], low[:, p], out=low[:, c])
        for c in order:
            if parents[c] >= 0:
                np.minimum(low[:, c], low[:, parents[c]], out=low[:, c])
        if (low == before).all():
            break
    return low


# The door for labels that the whole family shares.


class LearnsLabelSets(Estimator):
    """An estimator that learns from sets of labels, of dense or sparse rows."""

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome and that labels are needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def labels_to_fit(estimator: Any, X: Any, y: Any) -> LabelMatrix:
    """Return the labels that ``fit`` was given, one row for each row of X; labels that were never seen are named."""
    who = type(estimator).__name__
    if y is None:
        raise InvalidData(
            f"This {who} estimator requires y to be passed, but the target y is None. Pass the labels of the rows: a "
            "matrix of 1, 0 and -1, or a list of sets of names."
        )
    labels = as_label_matrix(y, n_rows=None if X is None else X.shape[0])
    if labels.n_rows == 0:
        raise InvalidData(f"{who}: there are no rows of labels. Pass at least one.")
    never = np.flatnonzero(~labels.is_seen.any(axis=0))
    if len(never) == labels.n_labels:
        raise InvalidData(f"{who}: no label was seen on any row, so there is nothing to learn. Is 1 the sign for seen?")
    if len(never):
        shown = ", ".join(repr(labels.names[c]) for c in never[:5]) + (", ..." if len(never) > 5 else "")
        warn(
            f"{len(never)} of {labels.n_labels} labels were never seen ({shown}). They hang from the root and will "
            "hardly be predicted; leave their columns out.",
            SidelightWarning,
            stacklevel=4,  # the caller of fit, through the guard
        )
    return labels
