"""What the relations job found, clusters of rows and the answers they break, and the page about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidelight.app.jobs.page import (
    MAP_OF_CLUSTERS,
    STANDS_OUT,
    clusters_section,
    gallery_sections,
    map_section,
    table_of,
)
from sidelight.app.jobs.reliability import pairs_section
from sidelight.app.jobs.result import Map, Result, big, if_known
from sidelight.app.report.components import percent
from sidelight.app.report.page import Page, Section
from sidelight.words import Sentence, Setting, counted, in_words, present, sizes_in_words

_UNSURE = 0.8  # share of sure rows below which more answers are advised
_DOUBT = 0.02  # share of wrong answers from which the page speaks of them
_WAYS = {
    "k-means": "k-means",
    "mixture": "a mixture of clouds of one shape",
    "graph": "the graph of nearest rows",
    "discriminative": "the discriminative fit",
}
_MOST_PEOPLE = 8  # told in a sentence; the table has all


@dataclass(frozen=True, kw_only=True, eq=False)
class RelationsResult(Result):
    """Clusters of rows, and how sure the rows are of them."""

    sizes: Sequence[int]
    share_sure: float | None
    n_pairs: int = 0
    n_triplets: int = 0
    n_broken: int = 0
    eps: float = 0.0
    eps_range: Sequence[float] = (0.0, 0.0)  # between which shares answers are wrong
    calibration: Mapping[str, Any] | None = if_known()  # how right pairs are that are sure, by held-out answers
    eps_is_estimated: bool = False  # else it was given, or assumed because the answers are few
    won: str | None = if_known()  # the way to cluster, where nobody answered anything
    n_moved: int = 0  # rows in another cluster than their features alone would put them
    map: Map = big()

    def page(self) -> Page:
        """Say how large the clusters are, which answers they break, and what each stands out by."""
        n_rows, n_answers = self.reading.n_rows, self.n_pairs + self.n_triplets
        moved = f"{counted(self.n_moved, 'row')} ({percent(self.n_moved / max(1, n_rows))})"
        is_sure = self.share_sure is not None
        return Page(
            "Clusters of rows",
            [
                f"{counted(n_rows, 'row')} fell into {counted(sum(1 for size in self.sizes if size), 'cluster')}"
                f"{sizes_in_words(self.sizes)}.",
                *_about_answers(self, n_answers),
            ],
            present(
                _broken(self),
                _people(self),
                _ways(self),
                *gallery_sections(self),
                map_section(self.map, MAP_OF_CLUSTERS),
                clusters_section(self, STANDS_OUT),
                *pairs_section(self.calibration),
            ),
            sure=present(
                "This method gives no probabilities."
                if self.share_sure is None
                else f"{percent(self.share_sure)} of the rows have a probability above 90% for their cluster, as sure "
                "as held-out answers allow."
                if self.calibration is not None and self.calibration["n_answers"]
                else "Nobody's answers were held out, so nothing says whether clusters are anybody's kinds: "
                "probabilities only say how clearly the rows fall apart.",
                f"The answers put {moved} into another cluster than the features alone would ('by_features_alone' in "
                "assignments.csv). New rows have no answers: sidelight predict places every row by its features alone."
                if n_answers and is_sure
                else None,
            ),
            next=present(
                "Look at the answers that do not fit: correct the wrong ones and run again." if self.n_broken else None,
                ["Answer a few questions about pairs (sidelight ask), and give the answers with ", Setting("pairs"),
                 "."]
                if not n_answers
                else None,
                "Answer more questions about doubtful rows: sidelight ask chooses the ones that should tell most."
                if n_answers and self.share_sure is not None and self.share_sure < _UNSURE
                else None,
                ["Compare with another number of clusters: ", Setting("n_clusters"), "."],
            ),
            terms=["cluster", "probability", "stands out by", "standard deviation"],
        )  # fmt: skip


def _about_answers(found: RelationsResult, n_answers: int) -> list[Sentence]:
    if not n_answers:
        return present(
            "No answers about pairs or triplets were given: the rows alone decided.",
            f"Of {counted(len(found.tables['ways']['way']), 'way')} to cluster, {_WAYS[found.won]} won: other rows "
            "tell its clusters best."
            if found.won and "ways" in found.tables
            else None,
        )
    kinds = [counted(n, kind) for n, kind in ((found.n_pairs, "pair"), (found.n_triplets, "triplet")) if n]
    kept = percent((n_answers - found.n_broken) / n_answers)
    wrong = percent(found.eps)
    low, high = map(percent, found.eps_range)
    between = f"Between {low} and {high}" if low != high else f"About {wrong}"
    why = " (the first by answers that test each other; up to the second, or the features cannot say)"
    weighed = (
        f"{between} of the answers seem to be wrong{why if low != high else ''}; they were weighed as if {wrong} were."
        if found.eps_is_estimated
        else f"The answers were weighed as if {wrong} of them were wrong."
    )
    return present(
        f"People judged {' and '.join(kinds)}; the clusters keep {kept} of the answers.",
        weighed if max(found.eps, found.eps_range[1]) > _DOUBT else None,
        _about_people(found),
    )


def _about_people(found: RelationsResult) -> str | None:
    """Say how often each person is wrong, those who err most first."""
    people = found.tables.get("people")
    if people is None:
        return None
    each = [
        f"{name} {percent(wrong)} ({percent(low)} to {percent(high)})"
        for name, wrong, low, high in zip(people["person"], people["wrong"], people["from"], people["to"])
    ]
    told = [
        *each[:_MOST_PEOPLE],
        *([f"{len(each) - _MOST_PEOPLE} more in people.csv"] if len(each) > _MOST_PEOPLE else []),
    ]
    return f"Wrong answers by person, with ranges that hold 9 in 10: {in_words(told)}."


def _people(found: RelationsResult) -> Section | None:
    if "people" not in found.tables:
        return None
    told = (
        "The share of wrong answers that each person gave, as far as the others and the rows tell, and the range that "
        "holds it with a probability of 90%. Few answers leave a wide range."
    )
    caption = "People, those who err most first."
    return Section("Who answered", [told], [table_of(found, "people", caption, percents=("wrong", "from", "to"))])


def _ways(found: RelationsResult) -> Section | None:
    if "ways" not in found.tables:
        return None
    told = (
        "How much the nearest rows, and a linear rule learnt from the other half, tell about the cluster of a row, "
        "relative to what evenly sized clusters could tell. Ways that are close to each other do about as well."
    )
    return Section("Ways to cluster", [told], [table_of(found, "ways", "The ways that were tried, the best first.")])


def _broken(found: RelationsResult) -> Section | None:
    if "broken_answers" not in found.tables:
        return None
    told = "Look at these first: either the answer is wrong, or the features cannot tell the rows apart."
    caption = "Answers that the clusters break, the likeliest wrong first: the rows, what was said, and their clusters."
    return Section("Answers that do not fit", [told], [table_of(found, "broken_answers", caption)])
