"""The instances job: clusters of the rows of labelled bags, and how to read them."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.data.bags import Bags
from sidelight.errors import InvalidData, SidelightWarning
from sidelight.estimators.instances import BagSpectralClustering, ClusterReading
from sidelight.estimators.scaling import Standardized
from sidelight.jobs.config import RunConfig
from sidelight.jobs.profiles import cluster_table
from sidelight.jobs.run import Findings, Outcome, publish
from sidelight.jobs.tables import Rows, as_dense, read_data
from sidelight.metrics import single_cluster_share
from sidelight.plot import AlphaCurveDisplay, ClusterClassDisplay, EmbeddingDisplay, TypicalImagesDisplay
from sidelight.report import Section, Table
from sidelight.words import counted

TOO_MANY = 0.5  # share of multi-label bags in one cluster from which the report warns


def work(config: RunConfig) -> Findings:
    """Read the table, cluster the rows of its bags, and say what was found."""
    data = read_data(config.table, config.roles)
    if data.bags is None:
        raise InvalidData(
            f"{config.table!r} has no column that looks like the name of a bag. Say which one it is with --bag COLUMN; "
            "`sidelight describe` says what its columns were taken for."
        )
    if not data.n_features:
        raise InvalidData(f"{config.table!r} has no features: there is nothing to cluster. Name some with --features.")
    rows = Rows(as_dense(data), data.feature_names, data.row_names.tolist(), data.row_title)
    return cluster(rows, data.bags, config)


def cluster(rows: Rows, bags: Bags, config: RunConfig) -> Findings:
    """Cluster rows that were read already."""
    options = {name: value for name, value in config.options.items() if value is not None}
    scale = options.pop("scale", "standard")
    K = options.pop("n_clusters", None) or _default_clusters(bags, config.table)
    inner = BagSpectralClustering(K, random_state=config.seed, **options)
    model: Any = Standardized(inner) if scale == "standard" else inner
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SidelightWarning)
        model.fit(rows.X, bags=bags)
    reading = ClusterReading.from_estimator(model.estimator_ if scale == "standard" else model)
    said = [w.message.what for w in caught if isinstance(w.message, SidelightWarning)]
    sentences = _sentences(rows, bags, model, reading, said)
    table = reading.to_columns([f"{row} ({bag})" for row, bag in zip(rows.ids, bags)])
    table["stands out by"] = cluster_table(rows.X, model.labels_, rows.features, reading.names)["stands out by"]
    names = np.array(reading.names, dtype=object)
    assignments = {
        rows.id_name: list(rows.ids),
        "bag": [str(name) for name in bags],
        "cluster": model.labels_.tolist(),
        "name": names[model.labels_].tolist(),
    }
    shares = {
        "cluster": reading.names,
        **{str(c): reading.shares[:, i].round(4).tolist() for i, c in enumerate(bags.classes)},
    }
    facts = {
        "rows": len(rows.X),
        "features": len(rows.features),
        "bags": bags.n_bags,
        "alpha used": round(model.alpha_, 4),
    }
    tables = {"clusters": table, "class_shares": shares}
    sections = _sections(model, reading, table)
    return Findings("Clusters of rows in labelled bags", sentences, model, assignments, tables, sections, facts)


def _sentences(rows: Rows, bags: Bags, model: Any, reading: ClusterReading, said: list[str]) -> list[str]:
    n_labelled = int(np.count_nonzero(bags.is_labelled))
    sentences = [
        f"{counted(len(rows.X), 'row')} of {counted(bags.n_bags, 'bag')} ({n_labelled} labelled, "
        f"{counted(bags.n_classes, 'class', 'classes')}) fell into "
        f"{counted(int(np.count_nonzero(reading.sizes)), 'cluster')}."
    ]
    if bags.n_classes:
        sentences += [
            *_found(reading),
            *_disagreements(bags, reading),
            *_in_one_cluster(model, bags, len(reading.names)),
        ]
    sentences += _choice_of_alpha(model, bags)
    return [*sentences, *said, *(note for note in model.notes_ if not any(note in s for s in said))]


def _found(reading: ClusterReading) -> list[str]:
    """Say which classes have clusters, the largest first, and which have none."""
    clusters = {c: ks for c, ks in reading.refinements().items() if ks}
    size = {c: int(reading.sizes[ks].sum()) for c, ks in clusters.items()}
    missed = [str(c) for c in reading.classes if c not in clusters]
    told = [
        f"{c} ({counted(size[c], 'row')}{f' in {len(clusters[c])} clusters' if len(clusters[c]) > 1 else ''})"
        for c in sorted(clusters, key=lambda c: -size[c])
    ]
    n_mixed = sum(1 for refined, rows in zip(reading.refines, reading.sizes) if refined is None and rows)
    sentences = []
    if told:
        verb = "has a cluster of its own" if len(told) == 1 else "have clusters of their own"
        sentences.append(f"{len(told)} of {len(reading.classes)} classes {verb}: {_some(told)}.")
    if missed:
        sentences.append(f"None was found for {_some(missed)}.")
    if n_mixed:
        sentences.append(f"{counted(n_mixed, 'cluster is', 'clusters are')} mixed: no class makes up half.")
    return sentences


def _disagreements(bags: Bags, reading: ClusterReading) -> list[str]:
    """Say how many labelled bags have rows where their labels do not lead: a label was missed, or a row misplaced."""
    counts = Counter(name for names in reading.disagreeing for name in names)
    if not counts:
        return []
    n_labelled = int(np.count_nonzero(bags.is_labelled))
    worst = [str(name) for name, _ in counts.most_common()]
    return [
        f"In {len(counts)} of {n_labelled} labelled bags some rows lie in a cluster of a class not named there "
        f"({_some(worst, 3)}): a label was forgotten, or a row misplaced."
    ]


def _in_one_cluster(model: Any, bags: Bags, n_clusters: int) -> list[str]:
    if not (np.diff(bags.label_matrix.indptr) > 1).any():
        return []
    share = single_cluster_share(model.labels_, bags)
    told = f"{share:.0%} of the bags with several labels ended wholly in one cluster"
    if n_clusters < bags.n_classes:
        return [f"{told}; with {counted(n_clusters, 'cluster')} for {bags.n_classes} classes some have to."]
    if share > TOO_MANY:
        return [
            f"{told} (in truth none does). That is far too many: the bags outweigh the features. Try a smaller --alpha."
        ]
    return [f"{told} (in truth none does)."]


def _choice_of_alpha(model: Any, bags: Bags) -> list[str]:
    search = model.alpha_search_
    if not search:
        return ["Alpha is 0: bags only name the clusters."] if model.alpha_ == 0 and bags.n_classes else []
    best, worst = max(search["agreement"]), min(search["agreement"])
    told = f"The clusters carry the bags' label sets with F1 {best:.2f} (1 is perfect)"
    if best == worst:
        return [f"{told}, whatever alpha, the weight of the bags; the smallest of {len(search['alpha'])} was kept."]
    return [f"{told}, the best of {len(search['alpha'])} weights of the bags tried: alpha {search['chosen']:g}."]


def _some(names: list[str], most: int = 6) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def _sections(model: Any, reading: ClusterReading, table: dict[str, list[Any]]) -> list[Section]:
    sections = []
    if len(reading.classes):
        text = "Nobody labelled a row. The shares are those that make the label sets of the bags most likely."
        heat = (ClusterClassDisplay.from_reading(reading), "Share of each class in each cluster, in percent.")
        sections.append(Section("What the clusters are made of", [text], [heat]))
    caption = "A cluster is named after the class that makes up at least half of it. Typical rows, with their bags, are nearest its centre; a bag disagrees when it has rows in the cluster but not that label."  # noqa: E501 - one caption, one line
    order = np.lexsort((np.arange(len(reading.names)), np.asarray(reading.names)))  # clusters of one class together
    by_name = {column: [values[k] for k in order] for column, values in table.items()}
    sections.append(Section("The clusters one by one", tables=[Table(by_name, caption)]))
    embedding = (EmbeddingDisplay.from_estimator(model, names=reading.names), "Rows in the spectral embedding.")
    sections.append(
        Section("The rows on a map", ["Rows close together are similar and come from like bags."], [embedding])
    )
    if model.alpha_search_:
        curve = (AlphaCurveDisplay.from_estimator(model), "How well clusters carry the label sets, over alpha.")
        sections.append(Section("How alpha was chosen", displays=[curve]))
    return sections


def _default_clusters(bags: Bags, table: str) -> int:
    if bags.n_classes:
        return bags.n_classes
    raise InvalidData(
        f"The bags of {table!r} carry no labels, so nobody knows how many clusters to look for. Add -k K."
    )


def demo(folder: Path, seed: int) -> Outcome:
    """Cluster digits that come in bags, each with the set of digits it holds, and show who is typical."""
    from sidelight.data.samples import load_digit_bags
    from sidelight.metrics import purity

    digits = load_digit_bags(random_state=seed)
    rows = Rows(digits.X, [f"pixel {i}" for i in range(digits.X.shape[1])], list(range(len(digits.X))), "row")
    config = RunConfig(
        "instances",
        "scikit-learn's digits in bags",
        options={"n_clusters": 20, "alpha": "auto", "scale": "none"},
        seed=seed,
    )
    found = cluster(rows, digits.bags, config)
    reading = ClusterReading.from_estimator(found.model, n_nearest=12)
    order = np.lexsort((np.arange(len(reading.names)), reading.shares.argmax(axis=1)))
    typical = TypicalImagesDisplay(
        [digits.images[reading.nearest[k]] for k in order], [reading.names[k] for k in order]
    )
    agreement = purity(digits.y, found.model.labels_)
    first = Section(
        "What the clusters look like",
        [
            "Each bag says which digits it holds, not which image is which. Twenty clusters were asked for, so that a "
            "digit may have several: ways of writing it.",
            f"Against the true digits, used only here, {agreement:.0%} of the images lie in a cluster of their digit.",
        ],
        [(typical, "The images nearest the centre of each cluster, named by bag labels alone.")],
    )
    found = Findings(
        "Handwritten digits in labelled bags",
        found.sentences,
        found.model,
        found.assignments,
        found.tables,
        [first, *found.sections],
        found.facts,
    )
    return publish(config, found, folder)
