"""A table that can be sorted: numbers to the right, shares as percentages, long ones cut, with a link to the file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any

from sidelight.report.components.markup import Markup, clip, element
from sidelight.report.components.numbers import is_number, number, percent

MOST = 50  # rows shown of a table; the file has them all
_LONG = 400  # characters of a cell


def table(
    columns: Mapping[str, Sequence[Any]],
    caption: str = "",
    *,
    most: int = MOST,
    percents: Collection[str] = (),
    file: str = "",
) -> Markup:
    """Return columns of equal length as a table.

    Parameters
    ----------
    columns : mapping of str to sequence
        Title and cells; a cell may be markup.
    caption : str
        What the table shows.
    most : int
        The number of rows shown; the reader is told how many were left out.
    percents : collection of str
        Columns of shares, to be shown as percentages.
    file : str
        The file that has all rows, for a link.
    """
    titles, cells = list(columns), list(columns.values())
    n_rows = max((len(column) for column in cells), default=0)
    is_numeric = [all(is_number(cell) or cell in ("", None) for cell in islice(column, most)) for column in cells]
    head = [
        element(
            "th",
            element("button", title, type="button", class_="sort"),
            scope="col",
            class_="number" if numeric else None,
        )
        for title, numeric in zip(titles, is_numeric)
    ]
    rows = [
        element("tr", [_cell(cell, title in percents) for title, cell in zip(titles, row)])
        for row in islice(zip(*cells), most)
    ]
    drawn = element(
        "table",
        element("caption", caption) if caption else None,
        element("thead", element("tr", head)),
        element("tbody", rows),
        class_="sortable",
    )
    return element("div", element("div", drawn, class_="scroll"), _rest(n_rows, most, file), class_="table")


def _cell(value: Any, is_share: bool) -> Markup:
    if isinstance(value, Markup):
        return element("td", value)
    if is_number(value):
        shown = percent(float(value)) if is_share else number(value)
        return element("td", shown, class_="number", data_value=f"{float(value):.12g}")
    if value is None or value == "":
        return element("td", class_="empty")
    text = number(value)
    return element("td", clip(text, _LONG), dir="auto" if not text.isascii() else None)


def _rest(n_rows: int, most: int, file: str) -> Markup | None:
    """Say how many rows are not shown, and where they are."""
    link = element("a", file, href=file) if file else "the files beside this page"
    if n_rows > most:
        return element("p", f"The first {most} of {number(n_rows)}; all of them are in ", link, ".", class_="faint")
    return element("p", "Also as ", link, ".", class_="faint") if file else None
