"""A table that can be sorted: numbers to the right, shares as percentages, long ones cut, with a link to the file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any

from sidelight.app.report.components.markup import Markup, clean, clip, element
from sidelight.app.report.components.numbers import is_number, number, percent

MOST = 50  # rows shown of a table; the file has them all
NAMES = ("row", "bag", "cluster", "sequence", "witness row", "next cluster")  # columns whose numbers are names
_LONG = 400  # characters of a cell
_WORDY = 30  # characters from which a cell gets room for several words a line


def table(
    columns: Mapping[str, Sequence[Any]],
    caption: str = "",
    *,
    most: int = MOST,
    percents: Collection[str] = (),
    names: Collection[str] = NAMES,
    file: str = "",
) -> Markup:
    """Return columns of equal length as a table.

    Parameters
    ----------
    columns : mapping of str to sequence
        Title and cells; a cell may be markup. A column without any content is left out.
    caption : str
        What the table shows; it stands above the table and stays there when the table is moved sideways.
    most : int
        The number of rows shown; the reader is told how many were left out.
    percents : collection of str
        Columns of shares, to be shown as percentages.
    names : collection of str
        Columns of names: a number there is written as it is, to the left.
    file : str
        The file that has all rows, for a link.
    """
    n_rows = max((len(column) for column in columns.values()), default=0)
    filled = {title: cells for title, cells in columns.items() if not n_rows or any(_is_filled(cell) for cell in cells)}
    titles, cells = list(filled), list(filled.values())
    is_name = [title in names for title in titles]
    numeric = [
        not name and all(is_number(cell) or not _is_filled(cell) for cell in islice(column, most))
        for name, column in zip(is_name, cells)
    ]
    head = [_title(title, right) for title, right in zip(titles, numeric)]
    rows = [
        element("tr", [_cell(cell, title in percents, name) for title, name, cell in zip(titles, is_name, row)])
        for row in islice(zip(*cells), most)
    ]
    drawn = element(
        "table",
        element("thead", element("tr", head)),
        element("tbody", rows),
        class_="sortable",
        aria_label=clean(caption) or None,
    )
    above = element("p", caption, class_="caption") if caption else None
    scroll = element("div", drawn, class_="scroll", tabindex="0", role="region", aria_label=clean(caption) or "Table")
    return element("div", above, scroll, _rest(n_rows, most, file), class_="table")


def _title(title: str, is_right: bool) -> Markup:
    button = element("button", title, type="button", class_="sort")
    return element("th", button, scope="col", class_="number" if is_right else None)


def _is_filled(cell: Any) -> bool:
    return cell is not None and not (isinstance(cell, str) and not cell)


def _cell(value: Any, is_share: bool, is_name: bool) -> Markup:
    if isinstance(value, Markup):
        return element("td", value)
    if not _is_filled(value):
        return element("td", class_="empty")
    if is_number(value) and not is_name:
        shown = percent(float(value), digits=1) if is_share else number(value)
        return element("td", shown, class_="number", data_value=f"{float(value):.12g}")
    text = str(value) if is_name else number(value)
    return element(
        "td",
        clip(text, _LONG),
        class_="wordy" if len(text) >= _WORDY else None,
        dir="auto" if not text.isascii() else None,
    )


def _rest(n_rows: int, most: int, file: str) -> Markup | None:
    """Say how many rows are not shown, and where they are."""
    link = element("a", file, href=file) if file else "the files beside this page"
    if n_rows > most:
        return element("p", f"The first {most} of {number(n_rows)}; all of them are in ", link, ".", class_="faint")
    return element("p", "Also as ", link, ".", class_="faint") if file else None
