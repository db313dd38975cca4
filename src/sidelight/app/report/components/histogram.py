"""How often values occur, one colour a group, with a line at the value that matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sidelight.app.report.components.colours import swatch
from sidelight.app.report.components.figures import described, figure
from sidelight.app.report.components.markup import Markup, clip, element
from sidelight.app.report.components.numbers import number, ticks

TALL = 200  # pixels of height


def histogram(
    groups: Mapping[str, Sequence[float]],
    caption: str,
    *,
    alt: str,
    x_title: str,
    y_title: str,
    marked: float | None = None,
    mark_name: str = "",
    n_bins: int = 24,
) -> Markup:
    """Return a figure of stacked counts.

    Parameters
    ----------
    groups : mapping of str to sequence of float
        The values of each group, such as a cluster; groups are stacked in this order.
    caption, alt : str
        What the figure shows, and its finding in one sentence.
    x_title, y_title : str
        The titles of the axes.
    marked, mark_name : float and str, optional
        A value to draw a line at, and what it means.
    n_bins : int
        The number of columns.
    """
    everything = np.concatenate([np.asarray(values, dtype=float) for values in groups.values()] or [np.zeros(0)])
    everything = everything[np.isfinite(everything)]
    low, high = (float(everything.min()), float(everything.max())) if everything.size else (0.0, 1.0)
    if marked is not None:
        low, high = min(low, marked), max(high, marked)
    high = high if high > low else low + 1.0
    edges = np.linspace(low, high, n_bins + 1)
    counts = np.array([np.histogram(np.asarray(values, dtype=float), edges)[0] for values in groups.values()])
    top = float(counts.sum(axis=0).max(initial=1)) or 1.0
    drawn: list[Any] = []
    for value in [t for t in ticks(0, top) if float(t).is_integer()]:
        at = f"{100 - 100 * value / top:.2f}%"
        drawn.append(element("line", x1="0", x2="100%", y1=at, y2=at, class_="grid"))
        drawn.append(element("text", number(int(value)), x="-8", y=at, dy="0.32em", class_="y-tick"))
    for value in ticks(low, high):
        at = f"{100 * (value - low) / (high - low):.2f}%"
        drawn.append(element("text", number(value), x=at, y="100%", dy="1.5em", class_="x-tick"))
    drawn += _columns(list(groups), counts, edges, top)
    if marked is not None:
        at = f"{100 * (marked - low) / (high - low):.2f}%"
        drawn.append(element("line", x1=at, x2=at, y1="0", y2="100%", class_="marked"))
        drawn.append(element("text", mark_name, x=at, y="0", dy="-0.4em", class_="mark-text"))
    keys = [element("li", swatch(k), " ", clip(name)) for k, name in enumerate(groups)]
    picture = [
        element("p", y_title, class_="y-title", aria_hidden="true"),
        element("div", described(drawn, alt, tall=TALL), class_="axes"),
        element("p", x_title, class_="x-title", aria_hidden="true"),
        element("ul", keys, class_="legend") if 1 < len(keys) <= 12 else None,
    ]
    return figure(picture, caption)


def _columns(names: Sequence[str], counts: np.ndarray, edges: np.ndarray, top: float) -> list[Markup]:
    wide = 100 / counts.shape[1]
    drawn = []
    for b in range(counts.shape[1]):
        below = 0
        for k, name in enumerate(names):
            n = int(counts[k, b])
            if not n:
                continue
            below += n
            drawn.append(
                element(
                    "rect", x=f"{b * wide + 0.1 * wide:.2f}%", width=f"{0.8 * wide:.2f}%",
                    y=f"{100 - 100 * below / top:.2f}%", height=f"{100 * n / top:.2f}%", class_=f"fill c{k % 8}",
                    data_tip=f"{clip(name)}: {n} from {number(float(edges[b]))} to {number(float(edges[b + 1]))}",
                )
            )  # fmt: skip
    return drawn
