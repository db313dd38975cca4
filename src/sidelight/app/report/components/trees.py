"""A tree as nested lists that fold: names can be read aloud, searched and printed, at any width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sidelight.app.report.components.charts import figure
from sidelight.app.report.components.markup import Markup, clip, element, short

_OPEN = 60  # lines that are open at first; deeper branches wait to be asked


@dataclass(frozen=True, slots=True)
class Branch:
    """One line of a tree.

    Attributes
    ----------
    name : str
        What stands there.
    parent : int
        The number of the line above it, -1 for the top.
    note : str
        What stands behind the name, in grey.
    style : str
        ``""``, ``"weak"`` (dashed), ``"odd"`` or ``"differs"`` (marked).
    tip : str
        More, on hover, tap and focus.
    """

    name: str
    parent: int = -1
    note: str = ""
    style: str = ""
    tip: str = ""


def tree(branches: Sequence[Branch], caption: str, *, legend: Mapping[str, str] | None = None) -> Markup:
    """Return the branches as a figure; each parent stands before its children.

    Parameters
    ----------
    branches : sequence of Branch
        The lines.
    caption : str
        What the tree shows.
    legend : mapping of str to str, optional
        Style -> what it means; only styles that occur are explained.
    """
    children: dict[int, list[int]] = {}
    depth = [0] * len(branches)
    for i, branch in enumerate(branches):
        children.setdefault(branch.parent, []).append(i)
        depth[i] = depth[branch.parent] + 1 if branch.parent >= 0 else 1
    deepest = max((d for d in set(depth) if sum(1 for e in depth if e <= d) <= _OPEN), default=1)
    built: dict[int, Markup] = {}
    for i in reversed(range(len(branches))):  # children before their parents: no recursion, however deep
        below = [built.pop(child) for child in children.get(i, [])]
        built[i] = _item(branches[i], below, is_open=depth[i] < deepest)
    drawn = element("ul", [built[i] for i in children.get(-1, [])], class_="tree")
    used = {branch.style for branch in branches}
    keys = [
        element("li", element("span", "label", class_=f"branch {style}"), f" {meaning}")
        for style, meaning in (legend or {}).items()
        if style in used
    ]
    return figure([drawn, element("ul", keys, class_="legend") if keys else None], caption)


def _item(branch: Branch, below: list[Markup], *, is_open: bool) -> Markup:
    line = [
        element("span", clip(branch.name, 80), class_=f"branch {branch.style}".strip(), data_tip=branch.tip or None),
        element("span", f" {branch.note}", class_="faint") if branch.note else None,
    ]
    if not below:
        return element("li", element("div", line, class_="leaf"))
    inside = element("details", element("summary", line), element("ul", below), open=is_open)
    return element("li", inside)


def tree_picture(parents: Sequence[int], *, alt: str, wide: int = 320, tall: int = 180) -> Markup:
    """Return a small still tree for a card: dots and lines, the top at the left.

    Parameters
    ----------
    parents : sequence of int
        For each label the number of its parent, -1 at the top.
    alt : str
        What it shows, in one sentence.
    wide, tall : int
        Its shape.
    """
    children: dict[int, list[int]] = {}
    for child, parent in enumerate(parents):
        children.setdefault(parent, []).append(child)
    depth, order, waiting = {-1: 0}, [], list(reversed(children.get(-1, [])))
    while waiting:
        node = waiting.pop()
        depth[node] = depth[parents[node]] + 1
        order.append(node)
        waiting += reversed(children.get(node, []))
    step, across = (tall - 20) / max(len(order), 1), (wide - 60) / max(max(depth.values()), 1)
    x = {node: 20 + across * d for node, d in depth.items()}
    y = {-1: tall / 2} | {node: 10 + step * (place + 0.5) for place, node in enumerate(order)}
    lines = [
        element(
            "path",
            d=f"M{short(x[parents[n]])} {short(y[parents[n]])}H{short(x[n] - across / 2)}V{short(y[n])}H{short(x[n])}",
            class_="twig",
        )
        for n in order
    ]
    dots = [element("circle", cx=x[n], cy=y[n], r="4", class_=f"fill c{(depth[n] - 1) % 8}") for n in order]
    return element("svg", lines, dots, viewBox=f"0 0 {wide} {tall}", class_="picture", role="img", aria_label=alt)
