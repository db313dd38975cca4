"""Instances of more rows than memory: figures of all rows, pictures and lists of a sample, assignments part by part."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sidelight.app.jobs.checking import checked
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.in_parts import (
    SHOWN,
    InParts,
    count_rows,
    in_parts,
    sample_of,
    work_on_sample,
    write_all,
)
from sidelight.app.jobs.instances import Coverage
from sidelight.app.jobs.instances.coverage import result_of
from sidelight.app.jobs.instances.naming import name_clusters
from sidelight.app.jobs.instances.result import CoverageResult, SpectralResult
from sidelight.app.jobs.instances.spectral import cluster as cluster_by_similarity
from sidelight.app.jobs.parts import TableOfParts, arranged, engine_of, open_parts
from sidelight.app.jobs.placing import Placed
from sidelight.app.jobs.reading import collect_notes
from sidelight.app.jobs.roles import ENGINE
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidParameter
from sidelight.estimators.coverage.clustering import CoverageClustering
from sidelight.estimators.instances._spectral import LANDMARKS
from sidelight.estimators.scaling import Standardized
from sidelight.files.parts import Parts
from sidelight.words import Setting


@dataclass(frozen=True, kw_only=True, eq=False)
class PartedCoverageResult(InParts, CoverageResult):
    """Rows named by the lists of their bags, of which only a sample was ever in memory."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PartedSpectralResult(InParts, SpectralResult):
    """Clusters of the rows of labelled bags, of which only a sample was ever in memory."""


def spectral(config: RunConfig) -> PartedSpectralResult:
    """Cluster a sample of whole bags by similarities, and let all other rows join its clusters."""
    return work_on_sample(
        config, cluster_by_similarity, PartedSpectralResult, n_rows=LANDMARKS, needs=("bag",),
        figures=_spectral_figures, count=count_bags_and_rows,
    )  # fmt: skip


def count_bags_and_rows(data: Dataset, placed: Placed) -> Counter[Any]:
    """Count rows by cluster, and bags."""
    assert data.bags is not None  # the job looked
    total = count_rows(data, placed)
    total["bags"], total["labelled"] = data.bags.n_bags, int(data.bags.is_labelled.sum())
    return total


def _spectral_figures(result: SpectralResult, total: Counter[Any]) -> dict[str, Any]:
    sizes = [total["rows", k] for k in range(len(result.sizes))]
    return {"sizes": sizes, "n_bags": total["bags"], "n_labelled": total["labelled"]}


def coverage(config: RunConfig) -> PartedCoverageResult:
    """Read rows in bags part by part, and cluster them; bags whose rows lie apart are brought together first."""
    options = config.options
    assert isinstance(options, Coverage)  # the catalogue says so
    _refuse(options)
    with arranged(open_parts(config.table, config.roles, empty=options.empty), config.roles, options) as parts:
        return cluster(parts, config, options)


def cluster(parts: Parts, config: RunConfig, options: Coverage) -> PartedCoverageResult:
    """Explain the rows by the labels of their bags, and write what each row is as it is found."""
    settings = options.without("method", "scale", "lists", "empty", "rows", "corrections", "names", *ENGINE)
    inner = CoverageClustering(random_state=config.seed, **settings)
    model: Any = (
        Standardized(inner, feature_names=parts.feature_names, kind="numbers") if options.scale == "standard" else inner
    )
    table = TableOfParts(config.table, parts.feature_names, parts.classes, config.roles)
    with collect_notes() as heard:
        model.fit(parts, engine=engine_of(options, parts))
        notes = name_clusters(model, options.names)
        data = sample_of(parts, table, options, SHOWN)
        result = _of_sample(data, model)
    folder, total = write_all(parts, table, model, options, count_named)
    judged = replace(checked(result, data, judged="label"), heard=(*notes, *heard))
    return _with_figures(judged, total, parts, folder)


def count_named(data: Dataset, placed: Placed) -> Counter[Any]:
    """Count rows by cluster, rows that their bags renamed, and bags with something novel."""
    assert data.bags is not None  # the job looked
    rows, total = placed.rows, count_bags_and_rows(data, placed)
    total["moved"] = sum(a != b for a, b in zip(rows["label"], rows.get("by features alone", rows["label"])))
    total["novel bags"] = len(np.unique(data.bags.codes[np.asarray(rows["novelty"]) > 0.5]))
    return total


def _of_sample(data: Dataset, model: Any) -> CoverageResult:
    """Make the result of a run that had seen the sample alone, under the model of all rows."""
    shadow = copy.copy(model)
    inner = shadow
    if "estimator_" in vars(shadow):
        inner = shadow.estimator_ = copy.copy(model.estimator_)
    inner.labels_ = model.predict(data.X, bags=data.bags)
    assert data.bags is not None  # the job looked
    values = np.full(data.bags.n_bags, 0.0)
    values[data.bags.is_labelled] = model.bag_scores(data.X, data.bags)
    inner.bag_log_likelihood_ = values
    return replace(result_of(data, data.bags, shadow), model=model)


def _with_figures(
    result: CoverageResult, total: Counter[Any], parts: Parts, folder: TemporaryDirectory[str]
) -> PartedCoverageResult:
    """Put the figures of all rows in the place of those of the sample."""
    own = dict(zip(map(str, result.model.cluster_names_), result.own_labels))
    used = [label for name, label in own.items() if total["rows", name]]
    n_rows = parts.n_rows
    figures: dict[str, Any] = {
        "reading": replace(result.reading, n_rows=n_rows),
        "n_bags": parts.n_bags,
        "n_labelled": total["labelled"],
        "n_labels_found": len({label for label in used if label >= 0}),
        "n_clusters_used": len(used),
        "n_novel_used": sum(label < 0 for label in used),
        "n_bags_novel": total["novel bags"],
        "share_sure": total["sure"] / n_rows,
        "contents": replace(result.contents, sizes=[total["rows", str(name)] for name in result.contents.names]),
        "moved": replace(result.moved, n_moved=total["moved"], n_rows=n_rows),
    }
    n_shown = len(result.assignments["cluster"])
    return in_parts(PartedCoverageResult, result, figures, folder, n_shown=n_shown, learnt=False)


def _refuse(options: Coverage) -> None:
    """Refuse by name what a run by parts cannot be told."""
    usual = Coverage()
    for name in ("lists", "rows", "corrections"):
        if getattr(options, name) != getattr(usual, name):
            raise InvalidParameter(
                f"Rows that are read part by part cannot be fitted with {name}.",
                do=["Leave ", Setting(name), " out, or run on one table that fits into memory."],
            )
