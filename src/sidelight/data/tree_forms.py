"""How label trees are written down: edges, paths, indented text, and nested lists for a notebook.

Every reader returns (parents, names); whether they make a tree is for :class:`~sidelight.data.hierarchy.LabelTree`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import as_sequence
from sidelight.data.names import as_frame, is_missing, plain, table_columns
from sidelight.errors import InvalidData, UnknownName, nearest

Written = tuple[list[int], list[str]]


def read_edges(edges: Iterable[tuple[Any, Any]], names: Sequence[Any] | None) -> Written:
    """Read (parent, child) pairs of names; a missing parent is the root."""
    parent_of: dict[str, str | None] = {}
    order: dict[str, None] = {}
    if as_frame(edges) is not None:
        edges = zip(*table_columns(edges, (None, None), "LabelTree.from_edges"))
    for place, edge in enumerate(as_sequence("LabelTree.from_edges", "edges", edges, "pairs of (parent, child)")):
        if isinstance(edge, str) or not isinstance(edge, Iterable) or len(pair := tuple(edge)) != 2:
            raise InvalidData(f"LabelTree.from_edges: edge {place} must be (parent, child), got {edge!r}.")
        parent = None if is_missing(pair[0]) else str(plain(pair[0]))
        if is_missing(pair[1]):
            raise InvalidData(f"LabelTree.from_edges: edge {place} has no child: {pair!r}.")
        child = str(plain(pair[1]))
        if child in parent_of and parent_of[child] != parent:
            raise InvalidData(
                f"LabelTree.from_edges: {child!r} has two parents, {parent_of[child]!r} and {parent!r}. "
                "A label has one parent: drop one of the edges."
            )
        if parent is not None:
            order.setdefault(parent)
        order.setdefault(child)
        parent_of[child] = parent
    return _numbered(parent_of, list(order), names, "LabelTree.from_edges")


def read_paths(paths: Iterable[str], separator: str) -> Written:
    """Read paths; each prefix is a label named by its whole path."""
    if not isinstance(separator, str) or not separator:
        raise InvalidData(f"LabelTree.from_paths: the separator must be a non-empty string, got {separator!r}.")
    parent_of: dict[str, str | None] = {}
    for path in as_sequence("LabelTree.from_paths", "paths", paths, "a sequence of paths"):
        if not isinstance(path, str) or not all(step.strip() for step in path.split(separator)):
            raise InvalidData(f"LabelTree.from_paths: {path!r} is not a path: a step between {separator!r} is empty.")
        above = None
        for step in path.split(separator):
            label = step if above is None else above + separator + step
            parent_of[label] = above
            above = label
    return _numbered(parent_of, list(parent_of), None, "LabelTree.from_paths")


def read_text(text: str, names: Sequence[Any] | None) -> Written:
    """Read one label per line; a deeper indent than the line above means a child of it."""
    if not isinstance(text, str):
        raise InvalidData(f"LabelTree.from_text needs a string, got {type(text).__name__}.")
    parent_of: dict[str, str | None] = {}
    open_: list[tuple[int, str]] = []  # the branch above this line: (indent, name)
    for number, line in enumerate(text.splitlines(), start=1):
        name = line.strip()
        if not name:
            continue
        indent = len(line[: len(line) - len(line.lstrip())].expandtabs(4))
        closed = indent
        while open_ and open_[-1][0] >= indent:
            closed = open_.pop()[0]
        if closed != indent:
            raise InvalidData(
                f"LabelTree.from_text: line {number} ({name!r}) is indented by {indent}, which matches no line above. "
                "Indent siblings alike."
            )
        if name in parent_of:
            raise InvalidData(f"LabelTree.from_text: line {number} repeats the name {name!r}. Make names unique.")
        parent_of[name] = open_[-1][1] if open_ else None
        open_.append((indent, name))
    return _numbered(parent_of, list(parent_of), names, "LabelTree.from_text")


def as_html(names: Sequence[str], preorder: NDArray[np.intp], depths: NDArray[np.intp], limit: int = 60) -> str:
    """Return nested lists of the first ``limit`` labels."""
    out, level = [], 0
    for label in preorder[:limit]:
        depth = int(depths[label])
        out.append("<ul>" * (depth - level) + "</ul>" * (level - depth))
        out.append(f"<li>{escape(names[label])}</li>")
        level = depth
    rest = f"<p>and {len(names) - limit} more</p>" if len(names) > limit else ""
    return "".join(out) + "</ul>" * level + rest


def _numbered(parent_of: dict[str, str | None], found: list[str], names: Sequence[Any] | None, who: str) -> Written:
    """Number the labels in the order of ``names``, or as found."""
    if not found and names is None:
        raise InvalidData(f"{who}: there is no label in what was given. A tree has at least one.")
    order = found if names is None else [str(plain(name)) for name in as_sequence(who, "names", names)]
    number = {name: i for i, name in enumerate(order)}
    for name in found:
        if name not in number:
            raise UnknownName(f"{who}: {name!r} is not among the given names. {nearest(name, order)}")
    parents = [-1] * len(order)
    for child, parent in parent_of.items():
        parents[number[child]] = -1 if parent is None else number[parent]
    return parents, order
