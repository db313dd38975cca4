"""The door for labels that the whole family shares."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.data.coerce import as_label_matrix
from sidelight.data.label_matrix import LabelMatrix
from sidelight.errors import InvalidData, SidelightWarning, warn
from sidelight.estimators._base import Estimator


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
