"""What jobs ask about a file before they suggest themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._core.sparsity import is_sparse
from sidelight.data.dataset import Dataset


def has_rows(data: Dataset) -> bool:
    """Say whether there is something to cluster: rows with features."""
    return data.n_rows > 1 and data.n_features > 0


def is_labelled(data: Dataset) -> bool:
    """Say whether some bag has a list of labels."""
    return data.bags is not None and bool(data.bags.is_labelled.any())


def n_kinds(data: Dataset) -> int | None:
    """As many as there are labels of rows; where there are none the job itself asks the rows."""
    kinds = data.y if data.truth is None else data.truth
    if kinds is None:
        return None
    n_labels = len({str(label) for label in kinds.tolist() if label != ""})
    return n_labels if 2 <= n_labels <= data.n_rows // 2 else None


def looks_like_counts(X: Any) -> bool:
    """Say whether X looks like counts: whole, never negative, mostly zero."""
    values = X.data if is_sparse(X) else X[:2000].ravel()
    if not values.size or X.shape[1] < 3:
        return False
    share = X.nnz / (X.shape[0] * X.shape[1]) if is_sparse(X) else np.count_nonzero(values) / values.size
    return bool(
        share < 0.5 and np.isfinite(values).all() and (values >= 0).all() and (values == np.round(values)).all()
    )
