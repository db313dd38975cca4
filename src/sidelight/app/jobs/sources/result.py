"""What the sources job found, clusters of several channels, and the page about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.app.jobs.page import (
    MAP_OF_CLUSTERS,
    blocks_figure,
    clusters_section,
    curve_section,
    gallery_sections,
    map_section,
    table_of,
)
from sidelight.app.jobs.result import Blocks, Curve, Map, Result, big
from sidelight.app.report.components import table
from sidelight.app.report.page import Page, Section
from sidelight.words import Sentence, Setting, counted, present, sizes_in_words, some_of

_TERMS = {
    "channel": "One kind of measurement of every row, such as the face or the voice, with columns of its own.",
    "code": "A typical value of a channel: similar measurements share a code, so that they can be counted.",
}
_BY = {
    "graphs": "by graphs of near rows, added up over all channels",
    "concatenated": "by a graph of near rows, all channels side by side",
    **dict.fromkeys(("annealed", "information", "spectral", "weights"), "by what occurs with the channel {0!r}"),
}


@dataclass(frozen=True, eq=False)
class Judged:
    """What the clusters make of a second table."""

    path: str
    n_rows: int
    n_new: int
    new_sequences: Sequence[Any]
    left_out: Sequence[Any] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class SourcesResult(Result):
    """Clusters of several channels."""

    channels: Sequence[str]
    primary: str
    partner: str
    bits_shared: float
    sizes: Sequence[int]
    n_asked: int
    followed_sequences: bool
    torn: Sequence[Any] | None
    n_sequences: int
    curve: Curve
    method: str = "annealed"
    why: str = ""
    judged: Judged | None = None
    blocks: Blocks = big()
    map: Map = big()

    def page(self) -> Page:
        """Say how the rows fell, what the channels share, which sequences are torn, and who is new."""
        return Page(
            "Clusters of several channels",
            _findings(self),
            _sections(self),
            sure=present(
                f"The codes of {self.primary!r} and {self.partner!r} share {self.bits_shared:.2f} bits.", _torn(self)
            ),
            next=present(
                "Look at the torn sequences: two people in one recording, or a change of light, look like that."
                if self.torn
                else None,
                ["Compare with another number of clusters: ", Setting("n_clusters"),
                 "; the curve below helps to choose."],
                ["Ask which rows of another table fit no cluster with ", Setting("judge"), "."]
                if not self.judged
                else None,
            ),
            warnings=_warnings(self),
            terms=["bit", "channel", "cluster", "code"],
            glossary=_TERMS,
        )  # fmt: skip


def _findings(found: SourcesResult) -> list[Sentence]:
    because = f": {found.why}" if found.why and found.why != "it was asked for" else ""
    judged, new = found.judged, None
    if judged:
        whose = f": sequences {some_of(judged.new_sequences, 5)}" if judged.new_sequences else ""
        new = f"{judged.n_new} of {judged.n_rows} rows of {judged.path!r} fit no cluster (new.csv){whose}."
    return present(
        f"{counted(found.reading.n_rows, 'row')} of {len(found.channels)} channels fell into "
        f"{counted(int(np.count_nonzero(found.sizes)), 'cluster')}{sizes_in_words(found.sizes)}, "
        f"{_BY[found.method].format(found.primary)}{because}.",
        f"{found.partner!r} tells most about {found.primary!r}: the two change together.",
        new,
    )


def _torn(found: SourcesResult) -> Sentence | None:
    if found.torn is None:
        return None
    verdict = f"{len(found.torn)} of {found.n_sequences} sequences are torn between clusters"
    return f"{verdict}: {some_of(found.torn, 5) or 'within each, 70% of the rows or more agree'}."


def _warnings(found: SourcesResult) -> list[Sentence]:
    asked = f"{found.n_asked} clusters were asked for; the others hold no rows"
    followed: Sentence = [f"{asked} after every row followed its sequence (", Setting("reassign", False),
                          " keeps them)."]  # fmt: skip
    has_fewer, judged = int(np.count_nonzero(found.sizes)) < found.n_asked, found.judged
    left_out = [f"{judged.path!r}: {rows}: left out." for rows in judged.left_out] if judged else []
    return present((followed if found.followed_sequences else f"{asked}.") if has_fewer else None, *left_out)


def _sections(found: SourcesResult) -> list[Section]:
    primary, partner = found.primary, found.partner
    told = (
        f"Lines are codes of {primary!r}, columns codes of {partner!r}, sorted by cluster; dark cells occurred often "
        "together. The second table is what the clusters remember: the closer it looks, the less is lost."
    )
    about_channels = "Every channel, and what its codes and clusters share with the primary one, in bits."
    return present(
        *gallery_sections(found),
        map_section(found.map, f"By {primary!r}. {MAP_OF_CLUSTERS}", bag_word="sequence"),
        clusters_section(found, "Sizes of the clusters."),
        Section(
            "What occurs together",
            [told],
            [
                blocks_figure(found.blocks, f"Counts of {primary} and {partner}, and their approximation by clusters."),
                table_of(found, "channels", about_channels),
            ],
        ),
        curve_section(found.curve, found.n_asked, f"Information of {primary} and {partner} that k clusters keep."),
        _sequences(found),
    )


def _sequences(found: SourcesResult) -> Section | None:
    if "sequences" not in found.tables:
        return None
    by_sequence = found.tables["sequences"]
    order = np.argsort(by_sequence["agreement"], kind="stable")
    ranked = {name: [column[i] for i in order] for name, column in by_sequence.items()}
    caption = "The cluster of each sequence, and the share of its rows that agree with it; least agreement first."
    return Section("The sequences", parts=[table(ranked, caption, percents=("agreement",), file="sequences.csv")])
