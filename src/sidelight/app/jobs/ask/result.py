"""What a conversation found, clusters by the answers of a person, and the page about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sidelight.app.jobs.page import (
    MAP_OF_CLUSTERS,
    STANDS_OUT,
    clusters_section,
    gallery_sections,
    map_section,
    table_of,
)
from sidelight.app.jobs.result import Map, Result, big
from sidelight.app.report.components import lines, percent
from sidelight.app.report.page import Page, Section
from sidelight.words import Sentence, counted, present, sizes_in_words

_DOUBT = 0.02  # share of wrong answers from which the page speaks of them


@dataclass(frozen=True, eq=False)
class Progress:
    """How a conversation went: after so many answers, the share of unsure rows and, with a truth, the agreement."""

    at: Sequence[int]
    unsure: Sequence[float]
    agreement: Sequence[float] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class AskResult(Result):
    """Clusters by the answers of a person, and whether it pays to go on."""

    n_answers: int
    n_piles: int
    n_unsure: int
    n_broken: int
    eps: float
    sizes: Sequence[int]
    share_sure: float | None  # None where too few rows have answers to tell
    n_judged: int  # rows with answers that all others were asked about: how sure they are of them, how right
    n_said: int
    n_right: int
    enough: bool
    outlook: str
    progress: Progress
    map: Map = big()

    def page(self) -> Page:
        """Say what the answers made of the rows, and whether more of them would help."""
        n_used = sum(1 for size in self.sizes if size)
        answered = counted(self.n_answers, "answer")
        broken = counted(self.n_broken, "answer")
        listed = (
            "The questions in their order, the answers, the clusters that the rows are in now, and whether they fit."
        )
        return Page(
            "Clusters by the answers of a person",
            present(
                f"After {answered} {counted(self.reading.n_rows, 'row')} lie in {counted(n_used, 'cluster')}"
                f"{sizes_in_words(self.sizes)}.",
                f"{counted(self.n_unsure, 'question')} nobody could answer." if self.n_unsure else None,
                f"The clusters break {broken}; they are marked in the list." if self.n_broken else None,
                f"About {percent(self.eps)} of the answers seem to be wrong, and were weighed accordingly."
                if self.eps > _DOUBT
                else None,
            ),
            present(
                _progress(self.progress),
                *gallery_sections(self),
                map_section(self.map, MAP_OF_CLUSTERS),
                clusters_section(self, STANDS_OUT),
                Section("The questions", parts=[table_of(self, "questions", listed)]) if self.n_answers else None,
            ),
            sure=_how_sure(self),
            next=present(
                self.outlook,
                "Look at the answers that the clusters break: they may be slips." if self.n_broken else None,
                f"Give {'piles.csv' if self.n_piles else 'pairs.csv'} to sidelight relations to cluster further tables "
                "with these answers.",
            ),
            terms=present(
                "cluster", "probability", "stands out by", "standard deviation",
                "rand index, adjusted" if self.progress.agreement else None,
            ),
        )  # fmt: skip


def _how_sure(found: AskResult) -> list[Sentence]:
    """Say how many rows are sure, and how right rows with answers are where all others are sure of them."""
    if found.share_sure is None:
        return ["How sure rows are of their clusters is not said: too few rows have answers to tell how right that is."]
    said = f"{percent(found.share_sure)} of the rows have a probability above 90% for their cluster"
    others = f"Of {counted(found.n_judged, 'row')} with answers, all others call"
    if not found.n_said:
        return [f"{said}.", f"{others} none more than 90% sure of its cluster: questions were about doubtful rows."]
    right = f"{found.n_right} of these lie where they say"
    return [f"{said}.", f"{others} {found.n_said} more than 90% sure of a cluster, and {right}."]


def _progress(went: Progress) -> Section | None:
    """Show how doubt fell, and how agreement with a truth rose, over the questions."""
    if len(went.at) < 2:
        return None
    doubt = lines(
        went.at,
        {"rows that are unsure": went.unsure},
        "The share of rows that have no cluster with a probability of at least 70%, after so many answers.",
        alt=f"Unsure rows went from {percent(went.unsure[0])} to {percent(went.unsure[-1])}.",
        x_title="answers",
        y_title="unsure rows",
        is_share=True,
    )
    agreement = lines(
        went.at,
        {"agreement with the truth": went.agreement},
        "Adjusted Rand index against a truth that the session never saw, after so many answers.",
        alt=f"The agreement went from {went.agreement[0]:.2f} to {went.agreement[-1]:.2f}.",
        x_title="answers",
        y_title="adjusted Rand index",
    ) if went.agreement else None  # fmt: skip
    told = "Answers also place rows that nobody was asked about."
    return Section("How it went", [told], present(doubt, agreement))
