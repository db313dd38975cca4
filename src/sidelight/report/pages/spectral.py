"""The page about clusters of the rows of labelled bags."""

from __future__ import annotations

import numpy as np

from sidelight.plot import AlphaCurveDisplay, ClusterClassDisplay, EmbeddingDisplay
from sidelight.report.page import Page, Section, Table
from sidelight.results.jobs import SpectralResult
from sidelight.words import Sentence, Setting, counted, some_of

TOO_MANY = 0.5  # share of multi-label bags in one cluster from which the page warns


def page(result: SpectralResult) -> Page:
    """Say which classes have clusters, what the clusters are made of, and how the bags were weighed."""
    n_classes = len(result.classes)
    sentences: list[Sentence] = [
        f"{counted(result.reading.n_rows, 'row')} of {counted(result.n_bags, 'bag')} ({result.n_labelled} labelled, "
        f"{counted(n_classes, 'class', 'classes')}) fell into "
        f"{counted(int(np.count_nonzero(result.sizes)), 'cluster')}."
    ]
    if n_classes:
        sentences += [*_classes_found(result), *_disagreements(result), *_in_one_cluster(result)]
    sentences += [*_choice_of_alpha(result), *result.notes]
    return Page("Clusters of rows in labelled bags", sentences, _sections(result))


def _classes_found(result: SpectralResult) -> list[Sentence]:
    """Say which classes have clusters, the largest first, and which have none."""
    clusters = {c: ks for c, ks in result.clusters_of.items() if ks}
    size = {c: sum(result.sizes[k] for k in ks) for c, ks in clusters.items()}
    missed = [str(c) for c in result.classes if c not in clusters]
    told = [
        f"{c} ({counted(size[c], 'row')}{f' in {len(clusters[c])} clusters' if len(clusters[c]) > 1 else ''})"
        for c in sorted(clusters, key=lambda c: -size[c])
    ]
    sentences: list[Sentence] = []
    if told:
        verb = "has a cluster of its own" if len(told) == 1 else "have clusters of their own"
        sentences.append(f"{len(told)} of {len(result.classes)} classes {verb}: {some_of(told, 6)}.")
    if missed:
        sentences.append(f"None was found for {some_of(missed, 6)}.")
    if result.n_mixed:
        sentences.append(f"{counted(result.n_mixed, 'cluster is', 'clusters are')} mixed: no class makes up half.")
    return sentences


def _disagreements(result: SpectralResult) -> list[Sentence]:
    """Say how many labelled bags have rows in clusters of other labels: a label was missed, or a row misplaced."""
    if not result.disagreeing:
        return []
    return [
        f"In {len(result.disagreeing)} of {result.n_labelled} labelled bags some rows lie in a cluster of a class not "
        f"named there ({some_of([name for name, _ in result.disagreeing], 3)}): a label was forgotten, or a row "
        "misplaced."
    ]


def _in_one_cluster(result: SpectralResult) -> list[Sentence]:
    share, n_clusters, n_classes = result.share_in_one_cluster, len(result.names), len(result.classes)
    if share is None:
        return []
    told = f"{share:.0%} of the bags with several labels ended wholly in one cluster"
    if n_clusters < n_classes:
        return [f"{told}; with {counted(n_clusters, 'cluster')} for {n_classes} classes some have to."]
    if share > TOO_MANY:
        return [
            [
                f"{told} (in truth none does). That is far too many: the bags outweigh the features. Try a smaller ",
                Setting("alpha"),
                ".",
            ]
        ]
    return [f"{told} (in truth none does)."]


def _choice_of_alpha(result: SpectralResult) -> list[Sentence]:
    search = result.alpha_search
    if not search:
        return ["Alpha is 0: bags only name the clusters."] if result.alpha == 0 and result.classes else []
    best, worst = max(search["agreement"]), min(search["agreement"])
    told = f"The clusters carry the bags' label sets with F1 {best:.2f} (1 is perfect)"
    if best == worst:
        return [f"{told}, whatever alpha, the weight of the bags; the smallest of {len(search['alpha'])} was kept."]
    return [f"{told}, the best of {len(search['alpha'])} weights of the bags tried: alpha {search['chosen']:g}."]


def _sections(result: SpectralResult) -> list[Section]:
    sections = []
    if result.classes:
        text = "Nobody labelled a row. The shares are those that make the label sets of the bags most likely."
        heat = ClusterClassDisplay(result.shares, result.classes, result.names, result.sizes)
        shown = [(heat, "Share of each class in each cluster, in percent.")]
        sections.append(Section("What the clusters are made of", [text], shown))
    caption = (
        "A cluster is named after the class that makes up at least half of it. Typical rows, with their bags, are "
        "nearest its centre; a bag disagrees when it has rows in the cluster but not that label."
    )
    order = np.lexsort((np.arange(len(result.names)), np.asarray(result.names)))  # clusters of one class together
    by_name = {column: [values[k] for k in order] for column, values in result.tables["clusters"].items()}
    embedding = EmbeddingDisplay(result.map.coordinates, result.map.labels, result.map.names)
    sections += [
        Section("The clusters one by one", tables=[Table(by_name, caption)]),
        Section(
            "The rows on a map",
            ["Rows close together are similar and come from like bags."],
            [(embedding, "Rows in the spectral embedding.")],
        ),
    ]
    search = result.alpha_search
    if search:
        curve = AlphaCurveDisplay(search["alpha"], {"agreement with bag labels": search["agreement"]}, search["chosen"])
        shown_curve = [(curve, "How well clusters carry the label sets, over alpha.")]
        sections.append(Section("How alpha was chosen", displays=shown_curve))
    return sections
