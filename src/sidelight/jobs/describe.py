"""What is inside a file, how it was understood, and which jobs fit it: the words behind ``sidelight describe``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from os.path import commonprefix
from typing import Any

import numpy as np

from sidelight._core.sparsity import is_sparse
from sidelight.data.dataset import Dataset
from sidelight.data.inseparable import inseparable_labels
from sidelight.data.readers import read
from sidelight.data.readers.answers import find_answers, kind_of_answers
from sidelight.data.readers.roles.channels import guess_channels
from sidelight.data.readers.roles.facts import column_facts, is_finite, n_repeated_rows
from sidelight.jobs.naming import answers_by_column, columns_that_repeat
from sidelight.jobs.options import Roles
from sidelight.words import some_of

_FEW = 12


@dataclass(frozen=True)
class Fit:
    """A job that fits the file: the roles to pass, and a number of clusters where a column labels the rows."""

    job: str
    why: str
    roles: Mapping[str, Any] = field(default_factory=dict)
    n_clusters: int | None = None
    table: str | None = None  # where the file is no table itself: what to write in the place of one


@dataclass(frozen=True)
class Description:
    """Everything that ``describe`` says; ``as_dict`` is its JSON."""

    path: str
    format: str
    facts: Mapping[str, Any]
    roles: tuple[Mapping[str, str], ...]
    warnings: tuple[str, ...]
    fits: tuple[Fit, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that can be written as JSON."""
        return asdict(self)


def describe(path: str, roles: Roles | None = None) -> Description:
    """Read ``path`` and say what is inside.

    Parameters
    ----------
    path : str
        Any file that :func:`sidelight.read` understands.
    roles : Roles, optional
        What the columns are, as in a run; the rest is guessed.
    """
    explicit = (roles or Roles()).for_read()
    data = read(path, **explicit)
    described = _with_answers(describe_data(data, explicit), data)
    return described if described.fits or explicit else replace(described, fits=tuple(_at_second_sight(data)))


def _at_second_sight(data: Dataset) -> list[Fit]:
    """Say what a file without features and counts may be: answers about another table, or a list of events."""
    if data.reader not in ("delimited", "parquet") or not data.n_rows:
        return []
    kind = kind_of_answers(data.path)
    if kind is not None:
        why = f"answers about {kind}: give them with the table whose rows they name"
        return [Fit("relations", why, {kind: data.path}, table="TABLE")]
    repeated = columns_that_repeat(data)
    if len(repeated) < 2:
        return []
    return [Fit("coclusters", "if every line is an event: what occurs together", {"events": repeated[:2]})]


def _with_answers(described: Description, data: Dataset) -> Description:
    """Add answers about the rows that lie beside the table, and the command that uses them."""
    beside = find_answers(described.path, data.row_names.tolist()) if data.n_rows else {}
    by_column = answers_by_column(data) if data.n_rows and not beside else None
    if by_column is not None:
        column, beside = by_column
    if not beside:
        return described
    told = {file.name: f"{n} answers about {kind}" for kind, (file, n) in beside.items()}
    files = {kind: str(file) for kind, (file, _) in beside.items()}
    files |= {} if by_column is None else {"id": column}
    fits = [
        replace(fit, why="rows with features, and answers about them beside the table", roles={**fit.roles, **files})
        for fit in described.fits
        if fit.job == "relations"
    ]
    fits += [fit for fit in described.fits if fit.job != "relations"]
    return replace(described, facts={**described.facts, "answers beside it": told}, fits=tuple(fits))


def describe_data(data: Dataset, explicit: Mapping[str, Any] | None = None) -> Description:
    """Describe data that were read already, some of their roles explicitly."""
    facts, warnings = _facts(data)
    listed = tuple(asdict(role) for role in data.roles)
    return Description(data.path, data.format, facts, listed, tuple(warnings), _fits(data, explicit or {}))


