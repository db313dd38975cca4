"""From a file on disk to rows with their side information: the roles of a run, handed to the readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidelight._core.params import check_choice
from sidelight.data.dataset import Dataset, LeftOut
from sidelight.data.readers import read
from sidelight.data.readers.dialect import is_gap
from sidelight.errors import InvalidData, UnknownName, nearest
from sidelight.words import counted, some_of

_DENSE_LIMIT = 1 << 30  # bytes that a sparse table may take when a job needs it dense

# What a run calls a role, and the parameter of sidelight.read that it stands for.
ROLES = {
    "id": "id",
    "bag": "bag",
    "label": "label",
    "label_file": "label_file",
    "label_separator": "label_separator",
    "label_level": "label_level",
    "bag_label": "bag_label",
    "features": "features",
    "ignore": "ignore",
    "show": "show",
    "keep": "keep",
    "sequence": "sequence",
    "channels": "channels",
    "events": "events",
    "weight": "weight",
    "format": "format",
    "separator": "separator",
    "encoding": "encoding",
    "header": "header",
}
MISSING = ("error", "mean", "drop")


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows with names: X (n_rows, n_features), the features' names and one id per row."""

    X: np.ndarray
    features: Sequence[str]
    ids: Sequence[Any]
    id_name: str


def read_data(path: str, roles: Mapping[str, Any], *, sequences: bool = False) -> Dataset:
    """Read ``path`` with the roles of a run; rows without gaps come out, or an error that says what to do.

    Parameters
    ----------
    path : str
        Any file that :func:`sidelight.read` understands.
    roles : mapping
        Role names of a run (``id``, ``bag``, ``label``, ``features``, ...); None means guess. ``missing`` says what to
        do about missing and infinite cells: ``"error"`` (the default), ``"mean"`` of the column, ``"drop"`` the row.
    sequences : bool
        Whether the job goes by sequences, so that a row without one has a gap.
    """
    given = {name: value for name, value in roles.items() if value is not None}
    missing = given.pop("missing", "error")
    check_choice("a run", "missing", missing, MISSING)
    for name in given:
        if name not in ROLES:
            raise UnknownName(f"There is no role {name!r}. {nearest(name, [*ROLES, 'missing'])}")
    data = read(path, **{ROLES[name]: value for name, value in given.items()})
    if data.left_out and missing != "drop":
        raise InvalidData(
            f"{path!r}: {about_left_out(data.left_out[0])}. Fill the gaps, or leave such rows out with --missing drop"
            + (" (names have no mean)." if missing == "mean" else ".")
        )
    return without_gaps(data, missing, sequences=sequences)


def about_left_out(rows: LeftOut) -> str:
    """Say how many rows are left out, why, and where the first one is."""
    n, first = len(rows.names), rows.place
    has = "1 of {} rows has" if n == 1 else f"{n} of {{}} rows have"
    where = f"in {first}" if n == 1 else f"the first in {first}"
    what = "no sequence" if rows.reason == "no sequence" else f"a gap in {some_of(map(repr, rows.columns))}"
    return f"{has.format(rows.n_rows)} {what}, {where}"


def read_rows(path: str, roles: Mapping[str, Any]) -> Rows:
    """Read the rows of a table; features are the numeric columns, or those that match the given patterns."""
    data = read_data(path, roles)
    if not data.n_features or not data.n_rows:
        raise InvalidData(
            f"{path!r} has {data.n_rows} rows and {data.n_features} features: there is nothing to cluster. "
            "`sidelight describe` says what its columns were taken for."
        )
    return Rows(as_dense(data), data.feature_names, data.row_names.tolist(), data.row_title)


def as_dense(data: Dataset) -> np.ndarray:
    """Return X as a dense array; a sparse table that would not fit is refused."""
    if not sp.issparse(data.X):
        return np.ascontiguousarray(data.X, dtype=np.float64)
    if data.n_rows * data.n_features * 8 > _DENSE_LIMIT:
        raise InvalidData(
            f"{data.path!r} is sparse, {data.n_rows} x {data.n_features}, and this job would need "
            f"{data.n_rows * data.n_features * 8 / 2**30:.1f} GB for it. Choose fewer columns with --features."
        )
    return np.asarray(data.X.toarray(), dtype=np.float64)


