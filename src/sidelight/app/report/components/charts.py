"""Charts: bars, histograms and lines, each with its caption, its sentence for those who cannot see it, and its numbers.

The colours of clusters are in ``page.css`` (``--c0`` to ``--c7``, for light and for dark); markup only names a class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.app.report.components.markup import Child, Markup, clean, clip, element
from sidelight.app.report.components.tables import number, percent, table, ticks

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


# The frame of every chart: its caption, what it shows in one sentence, and its numbers as a table.


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


# Horizontal bars: one line a name, with its value in figures beside it. Nothing shrinks on a narrow screen.


_LONG = 60  # characters of a name


def bars(
    names: Sequence[Any],
    values: Sequence[float],
    caption: str,
    *,
    name_title: str,
    value_title: str,
    colours: Sequence[int] | None = None,
    tips: Sequence[str] | None = None,
    is_share: bool = False,
    most: int = 40,
) -> Markup:
    """Return a figure of bars.

    Parameters
    ----------
    names, values : sequences
        One bar each.
    caption : str
        What the bars show.
    name_title, value_title : str
        What names and values are: the titles of the axes.
    colours : sequence of int, optional
        Number of the cluster that each bar is about: its colour and its mark.
    tips : sequence of str, optional
        More about each bar, shown on hover, tap and focus.
    is_share : bool
        Whether values are shares, to be written as percentages.
    most : int
        Bars shown; the rest is counted.
    """
    top = max([float(value) for value in values], default=0.0) or 1.0
    lines = []
    for i in range(min(len(names), most)):
        kind = "bar" if colours is None else f"bar c{colours[i] % 8}"
        rect = element("rect", width=f"{100 * float(values[i]) / top:.2f}%", height="100%", rx="2", class_=kind)
        drawn = element("svg", rect, width="100%", height="14", aria_hidden="true", data_tip=tips[i] if tips else None)
        shown = percent(float(values[i])) if is_share else number(values[i])
        lines.append(
            element(
                "tr",
                element(
                    "th", swatch(colours[i]) if colours is not None else None, " ", clip(names[i], _LONG), scope="row"
                ),
                element("td", drawn, class_="line"),
                element("td", shown, class_="number"),
            )
        )
    head = element(
        "tr",
        element("th", name_title, scope="col"),
        element("td"),
        element("th", value_title, scope="col", class_="number"),
    )
    drawn = element("table", element("thead", head), element("tbody", lines), class_="bars")
    rest = element("p", f"and {len(names) - most} more.", class_="faint") if len(names) > most else None
    return figure([drawn, rest], caption)


# How often values occur, one colour a group, with a line at the value that matters.


HISTOGRAM_TALL = 200  # pixels of height


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
        element("div", described(drawn, alt, tall=HISTOGRAM_TALL), class_="axes"),
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


# A line over numbers that were tried, with its uncertainty as a band and the number in use marked.


TALL = 230  # pixels of height
_MOST_TICKS = 7  # along x, so that they can be read at 390 pixels


def lines(
    x: Sequence[float],
    series: Mapping[str, Sequence[float]],
    caption: str,
    *,
    alt: str,
    x_title: str,
    y_title: str,
    errors: Sequence[float] | None = None,
    marked: float | None = None,
    is_share: bool = False,
    is_even: bool = False,
) -> Markup:
    """Return a figure of one or a few lines; the second and further ones are dashed.

    Parameters
    ----------
    x : sequence of float
        What was tried, in order.
    series : mapping of str to sequence of float
        Name and values of each line; the first one has the points, the band and the mark.
    caption, alt : str
        What the figure shows, and what it says: its finding in one sentence.
    x_title, y_title : str
        The titles of the axes.
    errors : sequence of float, optional
        Standard errors of the first line, drawn as a band.
    marked : float, optional
        The number in use.
    is_share : bool
        Whether values are shares, to be written as percentages.
    is_even : bool
        Whether what was tried is set at equal distances, as for 0.01, 0.1, 1.
    """
    first = next(iter(series.values()))
    axes = _Axes(_across(range(len(x)) if is_even else x), *_range(_heights(series, errors), is_share))
    say = percent if is_share else number
    curves = [_band(axes, first, errors)] if errors is not None else []
    curves += [_curve(axes, values, k) for k, values in enumerate(series.values())]
    said = [say(value) + spread for value, spread in zip(first, _spreads(errors, len(first), say))]
    tips = [f"{x_title} {number(value)}: {y_title} {text}" for value, text in zip(x, said)]
    drawn = [
        _grid(axes, say),
        _x_axis(axes, x),
        _stretched(curves),
        _mark(axes, list(x).index(marked)) if marked is not None and marked in list(x) else [],
        _points(axes, first, tips),
    ]
    numbers: dict[str, Sequence[Any]] = {x_title: list(x), **{name: list(values) for name, values in series.items()}}
    if errors is not None:
        numbers["standard error"] = list(errors)
    shares = {*series, "standard error"} if is_share else ()
    picture = [
        element("p", y_title, class_="y-title", aria_hidden="true"),
        element("div", described(drawn, alt, tall=TALL, has_points=True), class_="axes"),
        element("p", x_title, class_="x-title", aria_hidden="true"),
        _legend(series) if len(series) > 1 else None,
    ]
    return figure(picture, caption, numbers=numbers, percents=shares)


@dataclass(frozen=True)
class _Axes:
    """Where numbers are drawn, in percent of the width from the left and of the height from the top."""

    across: Sequence[float]  # of each number that was tried
    low: float
    high: float

    def down(self, value: float) -> float:
        return 100 * (self.high - value) / (self.high - self.low)


def _across(places: Sequence[float]) -> list[float]:
    left, right = min(places, default=0.0), max(places, default=1.0)
    return [100 * (place - left) / (right - left) if right > left else 50.0 for place in places]


def _heights(series: Mapping[str, Sequence[float]], errors: Sequence[float] | None) -> list[float]:
    """Return every height that is drawn: all lines, and both edges of the band around the first."""
    heights = [value for values in series.values() for value in values]
    if errors is not None:
        heights += [v + sign * e for v, e in zip(next(iter(series.values())), errors) for sign in (-1, 1)]
    return [height for height in heights if math.isfinite(height)]


def _range(values: Sequence[float], is_share: bool) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = 0.06 * (high - low) or 0.05 * abs(high) or 0.5
    low, high = low - room, high + room
    if is_share:
        low, high = (0.0 if low < 0.35 else low), min(1.0, high) if high <= 1.1 else high
        high = max(high, low + 0.02)
    return low, high


def _grid(axes: _Axes, say: Callable[[float], str]) -> list[Markup]:
    drawn = []
    for value in ticks(axes.low, axes.high):
        at = f"{axes.down(value):.2f}%"
        drawn.append(element("line", x1="0", x2="100%", y1=at, y2=at, class_="grid"))
        drawn.append(element("text", say(value), x="-8", y=at, dy="0.32em", class_="y-tick"))
    return drawn


def _x_axis(axes: _Axes, x: Sequence[float]) -> list[Markup]:
    step = max(1, math.ceil(len(x) / _MOST_TICKS))
    return [
        element("text", number(x[i]), x=f"{axes.across[i]:.2f}%", y="100%", dy="1.5em", class_="x-tick")
        for i in range(0, len(x), step)
    ]


def _band(axes: _Axes, values: Sequence[float], errors: Sequence[float]) -> Markup:
    rows = [(a, v, e) for a, v, e in zip(axes.across, values, errors) if math.isfinite(v) and math.isfinite(e)]
    upper = [f"{a:.2f} {axes.down(v + e):.2f}" for a, v, e in rows]
    lower = [f"{a:.2f} {axes.down(v - e):.2f}" for a, v, e in reversed(rows)]
    return element("path", d="M" + "L".join([*upper, *lower]) + "Z" if rows else "", class_="band")


def _curve(axes: _Axes, values: Sequence[float], number_: int) -> Markup:
    steps = [f"{a:.2f} {axes.down(v):.2f}" for a, v in zip(axes.across, values) if math.isfinite(v)]
    return element("path", d="M" + "L".join(steps) if steps else "", class_=f"curve curve{min(number_, 2)}")


def _stretched(curves: Sequence[Markup]) -> Markup:
    """Return curves drawn on 100 x 100 units, which are stretched over the figure whatever its width."""
    return element(
        "svg", curves, viewBox="0 0 100 100", preserveAspectRatio="none", width="100%", height="100%",
        class_="stretched",
    )  # fmt: skip


def _mark(axes: _Axes, i: int) -> list[Markup]:
    at = f"{axes.across[i]:.2f}%"
    line = element("line", x1=at, x2=at, y1="0", y2="100%", class_="marked")
    return [line, element("text", "in use", x=at, y="0", dy="-0.4em", class_="mark-text")]


def _points(axes: _Axes, values: Sequence[float], tips: Sequence[str]) -> list[Markup]:
    return [
        element(
            "circle", cx=f"{a:.2f}%", cy=f"{axes.down(value):.2f}%", r="4.5",
            class_="point", data_tip=tip, tabindex="0", role="img", aria_label=tip,
        )
        for a, value, tip in zip(axes.across, values, tips) if math.isfinite(value)
    ]  # fmt: skip


def _spreads(errors: Sequence[float] | None, n: int, say: Callable[[float], str]) -> list[str]:
    """Return the standard errors as they stand behind values; nothing where there is none."""
    return [""] * n if errors is None else [f" ± {say(error)}" if math.isfinite(error) else "" for error in errors]


def _legend(series: Mapping[str, Any]) -> Markup:
    keys = []
    for k, name in enumerate(series):
        drawn = element("line", x1="0", x2="26", y1="6", y2="6", class_=f"curve curve{min(k, 2)}")
        keys.append(element("li", element("svg", drawn, width="26", height="12", aria_hidden="true"), " ", name))
    return element("ul", keys, class_="legend")
