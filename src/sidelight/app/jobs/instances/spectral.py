"""Spectral: clusters of the rows of labelled bags by their similarities, and how the labels read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.app.jobs.checking import checked
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.gallery import bag_of_rows, cluster_table, distance_to_centre, gallery_of
from sidelight.app.jobs.how_many import choose_number, with_choice, with_number
from sidelight.app.jobs.instances import Spectral
from sidelight.app.jobs.instances.result import SpectralResult
from sidelight.app.jobs.reading import as_dense, collect_notes, read_bags, rows_of, standard, standardized
from sidelight.app.jobs.result import Map, Reading, columns_of
from sidelight.app.jobs.roles import ENGINE
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.estimators.instances._spectral import LANDMARKS
from sidelight.estimators.instances.bag_spectral import BagSpectralClustering
from sidelight.estimators.instances.class_shares import ClusterReading
from sidelight.metrics import single_cluster_share
from sidelight.plot.layout import cluster_map

USES = ("id", "bag", "label", "bag label", "feature", "show", "truth")


def work(config: RunConfig) -> SpectralResult:
    """Read rows in bags, and cluster them."""
    with rows_of(config, read_bags, n_rows=LANDMARKS, needs=("bag",)) as rows:
        return rows.with_all(cluster(rows.data, config))


def cluster(data: Dataset, config: RunConfig) -> SpectralResult:
    """Cluster rows that were read already."""
    asked = config.options
    assert isinstance(asked, Spectral)  # the catalogue says so
    X, bags = as_dense(data), data.bags
    assert bags is not None  # the job looked
    wanted = with_number(asked, asked.n_clusters or bags.n_classes or "auto")
    options, choices = choose_number(wanted, lambda: standard(X, data), config.seed)

    def fitted(seed: int) -> Any:
        inner = BagSpectralClustering(random_state=seed, **options.without("method", "scale", *ENGINE))
        model = standardized(inner, data) if options.scale == "standard" else inner
        return model.fit(X, bags=bags)

    with collect_notes() as heard:
        model = fitted(config.seed)
    result = result_of(data, bags, model, heard)
    chosen = with_choice(result, choices, lambda seed: fitted(seed).labels_, model.labels_, config.seed, X.size)
    return checked(chosen, data)


def result_of(data: Dataset, bags: Bags, model: Any, heard: Sequence[str] = ()) -> SpectralResult:
    """Say what a fitted model found."""
    X = as_dense(data)
    reading = ClusterReading.from_estimator(getattr(model, "estimator_", model))
    clusters = reading.to_columns([f"{row} ({bag})" for row, bag in zip(data.row_names.tolist(), bags)])
    clusters["stands out by"] = cluster_table(data.telling[0], model.labels_, data.telling[1], reading.names)[
        "stands out by"
    ]
    names = np.array(reading.names, dtype=object)
    shares = {str(c): reading.shares[:, i].round(4).tolist() for i, c in enumerate(bags.classes)}
    P = model.predict_proba(X, bags=bags)
    own = {
        "bag": [str(name) for name in bags],
        "cluster": model.labels_.tolist(),
        "name": names[model.labels_].tolist(),
        "probability": P[np.arange(len(P)), model.labels_].tolist(),
    }
    said = " ".join(heard)
    flat = cluster_map(model.embedding_, model.labels_)
    nearness = -distance_to_centre(model.embedding_, model.labels_)
    return SpectralResult(
        reading=Reading.of(data, USES),
        model=model,
        assignments=columns_of(data, own),
        tables={"clusters": clusters, "class_shares": {"cluster": reading.names, **shares}},
        heard=tuple(heard),
        n_bags=bags.n_bags,
        n_labelled=int(np.count_nonzero(bags.is_labelled)),
        classes=list(bags.classes),
        names=reading.names,
        sizes=reading.sizes.tolist(),
        shares=reading.shares,
        clusters_of=reading.refinements(),
        n_mixed=sum(1 for refined, rows in zip(reading.refines, reading.sizes) if refined is None and rows),
        disagreeing=Counter(name for bag_names in reading.disagreeing for name in bag_names).most_common(),
        share_in_one_cluster=_share_in_one(model, bags),
        alpha=float(model.alpha_),
        alpha_search=dict(model.alpha_search_ or {}),
        notes=[note for note in model.notes_ if note not in said],
        map=Map(flat, model.labels_, reading.names, data.row_names, bag_of_rows(bags)),
        gallery=gallery_of(data, model.labels_, nearness, reading.names, is_probability=False),
    )


def _share_in_one(model: Any, bags: Bags) -> float | None:
    """Return the share of bags with several labels that ended in one cluster; None when there is no such bag."""
    if not bags.n_classes or not (np.diff(bags.label_matrix.indptr) > 1).any():
        return None
    return float(single_cluster_share(model.labels_, bags))
