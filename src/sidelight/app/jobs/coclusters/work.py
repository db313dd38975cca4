"""The co-clusters job: a table of counts or of events becomes clusters of its rows and of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import scipy.sparse as sp

from sidelight._core.simplex import softmax
from sidelight.app.jobs.checking import checked
from sidelight.app.jobs.coclusters import Coclusters
from sidelight.app.jobs.coclusters.how_many import most_telling
from sidelight.app.jobs.coclusters.result import CoclustersResult
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.first_look import matching
from sidelight.app.jobs.how_many import with_choice
from sidelight.app.jobs.job import wants_parts
from sidelight.app.jobs.reading import collect_notes, read_data
from sidelight.app.jobs.result import Blocks, Columns, Curve, Reading, columns_of
from sidelight.app.jobs.roles import ENGINE
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.data.dataset import ColumnRole, Dataset
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.estimators.sources.information import InformationCoclustering
from sidelight.estimators.sources.interleaved import InterleavedCoclustering
from sidelight.estimators.sources.multisource import METHODS
from sidelight.estimators.sources.spectral import SpectralContingency
from sidelight.plot import CoclusterDisplay, PreservedInformationDisplay
from sidelight.words import Setting

USES = ("id", "feature", "event", "weight", "truth")
_SPECTRAL_STARTS = 10
_MOST_TRIED = 12  # numbers of clusters on the curve
TRIED = {"information": InformationCoclustering, "spectral": SpectralContingency}
_HALF = 0.5
_SMOOTH = 0.5  # counts added to every cell of the table of clusters


def work(config: RunConfig) -> CoclustersResult:
    """Read a table of counts or events, or count the events of many files piece by piece; cluster its axes."""
    return cluster(_count_parts(config) if wants_parts(config) else read_data(config.source, config.roles), config)


def _count_parts(config: RunConfig) -> Dataset:
    """Count the events of a pattern of Parquet files, here or on a cluster."""
    from sidelight.app.jobs.parts import cluster_of, refuse_others
    from sidelight.files.roles.events import count_parquet

    table, roles = config.table, config.roles
    refuse_others(table, roles, ("events", "weight"))
    if not isinstance(roles.events, list) or len(roles.events) < 2:
        raise InvalidParameter(
            f"{table!r} is read part by part, and nothing about its columns is guessed.",
            do=["Name the columns to count together: ", Setting("events"), " twice."],
        )
    files = [Path(file) for file in matching(table)]
    counts = count_parquet(files, roles.events, weight=roles.weight, engine=cluster_of(config.options, writes=False))
    said = [*((name, "event") for name in roles.events), *([(roles.weight, "weight")] if roles.weight else [])]
    columns = tuple(ColumnRole(name, role, "you said so") for name, role in said)
    return Dataset(np.empty((0, 0)), (), table, "Parquet files", counts=counts, roles=columns)


def cluster(data: Dataset, config: RunConfig) -> CoclustersResult:
    """Cluster the axes of counts that were read already."""
    options = config.options
    assert isinstance(options, Coclusters)  # the catalogue says so
    table = as_counts(data)
    choices = most_telling(table, np.random.default_rng(config.seed)) if options.n_clusters == "auto" else ()
    asked = [choice.chosen for choice in choices] if options.n_clusters == "auto" else options.n_clusters
    n_clusters = _numbers(asked, table)
    if options.curve and table.n_axes != 2:
        raise InvalidParameter(
            f"A curve needs a table of two axes; this one has {table.n_axes}.",
            do=["Count two columns together, or leave ", Setting("curve"), " out."],
        )
    better = None
    if options.method is None and table.n_axes == 2:
        with collect_notes():
            better = preferred(table, tuple(n_clusters.values()), config.seed)
        options = msgspec.structs.replace(options, method=better.method if better else "information")
        if options.method == "spectral" and options.n_init is None:
            options = msgspec.structs.replace(options, n_init=_SPECTRAL_STARTS)
    with collect_notes() as heard:
        model = _model(options, table, n_clusters, config.seed).fit(table)
    axes = {axis: _axis_columns(table, axis, labels) for axis, labels in model.axis_labels_.items()}
    first, *rest = table.axes
    curve = _curve(table, options.curve) if table.n_axes == 2 else None
    kept, total, is_of_pairs = _information(model)
    is_matrix = data.counts is None
    axes[first] = {**axes[first], "probability": row_probabilities(table, model.axis_labels_).round(4).tolist()}
    own = {name: axes[first][name] for name in ("cluster", "count", "probability")}
    result = CoclustersResult(
        reading=Reading.of(data, USES),
        model=model,
        assignments=columns_of(data, own) if is_matrix else axes[first],
        tables={
            **{_file_name(number, is_matrix): axes[axis] for number, axis in enumerate(rest, start=2)},
            "cells": _strong_cells(table, model.axis_labels_),
            **({"curve": curve_columns(curve)} if curve else {}),
        },
        heard=tuple(heard),
        axes=dict(zip(table.axes, table.shape)),
        n_asked=n_clusters,
        n_found={axis: int(np.unique(labels[labels >= 0]).size) for axis, labels in model.axis_labels_.items()},
        n_empty={axis: int((labels < 0).sum()) for axis, labels in model.axis_labels_.items()},
        nats_kept=kept,
        nats_total=total,
        is_of_pairs=is_of_pairs,
        total=float(table.total),
        preferred=better.sentence() if better else None,
        curve=curve,
        members={axis: _members(columns) for axis, columns in axes.items()},
        blocks=blocks_of(table, *model.axis_labels_.values(), axes=table.axes) if table.n_axes == 2 else None,
    )
    chosen = with_choice(
        result,
        choices,
        lambda seed: _model(options, table, n_clusters, seed).fit(table).axis_labels_[first],
        model.axis_labels_[first],
        config.seed,
        table.nnz,
    )
    return checked(chosen, data)


def as_counts(data: Dataset) -> CoOccurrence:
    """Take the counted events of a file, or its numbers as a matrix of counts."""
    if data.counts is not None:
        return data.counts
    if not data.n_rows or not data.n_features:
        raise InvalidData(
            f"{data.path!r} has {data.n_rows} rows and {data.n_features} columns of numbers: nothing to count.",
            do=["For a table of events name the columns to count with ", Setting("events"), "."],
        )
    values = data.X.data if sp.issparse(data.X) else data.X
    if values.size and values.min() < 0:
        where = np.flatnonzero(np.asarray(data.X.min(axis=0)).ravel() < 0) if not sp.issparse(data.X) else [0]
        name = data.feature_names[int(where[0])]
        raise InvalidData(
            f"{data.path!r}: column {name!r} has negative numbers, so it holds no counts.",
            do=["Leave it out with ", Setting("ignore", name), ", or choose columns with ", Setting("features"), "."],
        )
    labels = {"rows": data.row_names.tolist(), "columns": list(data.feature_names)}
    return CoOccurrence.from_matrix(data.X, axes=("rows", "columns"), labels=labels)


def row_probabilities(table: CoOccurrence, labels: dict[str, np.ndarray]) -> np.ndarray:
    """Return how surely each code of the first axis belongs to its cluster, by what it occurs with.

    The counts of a code are multinomial draws from what its cluster occurs with, cluster by cluster of the other axis;
    the posterior of its own cluster is returned, as a mean over the other axes, and 0 for codes that never occur.
    """
    first, *rest = table.axes
    mine = labels[first]
    K = int(mine.max()) + 1
    logs = np.zeros((len(mine), K))
    for axis in rest:
        counts = table.margin(first, axis)
        theirs = np.maximum(labels[axis], 0)
        L = int(theirs.max()) + 1
        codes, others = counts.coords
        joint = np.zeros((K, L))
        kept = mine[codes] >= 0
        np.add.at(joint, (mine[codes][kept], theirs[others][kept]), counts.counts[kept])
        rates = np.log((joint + 0.5) / (joint + 0.5).sum(axis=1, keepdims=True))  # half a count: no rate is 0
        of_code = np.zeros((len(mine), L))
        np.add.at(of_code, (codes, theirs[others]), counts.counts)
        logs += of_code @ rates.T / len(rest)
    shares = np.bincount(mine[mine >= 0], minlength=K) + 0.5
    P = softmax(logs + np.log(shares / shares.sum()))
    return np.where(mine >= 0, P[np.arange(len(mine)), np.maximum(mine, 0)], 0.0)


def blocks_of(table: Any, row_labels: np.ndarray, column_labels: np.ndarray, *, axes: Any) -> Blocks:
    """Sort a table by cluster, beside its approximation; large ones are added up."""
    shown = CoclusterDisplay.from_labels(table, row_labels, column_labels, axes_names=axes)
    return Blocks(shown.P, shown.Q, shown.row_breaks, shown.column_breaks, shown.axes_names)


def curve_of(shown: PreservedInformationDisplay) -> Curve:
    """Take the numbers of a curve of preserved information."""
    floor = None if shown.floor is None else shown.floor.tolist()
    return Curve(shown.n_clusters, shown.shares.tolist(), floor)


def curve_columns(curve: Curve) -> Columns:
    """Return a curve as a table, with shares to four digits."""
    return PreservedInformationDisplay(curve.n_clusters, curve.shares, curve.floor).columns()


def _model(options: Coclusters, table: CoOccurrence, n_clusters: dict[str, int], seed: int) -> Any:
    method = options.method or ("information" if table.n_axes == 2 else "annealed")
    model = METHODS[method](random_state=seed, **options.without("n_clusters", "method", "curve", *ENGINE))
    if table.n_axes > 2 and method in ("information", "weights"):
        return InterleavedCoclustering(model, n_clusters=n_clusters, random_state=seed)
    return model.set_params(n_clusters=tuple(n_clusters.values()))


def _numbers(asked: list[int], table: CoOccurrence) -> dict[str, int]:
    wanted = asked * table.n_axes if len(asked) == 1 else asked
    k_option = Setting("n_clusters")
    if len(wanted) != table.n_axes:
        raise InvalidParameter(
            f"{len(wanted)} numbers of clusters for {table.n_axes} axes ({', '.join(table.axes)}).",
            do=["Give one number, or one per axis, with ", k_option, "."],
        )
    for axis, k, n in zip(table.axes, wanted, table.shape):
        if k > n:
            raise InvalidParameter(
                f"{k} clusters of {axis!r}, which has only {n} codes. Ask for at most {n}; a tenth or fewer of the "
                "codes is usual, and the report's curve of preserved information helps to choose."
            )
    return dict(zip(table.axes, wanted))


def _curve(table: CoOccurrence, tried: tuple[int, int] | None) -> Curve:
    most = min(40, *table.shape)
    numbers = (
        range(tried[0], tried[1] + 1) if tried else np.unique(np.geomspace(min(2, most), most, _MOST_TRIED).astype(int))
    )
    quick = METHODS["information"](n_init=3, max_iter=30, random_state=0)
    return curve_of(PreservedInformationDisplay.from_estimator(quick, table, [int(k) for k in numbers]))


def _file_name(number: int, is_matrix: bool) -> str:
    """Return a name that no column of the table can choose."""
    return "columns" if is_matrix else f"axis{number}"


def _axis_columns(table: CoOccurrence, axis: str, labels: np.ndarray) -> dict[str, Any]:
    names = table.labels[axis]
    title = axis if axis not in ("cluster", "count") else f"your {axis}"
    return {
        title: list(names) if names is not None else list(range(1, len(labels) + 1)),
        "cluster": labels.tolist(),
        "count": _counted(table.marginal(axis)),
    }


def _strong_cells(table: CoOccurrence, labels: dict[str, np.ndarray], most: int = 200) -> Columns:
    """List the combinations of clusters that occur most often, beside what chance would give."""
    small = table.aggregate({axis: np.maximum(of_axis, 0) for axis, of_axis in labels.items()})
    chance = np.full(small.nnz, small.total)
    for axis, codes in zip(small.axes, small.coords):
        chance *= (small.marginal(axis) / small.total)[codes]
    order = np.argsort(-small.counts, kind="stable")[:most]
    columns: dict[str, list[Any]] = {f"cluster of {a}": c[order].tolist() for a, c in zip(small.axes, small.coords)}
    columns["count"] = _counted(small.counts[order])
    columns["times chance"] = (small.counts[order] / chance[order]).round(3).tolist()
    return columns


def _counted(counts: np.ndarray) -> list[Any]:
    """Return whole counts as whole numbers; weights of events may be none."""
    is_whole = bool((counts == np.round(counts)).all()) and bool((np.abs(counts) < 2**53).all())
    whole: list[Any] = (counts.astype(np.int64) if is_whole else counts).tolist()
    return whole


def _members(columns: dict[str, Any], most: int = 12) -> Columns:
    labels, counts = np.array(columns["cluster"]), np.array(columns["count"])
    names = next(iter(columns.values()))
    rows: dict[str, list[Any]] = {"cluster": [], "members": [], "count": [], "most frequent": []}
    for k in range(int(labels.max()) + 1):
        inside = np.flatnonzero(labels == k)
        top = inside[np.argsort(-counts[inside], kind="stable")][:most]
        rows["cluster"].append(k)
        rows["members"].append(inside.size)
        rows["count"].append(float(counts[inside].sum()))
        rows["most frequent"].append(", ".join(str(names[i]) for i in top) + (", ..." if inside.size > most else ""))
    return rows


def _information(model: Any) -> tuple[float, float, bool]:
    """Return the nats kept, the nats there are, and whether they are summed over pairs of axes."""
    if isinstance(model.information_, dict):
        kept = float(sum(model.information_.values()))
        return kept, kept + float(model.information_loss_), True
    return float(model.information_), float(model.total_information_), False


@dataclass(frozen=True, slots=True)
class Preferred:
    """The method that held-out counts prefer, and what the clusters of each tell about one of them, in nats."""

    method: Literal["information", "spectral"]
    told: dict[str, float]
    is_counted: bool

    def sentence(self) -> str:
        """Say what was preferred, and by how much."""
        other = next(name for name in self.told if name != self.method)
        kind = "counts" if self.is_counted else "weights (they are no whole numbers, and are taken as they are)"
        own, others = (f"{self.told[name] / np.log(2):.3f}" for name in (self.method, other))
        if own == others:
            return (
                f"The {self.method} method was taken: it and the {other} method tell {own} bits about held-out {kind}."
            )
        return (
            f"The {self.method} method was taken: its clusters of one half tell {own} bits about each of the held-out "
            f"{kind}, those of the {other} method {others}."
        )


def preferred(table: CoOccurrence, n_clusters: tuple[int, ...], seed: int) -> Preferred | None:
    """Cluster half of the counts of a two-way table by both methods, and judge by the other half.

    Parameters
    ----------
    table : CoOccurrence
        The counts, over two axes.
    n_clusters : tuple of int
        Clusters of each axis.
    seed : int
        Of the halves and the methods.
    """
    P = sp.csr_array(table.to_csr(), dtype=np.float64)
    is_counted = bool((P.data == np.round(P.data)).all())
    generator = np.random.default_rng(seed)
    seen = P.copy()
    seen.data = (
        generator.binomial(P.data.astype(np.int64), _HALF).astype(np.float64)
        if is_counted
        else P.data * (generator.random(P.data.size) < _HALF)
    )
    rest = (P - seen).tocoo()
    seen.eliminate_zeros()
    if not seen.nnz or not rest.data.sum() or min(n_clusters) < 2:
        return None
    told = {name: _told(method, seen, rest, n_clusters, seed) for name, method in TRIED.items()}
    is_spectral = told["spectral"] > told["information"]
    return Preferred("spectral" if is_spectral else "information", told, is_counted)


def _told(method: Any, seen: Any, rest: Any, n_clusters: tuple[int, ...], seed: int) -> float:
    """Return log P(x^, y^) / P(x^) P(y^) of the seen half, in the mean of the held-out counts; unseen codes tell 0."""
    model = method(n_clusters, random_state=seed).fit(seen)
    T = model.cluster_table_ * seen.sum() + _SMOOTH
    T = T / T.sum()
    gain = np.log(T / np.outer(T.sum(axis=1), T.sum(axis=0)))
    rows, columns = model.row_labels_[rest.row], model.column_labels_[rest.col]
    value = np.where((rows >= 0) & (columns >= 0), gain[np.maximum(rows, 0), np.maximum(columns, 0)], 0.0)
    return float((rest.data * value).sum() / rest.data.sum())
