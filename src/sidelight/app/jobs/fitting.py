"""What jobs ask about a file before they suggest themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight._core.params import is_sparse
from sidelight.data.dataset import Dataset
from sidelight.errors import SidelightError

if TYPE_CHECKING:
    from sidelight.app.jobs.job import Fit

_SAMPLE = 2000  # rows that a suggestion is tried on


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


_FEWEST_COLUMNS = 10  # narrower tables of small whole numbers are attributes
_MANY_TICKS = 50  # columns from which on a table of 0 and 1 says which things occur together


def looks_like_counts(X: Any) -> bool:
    """Say whether X looks like counts: whole, never negative, mostly zero, in many columns that all begin at zero."""
    values = X.data if is_sparse(X) else X[:2000].ravel()
    if not values.size or X.shape[1] < 3:
        return False
    if not (np.isfinite(values).all() and (values >= 0).all() and (values == np.round(values)).all()):
        return False
    if is_sparse(X):
        return bool(X.nnz < 0.5 * X.shape[0] * X.shape[1])
    few = X.shape[1] < (_MANY_TICKS if values.max() <= 1 else _FEWEST_COLUMNS)
    begins_at_zero = np.mean(X[:2000].min(axis=0) == 0) >= 0.9
    return bool(np.count_nonzero(values) < 0.5 * values.size and not few and begins_at_zero)


def can_start(fit: Fit, data: Dataset) -> bool:
    """Try what a suggested command does before it computes, on the first rows: settings, gaps, enough rows and bags."""
    from sidelight.app.jobs.config import RunConfig
    from sidelight.app.jobs.options import Roles, fields_of

    known = {field.name for field in fields_of(Roles)}
    roles = {name: value for name, value in fit.roles.items() if name in known}
    try:
        config = RunConfig(fit.job, data.path or "table", roles, _options(fit))
    except SidelightError:
        return False
    if fit.table is not None or not has_rows(data):
        return True
    n_rows = min(data.n_rows, _SAMPLE)
    finite = is_sparse(data.X) or bool(np.isfinite(data.X[:n_rows]).all())
    if not finite and config.roles.missing == "error":
        return False
    if not is_sparse(data.X) and not (np.nanmax(data.X, axis=0) > np.nanmin(data.X, axis=0)).any():
        return False  # rows that are all the same
    return data.n_rows > max(2, fit.n_clusters or 0)


def _options(fit: Fit) -> dict[str, Any]:
    from sidelight.app.jobs.catalogue import find_job
    from sidelight.app.jobs.options import fields_of

    own = {field.name: field for field in fields_of(next(iter(find_job(fit.job).models.values())))}
    options = {name: value for name, value in fit.roles.items() if name in own}
    if fit.n_clusters is not None and "n_clusters" in own:
        options["n_clusters"] = fit.n_clusters
    return options
