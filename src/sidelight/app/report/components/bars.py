"""Horizontal bars: one line a name, with its value in figures beside it. Nothing shrinks on a narrow screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sidelight.app.report.components.colours import swatch
from sidelight.app.report.components.figures import figure
from sidelight.app.report.components.markup import Markup, clip, element
from sidelight.app.report.components.numbers import number, percent

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
