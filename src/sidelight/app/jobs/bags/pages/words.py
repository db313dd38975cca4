"""The page about clusters of bags by what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.app.jobs.bags.pages import TERMS
from sidelight.app.jobs.bags.pages.margin import bags_fell
from sidelight.app.jobs.bags.result import WordsResult
from sidelight.app.jobs.pages.common import gallery_sections, map_section
from sidelight.app.report.components import percent, table
from sidelight.app.report.page import Page, Section
from sidelight.words import Setting

_MOST = 3  # bags shown of each cluster
_DOUBTFUL = 8  # bags shown of all


def page(result: WordsResult) -> Page:
    """Say how the bags fell, what clusters have in common, and which bags are sure and doubtful."""
    return Page(
        "Clusters of bags",
        [bags_fell(result.n_bags, result.reading.n_rows, result.sizes)],
        _sections(result),
        sure=[f"{percent(result.share_sure)} of the bags are sure of their cluster (a probability of 80% or more)."],
        next=[
            "Listen to, look at or read the witnesses of each cluster: they show what its bags have in common.",
            ["Compare with another number of clusters: ", Setting("n_clusters"), "."],
        ],
        terms=["bag", "cluster", "witness", "probability", "stands out by", "standard deviation"],
        glossary=TERMS,
    )


def _sections(result: WordsResult) -> list[Section]:
    caption = "Sizes, and what the witnesses and all rows of a cluster stand out by, in standard deviations."
    return [
        *gallery_sections(result),
        Section(
            "What the clusters have in common",
            ["The witness of a bag is the row that speaks loudest for its cluster."],
            [table(result.tables["clusters"], caption, percents=("share",), file="clusters.csv")],
        ),
        Section(
            "Sure and doubtful bags",
            parts=[
                _bag_table(result, _surest(result), "The surest bags of each cluster, with their witnesses."),
                _bag_table(result, _doubtful(result), "The most doubtful bags, with their witnesses."),
            ],
        ),
        map_section(result.map, "Bags that hold the same kinds of rows lie together.", what="bag"),
    ]


def _surest(result: WordsResult) -> list[int]:
    order = np.argsort(-result.bag_proba.max(axis=1), kind="stable")
    return [b for k in range(len(result.sizes)) for b in order[result.bag_labels[order] == k][:_MOST].tolist()]


def _doubtful(result: WordsResult) -> list[int]:
    doubtful: list[int] = np.argsort(result.bag_proba.max(axis=1), kind="stable")[:_DOUBTFUL].tolist()
    return doubtful


def _bag_table(result: WordsResult, chosen: list[int], caption: str) -> Any:
    """Pick these bags from the table of bags."""
    bags = result.tables["bags"]
    names = ("cluster", "bag", "witness row", "probability", "next cluster")
    columns = {name: [bags[name][b] for b in chosen] for name in names}
    return table(columns, caption, percents=("probability",), file="bags.csv")
