"""The page about clusters of the axes of a table of counts."""

from __future__ import annotations

import math

import numpy as np

from sidelight.app.jobs.coclusters.result import CoclustersResult
from sidelight.app.jobs.result import Blocks
from sidelight.app.jobs.sources.page import blocks_figure, curve_section
from sidelight.app.report.components import Markup, bars, percent, picture, table
from sidelight.app.report.page import Page, Section
from sidelight.words import Sentence, Setting, counted, in_words


def page(result: CoclustersResult) -> Page:
    """Say what the clusters keep, show the table beside its approximation, and list what goes together."""
    share = _share(result)
    of = "the information in its pairs of axes" if result.is_of_pairs else "the table's information"
    kept, total = (max(nats, 0.0) / math.log(2) for nats in (result.nats_kept, result.nats_total))
    return Page(
        "Co-clusters",
        [
            f"{in_words([_many(axis, size) for axis, size in result.axes.items()])} fell into "
            f"{' x '.join(str(k) for k in result.n_found.values())} clusters.",
            f"The clusters keep {percent(share)} of {of}: what goes with what can be read from {_pairs(result)} "
            "combinations instead of single counts."
            if _tells(result)
            else f"There is nothing to keep: {of} is zero, so nothing goes with anything more than by chance.",
            *([result.preferred] if result.preferred else []),
        ],
        _sections(result, share),
        sure=[f"Kept: {kept:.3f} of {total:.3f} bits. More clusters keep more, and are less sure."],
        next=[
            "Read the combinations that occur far more often than chance: they say what goes with what.",
            ["Compare with another number of clusters: ", Setting("n_clusters"), "."],
        ],
        warnings=_warnings(result),
        terms=["bit", "cluster"],
        thumbnail=None if result.blocks is None else _table_picture(result.blocks),
    )


def _table_picture(shown: Blocks) -> Markup:
    """Draw the cells of a sorted table that are above its mean as dots, coloured by the cluster of their line."""
    rows, columns = np.nonzero(shown.P.mean() < shown.P)
    groups = np.searchsorted(shown.row_breaks, rows, side="right")
    n_groups = len(shown.row_breaks) + 1
    return picture(
        np.column_stack([columns, -rows]), groups, alt=f"A table sorted by {n_groups} clusters of its lines."
    )


def _pairs(result: CoclustersResult) -> int:
    return math.prod(max(1, k) for k in result.n_found.values())


def _share(result: CoclustersResult) -> float:
    return result.nats_kept / result.nats_total if _tells(result) else 1.0


def _tells(result: CoclustersResult) -> bool:
    return result.nats_total > 1e-12  # what rounding leaves of a table whose axes are independent


def _warnings(result: CoclustersResult) -> list[Sentence]:
    told: list[Sentence] = [
        f"{result.n_asked[axis]} clusters of {axis!r} were asked for; no more than {n} could be told apart."
        for axis, n in result.n_found.items()
        if n < result.n_asked[axis]
    ]
    empty = [f"{n} of {axis!r}" for axis, n in result.n_empty.items() if n]
    if empty:
        told.append(f"Without any count, and so without a cluster (-1): {in_words(empty)}.")
    return told


def _sections(result: CoclustersResult, share: float) -> list[Section]:
    cells = table(result.tables["cells"], "Combinations of clusters, most frequent first.", file="cells.csv")
    sections = [Section("What goes together", parts=[*_strongest(result), cells])]
    for axis, members in result.members.items():
        caption = "The most frequent members of each cluster first."
        sections.append(Section(f"Clusters of {axis}", parts=[table(members, caption)]))
    if result.blocks is not None:
        told = "Sorted by cluster; the closer the second table looks to the first, the less was lost."
        drawn = blocks_figure(result.blocks, "Counts, and their approximation by clusters.", kept=share)
        sections.append(Section("The table and what its clusters remember of it", [told], [drawn]))
    if result.curve is not None:
        in_use = set(result.n_asked.values())
        only = in_use.pop() if len(in_use) == 1 else None
        sections.append(curve_section(result.curve, only, "Information that k x k clusters keep."))
    return sections


def _strongest(result: CoclustersResult) -> list[Markup]:
    """Draw the combinations that are furthest above chance."""
    cells = result.tables["cells"]
    axes = [name for name in cells if name.startswith("cluster of ")]
    rows = sorted(range(len(cells["count"])), key=lambda i: -float(cells["times chance"][i]))[:8]
    rows = [i for i in rows if float(cells["times chance"][i]) > 1.05]  # a twentieth above chance is nothing to draw
    if not rows:
        return []
    names = [", ".join(f"{axis.removeprefix('cluster of ')} {cells[axis][i]}" for axis in axes) for i in rows]
    values = [float(cells["times chance"][i]) for i in rows]
    caption = "Combinations of clusters that occur more often than chance: 2 means twice as often."
    return [bars(names, values, caption, name_title="clusters", value_title="times chance")]


def _many(axis: str, size: int) -> str:
    return counted(size, axis.removesuffix("s")) if axis in ("rows", "columns") else f"{size} codes of {axis!r}"
