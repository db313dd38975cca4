"""The page about clusters of the rows of labelled bags."""

from __future__ import annotations

import numpy as np

from sidelight.app.jobs.instances.pages import TERMS as GLOSSARY
from sidelight.app.jobs.instances.result import SpectralResult
from sidelight.app.jobs.pages.common import choice_section, gallery_sections, is_flat, map_section
from sidelight.app.report.components import heat, percent, table
from sidelight.app.report.page import Page, Section
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
    return Page(
        "Clusters of rows in labelled bags",
        [*sentences, *(_classes_found(result) if n_classes else [])],
        _sections(result),
        sure=[*(_one_cluster(result) if n_classes else []), *_choice_of_alpha(result)],
        next=_next(result),
        warnings=[*_mixed(result), *result.notes],
        glossary=GLOSSARY,
        terms=[
            "bag",
            "cluster",
            "label",
            "stands out by",
            "standard deviation",
            *(["F1", "weight of the bags"] if result.alpha_search else []),
        ],
    )


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
    return sentences


def _mixed(result: SpectralResult) -> list[Sentence]:
    if not result.classes or not result.n_mixed:
        return []
    return [
        [
            f"{counted(result.n_mixed, 'cluster is', 'clusters are')} mixed: no class makes up half. Ask for "
            "more clusters "
            "with ",
            Setting("n_clusters"),
            ".",
        ]
    ]


def _next(result: SpectralResult) -> list[Sentence]:
    """Say which bags to look at: a label was missed, or a row misplaced."""
    told: list[Sentence] = []
    if result.disagreeing:
        told.append(
            f"In {len(result.disagreeing)} of {result.n_labelled} labelled bags some rows lie in a cluster of a "
            "class not "
            f"named there ({some_of([name for name, _ in result.disagreeing], 3)}): a label was forgotten, or a row "
            "misplaced. Look at these bags first."
        )
    told.append(["More clusters than classes show the ways in which a class varies: ", Setting("n_clusters"), "."])
    return told


def _one_cluster(result: SpectralResult) -> list[Sentence]:
    share, n_clusters, n_classes = result.share_in_one_cluster, len(result.names), len(result.classes)
    if share is None:
        return []
    told = f"{percent(share)} of the bags with several labels ended wholly in one cluster"
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
        return ["Bags only name the clusters; they did not shape them."] if result.alpha == 0 and result.classes else []
    best = max(search["agreement"])
    told = f"The clusters carry the bags' labels with an F1 of {percent(best)}"
    if is_flat(search["agreement"]):
        return [f"{told}, however strongly bags are weighed; the smallest of {len(search['alpha'])} weights was kept."]
    return [f"{told}, the best of {len(search['alpha'])} weights of the bags that were tried."]


def _sections(result: SpectralResult) -> list[Section]:
    sections = []
    order = np.lexsort((np.arange(len(result.names)), np.asarray(result.names)))  # clusters of one class together
    if result.classes:
        text = "Nobody labelled a row. The shares are those that make the label sets of the bags most likely."
        shown = heat(
            result.shares[order], [result.names[k] for k in order], result.classes,
            "Percent of each class in each cluster.", row_title="cluster",
        )  # fmt: skip
        sections.append(Section("What the clusters are made of", [text], [shown]))
    caption = (
        "A cluster is named after the class that makes up at least half of it. A bag disagrees when it has rows in the "
        "cluster but not that label."
    )
    clusters = dict(result.tables["clusters"])
    for name in ("cluster", "made of", "typical rows"):  # on the page a cluster goes by its name; the rest is above
        clusters.pop(name)
    by_name = {
        "cluster" if column == "name" else column: [values[k] for k in order] for column, values in clusters.items()
    }
    sections += [
        *gallery_sections(result),
        Section("The clusters one by one", parts=[table(by_name, caption, percents=("share",), file="clusters.csv")]),
        map_section(result.map, "Rows close together are similar and come from like bags."),
    ]
    search = result.alpha_search
    if search:
        choice = {"tried": search["alpha"], "scores": search["agreement"], "chosen": search["chosen"]}
        sections += choice_section(
            "How the weight of the bags was chosen",
            "The weight under which the clusters carry the bags' labels best is taken.",
            choice,
            "How well clusters carry the label sets, over the weight of the bags (alpha).",
            x_title="weight of the bags (alpha)",
            y_title="F1 of the bags' labels",
            is_share=True,
        )
    return sections