def _facts(data: Dataset) -> tuple[dict[str, Any], list[str]]:
    facts: dict[str, Any] = {"rows": data.n_rows, "features": data.n_features}
    warnings = [*data.notes, *(f"{rows}: left out" for rows in data.left_out)]
    if is_sparse(data.X) and data.n_rows * data.n_features:
        facts["filled cells"] = f"{data.X.nnz / (data.n_rows * data.n_features):.2%}"
    if data.X.shape[0] and data.X.shape[1]:
        columns = column_facts(data.X)
        facts["missing cells"] = int(columns.n_missing.sum())
        facts["infinite cells"] = int(columns.n_infinite.sum())
        facts["repeated rows"] = n_repeated_rows(data.X)
        constant = [data.feature_names[j] for j in np.flatnonzero(columns.is_constant).tolist()]
        facts["constant features"] = int(columns.is_constant.sum())
        if constant:
            warnings.append(f"features that never change say nothing: {some_of(constant)}")
        if facts["repeated rows"] > 0.1 * data.n_rows:
            warnings.append(f"{facts['repeated rows']} rows are copies of earlier rows")
    _bag_facts(data, facts, warnings)
    _label_facts(data, facts)
    if data.sequence is not None:
        facts["sequences"] = len(set(data.sequence.tolist()))
    if data.counts is not None:
        facts["axes"] = dict(zip(data.counts.axes, data.counts.shape))
        facts["events counted"] = data.counts.total
        facts["different combinations"] = data.counts.nnz
    return facts, warnings


def _bag_facts(data: Dataset, facts: dict[str, Any], warnings: list[str]) -> None:
    if data.bags is None:
        return
    sizes = data.bags.sizes
    facts["bags"] = data.bags.n_bags
    facts["rows a bag"] = {"least": int(sizes.min()), "median": float(np.median(sizes)), "most": int(sizes.max())}
    if data.bags.is_labelled.any():
        n_labels = data.bags.n_labels[data.bags.is_labelled]
        facts["labelled bags"] = int(data.bags.is_labelled.sum())
        facts["labels a bag"] = round(float(n_labels.mean()), 2)
        facts["bags with a single label"] = int((n_labels == 1).sum())
        counts = data.bags.label_counts
        facts["bags with each label"] = _top(dict(zip(map(str, data.bags.classes), counts.tolist())))
        unused = [str(c) for c, n in zip(data.bags.classes, counts.tolist()) if not n]
        if unused:
            warnings.append(f"labels that no bag has: {some_of(unused)}")
        warnings += inseparable_labels(data.bags).sentences()
    if data.bags.n_bags == data.n_rows:
        warnings.append("every bag holds a single row")


def _label_facts(data: Dataset, facts: dict[str, Any]) -> None:
    if data.label_names:
        facts["classes"] = len(data.label_names)
    if data.y is not None:
        facts["labelled rows"] = int((data.y != "").sum())
        facts["rows with each label"] = _rows_of_each(data.y)
    if data.truth is not None:
        facts["rows of each true kind"] = _rows_of_each(data.truth)
    if data.Y is not None:
        known = (data.Y != -1).any(axis=1)
        present = data.Y == 1
        facts["labels a row"] = round(float(present[known].sum(axis=1).mean()), 2) if known.any() else 0.0
        facts["rows with each label"] = _top(dict(zip(data.label_names, present.sum(axis=0).tolist())))
    if data.tree is not None:
        facts["label hierarchy"] = (
            f"{data.tree.n_labels} labels, {len(data.tree.tops)} at the top, {data.tree.depth} deep"
        )


