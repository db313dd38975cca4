"""A line over numbers that were tried, with its uncertainty as a band and the number in use marked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sidelight.report.components.figures import described, figure
from sidelight.report.components.markup import Markup, element
from sidelight.report.components.numbers import number, percent, ticks

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
    first = next(iter(series))
    high_low = [v for values in series.values() for v in values if math.isfinite(v)]
    if errors is not None:
        high_low += [v + s * e for v, e in zip(series[first], errors) for s in (-1, 1) if math.isfinite(v + s * e)]
    low, high = _range(high_low, is_share)
    places = [float(i) for i in range(len(x))] if is_even else [float(value) for value in x]
    left, right = min(places, default=0.0), max(places, default=1.0)

    def across(place: float) -> float:
        return 100 * (place - left) / (right - left) if right > left else 50.0

    def down(value: float) -> float:
        return 100 * (high - value) / (high - low)

    say = percent if is_share else number
    drawn: list[Any] = [_grid(low, high, down, say), _x_axis(x, places, across)]
    curves = [_band(places, series[first], errors, across, down)] if errors is not None else []
    curves += [_curve(places, values, across, down, k) for k, values in enumerate(series.values())]
    drawn.append(
        element(
            "svg",
            curves,
            viewBox="0 0 100 100",
            preserveAspectRatio="none",
            width="100%",
            height="100%",
            class_="stretched",
        )
    )
    if marked is not None and marked in list(x):
        at = f"{across(places[list(x).index(marked)]):.2f}%"
        drawn.append(element("line", x1=at, x2=at, y1="0", y2="100%", class_="marked"))
        drawn.append(element("text", "in use", x=at, y="0", dy="-0.4em", class_="mark-text"))
    for i, value in enumerate(series[first]):
        if math.isfinite(value):
            spread = f" ± {say(errors[i])}" if errors is not None and math.isfinite(errors[i]) else ""
            tip = f"{x_title} {number(x[i])}: {y_title} {say(value)}{spread}"
            drawn.append(
                element(
                    "circle", cx=f"{across(places[i]):.2f}%", cy=f"{down(value):.2f}%", r="4.5",
                    class_="point", data_tip=tip, tabindex="0", role="img", aria_label=tip,
                )
            )  # fmt: skip
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


def _range(values: Sequence[float], is_share: bool) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = 0.06 * (high - low) or 0.05 * abs(high) or 0.5
    low, high = low - room, high + room
    if is_share:
        low, high = (0.0 if low < 0.35 else low), min(1.0, high) if high <= 1.1 else high
        high = max(high, low + 0.02)
    return low, high


def _grid(low: float, high: float, down: Any, say: Any) -> list[Markup]:
    drawn = []
    for value in ticks(low, high):
        at = f"{down(value):.2f}%"
        drawn.append(element("line", x1="0", x2="100%", y1=at, y2=at, class_="grid"))
        drawn.append(element("text", say(value), x="-8", y=at, dy="0.32em", class_="y-tick"))
    return drawn


def _x_axis(x: Sequence[float], places: Sequence[float], across: Any) -> list[Markup]:
    step = max(1, math.ceil(len(x) / _MOST_TICKS))
    return [
        element("text", number(x[i]), x=f"{across(places[i]):.2f}%", y="100%", dy="1.5em", class_="x-tick")
        for i in range(0, len(x), step)
    ]


def _band(places: Sequence[float], values: Sequence[float], errors: Sequence[float], across: Any, down: Any) -> Markup:
    rows = [(p, v, e) for p, v, e in zip(places, values, errors) if math.isfinite(v) and math.isfinite(e)]
    upper = [f"{across(p):.2f} {down(v + e):.2f}" for p, v, e in rows]
    lower = [f"{across(p):.2f} {down(v - e):.2f}" for p, v, e in reversed(rows)]
    return element("path", d="M" + "L".join([*upper, *lower]) + "Z" if rows else "", class_="band")


def _curve(places: Sequence[float], values: Sequence[float], across: Any, down: Any, number_: int) -> Markup:
    steps = [f"{across(p):.2f} {down(v):.2f}" for p, v in zip(places, values) if math.isfinite(v)]
    return element("path", d="M" + "L".join(steps) if steps else "", class_=f"curve curve{min(number_, 2)}")


def _legend(series: Mapping[str, Any]) -> Markup:
    keys = []
    for k, name in enumerate(series):
        drawn = element("line", x1="0", x2="26", y1="6", y2="6", class_=f"curve curve{min(k, 2)}")
        keys.append(element("li", element("svg", drawn, width="26", height="12", aria_hidden="true"), " ", name))
    return element("ul", keys, class_="legend")
