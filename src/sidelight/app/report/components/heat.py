"""Shades: shares in the cells of a table, and a large table of counts beside its approximation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.app.report.components.charts import figure
from sidelight.app.report.components.markup import Markup, clean, clip, element
from sidelight.app.report.components.tables import percent

LEVELS = 8  # shades, from nothing to the most
_MOST_CELLS = 72  # rows and columns of a drawn table: more could not be seen on a phone
_NAME = 28  # characters of a row's or column's name


def heat(
    shares: Any,
    row_names: Sequence[Any],
    column_names: Sequence[Any],
    caption: str,
    *,
    row_title: str,
    skip: Sequence[tuple[int, int]] = (),
) -> Markup:
    """Return shares as a table of shaded cells, each with its percentage.

    Parameters
    ----------
    shares : array-like of shape (n_rows, n_columns)
        Between 0 and 1.
    row_names, column_names : sequences
        What rows and columns are.
    caption : str
        What the shares are.
    row_title : str
        What the rows are, for the corner.
    skip : sequence of (row, column)
        Cells that are what they are by construction, and say nothing: they stay empty.
    """
    values = np.asarray(shares, dtype=float)
    silent = set(skip)
    head = [element("th", clip(name, _NAME), scope="col", class_="number") for name in column_names]
    rows = []
    for i, name in enumerate(row_names):
        cells = []
        for j in range(values.shape[1]):
            if (i, j) in silent:
                cells.append(element("td", "·", class_="number silent"))
                continue
            share = float(values[i, j])
            shown = "" if share < 0.005 else f"{100 * share:.0f}"  # less than half a percent is left blank
            tip = f"{clip(name)}, {clip(column_names[j])}: {percent(share)}"
            cells.append(element("td", shown, class_=f"number h{_level(share)}", data_tip=tip))
        rows.append(element("tr", element("th", clip(name, _NAME), scope="row"), cells))
    corner = element("th", row_title, scope="col")
    drawn = element("table", element("thead", element("tr", corner, head)), element("tbody", rows), class_="heat")
    return figure(
        element("div", drawn, class_="scroll", tabindex="0", role="region", aria_label=clean(caption)), caption
    )


def blocks(
    before: Any,
    after: Any,
    row_breaks: Sequence[float],
    column_breaks: Sequence[float],
    caption: str,
    *,
    alt: str,
    titles: tuple[str, str],
    axes: tuple[str, str],
) -> Markup:
    """Return two tables of the same shape side by side, shaded, with lines between clusters.

    Parameters
    ----------
    before, after : array-like of shape (n_rows, n_columns)
        Not negative; shades follow the square root, so that rare cells can be seen.
    row_breaks, column_breaks : sequences of float
        Where a new cluster begins.
    caption, alt : str
        What the figure shows, and its finding in one sentence.
    titles : (str, str)
        What stands above the two tables.
    axes : (str, str)
        What rows and columns are.
    """
    pictures = []
    tables = [np.asarray(part, dtype=float) for part in (before, after)]
    small = [_smaller(part) for part in tables]
    top = max((float(part.max(initial=0.0)) for part in small), default=1.0) or 1.0
    for title, part in zip(titles, small):
        n_rows, n_columns = part.shape
        levels = np.ceil(np.sqrt(part / top) * (LEVELS - 1)).astype(int)
        paths = []
        for level in range(1, LEVELS):
            at = np.argwhere(levels == level)
            if at.size:
                d = "".join(f"M{c} {r}h1v1h-1z" for r, c in at.tolist())
                paths.append(element("path", d=d, class_=f"shade{level}"))
        fold = (tables[0].shape[0] / n_rows, tables[0].shape[1] / n_columns)
        paths += [element("path", d=f"M0 {b / fold[0]:.2f}h{n_columns}", class_="break") for b in row_breaks]
        paths += [element("path", d=f"M{b / fold[1]:.2f} 0v{n_rows}", class_="break") for b in column_breaks]
        drawn = element(
            "svg", paths, viewBox=f"0 0 {n_columns} {n_rows}", preserveAspectRatio="none", class_="blocks", role="img",
            aria_label=clean(f"{title}. {alt}"),
        )  # fmt: skip
        pictures.append(element("div", element("p", title, class_="y-title"), drawn))
    across = element("p", f"down: {clip(axes[0])}; across: {clip(axes[1])}; darker is more", class_="x-title")
    return figure([element("div", pictures, class_="side-by-side"), across], caption)


def _level(share: float) -> int:
    return int(np.clip(np.ceil(share * (LEVELS - 1)), 0, LEVELS - 1)) if np.isfinite(share) else 0


def _smaller(table: np.ndarray) -> np.ndarray:
    """Take means of neighbouring cells until the table can be drawn."""
    for axis in (0, 1):
        n = table.shape[axis]
        if n > _MOST_CELLS:
            starts = np.unique(np.linspace(0, n, _MOST_CELLS, endpoint=False).astype(int))
            sizes = np.diff(np.append(starts, n))
            table = np.add.reduceat(table, starts, axis=axis) / (sizes[:, None] if axis == 0 else sizes[None, :])
    return table
