"""The relations job: clusters of rows, by information maximisation until answers about pairs arrive."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.data.dataset import Dataset
from sidelight.estimators.relations import DiscriminativeClustering
from sidelight.estimators.scaling import Standardized
from sidelight.jobs.config import RunConfig
from sidelight.jobs.options.relations import Relations
from sidelight.jobs.profiles import cluster_table
from sidelight.jobs.reading import as_dense, listening, read_rows, standard
from sidelight.plot.clusters import main_directions
from sidelight.results import Map, Reading, columns_of
from sidelight.results.jobs import RelationsResult

USES = ("id", "feature")


def work(config: RunConfig) -> RelationsResult:
    """Read the table and cluster its rows."""
    return cluster(read_rows(config.table, config.roles), config)


def cluster(data: Dataset, config: RunConfig) -> RelationsResult:
    """Cluster rows that were read already."""
    options = config.options
    assert isinstance(options, Relations)  # the catalogue says so
    X = as_dense(data)
    inner = DiscriminativeClustering(random_state=config.seed, **options.without("scale"))
    model: Any = Standardized(inner, feature_names=data.feature_names) if options.scale == "standard" else inner
    with listening() as heard:
        model.fit(X)
    sure = model.predict_proba(X).max(axis=1)
    names = [str(k) for k in range(options.n_clusters)]
    clusters = cluster_table(X, model.labels_, data.feature_names, names)
    return RelationsResult(
        reading=Reading.of(data, USES),
        model=model,
        assignments=columns_of(data, {"cluster": model.labels_.tolist(), "probability": sure.tolist()}),
        tables={"clusters": clusters},
        heard=tuple(heard),
        sizes=clusters["rows"],
        share_sure=float(np.mean(sure > 0.9)),
        map=Map(main_directions(standard(X)), model.labels_, names),
    )
