"""The page about clusters of the axes of a table of counts."""

from __future__ import annotations

import math

from sidelight.plot import PreservedInformationDisplay
from sidelight.report.page import Page, Section, Table
from sidelight.report.pages.sources import blocks_display
from sidelight.results.jobs import CoclustersResult
from sidelight.words import Sentence, in_words


def page(result: CoclustersResult) -> Page:
    """Say what the clusters keep, show the table beside its approximation, and list what goes together."""
    return Page("Co-clusters", _sentences(result), _sections(result))


def _sentences(result: CoclustersResult) -> list[Sentence]:
    told: list[Sentence] = [
        f"{in_words([_many(axis, size) for axis, size in result.axes.items()])} fell into "
        f"{' x '.join(str(k) for k in result.n_found.values())} clusters."
    ]
    told += [
        f"{result.n_asked[axis]} clusters of {axis!r} were asked for; no more than {n} could be told apart."
        for axis, n in result.n_found.items()
        if n < result.n_asked[axis]
    ]
    share = result.nats_kept / result.nats_total if result.nats_total > 0 else 1.0
    bits = f"{result.nats_kept / math.log(2):.3f} of {result.nats_total / math.log(2):.3f} bits"
    of = "the information in its pairs of axes" if result.is_of_pairs else "the table's information"
    told.append(f"The clusters keep {share:.0%} of {of} ({bits}).")
    empty = [f"{n} of {axis!r}" for axis, n in result.n_empty.items() if n]
    if empty:
        told.append(f"Without any count, and so without a cluster (-1): {in_words(empty)}.")
    return told


def _sections(result: CoclustersResult) -> list[Section]:
    sections = []
    if result.blocks is not None:
        sections.append(
            Section(
                "The table and what its clusters remember of it",
                ["Sorted by cluster; the closer the right half looks to the left one, the less was lost."],
                [
                    (
                        blocks_display(result.blocks),
                        "Counts (left) and their approximation by clusters (right); darker is more.",
                    )
                ],
            )
        )
    if result.curve is not None:
        curve = PreservedInformationDisplay(result.curve.n_clusters, result.curve.shares, result.curve.floor)
        sections.append(
            Section(
                "How many clusters?",
                ["Where the curve bends, more clusters remember little more."],
                [(curve, "Information that k x k clusters keep.")],
            )
        )
    cells = Table(result.tables["cells"], "Combinations of clusters, most frequent first.")
    sections.append(Section("What goes together", tables=[cells]))
    for axis, members in result.members.items():
        sections.append(Section(f"Clusters of {axis}", tables=[Table(members, "Most frequent members first.")]))
    return sections


def _many(axis: str, size: int) -> str:
    return f"{size} {axis}" if axis in ("rows", "columns") else f"{size} codes of {axis!r}"
