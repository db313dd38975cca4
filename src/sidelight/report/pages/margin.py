"""The page about clusters of bags that one row of each decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.plot import BagMarginDisplay, BagWitnessDisplay, BalanceSizesDisplay
from sidelight.report.page import Page, Section, Table
from sidelight.results.jobs import MarginResult
from sidelight.words import Sentence, Setting, counted, sizes_in_words

_STATUS: dict[str, Sentence] = {
    "no margin": [
        "No margin was found: all bags are alike under this balance. Try a larger ", Setting("balance"),
        ", or check that the rows differ.",
    ],
    "empty clusters": [
        "Some clusters stayed empty although the balance is met. Try a smaller ", Setting("balance"), ", a larger ",
        Setting("C"), ", or fewer clusters.",
    ],
    "iteration limit": "The search stopped at its limit of steps; the clusters are those of the last step.",
}  # fmt: skip


def page(result: MarginResult) -> Page:
    """Say how the bags fell, which rows decided, and how sure they are."""
    return Page("Clusters of bags", _sentences(result), _sections(result))


def bags_fell(n_bags: int, n_rows: int, sizes: Any) -> str:
    """Say into how many clusters the bags fell, and how large these are."""
    n_used = int(np.count_nonzero(sizes))
    return (
        f"{counted(n_bags, 'bag')} ({counted(n_rows, 'row')}) fell into {counted(n_used, 'cluster')}"
        f"{sizes_in_words(sizes, 'bag')}."
    )


def _sentences(result: MarginResult) -> list[Sentence]:
    told: list[Sentence] = [
        bags_fell(result.n_bags, result.reading.n_rows, result.sizes),
        f"{result.share_at_margin:.0%} of the bags have a row that reaches the margin of 1; in "
        f"{result.n_with_second_cluster} of {result.n_bags} bags a further row speaks for another cluster (a margin "
        f"above {result.membership_threshold:.2f}).",
    ]
    if result.search_score is not None:
        told.append(
            f"C = {result.C:g} and balance = {result.balance:g} were chosen without labels, by stability, evenness and "
            f"margin (score {result.search_score:.2f} of 1)."
        )
    return [*told, *([_STATUS[result.status]] if result.status in _STATUS else [])]


def _sections(result: MarginResult) -> list[Section]:
    margins = BagMarginDisplay(result.margins, result.bag_labels)
    pictures: list[tuple[Any, str]] = [
        (margins, "Margins of the bags. Left of the dashed line no row was clear enough.")
    ]
    if result.balance_sizes is not None:
        tried = result.balance_sizes
        words = "Cluster sizes when the balance is tightened or loosened."
        if (tried.sizes == tried.sizes[0]).all():
            words += " Here it changes nothing: the mean rows of the bags sum to zero."
        pictures.append((BalanceSizesDisplay(tried.balances, tried.sizes, tried.chosen), words))
    witnesses = BagWitnessDisplay(result.coordinates, result.witnesses, result.bag_labels, result.bag_of_row)
    sections = [
        Section(
            "The rows that decided",
            ["A bag is judged by one row, its witness: the one that leans most to one cluster. Lines lead to its bag."],
            [(witnesses, "Witnesses by cluster among all rows, on the two main directions.")],
            [Table(_surest(result), "The surest bags of each cluster, and the row that decided them.")],
        ),
        Section("How sure the bags are", displays=pictures),
        Section(
            "The clusters",
            tables=[
                Table(
                    result.tables["clusters"],
                    "Sizes, and what the witnesses of a cluster stand out by among all witnesses.",
                )
            ],
        ),
    ]
    if result.search:
        sections.append(
            Section(
                "How C and balance were chosen",
                [
                    "Stability: agreement with the clusters of part of the bags. Evenness: entropy of the sizes. "
                    "Margin: what bags reach of the margin of 1. The product decides; it is a guide, not the truth."
                ],
                tables=[Table(result.search, "Everything that was tried.")],
            )
        )
    return sections


def _surest(result: MarginResult, most: int = 3) -> dict[str, list[Any]]:
    """Pick the surest bags of each cluster from the table of bags."""
    bags = result.tables["bags"]
    order = np.argsort(-np.asarray(result.margins), kind="stable")
    chosen = [b for k in range(len(result.sizes)) for b in order[result.bag_labels[order] == k][:most].tolist()]
    return {name: [bags[name][b] for b in chosen] for name in ("cluster", "bag", "witness row", "margin")}
