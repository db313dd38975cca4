"""A map of rows: dots that can be hovered, tapped, searched by name and filtered by cluster; and a still picture.

The dots of the map are drawn by ``page.js`` on a canvas from compact numbers; 20,000 of them take some 400 kB.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.app.report.components.charts import figure, mark, shape_of, swatch
from sidelight.app.report.components.markup import Markup, clean, clip, data_block, element
from sidelight.app.report.components.tables import number

MOST_DRAWN = 20_000  # dots; more rows are sampled
_AT_LEAST = 50  # rows of a small cluster that a sample keeps
_GRID = 4095  # steps of a coordinate: finer than the pixels of any screen
_NAME = 60  # characters of a name in a tip


def row_map(
    coordinates: Any,
    labels: Any,
    names: Sequence[Any],
    ids: Sequence[Any] | np.ndarray,
    caption: str,
    *,
    alt: str,
    axes: tuple[str, str] | None = None,
    bags: Sequence[Any] | None = None,
    sure: Any = None,
    marked: Any = None,
    mark_name: str = "",
    what: str = "row",
    bag_word: str = "bag",
) -> Markup:
    """Return a map of rows.

    Parameters
    ----------
    coordinates : array-like of shape (n_rows, 2)
        Where each row lies.
    labels : array-like of int
        The cluster of each row; -1 for none.
    names : sequence
        What the clusters are called.
    ids : sequence
        What the rows are called: what a reader searches for.
    caption, alt : str
        What the map shows, and its finding in one sentence.
    axes : (str, str), optional
        The titles of the two directions, where they have a meaning.
    bags : sequence, optional
        The bag of each row.
    sure : array-like, optional
        The probability of each row's cluster.
    marked, mark_name : array-like of bool and str, optional
        Rows to draw larger than the rest, and what they are.
    what, bag_word : str
        What a dot is, and what ``bags`` are.
    """
    labels = np.asarray(labels)
    drawn = drawn_rows(labels)
    points = np.asarray(coordinates, dtype=float)[drawn]
    content: dict[str, Any] = {
        "n": len(drawn),
        "x": _packed(_scaled(points[:, 0])),
        "y": _packed(_GRID - _scaled(points[:, 1])),
        "k": _packed(labels[drawn] + 1),
        "names": [clip(name, _NAME) for name in names],
        "shapes": [shape_of(k) for k in range(len(names))],
        "ids": [clip(ids[i], _NAME) for i in drawn.tolist()],
        "what": what,
    }
    if bags is not None:
        kinds: dict[str, int] = {}
        codes = [kinds.setdefault(clip(bags[i], _NAME), len(kinds)) for i in drawn.tolist()]
        content |= {"bagWord": bag_word, "bags": list(kinds), "b": _packed(np.array(codes), wide=True)}
    if sure is not None:
        content["sure"] = _packed(np.rint(100 * np.asarray(sure, dtype=float)[drawn]))
    if marked is not None:
        content |= {"m": _packed(np.asarray(marked)[drawn].astype(int)), "markName": mark_name}
    n, rest = len(labels), ""
    if len(drawn) < n:
        rest = f"{number(len(drawn))} of {number(n)} {what}s are drawn: a random sample that keeps small clusters."
    return figure(
        [
            _controls(labels, names, what),
            _canvas(content, alt, axes),
            element("p", rest, class_="faint") if rest else None,
        ],
        caption,
    )


def drawn_rows(labels: np.ndarray, most: int = MOST_DRAWN) -> np.ndarray:
    """Return the rows to draw: all, or a sample that keeps some of every cluster, the same for the same labels."""
    n = len(labels)
    if n <= most:
        return np.arange(n)
    order = np.random.default_rng(0).permutation(n)
    by_label = order[np.argsort(labels[order], kind="stable")]
    starts = np.flatnonzero(np.r_[True, np.diff(labels[by_label]) != 0])
    rank = np.arange(n) - np.repeat(starts, np.diff(np.r_[starts, n]))  # place of each row within its cluster
    keep = by_label[rank < min(_AT_LEAST, most // max(len(starts), 1))][:most]
    chosen = np.zeros(n, dtype=bool)
    chosen[keep] = True
    rest = order[~chosen[order]][: most - len(keep)]
    chosen[rest] = True
    return np.flatnonzero(chosen)


def picture(coordinates: Any, labels: Any, *, alt: str, most: int = 360, wide: int = 320, tall: int = 180) -> Markup:
    """Return a small still map for a card: a sample of dots and nothing else."""
    labels = np.asarray(labels)
    drawn = drawn_rows(labels, most)
    points = np.asarray(coordinates, dtype=float)[drawn]
    x = 10 + (wide - 20) * _scaled(points[:, 0]) / _GRID
    y = 10 + (tall - 20) * (1 - _scaled(points[:, 1]) / _GRID)
    dots = [mark(int(k), float(a), float(b), 3.2) for k, a, b in zip(labels[drawn].tolist(), x.tolist(), y.tolist())]
    return element("svg", dots, viewBox=f"0 0 {wide} {tall}", class_="picture", role="img", aria_label=clean(alt))


def _controls(labels: np.ndarray, names: Sequence[Any], what: str) -> Markup:
    sizes = np.bincount(labels[labels >= 0], minlength=len(names)) if len(labels) else np.zeros(len(names), int)
    buttons = [
        element("button", swatch(k), " ", clip(name, 24), element("span", f" {number(int(sizes[k]))}", class_="faint"),
                type="button", class_="filter", aria_pressed="false", data_cluster=str(k))
        for k, name in enumerate(names) if sizes[k]
    ]  # fmt: skip
    search = element(
        "label",
        f"Find a {what} ",
        element("input", type="search", class_="find", autocomplete="off", spellcheck="false"),
    )
    chosen = element("div", buttons, class_="filters", role="group", aria_label="Show one cluster")
    return element("div", search, chosen, class_="controls")


def _canvas(content: dict[str, Any], alt: str, axes: tuple[str, str] | None) -> Markup:
    keys = "Arrow keys move from dot to dot."
    canvas = element("canvas", alt, class_="map", role="img", tabindex="0", aria_label=f"{clean(alt)} {keys}")
    return element(
        "div",
        element("p", axes[1], class_="y-title", aria_hidden="true") if axes else None,
        canvas,
        element("p", axes[0], class_="x-title", aria_hidden="true") if axes else None,
        element("p", class_="found", role="status"),
        element("noscript", element("p", "This map needs scripts; the files beside this page have its rows.")),
        data_block(content),
        class_="row-map",
    )


def _scaled(values: np.ndarray) -> np.ndarray:
    values = np.where(np.isfinite(values), values, 0.0)
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    return (
        np.rint((values - low) / (high - low) * _GRID) if high > low else np.full(values.shape, _GRID // 2, dtype=float)
    )


def _packed(values: Any, *, wide: bool = False) -> str:
    """Return whole numbers as base64 of two (or four) bytes each, little end first."""
    return base64.b64encode(np.asarray(values).astype("<u4" if wide else "<u2").tobytes()).decode("ascii")
