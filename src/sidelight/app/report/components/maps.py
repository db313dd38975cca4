"""A map of rows: dots that can be hovered, tapped, searched by name and filtered by cluster; and a still picture.

The dots of the map are drawn by ``page.js`` on a canvas from compact numbers; 20,000 of them take some 400 kB.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.app.report.components.charts import figure, mark, shape_of, swatch
from sidelight.app.report.components.markup import Markup, clean, clip, data_block, element, folded
from sidelight.app.report.components.tables import number
from sidelight.app.report.gallery import Group, Media, Member, Profile

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


# Rows as people know them: thumbnails, sounds with their spectrogram, excerpts of text, or their values.


_WORDS = {"typical": "Typical", "doubtful": "Doubtful", "novel": "Most novel"}
_OPEN = 4  # clusters whose members are shown at once; the others wait behind a click
_LONG = 48  # characters of a row's name


def gallery(groups: Sequence[Group], *, notes: Sequence[str] = (), what: str = "row") -> Markup:
    """Return the members of every group, by kind, each with what there is to see or hear of it.

    Parameters
    ----------
    groups : sequence of Group
        A cluster each.
    notes : sequence of str
        What could not be shown, and limits.
    what : str
        What a member is.
    """
    drawn = [_group(group, what) for group in groups]
    shown, more = (drawn, []) if len(drawn) <= _OPEN + 1 else (drawn[:_OPEN], drawn[_OPEN:])
    rest = [folded(f"{len(more)} more", *more)] if more else []
    return element("div", shown, rest, [element("p", note, class_="faint") for note in notes], class_="gallery")


def media(shown: Media, alt: str) -> Markup | None:
    """Return one image, sound or text."""
    if shown.kind == "image":
        return element("img", src=shown.uri, alt=clean(alt), class_="thumb pixels" if shown.is_tiny else "thumb")
    if shown.kind == "sound":
        spectrogram, spans = None, None
        if shown.picture:
            spans = element("p", shown.text, class_="spans") if shown.text else None
            spectrogram = element("img", src=shown.picture, alt=clean(f"Spectrogram of {alt}"), class_="spectrogram")
        return element(
            "div",
            spans,
            spectrogram,
            element("audio", controls=True, preload="none", src=shown.uri, aria_label=clean(alt)),
        )
    if shown.kind == "text":
        return element("blockquote", shown.text, dir="auto")
    return None


def profile(values: Profile, alt: str) -> Markup:
    """Return a row's values against its cluster: the band is where most rows of the cluster lie, the dot is the row.

    Values are in standard deviations from the mean of all rows, so that features can share one scale.
    """
    wide, step = 112, 15  # pixels: the chart is not scaled, so that its lines meet the names beside them
    tall = step * len(values.features) + 4
    spread = max([2.0, *(abs(v) for v in values.row), *(abs(m) + s for m, s in zip(values.mean, values.spread))])

    def across(value: float) -> float:
        return wide / 2 + (wide / 2 - 5) * value / spread

    drawn = [element("line", x1=across(0.0), x2=across(0.0), y1="0", y2=str(tall), class_="grid")]
    words = []
    for i, name in enumerate(values.features):
        y = step * i + step / 2 + 2
        low, high = across(values.mean[i] - values.spread[i]), across(values.mean[i] + values.spread[i])
        tip = f"{clip(name)}: {values.row[i]:+.1f}, in this cluster {values.mean[i]:+.1f} ± {values.spread[i]:.1f}"
        drawn.append(
            element("rect", x=low, width=max(high - low, 2.0), y=y - 4, height=8.0, rx="4", class_="band", data_tip=tip)
        )
        drawn.append(element("circle", cx=across(values.row[i]), cy=y, r="3.5", class_="point", data_tip=tip))
        words.append(element("li", clip(name, 18)))
    svg = element(
        "svg", drawn, viewBox=f"0 0 {wide} {tall}", width=str(wide), height=str(tall), role="img", aria_label=clean(alt)
    )
    return element("div", element("ul", words), svg, class_="profile")


def _group(group: Group, what: str) -> Markup:
    size = f"{number(group.size)} {what if group.size == 1 else what + 's'}"
    head = element("h3", swatch(group.number), " ", clip(group.name, 60), element("span", f" {size}", class_="faint"))
    kinds = [
        element(
            "div", element("h4", _WORDS.get(kind, kind)), element("ul", [_member(m) for m in members], class_="members")
        )
        for kind, members in group.members.items()
        if members
    ]
    return element("section", head, element("div", kinds, class_="kinds"), class_="group")


def _member(member: Member) -> Markup:
    name = clip(member.name, _LONG)
    words = ", ".join(part for part in (clip(member.bag, _LONG) if member.bag else "", member.why) if part)
    shown = media(member.media, f"{name}, {words}" if words else name) if member.media is not None else None
    if shown is None and member.profile is not None:
        shown = profile(member.profile, f"Values of {name} against its cluster")
    caption = element("p", element("b", name), element("span", f", {words}", class_="faint") if words else None)
    return element("li", shown, caption)
