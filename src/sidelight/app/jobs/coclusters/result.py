"""What the co-clusters job found, clusters of every axis of a table of counts, and the page about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sidelight.app.jobs.page import blocks_figure, curve_section, table_of
from sidelight.app.jobs.result import Blocks, Columns, Curve, Result, big
from sidelight.app.report.components import Markup, bars, percent, picture, table
from sidelight.app.report.page import Page, Section
from sidelight.words import Sentence, Setting, counted, in_words, present

_ABOVE_CHANCE = 1.05  # a twentieth above chance is nothing to draw


@dataclass(frozen=True, kw_only=True, eq=False)
class CoclustersResult(Result):
    """Clusters of every axis of a table of counts."""

    axes: Mapping[str, int]
    n_asked: Mapping[str, int]
    n_found: Mapping[str, int]
    n_empty: Mapping[str, int]
    nats_kept: float
    nats_total: float
    is_of_pairs: bool
    total: float
    preferred: str | None = None  # why this method, in a sentence
    curve: Curve | None = None
    members: Mapping[str, Columns] = big()
    blocks: Blocks | None = big(default=None)

    def page(self) -> Page:
        """Say what the clusters keep, show the table beside its approximation, and list what goes together."""
        tells = self.nats_total > 1e-12  # what rounding leaves of a table whose axes are independent
        share = self.nats_kept / self.nats_total if tells else 1.0
        of = "the information in its pairs of axes" if self.is_of_pairs else "the table's information"
        kept, total = (max(nats, 0.0) / math.log(2) for nats in (self.nats_kept, self.nats_total))
        n_pairs = math.prod(max(1, k) for k in self.n_found.values())
        return Page(
            "Co-clusters",
            present(
                f"{in_words([_many(axis, size) for axis, size in self.axes.items()])} fell into "
                f"{' x '.join(str(k) for k in self.n_found.values())} clusters.",
                f"The clusters keep {percent(share)} of {of}: what goes with what can be read from {n_pairs} "
                "combinations instead of single counts."
                if tells
                else f"There is nothing to keep: {of} is zero, so nothing goes with anything more than by chance.",
                self.preferred or None,
            ),
            _sections(self, share),
            sure=[f"Kept: {kept:.3f} of {total:.3f} bits. More clusters keep more, and are less sure."],
            next=[
                "Read the combinations that occur far more often than chance: they say what goes with what.",
                ["Compare with another number of clusters: ", Setting("n_clusters"), "."],
            ],
            warnings=_warnings(self),
            terms=["bit", "cluster"],
            thumbnail=None if self.blocks is None else _table_picture(self.blocks),
        )


def _table_picture(shown: Blocks) -> Markup:
    """Draw the cells of a sorted table that are above its mean as dots, coloured by the cluster of their line."""
    rows, columns = np.nonzero(shown.P.mean() < shown.P)
    groups = np.searchsorted(shown.row_breaks, rows, side="right")
    n_groups = len(shown.row_breaks) + 1
    return picture(
        np.column_stack([columns, -rows]), groups, alt=f"A table sorted by {n_groups} clusters of its lines."
    )


def _warnings(found: CoclustersResult) -> list[Sentence]:
    empty = [f"{n} of {axis!r}" for axis, n in found.n_empty.items() if n]
    return present(
        *(
            f"{found.n_asked[axis]} clusters of {axis!r} were asked for; no more than {n} could be told apart."
            for axis, n in found.n_found.items()
            if n < found.n_asked[axis]
        ),
        f"Without any count, and so without a cluster (-1): {in_words(empty)}." if empty else None,
    )


def _sections(found: CoclustersResult, share: float) -> list[Section]:
    told = "Sorted by cluster; the closer the second table looks to the first, the less was lost."
    members = "The most frequent members of each cluster first."
    in_use = set(found.n_asked.values())
    only = in_use.pop() if len(in_use) == 1 else None
    return present(
        Section(
            "What goes together",
            parts=[*_strongest(found), table_of(found, "cells", "Combinations of clusters, most frequent first.")],
        ),
        *(Section(f"Clusters of {axis}", parts=[table(of, members)]) for axis, of in found.members.items()),
        Section(
            "The table and what its clusters remember of it",
            [told],
            [blocks_figure(found.blocks, "Counts, and their approximation by clusters.", kept=share)],
        )
        if found.blocks is not None
        else None,
        curve_section(found.curve, only, "Information that k x k clusters keep.") if found.curve is not None else None,
    )


def _strongest(found: CoclustersResult) -> list[Markup]:
    """Draw the combinations that are furthest above chance."""
    cells = found.tables["cells"]
    axes = [name for name in cells if name.startswith("cluster of ")]
    times = [float(value) for value in cells["times chance"]]
    rows = [i for i in sorted(range(len(times)), key=lambda i: -times[i])[:8] if times[i] > _ABOVE_CHANCE]
    if not rows:
        return []
    names = [", ".join(f"{axis.removeprefix('cluster of ')} {cells[axis][i]}" for axis in axes) for i in rows]
    caption = "Combinations of clusters that occur more often than chance: 2 means twice as often."
    return [bars(names, [times[i] for i in rows], caption, name_title="clusters", value_title="times chance")]


def _many(axis: str, size: int) -> str:
    return counted(size, axis.removesuffix("s")) if axis in ("rows", "columns") else f"{size} codes of {axis!r}"
