"""Colour and shape of a cluster: eight colours that the colour-blind can tell apart, times five shapes.

The colours themselves are in ``page.css`` (``--c0`` to ``--c7``, for light and for dark); markup only names a class.
"""

from __future__ import annotations

from typing import Any

from sidelight.app.report.components.markup import Markup, element

N_COLOURS = 8
SHAPES = ("circle", "square", "triangle", "diamond", "cross")


def colour_class(number: int) -> str:
    """Return the class of cluster ``number``; rows without a cluster (-1) are grey."""
    return "none" if number < 0 else f"c{number % N_COLOURS}"


def shape_of(number: int) -> str:
    """Return the shape of cluster ``number``: it changes with each cluster, so that colour is never alone."""
    return SHAPES[max(number, 0) % len(SHAPES)]


def swatch(number: int) -> Markup:
    """Return the small mark that stands for cluster ``number`` in a legend."""
    drawn = mark(number, 7.0, 7.0, 5.0)
    return element("svg", drawn, class_="swatch", viewBox="0 0 14 14", width="14", height="14", aria_hidden="true")


def mark(number: int, x: float, y: float, size: float, **attributes: Any) -> Markup:
    """Return the mark of cluster ``number`` around (x, y)."""
    kind, shape = f"fill {colour_class(number)}", shape_of(number)
    if shape == "circle":
        return element("circle", cx=x, cy=y, r=size, class_=kind, **attributes)
    return element("path", d=outline(shape, x, y, size), class_=kind, **attributes)


def outline(shape: str, x: float, y: float, size: float) -> str:
    """Return the path of a shape other than the circle."""
    s, wide, high = size, f"{1.1 * size:.4g}", f"{1.25 * size:.4g}"
    steps = {
        "square": f"m{-0.9 * s:.4g} {-0.9 * s:.4g}h{1.8 * s:.4g}v{1.8 * s:.4g}h{-1.8 * s:.4g}z",
        "triangle": f"m0 {-1.1 * s:.4g}l{1.1 * s:.4g} {2 * s:.4g}h{-2.2 * s:.4g}z",
        "diamond": f"m0 -{high}l{wide} {high}l-{wide} {high}l-{wide} -{high}z",
        "cross": (
            f"m{-0.35 * s:.4g} {-s:.4g}h{0.7 * s:.4g}v{0.65 * s:.4g}h{0.65 * s:.4g}v{0.7 * s:.4g}h{-0.65 * s:.4g}"
            f"v{0.65 * s:.4g}h{-0.7 * s:.4g}v{-0.65 * s:.4g}h{-0.65 * s:.4g}v{-0.7 * s:.4g}h{0.65 * s:.4g}z"
        ),
    }
    return f"M{x:.4g} {y:.4g}{steps[shape]}"
