"""Label hierarchies: CLUS' hierarchical attribute (``01/03@16/19``) and nested labels of Mulan's XML.

A label brings its ancestors. Two ways of writing the nodes exist: whole paths (``01/03/02``: a tree), and
parent/child pairs from ``root`` on (Gene Ontology files), where a node may have several parents; such a graph is not a
tree, so the label sets are closed over all ancestors and the tree is left out with a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData, UnreadableFile, nearest
from sidelight.files.arff.header import Attribute, Header
from sidelight.files.problems import listing
from sidelight.files.source import Source

if TYPE_CHECKING:
    from sidelight.data.hierarchy import LabelTree


Parents = dict[str, tuple[str, ...]]


def with_hierarchy(
    path: Path, header: Header, data: Dataset, labels: LabelNames | None, hierarchical: list[int]
) -> Dataset:
    """Give a data set its label tree, and labels their ancestors."""
    if hierarchical:
        attribute = header.attributes[hierarchical[0]]
        if any(role.name == attribute.name and role.role == "label" for role in data.roles):
            return _close(path, attribute, data)
    if labels is not None and labels.paths is not None:
        above = {path[-1]: path[-2] if len(path) > 1 else None for path in labels.paths}
        return replace(data, tree=tree_of(data.label_names, above))
    return data


def _close(path: Path, attribute: Attribute, data: Dataset) -> Dataset:
    parents, is_tree = node_parents(attribute.values)
    nodes = tuple(parents)
    place = {node: k for k, node in enumerate(nodes)}
    strangers = [name for name in data.label_names if name not in place]
    if strangers:
        raise UnreadableFile(
            f"{path}, attribute {attribute.name!r}: {len(strangers)} labels are not declared in the header: "
            f"{listing(strangers, 3)}. {nearest(strangers[0], nodes)}"
        )
    marks = data.Y if data.Y is not None else _marks(data)
    Y = np.zeros((data.n_rows, len(nodes)), dtype=np.int8)
    for k, name in enumerate(data.label_names):
        rows = marks[:, k] == 1
        for node in ancestors(name, parents):
            Y[rows, place[node]] = 1
    unknown = (marks == -1).all(axis=1) if marks.shape[1] else np.ones(data.n_rows, dtype=bool)
    Y[unknown] = -1
    notes = (*data.notes, "every label brings its ancestors")
    if not is_tree:
        notes = (*notes, "some labels have several parents, so there is no tree of labels")
    tree = tree_of(nodes, {node: next(iter(above), None) for node, above in parents.items()}) if is_tree else None
    return replace(data, y=None, Y=Y, label_names=nodes, tree=tree, notes=notes, format="ARFF, hierarchical labels")


def _marks(data: Dataset) -> NDArray[np.int8]:
    assert data.y is not None  # a label column gives y or Y
    marks = np.zeros((data.n_rows, len(data.label_names)), dtype=np.int8)
    for k, name in enumerate(data.label_names):
        marks[data.y == name, k] = 1
    marks[data.y == ""] = -1
    return marks


def node_parents(values: Iterable[str]) -> tuple[Parents, bool]:
    """Return the parents of every node, and whether they form a tree."""
    values = list(values)
    if any(value.startswith("root/") for value in values):
        parents_of: dict[str, list[str]] = {}
        for value in values:
            parent, _, child = value.rpartition("/")
            above = parents_of.setdefault(child, [])
            if parent and parent != "root":
                parents_of.setdefault(parent, [])
                above.append(parent)
        return {node: tuple(above) for node, above in parents_of.items()}, all(len(a) < 2 for a in parents_of.values())
    parents: Parents = {}
    for value in values:
        steps = value.split("/")
        for depth in range(1, len(steps) + 1):
            node = "/".join(steps[:depth])
            parents.setdefault(node, ("/".join(steps[: depth - 1]),) if depth > 1 else ())
    return parents, True


def ancestors(node: str, parents: Parents) -> set[str]:
    """Return a node with everything above it."""
    seen, stack = set(), [node]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(parents.get(node, ()))
    return seen


def tree_of(names: Sequence[str], parent: Mapping[str, str | None]) -> LabelTree:
    """Return the tree of labels in the order of ``names``."""
    from sidelight.data.hierarchy import LabelTree

    place = {name: k for k, name in enumerate(names)}
    above = (parent.get(name) for name in names)
    return LabelTree([-1 if p is None else place[p] for p in above], names)


# Label names beside an ARFF file: Mulan's XML (flat or nested), or the ``-C`` option in MEKA's relation name.


_LARGEST = 1 << 24  # the XML of 100 thousand labels is a tenth of this


class LabelNames(NamedTuple):
    """The labels and, when they are nested, the path of each."""

    names: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...] | None
    why: str


def find_label_names(path: Path, header: Header, label_file: Path | None) -> LabelNames | None:
    """Return the labels of an ARFF file, if something says which attributes are labels."""
    beside = label_file or _xml_beside(path)
    if beside is not None:
        labels = read_labels_xml(beside)
        known = {attribute.name for attribute in header.attributes}
        strangers = [name for name in labels.names if name not in known]
        if not strangers:
            return labels
        if label_file is not None:
            from sidelight.errors import nearest

            raise InvalidData(
                f"{beside}: {len(strangers)} labels are not attributes of {path.name}: {strangers[0]!r}. "
                f"{nearest(strangers[0], known)}"
            )
    return _meka(header)


def read_labels_xml(path: Path) -> LabelNames:
    """Read ``<labels><label name="...">``; nested labels give a hierarchy."""
    if not path.is_file():
        raise UnreadableFile(f"{path}: there is no such file of labels.")
    data = Source(path).head(_LARGEST + 1)
    if len(data) > _LARGEST or b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise UnreadableFile(
            f"{path}: expected a plain list of labels, found a document with entities or of huge size."
        )
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise UnreadableFile(f"{path}: expected <labels> with <label name=...> inside; XML error: {error}.") from None
    names: list[str] = []
    paths: list[tuple[str, ...]] = []
    stack: list[tuple[ElementTree.Element, tuple[str, ...]]] = [(child, ()) for child in reversed(list(root))]
    while stack:
        node, above = stack.pop()
        name = node.get("name")
        if not node.tag.endswith("label") or name is None:
            raise UnreadableFile(f"{path}: expected <label name=...>, found <{node.tag.rsplit('}', 1)[-1]}>.")
        names.append(name)
        paths.append((*above, name))
        stack.extend((child, paths[-1]) for child in reversed(list(node)))
    if not names:
        raise UnreadableFile(f"{path}: expected at least one <label name=...>, found none.")
    is_nested = any(len(p) > 1 for p in paths)
    return LabelNames(tuple(names), tuple(paths) if is_nested else None, f"listed in {path.name}")


def _xml_beside(path: Path) -> Path | None:
    """Take the XML file whose name the ARFF file's name begins with: yeast.xml for yeast-train.arff."""
    stem = path.name.removesuffix(".gz").rsplit(".", 1)[0]
    try:
        candidates = [p for p in path.parent.glob("*.xml") if stem.startswith(p.stem)]
    except OSError:
        return None
    return max(candidates, key=lambda p: len(p.stem), default=None)


def _meka(header: Header) -> LabelNames | None:
    match = re.search(r"-C\s+(-?\d+)", header.relation)
    if match is None:
        return None
    count = int(match.group(1))
    names = [attribute.name for attribute in header.attributes]
    if not 0 < abs(count) < len(names):
        return None
    chosen = names[:count] if count > 0 else names[count:]
    return LabelNames(tuple(chosen), None, f"-C {count} in the name of the relation")
