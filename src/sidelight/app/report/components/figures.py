"""The frame of every chart: its caption, what it shows in one sentence, and its numbers as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sidelight.app.report.components.markup import Child, Markup, clean, element
from sidelight.app.report.components.tables import table


def figure(
    picture: Child, caption: str, *, numbers: Mapping[str, Sequence[Any]] | None = None, **format: Any
) -> Markup:
    """Return a picture under its caption.

    Parameters
    ----------
    picture : markup
        What is drawn.
    caption : str
        What the picture shows; it stands above it.
    numbers : mapping of str to sequence, optional
        The columns behind the picture, for readers who want them in words or cannot see it.
    **format
        How the table shows them: see :func:`~sidelight.app.report.components.tables.table`.
    """
    behind = None
    if numbers is not None:
        behind = element("details", element("summary", "The numbers"), table(numbers, **format), class_="numbers")
    return element("figure", element("figcaption", caption), picture, behind, class_="chart")


def described(svg_children: Child, alt: str, *, tall: int, class_: str = "plot", has_points: bool = False) -> Markup:
    """Return an SVG that is as wide as its place, with ``alt`` read aloud in its stead.

    A picture with points that can be reached by the keyboard is a group: an image would hide them from screen readers.
    """
    return element(
        "svg",
        svg_children,
        class_=class_,
        width="100%",
        height=str(tall),
        role="group" if has_points else "img",
        aria_label=clean(alt),
    )
