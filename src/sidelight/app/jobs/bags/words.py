"""Words: clusters of bags by what they hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sidelight.app.jobs.bags.options import Words
from sidelight.app.jobs.bags.result import WordsResult
from sidelight.app.jobs.bags.tables import USES, bag_clusters, row_columns
from sidelight.app.jobs.checking import checked_bags
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.gallery import gallery_of
from sidelight.app.jobs.how_many import with_choice, with_number
from sidelight.app.jobs.options.shared import ENGINE
from sidelight.app.jobs.profiles import cluster_table
from sidelight.app.jobs.reading import collect_notes, read_bags
from sidelight.app.jobs.result import Columns, Map, Reading, columns_of
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.estimators._how_many import NumberOfClusters
from sidelight.estimators.bags.words import BagWordClustering
from sidelight.plot.layout import cluster_map

SURE = 0.8  # probability from which a bag counts as sure
_CLEAR = 0.8  # agreement of two halves of the evidence from which clusters come back well


def work(config: RunConfig) -> WordsResult:
    """Read rows in bags, and cluster them."""
    return cluster(read_bags(config), config)


def cluster(data: Dataset, config: RunConfig) -> WordsResult:
    """Cluster bags that were read already."""
    options, bags = config.options, data.bags
    assert isinstance(options, Words)  # the catalogue says so
    assert bags is not None  # the job looked
    with collect_notes() as heard:
        model = _fitted(options, data, bags, config.seed)
    result = result_of(data, bags, model, heard)
    again = with_number(options, model.n_clusters_)
    chosen = with_choice(
        result,
        result.n_clusters_choice,
        lambda seed: _fitted(again, data, bags, seed).bag_labels_,
        model.bag_labels_,
        seed=config.seed,
        n_cells=math.prod(data.X.shape),
    )
    return checked_bags(chosen, data)


def _fitted(options: Words, data: Dataset, bags: Bags, seed: int) -> BagWordClustering:
    n_clusters = None if options.n_clusters == "auto" else options.n_clusters
    settings = options.without("method", "n_clusters", *ENGINE)
    return BagWordClustering(n_clusters, random_state=seed, **settings).fit(data.X, bags=bags)


def _stability(choice: Any) -> NumberOfClusters:
    found = NumberOfClusters(choice["tried"], choice["scores"], choice["errors"], choice["chosen"], by="words")
    return replace(found, is_clear=found.score >= _CLEAR)


def result_of(data: Dataset, bags: Bags, model: Any, heard: Sequence[str] = ()) -> WordsResult:
    """Say what a fitted model found."""
    is_witness = np.zeros(bags.n_rows, dtype=bool)
    is_witness[model.witnesses_] = True
    tables = {"bags": _bag_table(data, bags, model), "clusters": _cluster_columns(data, model)}
    points, sure = model.bag_points(data.X, bags), model.bag_proba_.max(axis=1)
    names = [str(k) for k in range(model.n_clusters_)]
    result = WordsResult(
        reading=Reading.of(data, USES),
        model=model,
        assignments=columns_of(data, {**row_columns(bags, model.labels_, sure), "witness": is_witness.tolist()}),
        tables=tables,
        heard=tuple(heard),
        n_bags=bags.n_bags,
        sizes=np.bincount(model.bag_labels_, minlength=model.n_clusters_).tolist(),
        share_sure=float(np.mean(model.bag_proba_.max(axis=1) >= SURE)),
        bag_proba=model.bag_proba_,
        bag_labels=model.bag_labels_,
        witnesses=model.witnesses_,
        map=Map(
            cluster_map(points, model.bag_labels_), model.bag_labels_, names, [str(n) for n in bags.names], sure=sure
        ),
        gallery=gallery_of(
            data,
            model.bag_labels_,
            sure,
            [f"cluster {name}" for name in names],
            rows=model.witnesses_,
            item_names=bags.names,
            what="bag",
        ),
    )
    return with_choice(result, [_stability(model.choice_)] if model.choice_ else ())


def _bag_table(data: Dataset, bags: Bags, model: BagWordClustering) -> Columns:
    order = np.argsort(-model.bag_proba_, axis=1, kind="stable")
    second: list[Any] = order[:, 1].tolist() if model.n_clusters_ > 1 else [""] * bags.n_bags
    return {
        "bag": [str(name) for name in bags.names],
        "cluster": model.bag_labels_.tolist(),
        "probability": model.bag_proba_.max(axis=1).round(4).tolist(),
        "next cluster": second,
        "witness row": data.row_names[model.witnesses_].tolist(),
        "rows": bags.sizes.tolist(),
    }


def _cluster_columns(data: Dataset, model: BagWordClustering) -> Columns:
    """Return sizes, and what the witnesses and all rows of each cluster stand out by."""
    names = [str(k) for k in range(model.n_clusters_)]
    columns = bag_clusters(data.X[model.witnesses_], model.bag_labels_, data.feature_names, model.n_clusters_)
    columns["witnesses stand out by"] = columns.pop("stands out by")
    columns["rows stand out by"] = cluster_table(data.X, model.labels_, data.feature_names, names)["stands out by"]
    return columns
