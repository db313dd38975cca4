"""Medoids: clusters of bags around one bag each, by the distances between bags."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.app.jobs.bags.options import Medoids
from sidelight.app.jobs.bags.result import MedoidsResult
from sidelight.app.jobs.bags.tables import USES, bag_clusters, bag_means, row_columns
from sidelight.app.jobs.checking import checked_bags
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.gallery import gallery_of
from sidelight.app.jobs.how_many import choose_number, with_choice
from sidelight.app.jobs.reading import collect_notes, read_bags, standard
from sidelight.app.jobs.result import Columns, Map, Reading, columns_of
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.estimators.bags.k_medoids import BagKMedoids
from sidelight.estimators.scaling import Standardized
from sidelight.plot.layout import cluster_map


def work(config: RunConfig) -> MedoidsResult:
    """Read rows in bags, and cluster them."""
    return cluster(read_bags(config), config)


def cluster(data: Dataset, config: RunConfig) -> MedoidsResult:
    """Cluster bags that were read already."""
    asked, bags = config.options, data.bags
    assert isinstance(asked, Medoids)  # the catalogue says so
    assert bags is not None  # the job looked
    means = bag_means(data.X, bags)
    options, choices = choose_number(asked, lambda: standard(means), config.seed)

    def fitted(seed: int) -> Any:
        inner = BagKMedoids(random_state=seed, **options.without("method", "scale"))
        model = inner if options.scale == "none" else Standardized(inner, feature_names=data.feature_names)
        return model.fit(data.X, bags=bags)

    with collect_notes() as heard:
        model = fitted(config.seed)
    chosen = with_choice(
        _result_of(data, bags, model, options, means, heard),
        choices,
        lambda seed: fitted(seed).bag_labels_,
        model.bag_labels_,
        seed=config.seed,
        n_cells=math.prod(data.X.shape),
    )
    return checked_bags(chosen, data)


def _result_of(
    data: Dataset, bags: Bags, model: Any, options: Medoids, means: np.ndarray, heard: Sequence[str]
) -> MedoidsResult:
    """Say what a fitted model found; ``means`` are the mean rows of the bags."""
    n_clusters = int(options.n_clusters)  # settled before the fit
    names, numbers = [str(name) for name in bags.names], [str(k) for k in range(n_clusters)]
    P = model.predict_bag_proba(data.X, bags)
    sure = P[np.arange(len(P)), model.bag_labels_]
    clusters = bag_clusters(means, model.bag_labels_, data.feature_names, n_clusters)
    medoids = [names[b] for b in model.medoids_]
    return MedoidsResult(
        reading=Reading.of(data, USES),
        model=model,
        assignments=columns_of(data, row_columns(bags, model.labels_, sure)),
        tables={
            "bags": _bag_table(bags, model, sure),
            "clusters": {"cluster": clusters["cluster"], "medoid": medoids, **clusters},
        },
        heard=tuple(heard),
        n_bags=bags.n_bags,
        sizes=np.bincount(model.bag_labels_, minlength=n_clusters).tolist(),
        distance=options.distance,
        mean_distance=float(model.bag_distances_.mean()),
        map=Map(cluster_map(standard(means), model.bag_labels_), model.bag_labels_, numbers, names),
        gallery=gallery_of(
            data,
            model.bag_labels_,
            -model.bag_distances_,
            [f"cluster {k}" for k in numbers],
            rows=bags.order[bags.starts[:-1]],
            item_names=names,
            is_probability=False,
            what="bag",
        ),
    )


def _bag_table(bags: Bags, model: Any, sure: np.ndarray) -> Columns:
    return {
        "bag": [str(name) for name in bags.names],
        "cluster": model.bag_labels_.tolist(),
        "probability": sure.round(4).tolist(),
        "distance": model.bag_distances_.round(4).tolist(),
        "rows": bags.sizes.tolist(),
    }
