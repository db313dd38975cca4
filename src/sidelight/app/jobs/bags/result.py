"""What the methods of the bags job found, clusters of bags, and the pages about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sidelight.app.jobs.page import clusters_section, gallery_sections, is_spread, map_section, table_of
from sidelight.app.jobs.result import Columns, Map, Result, big
from sidelight.app.report.components import Markup, histogram, lines, percent, picture, table
from sidelight.app.report.page import Page, Section
from sidelight.words import Sentence, Setting, counted, present, sizes_in_words

_MOST = 3  # bags shown of each cluster
_DOUBTFUL = 8  # bags shown of all
_DIRECTIONS = ("first main direction →", "second main direction →")
_OTHER_NUMBER: Sentence = ["Compare with another number of clusters: ", Setting("n_clusters"), "."]
_TERMS = {
    "Hausdorff distance": "How far two bags are apart, measured between rows of one and the nearest rows of the other.",
    "margin": "How clearly a row speaks for its cluster: from 1 on it lies clear of others, below 0 it speaks for one.",
    "medoid": "The bag in the middle of a cluster: the others are nearest to it.",
    "witness": "The row that decided the cluster of its bag: it speaks most clearly.",
}
_STATUS: dict[str, Sentence] = {
    "no margin": [
        "The bags could not be told apart: all are alike. Check that the rows differ; with ",
        Setting("margin", "paper"), ", try a larger ", Setting("balance"), ".",
    ],
    "empty clusters": ["Some clusters stayed empty. Ask for fewer, or try more starts with ", Setting("n_init"), "."],
    "iteration limit": "The search stopped at its limit of steps; the clusters are those of the last step.",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class _BagsResult(Result):
    """Clusters of bags."""

    n_bags: int
    sizes: Sequence[int]

    @property
    def fell(self) -> str:
        """Into how many clusters the bags fell, and how large these are."""
        n_used = int(np.count_nonzero(self.sizes))
        return (
            f"{counted(self.n_bags, 'bag')} ({counted(self.reading.n_rows, 'row')}) fell into "
            f"{counted(n_used, 'cluster')}{sizes_in_words(self.sizes, 'bag')}."
        )

    def surest(self, labels: np.ndarray, sure: np.ndarray) -> list[int]:
        """Return the surest bags of each cluster."""
        order = np.argsort(-np.asarray(sure), kind="stable")
        return [b for k in range(len(self.sizes)) for b in order[labels[order] == k][:_MOST].tolist()]

    def some_bags(self, chosen: Sequence[int], names: Sequence[str], caption: str) -> Markup:
        """Show these bags from the table of bags."""
        bags = self.tables["bags"]
        columns = {name: [bags[name][b] for b in chosen] for name in names}
        return table(columns, caption, percents=("probability",), file="bags.csv")


@dataclass(frozen=True, kw_only=True, eq=False)
class WordsResult(_BagsResult):
    """Clusters of bags by what they hold, and the row that speaks loudest in each."""

    share_sure: float
    bag_proba: np.ndarray = big()
    bag_labels: np.ndarray = big()
    witnesses: np.ndarray = big()
    map: Map = big()

    def page(self) -> Page:
        """Say how the bags fell, what clusters have in common, and which bags are sure and doubtful."""
        common = "Sizes, and what the witnesses and all rows of a cluster stand out by, in standard deviations."
        names = ("cluster", "bag", "witness row", "probability", "next cluster")
        sure = self.bag_proba.max(axis=1)
        doubtful: list[int] = np.argsort(sure, kind="stable")[:_DOUBTFUL].tolist()
        surest = self.surest(self.bag_labels, sure)
        return Page(
            "Clusters of bags",
            [self.fell],
            [
                *gallery_sections(self),
                Section(
                    "What the clusters have in common",
                    ["The witness of a bag is the row that speaks loudest for its cluster."],
                    [table_of(self, "clusters", common, percents=("share",))],
                ),
                Section(
                    "Clear and doubtful bags",
                    parts=[
                        self.some_bags(surest, names, "The clearest bags of each cluster, with their witnesses."),
                        self.some_bags(doubtful, names, "The most doubtful bags, with their witnesses."),
                    ],
                ),
                map_section(self.map, "Bags that hold the same kinds of rows lie together.", what="bag"),
            ],
            sure=[
                "Nobody says of bags what they are, so that nothing can be held out: probabilities compare clusters by "
                f"the fit's own measure, and {percent(self.share_sure)} of the bags have 80% or more for theirs.",
            ],
            next=[
                "Listen to, look at or read the witnesses of each cluster: they show what its bags have in common.",
                _OTHER_NUMBER,
            ],
            terms=["bag", "cluster", "witness", "probability", "stands out by", "standard deviation"],
            glossary=_TERMS,
        )


@dataclass(frozen=True, eq=False)
class BalanceSizes:
    """Sizes of the clusters, largest first, for other values of the balance."""

    balances: Sequence[float]
    sizes: np.ndarray
    chosen: float


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginResult(_BagsResult):
    """Clusters of bags, and the row that decided each."""

    share_at_margin: float
    n_with_second_cluster: int
    membership_threshold: float
    status: str
    C: float
    balance: float
    search_score: float | None = None
    search: Columns = field(default_factory=dict)
    balance_sizes: BalanceSizes | None = None
    margins: np.ndarray = big()
    bag_labels: np.ndarray = big()
    witnesses: np.ndarray = big()
    bag_of_row: np.ndarray = big()
    coordinates: np.ndarray = big()
    row_names: Sequence[Any] | np.ndarray = big(default=())
    bag_names: Sequence[Any] = big(default=())

    def page(self) -> Page:
        """Say how the bags fell, which rows decided, and how sure they are."""
        alt = f"A map of the witnesses of {self.n_bags} bags."
        return Page(
            "Clusters of bags",
            [
                self.fell,
                "Each bag was judged by one of its rows, its witness: the one that leans most to one cluster.",
            ],
            _margin_sections(self),
            sure=present(
                f"{percent(self.share_at_margin)} of the bags have a row that lies clear of other clusters (a "
                "margin of 1 or more).",
                f"In {self.n_with_second_cluster} of {self.n_bags} bags a further row speaks for another cluster (a "
                f"margin above {self.membership_threshold:.2f}).",
                None
                if self.search_score is None
                else f"C = {self.C:g} and balance = {self.balance:g} were chosen without labels, by stability, "
                f"evenness and margin (score {percent(self.search_score)}).",
            ),
            next=[
                "Look at the witnesses of each cluster: they show what its bags have in common.",
                "Look at the bags below the line of the histogram: no row of theirs was clear enough.",
            ],
            warnings=present(_STATUS.get(self.status)),
            terms=["bag", "cluster", "margin", "witness", "stands out by", "standard deviation"],
            thumbnail=picture(self.coordinates[self.witnesses], self.bag_labels, alt=alt),
            glossary=_TERMS,
        )


def _margin_sections(found: MarginResult) -> list[Section]:
    labels, bag_of_row = np.asarray(found.bag_labels), np.asarray(found.bag_of_row)
    n_clusters = len(found.sizes)
    is_witness = np.zeros(len(bag_of_row), dtype=bool)
    is_witness[found.witnesses] = True
    bag_names = [found.bag_names[b] for b in bag_of_row.tolist()]
    names = [str(k) for k in range(n_clusters)]
    shown = Map(found.coordinates, labels[bag_of_row], names, found.row_names, bag_names)
    sure = histogram(
        {f"cluster {k}": np.asarray(found.margins)[labels == k] for k in range(n_clusters)},
        "Margins of the bags. Left of the line no row was clear enough.",
        alt=f"{percent(found.share_at_margin)} of {found.n_bags} bags reach a margin of 1.",
        x_title="margin", y_title="bags", marked=1.0, mark_name="clear",
    )  # fmt: skip
    surest = found.surest(labels, found.margins)
    decided = "The surest bags of each cluster, and the row that decided them."
    about = "Large dots are witnesses, the rows that decided; a row is coloured by the cluster of its bag."
    searched = (
        "Stability: agreement with the clusters of part of the bags. Evenness: how alike the sizes are. Margin: what "
        "bags reach of the margin of 1. The product decides; it is a guide, not the truth."
    )
    return present(
        *gallery_sections(found),
        Section(
            "The rows that decided",
            parts=[found.some_bags(surest, ("cluster", "bag", "witness row", "margin"), decided)],
        ),
        Section("How sure the bags are", parts=[sure]),
        map_section(shown, about, marked=is_witness, mark_name="decided its bag", axes=_DIRECTIONS),
        clusters_section(found, "Sizes, and what the witnesses of a cluster stand out by among all witnesses."),
        _balance(found.balance_sizes),
        Section("How C and balance were chosen", [searched], [table(found.search, "Everything that was tried.")])
        if found.search
        else None,
    )


def _balance(tried: BalanceSizes | None) -> Section | None:
    """Show the sizes over the balance, unless it changes nothing."""
    if tried is None or (np.asarray(tried.sizes) == np.asarray(tried.sizes)[0]).all():
        return None
    sizes = np.asarray(tried.sizes)
    series = {"largest cluster": sizes[:, 0].tolist(), "smallest cluster": sizes[:, -1].tolist()}
    drawn = lines(
        list(tried.balances), series, "Sizes of the largest and the smallest cluster, over the balance.",
        alt=f"The largest cluster has {int(sizes[:, 0].min())} to {int(sizes[:, 0].max())} bags.",
        x_title="balance", y_title="bags", marked=tried.chosen, is_even=is_spread(tried.balances),
    )  # fmt: skip
    return Section("What the balance does", ["A smaller balance forces clusters of like sizes."], [drawn])


@dataclass(frozen=True, kw_only=True, eq=False)
class MedoidsResult(_BagsResult):
    """Clusters of bags around one bag each."""

    distance: str
    mean_distance: float
    map: Map = big()

    def page(self) -> Page:
        """Say how the bags fell, and show them on a map."""
        about = "A bag lies at the mean of its rows; the distances themselves look at single rows."
        return Page(
            "Clusters of bags",
            [
                self.fell,
                "Each cluster gathers around one of its bags, the medoid: look at it to know the cluster.",
            ],
            [
                *gallery_sections(self),
                clusters_section(self, "Medoids, sizes, and what the mean rows of bags stand out by."),
                map_section(self.map, about, what="bag"),
            ],
            sure=[
                f"On average a bag is {self.mean_distance:.3g} away from its medoid, by the {self.distance} Hausdorff "
                "distance."
            ],
            next=["Compare the medoids with each other: each stands for its cluster.", _OTHER_NUMBER],
            terms=["bag", "cluster", "Hausdorff distance", "medoid", "stands out by", "standard deviation"],
            glossary=_TERMS,
        )
