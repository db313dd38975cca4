"""The page about clusters of bags by what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.plot import ClusterScatterDisplay, StabilityDisplay
from sidelight.report.page import Page, Section, Table
from sidelight.report.pages.margin import bags_fell
from sidelight.results.jobs import WordsResult
from sidelight.words import Sentence, Setting

_MOST = 3  # bags shown of each cluster
_DOUBTFUL = 8  # bags shown of all


def page(result: WordsResult) -> Page:
    """Say how the bags fell, what clusters have in common, and which bags are sure and doubtful."""
    return Page("Clusters of bags", _sentences(result), _sections(result))


def _sentences(result: WordsResult) -> list[Sentence]:
    told: list[Sentence] = [bags_fell(result.n_bags, result.reading.n_rows, result.sizes)]
    chosen = result.stability
    if chosen is not None:
        agreement = dict(zip(chosen.tried, chosen.scores))[chosen.chosen]
        told.append(
            [
                f"{chosen.chosen} clusters were chosen: two halves of the code books agree on them with an adjusted "
                f"Rand index of {agreement:.2f} (1: the same clusters, 0: chance). Ask for another number with ",
                Setting("n_clusters"),
                ".",
            ]
        )
    told.append(f"{result.share_sure:.0%} of the bags are sure of their cluster (a probability of 0.8 or more).")
    return told


def _sections(result: WordsResult) -> list[Section]:
    shown = ClusterScatterDisplay(result.map.coordinates, result.map.labels, result.map.names)
    sections = [
        Section(
            "What the clusters have in common",
            ["The witness of a bag is the row that speaks loudest for its cluster."],
            tables=[Table(result.tables["clusters"], "Sizes, and what stands out, in standard deviations.")],
        ),
        Section(
            "Sure and doubtful bags",
            tables=[
                Table(_rows(result, _surest(result)), "The surest bags of each cluster, with their witnesses."),
                Table(_rows(result, _doubtful(result)), "The most doubtful bags, with their witnesses."),
            ],
        ),
        Section(
            "The bags on a map",
            ["Each dot is a bag, placed by the words it holds; bags that hold the same kinds of rows lie together."],
            [(shown, "Bags by cluster, on the two main directions.")],
        ),
    ]
    chosen = result.stability
    if chosen is not None:
        curve = StabilityDisplay(chosen.tried, chosen.scores, chosen.errors, chosen.chosen)
        sections.append(
            Section(
                "How many clusters",
                ["The largest number is taken whose clusters are within 0.05 of the best agreement."],
                [(curve, "Agreement of the clusters that two halves of the code books give, for every number tried.")],
            )
        )
    return sections


def _surest(result: WordsResult) -> list[int]:
    order = np.argsort(-result.bag_proba.max(axis=1), kind="stable")
    return [b for k in range(len(result.sizes)) for b in order[result.bag_labels[order] == k][:_MOST].tolist()]


def _doubtful(result: WordsResult) -> list[int]:
    doubtful: list[int] = np.argsort(result.bag_proba.max(axis=1), kind="stable")[:_DOUBTFUL].tolist()
    return doubtful


def _rows(result: WordsResult, chosen: list[int]) -> dict[str, list[Any]]:
    """Pick these bags from the table of bags."""
    bags = result.tables["bags"]
    names = ("cluster", "bag", "witness row", "probability", "next cluster")
    return {name: [bags[name][b] for b in chosen] for name in names}
