"""Label names beside an ARFF file: Mulan's XML (flat or nested), or the ``-C`` option in MEKA's relation name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from sidelight.errors import InvalidData, UnreadableFile
from sidelight.files.arff.header import Header
from sidelight.files.source import Source

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
