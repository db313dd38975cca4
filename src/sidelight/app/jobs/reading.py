"""From a file on disk to rows without gaps: the roles of a run, handed to the readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import scipy.sparse as sp

from sidelight._core.prototypes import mean_and_scale, scaled
from sidelight._models.column_kinds import families_of
from sidelight._models.prepared_rows import Preparation, kind_of
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.job import wants_parts
from sidelight.app.jobs.roles import Roles
from sidelight.data.dataset import Dataset, LeftOut
from sidelight.errors import (
    InvalidData,
    InvalidParameter,
    LabelsWithoutRows,
    SidelightWarning,
    Undecided,
    capture_warnings,
)
from sidelight.files.reading import read
from sidelight.files.roles.builder import is_finite
from sidelight.files.roles.cells import is_gap
from sidelight.files.source import Source
from sidelight.words import Note, Setting, counted

if TYPE_CHECKING:
    from sidelight.app.jobs.in_parts import SampledRows

R = TypeVar("R")
SHOWN = 10_000  # rows of a sample that pictures and lists are made of


def check_doubts(data: Dataset, roles: Roles) -> None:
    """Raise the first unanswered question about a file; a yes takes the first reading."""
    if roles.yes or not data.doubts:
        return
    doubt = data.doubts[0]
    advice: list[str | Setting] = ["Say which: "]
    for words, settings in doubt.readings:
        for name, value in settings.items():
            advice += [f"{data.path}::{value}" if name == "part" else Setting(name, value), " "]
        advice += [f"({words}), "]
    advice[-1] = f"{str(advice[-1])[:-2]}; or take the first with "
    others = f" ({counted(len(data.doubts) - 1, 'other question')} follow.)" if len(data.doubts) > 1 else ""
    raise Undecided(f"{data.path!r}: {doubt.question}{others}", do=[*advice, Setting("yes", True), "."])


_DENSE_LIMIT = 1 << 30  # bytes that a sparse table may take when a job needs it dense
DROP, MEAN, IGNORE = Setting("missing", "drop"), Setting("missing", "mean"), Setting("ignore")
DESCRIBE = "`sidelight describe` says what its columns were taken for."


def read_data(path: str | Source, roles: Roles, *, sequences: bool = False) -> Dataset:
    """Read ``path`` with the roles of a run; rows without gaps come out, or an error that says what to do.

    Parameters
    ----------
    path : str or Source
        Any file that :func:`sidelight.read` understands.
    roles : Roles
        What the columns are; ``roles.missing`` says what to do about missing and infinite cells: ``"error"``,
        ``"mean"`` of the column, or ``"drop"`` the row, which is then in ``left_out``.
    sequences : bool
        Whether the job goes by sequences, so that a row without one has a gap.
    """
    return without_gaps(read_as_it_is(path, roles), roles.missing, sequences=sequences)


def read_as_it_is(path: str | Source, roles: Roles) -> Dataset:
    """Read ``path`` with the roles of a run, gaps in its numbers and all."""
    data = read(path, **roles.for_read())
    check_doubts(data, roles)
    if data.left_out and roles.missing != "drop":
        names_have_no_mean = " (names have no mean)." if roles.missing == "mean" else "."
        raise InvalidData(
            f"{path!r}: {data.left_out[0]}.",
            do=["Fill the gaps, or leave such rows out: ", DROP, names_have_no_mean],
        )
    return data


def read_rows(path: str | Source, roles: Roles) -> Dataset:
    """Read a table for a job that clusters rows: at least one row and one feature."""
    data = read_data(path, roles)
    check_rows(data, Source.of(path).given)
    return data


def read_bags(config: RunConfig) -> Dataset:
    """Read a table of rows in bags."""
    data = read_data(config.source, config.roles)
    check_bags(data, config.table)
    check_rows(data, config.table)
    return data


@dataclass(frozen=True)
class WholeTable:
    """The rows of one table, all of them in memory."""

    data: Dataset

    def with_all(self, result: R, *_: Any, **__: Any) -> R:
        """Return the result: it is of all rows."""
        return result


@contextmanager
def rows_of(config: RunConfig, read: Callable[[RunConfig], Dataset], **how: Any) -> Iterator[WholeTable | SampledRows]:
    """Read the table of a run, or a sample of rows that are read part by part.

    ``data`` of what comes back is what to look at; ``with_all`` puts the figures of all rows into a result.

    Parameters
    ----------
    config : RunConfig
        The run.
    read : callable
        How one table is read.
    **how : parameters of sampled
        How many rows of many files are drawn, and which.
    """
    if not wants_parts(config):
        yield WholeTable(read(config))
        return
    from sidelight.app.jobs.in_parts import sampled

    with sampled(config, **how) as rows:
        yield rows


def refuse_in_parts(options: Any, *names: str) -> None:
    """Refuse options that a run by parts cannot be told."""
    for name in names:
        if getattr(options, name) != getattr(type(options)(), name):
            raise InvalidParameter(
                f"Rows that are read part by part cannot be fitted with {name}.",
                do=["Leave ", Setting(name), " out, or run on one table that fits into memory."],
            )


def check_rows(data: Dataset, path: str) -> None:
    """Raise unless there is something to cluster."""
    if not data.n_features or not data.n_rows:
        raise InvalidData(
            f"{path!r} has {counted(data.n_rows, 'row')} and {data.n_features} features: there is nothing to cluster.",
            do=["Name some with ", Setting("features"), ". ", DESCRIBE],
        )


def check_bags(data: Dataset, path: str) -> None:
    """Raise unless the rows are in bags."""
    if data.bags is None:
        raise InvalidData(
            f"{path!r} names no bags: no column says which rows belong together.",
            do=["Name one with ", Setting("bag"), ". ", DESCRIBE],
        )


def as_dense(data: Dataset) -> np.ndarray:
    """Return X as a dense array; a sparse table that would not fit is refused."""
    if not sp.issparse(data.X):
        return np.ascontiguousarray(data.X, dtype=np.float64)
    if data.n_rows * data.n_features * 8 > _DENSE_LIMIT:
        raise InvalidData(
            f"{data.path!r} is sparse, {data.n_rows} x {data.n_features}, and this job would need "
            f"{data.n_rows * data.n_features * 8 / 2**30:.1f} GB for it.",
            do=["Choose fewer columns with ", Setting("features"), "."],
        )
    return np.asarray(data.X.toarray(), dtype=np.float64)


def standard(X: Any, data: Dataset | None = None) -> Any:
    """Prepare rows by their kind, for a picture or a count: numbers get mean 0 and variance 1 (sparse ones stay).

    Parameters
    ----------
    X : ndarray or CSR
        The rows.
    data : Dataset, optional
        What is known about their columns.
    """
    if data is not None and data.components:
        return Preparation.of(X, families=families_of(data.feature_names, data.components))(X)
    if kind_of(X)[0] != "numbers":
        return Preparation.of(X)(X)
    if sp.issparse(X):
        return X
    return scaled(X, *mean_and_scale(X))


def standardized(inner: Any, data: Dataset, **how: Any) -> Any:
    """Put what the rows of a table need in front of an estimator; ``how`` is what :class:`Standardized` takes."""
    from sidelight.estimators.scaling import Standardized

    return Standardized(inner, feature_names=data.feature_names, components=data.components, **how)


@contextmanager
def collect_notes() -> Iterator[list[str]]:
    """Collect what a fit warns about, each once; what the result itself says is left out."""
    heard: list[str] = []

    def hear(warning: SidelightWarning) -> None:
        if not isinstance(warning, LabelsWithoutRows) and warning.what not in heard:
            heard.append(Note(warning.what, warning.do))

    with capture_warnings(hear):
        yield heard


def without_gaps(
    data: Dataset, missing: str, *, sequences: bool = False, channels: Iterable[Any] | None = None
) -> Dataset:
    """Return the data with every cell of X finite and, where they matter, a sequence in every row.

    Columns of one of ``channels`` may all be missing in a row that has another of them, unless ``missing`` says what to
    do about gaps: such cells stay NaN.
    """
    unnamed = _without_sequence(data) if sequences else np.zeros(data.n_rows, dtype=bool)
    if unnamed.any():
        if missing != "drop":
            raise _no_sequence(data, unnamed)
        data = _kept_rows(data, ~unnamed, "no sequence", data.columns("sequence"))
    values = data.X.data if sp.issparse(data.X) else data.X
    if is_finite(values):
        return data
    may_lack = missing == "error" and channels is not None and not sp.issparse(data.X)
    if may_lack and is_finite(np.where(lacking(data.X, channels or ()), 0.0, data.X)):
        return data
    if missing == "error" or sp.issparse(data.X):
        raise _no_number(data)
    if missing == "mean":
        return replace(data, X=_filled(data))
    finite = np.isfinite(data.X)
    columns = tuple(data.feature_names[j] for j in np.flatnonzero(~finite.all(axis=0)).tolist())
    return _kept_rows(data, finite.all(axis=1), "gap", columns)


def lacking(X: np.ndarray, channels: Iterable[Any]) -> np.ndarray:
    """Say which cells belong to a channel that its row lacks as a whole, while it has another one."""
    columns = [np.arange(X.shape[1])[where] for where in channels]
    gone = np.stack([np.isnan(X[:, where]).all(axis=1) for where in columns], axis=1)
    out = np.zeros(X.shape, dtype=bool)
    for where, of in zip(columns, gone.T):
        out[np.ix_(of & ~gone.all(axis=1), where)] = True
    return out


def _without_sequence(data: Dataset) -> np.ndarray:
    if data.sequence is None:
        return np.zeros(data.n_rows, dtype=bool)
    names, code = np.unique(data.sequence.astype(str), return_inverse=True)
    return np.array([is_gap(name) for name in names], dtype=bool)[code]


def _no_sequence(data: Dataset, unnamed: np.ndarray) -> InvalidData:
    n = int(unnamed.sum()) - 1
    others = f" and {counted(n, 'other row')}" if n else ""
    return InvalidData(
        f"{data.path!r}, {data.location(int(unnamed.argmax()))}{others}: nothing in the column "
        f"{data.columns('sequence')[0]!r}, which names the sequence of the row.",
        do=[
            "Fill the gaps, leave such rows out with ", DROP, ", or cluster without sequences: ",
            Setting("sequence", False), ".",
        ],
    )  # fmt: skip


def _no_number(data: Dataset) -> InvalidData:
    columns = np.flatnonzero(~np.isfinite(np.asarray(data.X.sum(axis=0)).ravel()))
    column = data.X[:, [columns[0]]]
    bad = np.flatnonzero(~np.isfinite(column.toarray() if sp.issparse(column) else column).ravel())
    gaps = (
        "1 missing or infinite value, in" if bad.size == 1 else f"{bad.size} missing or infinite values, the first in"
    )
    others = f" ({columns.size} columns have some)" if columns.size > 1 else ""
    advice: list[str | Setting] = ["Fill the cells, leave columns out with ", IGNORE]
    if not sp.issparse(data.X):
        advice += [", or take ", MEAN, " (the column's mean) or ", DROP, " (leave such rows out)"]
    return InvalidData(
        f"Column {data.feature_names[columns[0]]!r} of {data.path!r} has {gaps} {data.location(int(bad[0]))}{others}.",
        do=[*advice, "."],
    )


def _filled(data: Dataset) -> np.ndarray:
    X = np.where(np.isfinite(data.X), data.X, np.nan)
    counts = (~np.isnan(X)).sum(axis=0)
    if not counts.all():
        name = data.feature_names[int(counts.argmin())]
        raise InvalidData(
            f"Column {name!r} of {data.path!r} holds no number at all.",
            do=["Leave it out with ", Setting("ignore", name), "."],
        )
    means = np.nansum(X, axis=0) / counts
    return np.where(np.isnan(X), means, X)


def _kept_rows(data: Dataset, keep: np.ndarray, reason: str, columns: tuple[str, ...]) -> Dataset:
    if not keep.any():
        raise InvalidData(
            f"Every row of {data.path!r} has a gap or an infinite cell, so no row is left.", do=["Use ", MEAN, "."]
        )
    first = data.location(int(keep.argmin()))
    return data.take(keep, left_out=LeftOut(data.row_names[~keep], reason, columns, first, keep.size))
