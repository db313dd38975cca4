"""The page about clusters of several channels."""

from __future__ import annotations

import numpy as np

from sidelight.app.jobs.pages.common import MAP_OF_CLUSTERS, clusters_section, dip, gallery_sections, map_section
from sidelight.app.jobs.result import Blocks, Curve
from sidelight.app.jobs.sources.result import Judged, SourcesResult
from sidelight.app.report.components import Markup, blocks, lines, percent, table
from sidelight.app.report.page import Page, Section
from sidelight.words import Sentence, Setting, counted, sizes_in_words, some_of

TERMS = {
    "channel": "One kind of measurement of every row, such as the face or the voice, with columns of its own.",
    "code": "A typical value of a channel: similar measurements share a code, so that they can be counted.",
}


def page(result: SourcesResult) -> Page:
    """Say how the rows fell, what the channels share, which sequences are torn, and who is new."""
    return Page(
        "Clusters of several channels",
        _sentences(result),
        _sections(result),
        sure=_sure(result),
        next=_next(result),
        warnings=_warnings(result),
        terms=["bit", "channel", "cluster", "code"],
        glossary=TERMS,
    )


def blocks_figure(shown: Blocks, caption: str, *, kept: float | None = None) -> Markup:
    """Draw a table beside its approximation."""
    share = "" if kept is None else f" The clusters keep {percent(kept)} of its information."
    return blocks(
        shown.P, shown.Q, list(shown.row_breaks), list(shown.column_breaks), caption,
        alt=f"{len(shown.row_breaks) + 1} by {len(shown.column_breaks) + 1} blocks.{share}",
        titles=("as counted", "from the clusters alone"), axes=(shown.axes_names[0], shown.axes_names[1]),
    )  # fmt: skip


def curve_section(curve: Curve, in_use: int | None, caption: str) -> Section:
    """Show the information that numbers of clusters keep, with the number in use marked."""
    series = {"this table": list(curve.shares)}
    told: list[Sentence] = ["Where the curve bends, more clusters remember little more."]
    if curve.floor is not None:
        series["a table of this size with nothing to find"] = list(curve.floor)
        told.append("The dashed curve is what chance would seem to keep: only what lies above it counts.")
    x = [int(k) for k in curve.n_clusters]
    where = f"{percent(curve.shares[x.index(in_use)])} at {in_use}, in use" if in_use in x else "none of them in use"
    drawn = lines(
        x, series, caption, alt=f"From {percent(min(curve.shares))} to {percent(max(curve.shares))}; {where}.",
        x_title="clusters", y_title="information kept", marked=in_use, is_share=True,
    )  # fmt: skip
    return Section("What other numbers of clusters keep", [*told, *dip(x, curve.shares)], [drawn])


_BY = {
    "graphs": "by graphs of near rows, added up over all channels",
    "concatenated": "by a graph of near rows, all channels side by side",
    **dict.fromkeys(("annealed", "information", "spectral", "weights"), "by what occurs with the channel {0!r}"),
}


def _because(result: SourcesResult) -> str:
    return f": {result.why}" if result.why and result.why != "it was asked for" else ""


def _sentences(result: SourcesResult) -> list[Sentence]:
    n_used = int(np.count_nonzero(result.sizes))
    told: list[Sentence] = [
        f"{counted(result.reading.n_rows, 'row')} of {len(result.channels)} channels fell into "
        f"{counted(n_used, 'cluster')}{sizes_in_words(result.sizes)}, {_BY[result.method].format(result.primary)}"
        f"{_because(result)}.",
        f"{result.partner!r} tells most about {result.primary!r}: the two change together.",
    ]
    if result.judged:
        judged = result.judged
        new = f"{judged.n_new} of {judged.n_rows} rows of {judged.path!r} fit no cluster (new.csv)"
        told.append(f"{new}: sequences {some_of(judged.new_sequences, 5)}." if judged.new_sequences else f"{new}.")
    return told


def _sure(result: SourcesResult) -> list[Sentence]:
    told: list[Sentence] = [
        f"The codes of {result.primary!r} and {result.partner!r} share {result.bits_shared:.2f} bits."
    ]
    if result.torn is not None:
        verdict = f"{len(result.torn)} of {result.n_sequences} sequences are torn between clusters"
        fine = f"{verdict}: within each, 70% of the rows or more agree."
        told.append(f"{verdict}: {some_of(result.torn, 5)}." if result.torn else fine)
    return told


def _next(result: SourcesResult) -> list[Sentence]:
    told: list[Sentence] = []
    if result.torn:
        told.append("Look at the torn sequences: two people in one recording, or a change of light, look like that.")
    told.append(
        ["Compare with another number of clusters: ", Setting("n_clusters"), "; the curve below helps to choose."]
    )
    if not result.judged:
        told.append(["Ask which rows of another table fit no cluster with ", Setting("judge"), "."])
    return told


def _warnings(result: SourcesResult) -> list[Sentence]:
    n_used = int(np.count_nonzero(result.sizes))
    told: list[Sentence] = []
    if n_used < result.n_asked and result.followed_sequences:
        told.append(
            [
                f"{result.n_asked} clusters were asked for; the others hold no rows after every row followed its "
                "sequence (",
                Setting("reassign", False),
                " keeps them).",
            ]
        )
    elif n_used < result.n_asked:
        told.append(f"{result.n_asked} clusters were asked for; the others hold no rows.")
    if result.judged:
        told += _left_out(result.judged)
    return told


def _left_out(judged: Judged) -> list[Sentence]:
    return [f"{judged.path!r}: {rows}: left out." for rows in judged.left_out]


def _sections(result: SourcesResult) -> list[Section]:
    primary, partner = result.primary, result.partner
    together = Section(
        "What occurs together",
        [
            f"Lines are codes of {primary!r}, columns codes of {partner!r}, sorted by cluster; dark cells "
            "occurred often "
            "together. The second table is what the clusters remember: the closer it looks, the less is lost."
        ],
        [
            blocks_figure(result.blocks, f"Counts of {primary} and {partner}, and their approximation by clusters."),
            table(
                result.tables["channels"],
                "Every channel, and what its codes and clusters share with the primary one, in bits.",
                file="channels.csv",
            ),
        ],
    )
    sections = [
        *gallery_sections(result),
        map_section(result.map, f"By {primary!r}. {MAP_OF_CLUSTERS}", bag_word="sequence"),
        clusters_section(result, "Sizes of the clusters."),
        together,
        curve_section(result.curve, result.n_asked, f"Information of {primary} and {partner} that k clusters keep."),
    ]
    if "sequences" in result.tables:
        by_sequence = result.tables["sequences"]
        order = np.argsort(by_sequence["agreement"], kind="stable")
        ranked = {name: [column[i] for i in order] for name, column in by_sequence.items()}
        caption = "The cluster of each sequence, and the share of its rows that agree with it; least agreement first."
        shown = table(ranked, caption, percents=("agreement",), file="sequences.csv")
        sections.append(Section("The sequences", parts=[shown]))
    return sections
