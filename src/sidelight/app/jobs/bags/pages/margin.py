"""The page about clusters of bags that one row of each decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.app.jobs.bags.pages import TERMS
from sidelight.app.jobs.bags.result import MarginResult
from sidelight.app.jobs.pages.common import clusters_section, gallery_sections, is_spread, map_section
from sidelight.app.jobs.result import Map
from sidelight.app.report.components import histogram, lines, percent, picture, table
from sidelight.app.report.page import Page, Section
from sidelight.words import Sentence, Setting, counted, sizes_in_words

_DIRECTIONS = ("first main direction →", "second main direction →")

_STATUS: dict[str, Sentence] = {
    "no margin": [
        "The bags could not be told apart: all are alike. Check that the rows differ; with ",
        Setting("margin", "paper"), ", try a larger ", Setting("balance"), ".",
    ],
    "empty clusters": ["Some clusters stayed empty. Ask for fewer, or try more starts with ", Setting("n_init"), "."],
    "iteration limit": "The search stopped at its limit of steps; the clusters are those of the last step.",
}  # fmt: skip


def page(result: MarginResult) -> Page:
    """Say how the bags fell, which rows decided, and how sure they are."""
    return Page(
        "Clusters of bags",
        [
            bags_fell(result.n_bags, result.reading.n_rows, result.sizes),
            "Each bag was judged by one of its rows, its witness: the one that leans most to one cluster.",
        ],
        _sections(result),
        sure=_sure(result),
        next=[
            "Look at the witnesses of each cluster: they show what its bags have in common.",
            "Look at the bags below the line of the histogram: no row of theirs was clear enough.",
        ],
        warnings=[_STATUS[result.status]] if result.status in _STATUS else [],
        terms=["bag", "cluster", "margin", "witness", "stands out by", "standard deviation"],
        thumbnail=picture(
            result.coordinates[result.witnesses],
            result.bag_labels,
            alt=f"A map of the witnesses of {result.n_bags} bags.",
        ),
        glossary=TERMS,
    )


def bags_fell(n_bags: int, n_rows: int, sizes: Any) -> str:
    """Say into how many clusters the bags fell, and how large these are."""
    n_used = int(np.count_nonzero(sizes))
    return (
        f"{counted(n_bags, 'bag')} ({counted(n_rows, 'row')}) fell into {counted(n_used, 'cluster')}"
        f"{sizes_in_words(sizes, 'bag')}."
    )


def _sure(result: MarginResult) -> list[Sentence]:
    told: list[Sentence] = [
        f"{percent(result.share_at_margin)} of the bags have a row that is beyond doubt (a margin of 1 or more).",
        f"In {result.n_with_second_cluster} of {result.n_bags} bags a further row speaks for another cluster (a margin "
        f"above {result.membership_threshold:.2f}).",
    ]
    if result.search_score is not None:
        told.append(
            f"C = {result.C:g} and balance = {result.balance:g} were chosen without labels, by stability, evenness and "
            f"margin (score {percent(result.search_score)})."
        )
    return told


def _sections(result: MarginResult) -> list[Section]:
    names = [str(k) for k in range(len(result.sizes))]
    is_witness = np.zeros(len(result.bag_of_row), dtype=bool)
    is_witness[result.witnesses] = True
    shown = Map(
        result.coordinates,
        np.asarray(result.bag_labels)[result.bag_of_row],
        names,
        result.row_names,
        [result.bag_names[b] for b in np.asarray(result.bag_of_row).tolist()],
    )
    margins = {
        f"cluster {k}": np.asarray(result.margins)[np.asarray(result.bag_labels) == k] for k in range(len(result.sizes))
    }
    sure = histogram(
        margins, "Margins of the bags. Left of the line no row was clear enough.",
        alt=f"{percent(result.share_at_margin)} of {result.n_bags} bags reach a margin of 1.",
        x_title="margin", y_title="bags", marked=1.0, mark_name="clear",
    )  # fmt: skip
    about = "Large dots are witnesses, the rows that decided; a row is coloured by the cluster of its bag."
    sections = [
        *gallery_sections(result),
        Section(
            "The rows that decided",
            parts=[
                table(
                    _surest(result), "The surest bags of each cluster, and the row that decided them.", file="bags.csv"
                )
            ],
        ),
        Section("How sure the bags are", parts=[sure]),
        map_section(shown, about, marked=is_witness, mark_name="decided its bag", axes=_DIRECTIONS),
        clusters_section(result, "Sizes, and what the witnesses of a cluster stand out by among all witnesses."),
        *_balance(result),
    ]
    if result.search:
        told = (
            "Stability: agreement with the clusters of part of the bags. Evenness: how alike the sizes are. "
            "Margin: what "
            "bags reach of the margin of 1. The product decides; it is a guide, not the truth."
        )
        sections.append(
            Section("How C and balance were chosen", [told], [table(result.search, "Everything that was tried.")])
        )
    return sections


def _balance(result: MarginResult) -> list[Section]:
    """Show the sizes over the balance, unless it changes nothing."""
    tried = result.balance_sizes
    if tried is None or (np.asarray(tried.sizes) == np.asarray(tried.sizes)[0]).all():
        return []
    sizes = np.asarray(tried.sizes)
    series = {"largest cluster": sizes[:, 0].tolist(), "smallest cluster": sizes[:, -1].tolist()}
    drawn = lines(
        list(tried.balances), series, "Sizes of the largest and the smallest cluster, over the balance.",
        alt=f"The largest cluster has {int(sizes[:, 0].min())} to {int(sizes[:, 0].max())} bags.",
        x_title="balance", y_title="bags", marked=tried.chosen, is_even=is_spread(tried.balances),
    )  # fmt: skip
    return [Section("What the balance does", ["A smaller balance forces clusters of like sizes."], [drawn])]


def _surest(result: MarginResult, most: int = 3) -> dict[str, list[Any]]:
    """Pick the surest bags of each cluster from the table of bags."""
    bags = result.tables["bags"]
    order = np.argsort(-np.asarray(result.margins), kind="stable")
    chosen = [b for k in range(len(result.sizes)) for b in order[result.bag_labels[order] == k][:most].tolist()]
    return {name: [bags[name][b] for b in chosen] for name in ("cluster", "bag", "witness row", "margin")}
