"""The relations job: clusters of rows, by information maximisation until answers about pairs arrive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sidelight.estimators.relations import DiscriminativeClustering
from sidelight.estimators.scaling import Standardized
from sidelight.jobs.config import RunConfig
from sidelight.jobs.profiles import cluster_table
from sidelight.jobs.run import Findings, Outcome, publish
from sidelight.jobs.tables import Rows, read_rows
from sidelight.plot import ClusterScatterDisplay, TypicalImagesDisplay
from sidelight.report import Section, Table


def work(config: RunConfig) -> Findings:
    """Read the table, cluster its rows, and say what was found."""
    rows = read_rows(config.table, config.roles)
    return cluster(rows, config)


def cluster(rows: Rows, config: RunConfig) -> Findings:
    """Cluster rows that were read already."""
    options = dict(config.options)
    scale = options.pop("scale", "standard")
    inner = DiscriminativeClustering(random_state=config.seed, **options)
    model: Any = Standardized(inner) if scale == "standard" else inner
    model.fit(rows.X)
    P = model.predict_proba(rows.X)
    names = [str(k) for k in range(P.shape[1])]
    clusters = cluster_table(rows.X, model.labels_, rows.features, names)
    sure = float(np.mean(P.max(axis=1) > 0.9))
    sizes = np.array([size for size in clusters["rows"] if size])
    sentences = [
        f"{len(rows.X)} rows fell into {len(sizes)} clusters of {sizes.min()} to {sizes.max()} rows.",
        f"{sure:.0%} of the rows have a probability above 0.9 for their cluster.",
    ]
    shown = ClusterScatterDisplay.from_estimator(model, _standard(rows.X), names=names)
    sections = [
        Section(
            "The rows on a map",
            ["Each dot is a row; the map keeps the two directions in which rows differ most."],
            [(shown, "Rows by cluster, on the first two principal components.")],
        ),
        Section(
            "The clusters",
            tables=[Table(clusters, "Sizes, and the features that differ most, in standard deviations.")],
        ),
    ]
    assignments = {rows.id_name: rows.ids, "cluster": model.labels_.tolist(), "probability": P.max(axis=1).tolist()}
    facts = {"rows": len(rows.X), "features": len(rows.features)}
    return Findings("Clusters of rows", sentences, model, assignments, {"clusters": clusters}, sections, facts)


def demo(folder: Path, seed: int) -> Outcome:
    """Cluster scikit-learn's handwritten digits, without their labels, and show typical images of each cluster."""
    from sklearn.datasets import load_digits

    from sidelight.metrics import adjusted_rand_index

    digits = load_digits()
    rows = Rows(digits.data, list(digits.feature_names), list(range(len(digits.data))), "row")
    config = RunConfig("relations", "scikit-learn's digits", options={"n_clusters": 10}, seed=seed)
    found = cluster(rows, config)
    agreement = adjusted_rand_index(digits.target, found.model.labels_)
    typical = TypicalImagesDisplay.from_estimator(found.model, digits.data, digits.images)
    sections = [
        Section(
            "What the clusters look like",
            [
                "Nobody told the method what a digit is: it saw 64 numbers a row and was asked for ten clusters.",
                f"Against the digits' true labels, used only here, the adjusted Rand index is {agreement:.2f} "
                "(1 is perfect, 0 is chance).",
            ],
            [(typical, "The surest rows of each cluster.")],
        ),
        *found.sections,
    ]
    found = Findings(
        "Handwritten digits, clustered",
        found.sentences,
        found.model,
        found.assignments,
        found.tables,
        sections,
        found.facts,
    )
    return publish(config, found, folder)


def _standard(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
