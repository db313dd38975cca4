"""The co-clusters job: a table of counts or of events becomes clusters of its rows and of its columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sidelight.data.cooccurrence import CoOccurrence
from sidelight.data.readers import Dataset
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.estimators.sources.interleaved import InterleavedCoclustering
from sidelight.estimators.sources.multisource import METHODS
from sidelight.jobs.config import RunConfig
from sidelight.jobs.phrases import in_words
from sidelight.jobs.run import Findings
from sidelight.jobs.tables import about_left_out, read_data
from sidelight.plot import CoclusterDisplay, PreservedInformationDisplay
from sidelight.report import Section, Table

_MOST_TRIED = 12  # numbers of clusters on the curve


def work(config: RunConfig) -> Findings:
    """Read a table of counts or events, co-cluster it, and say what was found."""
    data = read_data(config.table, config.roles)
    table = as_counts(data)
    options = dict(config.options)
    tried = options.pop("curve", None)
    n_clusters = _numbers(options.pop("n_clusters"), table)
    method = options.pop("method", None) or ("information" if table.n_axes == 2 else "annealed")
    model: Any = METHODS[method](random_state=config.seed, **options)
    if table.n_axes > 2 and method in ("information", "weights"):
        model = InterleavedCoclustering(model, n_clusters=n_clusters, random_state=config.seed)
    else:
        model.set_params(n_clusters=tuple(n_clusters.values()))
    model.fit(table)

    axes = {axis: _axis_table(table, axis, labels) for axis, labels in model.axis_labels_.items()}
    first, *rest = table.axes
    n_found = {axis: np.unique(labels[labels >= 0]).size for axis, labels in model.axis_labels_.items()}
    sentences = [
        *(f"{about_left_out(rows)}: left out." for rows in data.left_out),
        f"{in_words([_many(table, axis) for axis in table.axes])} fell into "
        f"{' x '.join(str(k) for k in n_found.values())} clusters.",
        *(
            f"{n_clusters[axis]} clusters of {axis!r} were asked for; no more than {n} could be told apart."
            for axis, n in n_found.items()
            if n < n_clusters[axis]
        ),
        _loss_sentence(model),
    ]
    empty = {axis: int((labels < 0).sum()) for axis, labels in model.axis_labels_.items()}
    if any(empty.values()):
        told = in_words([f"{n} of {axis!r}" for axis, n in empty.items() if n])
        sentences.append(f"Without any count, and so without a cluster (-1): {told}.")
    cells = _strong_cells(table, model.axis_labels_)
    if tried and table.n_axes != 2:
        raise InvalidParameter(
            f"--curve needs a table of two axes; this one has {table.n_axes}. Count two columns together, or leave "
            "the option out."
        )
    curve = _curve(table, tried) if table.n_axes == 2 else None
    tables = {**{axis: axes[axis] for axis in rest}, "cells": cells} | ({"curve": curve.columns()} if curve else {})
    return Findings(
        "Co-clusters", sentences, model, axes[first], tables,
        _sections(model, table, axes, cells, curve), {"codes": " x ".join(map(str, table.shape)), "total": table.total},
    )  # fmt: skip


def as_counts(data: Dataset) -> CoOccurrence:
    """Take the counted events of a file, or its numbers as a matrix of counts."""
    if data.counts is not None:
        counts: CoOccurrence = data.counts
        return counts
    if not data.n_rows or not data.n_features:
        raise InvalidData(
            f"{data.path!r} has {data.n_rows} rows and {data.n_features} columns of numbers: nothing to count. "
            "For a table of events name the columns to count: --event who --event where."
        )
    values = data.X.data if sp.issparse(data.X) else data.X
    if values.size and values.min() < 0:
        where = np.flatnonzero(np.asarray(data.X.min(axis=0)).ravel() < 0) if not sp.issparse(data.X) else [0]
        raise InvalidData(
            f"{data.path!r}: column {data.feature_names[int(where[0])]!r} has negative numbers, so it holds no "
            "counts. Leave it out with --ignore, or choose columns with --features."
        )
    rows = data.row_names.tolist()
    return CoOccurrence.from_matrix(
        data.X, axes=("rows", "columns"), labels={"rows": rows, "columns": list(data.feature_names)}
    )


def _numbers(given: Any, table: CoOccurrence) -> dict[str, int]:
    wanted = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(wanted) == 1:
        wanted = wanted * table.n_axes
    if len(wanted) != table.n_axes:
        raise InvalidParameter(
            f"-k names {len(wanted)} numbers, but the table has {table.n_axes} axes ({', '.join(table.axes)}). "
            "Give one number, or one per axis, as in -k 20,10."
        )
    for axis, k, n in zip(table.axes, wanted, table.shape):
        if k > n:
            raise InvalidParameter(
                f"-k asks for {k} clusters of {axis!r}, which has only {n} codes. Ask for at most {n}; a tenth or "
                "fewer of the codes is usual, and the report's curve of preserved information helps to choose."
            )
    return dict(zip(table.axes, wanted))


def _curve(table: CoOccurrence, tried: Any) -> PreservedInformationDisplay:
    most = min(40, *table.shape)
    numbers = (
        range(tried[0], tried[1] + 1) if tried else np.unique(np.geomspace(min(2, most), most, _MOST_TRIED).astype(int))
    )
    quick = METHODS["information"](n_init=3, max_iter=30, random_state=0)
    return PreservedInformationDisplay.from_estimator(quick, table, [int(k) for k in numbers])


def _axis_table(table: CoOccurrence, axis: str, labels: np.ndarray) -> dict[str, Any]:
    names = table.labels[axis]
    return {
        axis: list(names) if names is not None else list(range(len(labels))),
        "cluster": labels.tolist(),
        "count": table.marginal(axis).tolist(),
    }


def _strong_cells(table: CoOccurrence, labels: dict[str, np.ndarray], most: int = 200) -> dict[str, list[Any]]:
    """List the combinations of clusters that occur most often, beside what chance would give."""
    small = table.aggregate({axis: np.maximum(found, 0) for axis, found in labels.items()})
    chance = np.full(small.nnz, small.total)
    for axis, codes in zip(small.axes, small.coords):
        chance *= (small.marginal(axis) / small.total)[codes]
    order = np.argsort(-small.counts, kind="stable")[:most]
    columns: dict[str, list[Any]] = {f"cluster of {a}": c[order].tolist() for a, c in zip(small.axes, small.coords)}
    columns["count"] = small.counts[order].tolist()
    columns["times chance"] = (small.counts[order] / chance[order]).round(3).tolist()
    return columns


def _sections(
    model: Any, table: CoOccurrence, axes: dict[str, dict[str, Any]], cells: dict[str, list[Any]], curve: Any
) -> list[Section]:
    sections = []
    if table.n_axes == 2:
        picture = CoclusterDisplay.from_labels(table, *model.axis_labels_.values(), axes_names=table.axes)
        sections.append(
            Section(
                "The table and what its clusters remember of it",
                ["Sorted by cluster; the closer the right half looks to the left one, the less was lost."],
                [(picture, "Counts (left) and their approximation by clusters (right); darker is more.")],
            )
        )
        sections.append(
            Section(
                "How many clusters?",
                ["Where the curve bends, more clusters remember little more."],
                [(curve, "Information that k x k clusters keep.")],
            )
        )
    sections.append(
        Section("What goes together", tables=[Table(cells, "Combinations of clusters, most frequent first.")])
    )
    for axis, columns in axes.items():
        sections.append(
            Section(f"Clusters of {axis}", tables=[Table(_members(axis, columns), "Most frequent members first.")])
        )
    return sections


def _members(axis: str, columns: dict[str, Any], most: int = 12) -> dict[str, list[Any]]:
    labels, counts = np.array(columns["cluster"]), np.array(columns["count"])
    rows: dict[str, list[Any]] = {"cluster": [], "members": [], "count": [], "most frequent": []}
    for k in range(int(labels.max()) + 1):
        inside = np.flatnonzero(labels == k)
        top = inside[np.argsort(-counts[inside], kind="stable")][:most]
        rows["cluster"].append(k)
        rows["members"].append(inside.size)
        rows["count"].append(float(counts[inside].sum()))
        names = [str(columns[axis][i]) for i in top]
        rows["most frequent"].append(", ".join(names) + (", ..." if inside.size > most else ""))
    return rows


def _many(table: CoOccurrence, axis: str) -> str:
    size = table.shape[table.axes.index(axis)]
    return f"{size} {axis}" if axis in ("rows", "columns") else f"{size} codes of {axis!r}"


def _loss_sentence(model: Any) -> str:
    if isinstance(model.information_, dict):  # one entry for each pair of axes
        kept, of = sum(model.information_.values()), "the information in its pairs of axes"
        total = kept + model.information_loss_
    else:
        kept, total, of = model.information_, model.total_information_, "the table's information"
    share = kept / total if total > 0 else 1.0
    bits = f"{kept / np.log(2):.3f} of {total / np.log(2):.3f} bits"
    return f"The clusters keep {share:.0%} of {of} ({bits})."
