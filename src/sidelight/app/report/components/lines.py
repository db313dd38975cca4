"""A line over numbers that were tried, with its uncertainty as a band and the number in use marked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidelight.app.report.components.figures import described, figure
from sidelight.app.report.components.markup import Markup, element
from sidelight.app.report.components.numbers import number, percent, ticks

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
