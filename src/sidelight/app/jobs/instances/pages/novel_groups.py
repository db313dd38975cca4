"""The section about novel clusters: the rows nearest to each, and how well features alone tell them from known ones."""

from __future__ import annotations

from typing import Any

from sidelight.app.jobs.instances.result import CoverageResult
from sidelight.app.report.components import histogram, table
from sidelight.app.report.components.numbers import percent
from sidelight.app.report.page import Section

_HALF = 0.5  # novelty above which a row is rather novel than known


def novel_sections(result: CoverageResult) -> list[Section]:
    """Show the novel clusters, where some row is in one."""
    if not result.nearest:
        return []
    rows: dict[str, list[Any]] = {"novel cluster": [], "row": [], "is called": [], "distance": []}
    for name, nearest in result.nearest.items():
        for row, called, far in nearest:
            for column, value in zip(rows.values(), (name, row, called, far)):
                column.append(value)
    caption = "The rows nearest to the centre of each novel cluster, in standard deviations of a feature."
    shown = [table(rows, caption, most=40, file="assignments.csv")]
    told = "Look at these rows to name a novel cluster; a neighbour that is called otherwise may belong to it."
    known, novel = result.novelty["known"], result.novelty["novel"]
    if len(known) and len(novel):
        apart = (
            f"By features alone, {percent(float((novel > _HALF).mean()))} of the rows in novel clusters and "
            f"{percent(float((known > _HALF).mean()))} of the others are rather novel than known."
        )
        groups = {"in known clusters": known.tolist(), "in novel clusters": novel.tolist()}
        shown.append(
            histogram(
                groups, "The novelty of rows by their features alone, coloured by where they ended.", alt=apart,
                x_title="novelty", y_title="rows", marked=_HALF, mark_name="as likely as not",
            )
        )  # fmt: skip
        told = f"{told} {apart}"
    return [Section("The novel clusters", [told], shown)]
