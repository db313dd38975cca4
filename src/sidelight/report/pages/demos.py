"""The story that opens the page of a demo."""

from __future__ import annotations

from sidelight.plot import TypicalImagesDisplay
from sidelight.report.page import Page, Section
from sidelight.results.demos import Story

_TITLES = {
    "instances": "Handwritten digits, explained by the lists of their bags",
    "spectral": "Handwritten digits in labelled bags",
    "bags": "Films of digits",
    "relations": "Handwritten digits, clustered",
    "hierarchy": "Kinds of numbers, with gaps",
    "sources": "People seen through four channels",
}
_STORIES = {
    "instances": (
        "Each bag holds some handwritten digits and says which ones, not which is which; the digits 3 and 7 were "
        "struck off every list. Two novel clusters were allowed.",
        "Against the true digits, used only here, the normalised mutual information is {agreement:.2f} "
        "(1 is perfect, 0 is chance).",
        "The surest rows of each cluster, by their pixels alone.",
    ),
    "spectral": (
        "Each bag says which digits it holds, not which image is which. Twenty clusters were asked for, so that a "
        "digit may have several: ways of writing it.",
        "Against the true digits, used only here, {agreement:.0%} of the images lie in a cluster of their digit.",
        "The images nearest the centre of each cluster, named by bag labels alone.",
    ),
    "bags": (
        "Each film holds five pictures: one sharp digit (a 0, 4 or 5) and four blurs of many digits. "
        "Nobody told the method which picture is the sharp one, nor that there are digits at all.",
        "{agreement:.0%} of the films are in the cluster of their digit. (These three digits were "
        "picked because they come out well; others are harder.)",
        "The witnesses of the surest films of each cluster.",
    ),
    "relations": (
        "Nobody told the method what a digit is: it saw 64 numbers a row, and 500 answers about whether two images "
        "show the same digit, one in twenty of them wrong.",
        "Against the digits' true labels, used only here, the adjusted Rand index is {agreement:.2f} "
        "(1 is perfect, 0 is chance).",
        "The surest rows of each cluster.",
    ),
    "hierarchy": (
        "Every handwritten digit was labelled with its name and with the kinds of numbers it belongs to (even, odd, "
        "multiple of 4, odd prime), and three in ten of all labels were struck out. Nobody said that a 4 is a multiple "
        "of 4, or that those are even.",
        "Against the labels before any were struck out, used only here, the filled label sets have a micro F1 of "
        "{agreement:.2f} (1 is perfect).",
        "",
    ),
    "sources": (
        "Five people walk past a camera on several days. Faces change with light and pose, people own several jackets, "
        "and some share a height; nobody labelled anything.",
        "Clustered through what occurs together, {agreement:.0%} of the rows are with the right person.",
        "",
    ),
}


def with_story(page: Page, story: Story) -> Page:
    """Put the story of a demo in front of its page."""
    what, outcome, caption = _STORIES[story.name]
    pictures = [(TypicalImagesDisplay(list(story.images), story.names), caption)] if story.images else []
    title = "What the clusters look like" if pictures else "What this is"
    first = Section(title, [what, outcome.format(agreement=story.agreement)], pictures)
    return Page(_TITLES[story.name], page.sentences, [first, *page.sections])