def _fits(data: Dataset, explicit: Mapping[str, Any]) -> tuple[Fit, ...]:
    """Say which jobs fit, the most specific first."""
    roles = {**_roles(data), **explicit}
    found: list[Fit] = []
    has_rows = data.n_rows > 1 and data.n_features > 0
    if has_rows and not is_sparse(data.X) and not is_finite(data.X):
        roles["missing"] = "mean"
    labelled = data.bags is not None and bool(data.bags.is_labelled.any())
    if has_rows and labelled:
        why = "rows in bags, label sets on bags: the label of each row, maybe kinds that nobody named"
        found.append(Fit("instances", why, roles))
    if data.Y is not None and data.Y.shape[1] > 2 and data.n_rows > 1:
        plain = {k: v for k, v in roles.items() if k in ("id", "label", "label_file", "label_separator", "missing")}
        found.append(Fit("hierarchy", "several labels a row: the tree behind them, and what was forgotten", plain))
    if has_rows and data.bags is not None and data.bags.n_bags < data.n_rows:
        without = {k: v for k, v in roles.items() if not k.startswith("label")}
        why = "rows in bags: cluster whole bags" + (", without their labels" if labelled else "")
        found.append(Fit("bags", why, without))
    channels = data.channels or guess_channels(data.feature_names)
    if has_rows and channels:
        names = {name: f"{name}*" for name in channels} if data.channels is None else {}
        why = f"several channels ({', '.join(list(channels)[:4])})"
        found.append(Fit("sources", why, {**roles, "channels": names}, _clusters(data)))
    if data.counts is not None or (has_rows and _is_counts(data.X)):
        why = "counts of things seen together" if data.counts is not None else "a table of counts, rows by columns"
        counted = (
            roles if data.counts is None else {k: v for k, v in roles.items() if k in ("events", "weight", "truth")}
        )
        found.append(Fit("coclusters", why, counted))
    if has_rows and data.counts is None:
        plain = {k: v for k, v in roles.items() if k in ("id", "truth", "features", "ignore", "missing")}
        found.append(Fit("relations", "rows with features", plain, _clusters(data)))
    return tuple(found)


def _clusters(data: Dataset) -> int | None:
    """As many as there are labels of rows; where there are none the job itself asks the rows."""
    kinds = data.y if data.truth is None else data.truth
    if kinds is None:
        return None
    n_labels = len({str(label) for label in kinds.tolist() if label != ""})
    return n_labels if 2 <= n_labels <= data.n_rows // 2 else None


def _roles(data: Dataset) -> dict[str, Any]:
    """Return the roles that were taken, as a run calls them; formats that imply them need none."""
    if data.reader not in ("delimited", "parquet"):
        return {}
    names = {role: data.columns(role) for role in ("id", "bag", "sequence", "truth")}
    roles: dict[str, Any] = {role: found[0] for role, found in names.items() if found}
    labels = data.columns("label")
    if labels:
        roles["label"] = labels[0] if len(labels) == 1 else _in_short(labels, [role.name for role in data.roles])
    events, weight = list(data.columns("event")), data.columns("weight")
    if events:
        roles["events"] = events
    if weight:
        roles["weight"] = weight[0]
    return roles


def _in_short(columns: Sequence[str], every: Sequence[str]) -> list[str]:
    """Return one pattern for columns that share a beginning which no other column has, else their names."""
    prefix = commonprefix(list(columns))  # noqa: RUF071 - names of columns, compared by their letters
    is_plain = len(columns) > 2 and prefix and not set(prefix) & set("*?[")
    alike = [name for name in every if name.startswith(prefix)]
    return [f"{prefix}*"] if is_plain and sorted(alike) == sorted(columns) else list(columns)


def _is_counts(X: Any) -> bool:
    """Say whether X looks like counts: whole, never negative, mostly zero."""
    values = X.data if is_sparse(X) else X[:2000].ravel()
    if not values.size or X.shape[1] < 3:
        return False
    share = X.nnz / (X.shape[0] * X.shape[1]) if is_sparse(X) else np.count_nonzero(values) / values.size
    return bool(
        share < 0.5 and np.isfinite(values).all() and (values >= 0).all() and (values == np.round(values)).all()
    )


def _rows_of_each(labels: Any) -> dict[str, int]:
    names, counts = np.unique(labels[labels != ""].astype(str), return_counts=True)
    return _top(dict(zip(names.tolist(), counts.tolist())))


def _top(counts: Mapping[str, int]) -> dict[str, int]:
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return dict(ordered[:_FEW])
