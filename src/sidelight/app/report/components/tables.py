"""Numbers as people read them, and tables of them that can be sorted: shares as percentages, long ones cut."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from sidelight.app.report.components.markup import Markup, clean, clip, element


def percent(share: float, digits: int | None = None) -> str:
    """Return a share as a percentage, without claiming all or nothing when a little is missing.

    Parameters
    ----------
    share : float
        Between 0 and 1.
    digits : int, optional
        Decimals, for a column in which all should have as many; by default as many as matter.

    >>> percent(0.0991), percent(1), percent(0.996), percent(0.99996), percent(0.00002)
    ('9.9%', '100%', '99.6%', '>99.9%', '<0.1%')
    """
    if not math.isfinite(share):
        return "–"
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    if digits is not None:
        return f"{100 * share:.{digits}f}%"
    needs_more = abs(share) < 0.1 or 0.995 <= share < 1
    text = f"{100 * share:.1f}" if needs_more else f"{100 * share:.0f}"
    return f"{text.removesuffix('.0')}%"


def number(value: Any) -> str:
    """Return a number with three digits that matter, or with thousands apart.

    >>> number(1797), number(0.12345), number(12345.6), number(True)
    ('1,797', '0.123', '12,346', 'yes')
    """
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return f"{int(value):,}".replace("-", "−")
    if isinstance(value, (float, np.floating)):
        value = float(value)
        if not math.isfinite(value):
            return "–"
        if value.is_integer() and abs(value) < 1e15:
            return number(int(value))
        return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}").replace("-", "−")
    return str(value)


def is_number(value: Any) -> bool:
    """Say whether a cell is a number; truth values are words."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers from ``low`` to ``high``.

    >>> ticks(0, 1)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    span = high - low
    if not math.isfinite(span) or span <= 0:
        return [low]
    rough = span / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)  # 1e-9 of a step: rounding of the division
    last = math.floor(high / step + 1e-9)  # the same
    return [round(i * step, 12) for i in range(first, last + 1)]


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
