"""The page about clusters of several channels."""

from __future__ import annotations

import numpy as np

from sidelight.plot import ClusterScatterDisplay, CoclusterDisplay, PreservedInformationDisplay
from sidelight.report.page import Page, Section, Table
from sidelight.results.jobs import Blocks, Judged, SourcesResult
from sidelight.words import Sentence, Setting, counted, sizes_in_words, some_of


def page(result: SourcesResult) -> Page:
    """Say how the rows fell, what the channels share, which sequences are torn, and who is new."""
    return Page("Clusters of several channels", _sentences(result), _sections(result))


def blocks_display(blocks: Blocks) -> CoclusterDisplay:
    """Draw a table beside its approximation."""
    return CoclusterDisplay(blocks.P, blocks.Q, blocks.row_breaks, blocks.column_breaks, blocks.axes_names)


def _sentences(result: SourcesResult) -> list[Sentence]:
    n_used = int(np.count_nonzero(result.sizes))
    told: list[Sentence] = [
        f"{counted(result.reading.n_rows, 'row')} of {len(result.channels)} channels fell into "
        f"{counted(n_used, 'cluster')}{sizes_in_words(result.sizes)}, by the channel {result.primary!r}."
    ]
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
    told.append(
        f"{result.primary!r} shares most with {result.partner!r}: {result.bits_shared:.2f} bits between their codes."
    )
    if result.torn is not None:
        verdict = f"{len(result.torn)} of {result.n_sequences} sequences are torn between clusters"
        fine = f"{verdict}: within each, 70% of the rows or more agree."
        told.append(f"{verdict}: {some_of(result.torn, 5)}." if result.torn else fine)
    return [*told, *(_about_judged(result.judged) if result.judged else [])]


def _about_judged(judged: Judged) -> list[Sentence]:
    told: list[Sentence] = [f"{judged.path!r}: {rows}: left out." for rows in judged.left_out]
    new = f"{judged.n_new} of {judged.n_rows} rows of {judged.path!r} fit no cluster (new.csv)"
    return [*told, f"{new}: sequences {some_of(judged.new_sequences, 5)}." if judged.new_sequences else f"{new}."]


def _sections(result: SourcesResult) -> list[Section]:
    primary, partner, curve = result.primary, result.partner, result.curve
    scatter = ClusterScatterDisplay(result.map.coordinates, result.map.labels, result.map.names)
    information = PreservedInformationDisplay(curve.n_clusters, curve.shares, curve.floor)
    sections = [
        Section(
            "What occurs together",
            [
                f"Rows are codes of {primary!r}, columns codes of {partner!r}, sorted by cluster; dark cells occurred "
                "often together. The right half is what the clusters remember: the closer it looks, the less is lost."
            ],
            [
                (
                    blocks_display(result.blocks),
                    f"Counts of {primary} and {partner}, and their approximation by clusters.",
                )
            ],
            [
                Table(
                    result.tables["channels"],
                    "Every channel, and what its codes and clusters share with the primary one, in bits.",
                )
            ],
        ),
        Section("The rows on a map", [], [(scatter, f"Rows by cluster, on two main directions of {primary!r}.")]),
        Section(
            "How many clusters?",
            [
                "Where the curve bends, more clusters remember little more; the grey curve is a table of the same size "
                "in which there is nothing to find."
            ],
            [(information, f"Information of {primary} and {partner} that k clusters keep.")],
        ),
        Section("The clusters", tables=[Table(result.tables["clusters"], "Sizes of the clusters.")]),
    ]
    if "sequences" in result.tables:
        by_sequence = result.tables["sequences"]
        order = np.argsort(by_sequence["agreement"], kind="stable")
        ranked = {name: [column[i] for i in order] for name, column in by_sequence.items()}
        caption = "The cluster of each sequence, and the share of its rows that agree with it; least agreement first."
        sections.append(Section("The sequences", tables=[Table(ranked, caption)]))
    return sections
