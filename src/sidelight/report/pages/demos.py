"""The stories that open the pages of the demos, and the page that links them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sidelight.report.components import Markup, card, cards, element, join, percent, picture, tree_picture
from sidelight.report.page import Page, Section, document
from sidelight.results import Result
from sidelight.results.demos import Story
from sidelight.results.jobs import Blocks, CoclustersResult, HierarchyResult, MarginResult

TITLES = {
    "instances": "Handwritten digits, explained by the lists of their bags",
    "spectral": "Handwritten digits in labelled bags",
    "novel": "Rectangles that nobody named",
    "bags": "Films of digits",
    "relations": "Handwritten digits, clustered",
    "ask": "Handwritten digits, and a person with little patience",
    "hierarchy": "Kinds of numbers, with gaps",
    "sources": "People seen through four channels",
    "coclusters": "Who was seen where",
}
_STORIES = {
    "instances": (
        "Each bag holds some handwritten digits and says which ones, not which is which; the digits 3 and 7 were "
        "struck off every list. Two novel clusters were allowed.",
        "Against the true digits, used only here, the normalised mutual information is {agreement:.2f} "
        "(1 is perfect, 0 is chance).",
    ),
    "spectral": (
        "Each bag says which digits it holds, not which image is which. Twenty clusters were asked for, so that a "
        "digit may have several: ways of writing it.",
        "Against the true digits, used only here, {share} of the images lie in a cluster of their digit.",
    ),
    "novel": (
        "Each bag holds ten points of six rectangles and lists the rectangles inside, but two of the six are on no "
        "list: the toy of the paper behind DMNL. Two novel labels were allowed.",
        "On 10,000 new points, the two that nobody named are found and told apart with a pairwise F1 of "
        "{agreement:.2f} (1 is perfect).",
    ),
    "bags": (
        "Each film holds five pictures: one sharp digit (a 0, 4 or 5) and four blurs of many digits. "
        "Nobody told the method which picture is the sharp one, nor that there are digits at all.",
        "{share} of the films are in the cluster of their digit. (These three digits were "
        "picked because they come out well; others are harder.)",
    ),
    "relations": (
        "Nobody told the method what a digit is: it saw 64 numbers a row, and 500 answers about whether two images "
        "show the same digit, one in twenty of them wrong.",
        "Against the digits' true labels, used only here, the adjusted Rand index is {agreement:.2f} "
        "(1 is perfect, 0 is chance).",
    ),
    "ask": (
        "A simulated person was asked 80 times whether two images show the same digit, and answered "
        "one in twenty wrongly. The session chose the questions; all else it was told is that there are ten digits.",
        "Against the digits' true labels, used only here and by the person, the adjusted Rand index is {agreement:.2f} "
        "(1 is perfect, 0 is chance).",
    ),
    "hierarchy": (
        "Every handwritten digit was labelled with its name and with the kinds of numbers it belongs to (even, odd, "
        "multiple of 4, odd prime), and three in ten of all labels were struck out. Nobody said that a 4 is a multiple "
        "of 4, or that those are even.",
        "Against the labels before any were struck out, used only here, the filled label sets have a micro F1 of "
        "{share}.",
    ),
    "sources": (
        "Five people walk past a camera on several days. Faces change with light and pose, people own several jackets, "
        "and some share a height; nobody labelled anything.",
        "Clustered through what occurs together, {share} of the rows are with the right person.",
    ),
    "coclusters": (
        "Sixty visitors were seen at thirty places, and nobody said that there are groups of either. Both numbers of "
        "clusters were left open.",
        "Four groups of visitors and three kinds of places were drawn; {share} of the visitors are in the cluster of "
        "their group.",
    ),
}


def with_story(page: Page, story: Story) -> Page:
    """Put the story of a demo in front of its page."""
    what, outcome = _STORIES[story.name]
    told = outcome.format(agreement=story.agreement, share=percent(story.agreement))
    first = Section("What this is", [what, told])
    return replace(page, title=TITLES[story.name], sections=[first, *page.sections])


def index_page(items: Sequence[Markup]) -> str:
    """Return the page that links the demos: a card each."""
    text = (
        "Every job on data that needs no download. Each card opens a report like the one that your own table would get."
    )
    return document(
        "Sidelight demo",
        join(element("h1", "Sidelight demo"), element("div", element("p", text), class_="lead"), cards(items)),
    )


def demo_card(folder: str, story: Story, command: str, drawn: Markup | None) -> Markup:
    """Return the card of one demo."""
    what, outcome = _STORIES[story.name]
    told = f"{what} {outcome.format(agreement=story.agreement, share=percent(story.agreement))}"
    return card(TITLES[story.name], told, href=f"{folder}/report.html", picture=drawn, command_text=command)


def picture_of(result: Result) -> Markup | None:
    """Return a small picture of a result: its map, or its tree."""
    if isinstance(result, HierarchyResult):
        return tree_picture(result.tree.parents.tolist(), alt=f"A tree of {result.n_labels} labels.")
    if isinstance(result, MarginResult):
        labels = result.bag_labels
        return picture(
            result.coordinates[result.witnesses], labels, alt=f"A map of the witnesses of {result.n_bags} bags."
        )
    if isinstance(result, CoclustersResult) and result.blocks is not None:
        return _table_picture(result.blocks)
    shown = getattr(result, "map", None)
    if shown is None:
        return None
    return picture(
        shown.coordinates, shown.labels, alt=f"A map of {len(shown.labels)} dots in {len(shown.names)} clusters."
    )


def _table_picture(shown: Blocks) -> Markup:
    """Draw the cells of a sorted table that are above its mean as dots, coloured by the cluster of their line."""
    rows, columns = np.nonzero(shown.P.mean() < shown.P)
    groups = np.searchsorted(shown.row_breaks, rows, side="right")
    n_groups = len(shown.row_breaks) + 1
    return picture(
        np.column_stack([columns, -rows]), groups, alt=f"A table sorted by {n_groups} clusters of its lines."
    )