def without_gaps(data: Dataset, missing: str, *, sequences: bool = False) -> Dataset:
    """Return the data with every cell of X finite and, where they matter, a sequence in every row."""
    values = data.X.data if sp.issparse(data.X) else data.X
    is_whole = np.isfinite(values.sum()) or np.isfinite(values).all()
    unnamed = _without_sequence(data) if sequences else np.zeros(data.n_rows, dtype=bool)
    if is_whole and not unnamed.any():
        return data
    if missing == "drop" and (is_whole or not sp.issparse(data.X)):
        if unnamed.any():
            data = _kept_rows(data, ~unnamed, "no sequence", data.columns("sequence"))
        finite = np.isfinite(data.X)
        if finite.all():
            return data
        columns = tuple(data.feature_names[j] for j in np.flatnonzero(~finite.all(axis=0)).tolist())
        return _kept_rows(data, finite.all(axis=1), "gap", columns)
    if unnamed.any():
        raise _no_sequence(data, unnamed)
    if missing == "error" or sp.issparse(data.X):
        raise _no_number(data)
    return replace(data, X=_filled(data))


def _without_sequence(data: Dataset) -> np.ndarray:
    if data.sequence is None:
        return np.zeros(data.n_rows, dtype=bool)
    names, code = np.unique(data.sequence.astype(str), return_inverse=True)
    return np.array([is_gap(name) for name in names], dtype=bool)[code]


def _no_sequence(data: Dataset, unnamed: np.ndarray) -> InvalidData:
    n = int(unnamed.sum()) - 1
    others = f" and {counted(n, 'other row')}" if n else ""
    return InvalidData(
        f"{data.path!r}, {data.place(int(unnamed.argmax()))}{others}: nothing in the column "
        f"{data.columns('sequence')[0]!r}, which names the sequence of the row. Fill the gaps, leave such rows out "
        "with --missing drop, or cluster without sequences: --sequence none."
    )


def _no_number(data: Dataset) -> InvalidData:
    columns = np.flatnonzero(~np.isfinite(np.asarray(data.X.sum(axis=0)).ravel()))
    column = data.X[:, [columns[0]]]
    bad = np.flatnonzero(~np.isfinite(column.toarray() if sp.issparse(column) else column).ravel())
    found = (
        "1 missing or infinite value, in" if bad.size == 1 else f"{bad.size} missing or infinite values, the first in"
    )
    others = f" ({columns.size} columns have some)" if columns.size > 1 else ""
    return InvalidData(
        f"Column {data.feature_names[columns[0]]!r} of {data.path!r} has {found} {data.place(int(bad[0]))}{others}. "
        "Fill the cells, leave columns out with --ignore, or add --missing mean (the column's mean) or --missing drop "
        "(leave such rows out)."
    )


def _filled(data: Dataset) -> np.ndarray:
    X = np.where(np.isfinite(data.X), data.X, np.nan)
    counts = (~np.isnan(X)).sum(axis=0)
    if not counts.all():
        name = data.feature_names[int(counts.argmin())]
        raise InvalidData(
            f"Column {name!r} of {data.path!r} holds no number at all. Leave it out with --ignore {name}."
        )
    means = np.nansum(X, axis=0) / counts
    return np.where(np.isnan(X), means, X)


def _kept_rows(data: Dataset, keep: np.ndarray, reason: str, columns: tuple[str, ...]) -> Dataset:
    if not keep.any():
        raise InvalidData(f"Every row of {data.path!r} has a gap or an infinite cell. Use --missing mean instead.")
    first = data.place(int(keep.argmin()))
    return data.take(keep, left_out=LeftOut(data.row_names[~keep], reason, columns, first, keep.size))
