"""Sections that several pages have: the map, the rows to look at, the clusters, and how a number was chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.app.jobs.result import Map, Result
from sidelight.app.report.components import Markup, gallery, lines, picture, row_map, table
from sidelight.app.report.components.numbers import number
from sidelight.app.report.page import Section
from sidelight.words import Sentence, counted

MAP_OF_CLUSTERS = "Clusters that are alike lie near each other; a row between two clusters resembles both."
_DIP = 0.02  # share of the range of a curve that a fall must have to be worth a word


def map_section(shown: Map, about: str, *, what: str = "row", bag_word: str = "bag", **more: Any) -> Section:
    """Return the map of rows or bags."""
    sizes = np.bincount(shown.labels[shown.labels >= 0], minlength=len(shown.names))
    largest = shown.names[int(np.argmax(sizes))] if sizes.size else ""
    alt = (
        f"A map of {counted(len(shown.labels), what)} in {counted(int(np.count_nonzero(sizes)), 'cluster')}; "
        "the largest "
        f"is {largest} with {number(int(sizes.max(initial=0)))}."
    )
    drawn = row_map(
        shown.coordinates, shown.labels, shown.names, shown.ids,
        f"Each dot is a {what}, coloured by its cluster. Hover over it or tap it for its name.",
        alt=alt, bags=shown.bags, sure=shown.sure, what=what, bag_word=bag_word, **more,
    )  # fmt: skip
    return Section(f"The {what}s on a map", [about], [drawn])


def gallery_sections(
    result: Result,
    title: str = "What the clusters look like",
    told: str = "The surest members of each cluster, and those that could as well be elsewhere.",
) -> list[Section]:
    """Return the rows to look at, where there are some."""
    shown = result.gallery
    if shown is None or not shown.groups:
        return []
    return [Section(title, [told], [gallery(shown.groups, notes=shown.notes, what=shown.what)])]


def clusters_section(result: Result, caption: str, title: str = "The clusters") -> Section:
    """Return the table of clusters."""
    return Section(title, parts=[table(result.tables["clusters"], caption, percents=("share",), file="clusters.csv")])


def choice_section(
    title: str, told: Sentence, choice: Any, caption: str, *, x_title: str, y_title: str, is_share: bool = False
) -> list[Section]:
    """Return the curve behind a number that was chosen; nothing where the curve is flat or a single point."""
    tried, scores = list(choice["tried"]), list(choice["scores"])
    if is_flat(scores):
        return []
    errors = choice.get("errors")
    best = tried[int(np.nanargmax(scores))]
    alt = f"{y_title} is best at {number(best)}; {number(choice['chosen'])} is in use."
    figure = lines(
        tried, {y_title: scores}, caption, alt=alt, x_title=x_title, y_title=y_title, errors=errors,
        marked=choice["chosen"], is_share=is_share, is_even=is_spread(tried),
    )  # fmt: skip
    return [Section(title, [told, *dip(tried, scores, has_errors=errors is not None)], [figure])]


def is_flat(values: Sequence[float]) -> bool:
    """Say whether a curve would say nothing."""
    finite = [float(v) for v in values if math.isfinite(v)]
    return len(finite) < 2 or max(finite) - min(finite) <= 1e-9 * max(1.0, abs(max(finite)))


def is_spread(tried: Sequence[float]) -> bool:
    """Say whether numbers grow by factors, so that they belong at equal distances."""
    positive = [float(v) for v in tried if v > 0]
    return (
        len(positive) > 2 and max(positive) / min(positive) > 50
    )  # beyond this the small ones would lie on each other


def dip(tried: Sequence[float], values: Sequence[float], *, has_errors: bool = False) -> list[Sentence]:
    """Explain where a curve that should rise falls and rises again."""
    values = [float(v) for v in values]
    room = _DIP * (max(values) - min(values))
    dips = [
        i for i in range(1, len(values) - 1) if values[i] < values[i - 1] - room and values[i] < values[i + 1] - room
    ]
    if not dips:
        return []
    why = "within the band it is chance" if has_errors else "each number is searched anew, and a search can end early"
    return [f"The dip at {number(tried[dips[0]])} says little: {why}."]


def thumbnail_of(result: Result) -> Markup | None:
    """Return the map of a result as a small picture, where it has one."""
    shown = getattr(result, "map", None)
    if shown is None:
        return None
    alt = f"A map of {len(shown.labels)} dots in {len(shown.names)} clusters."
    return picture(shown.coordinates, shown.labels, alt=alt)
