"""The header of an ARFF file, and how its rows are cut into values: quotes, escapes and the types of attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sidelight.errors import UnreadableFile
from sidelight.files.problems import shown

_TOKEN = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,]*?))\s*(?:,|$)""", re.DOTALL)
_NAME = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{]+))\s*(.*)""", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "%": "%", "u": "u"}
_TYPES = ("numeric", "real", "integer", "string", "date", "relational", "hierarchical")


@dataclass(frozen=True)
class Attribute:
    """One declared attribute; a relational one holds attributes of its own."""

    name: str
    kind: str  # "numeric", "nominal", "string", "date", "relational" or "hierarchical"
    values: tuple[str, ...] = ()
    inner: tuple[Attribute, ...] = ()


@dataclass(frozen=True)
class Header:
    """What stands above ``@data``."""

    relation: str
    attributes: tuple[Attribute, ...]


def parse_header(path: Path, lines: Iterator[tuple[int, str]]) -> Header:
    """Read up to ``@data``; the iterator then stands at the first row."""
    relation = ""
    open_: list[tuple[str, list[Attribute]]] = [("", [])]
    for number, line in lines:
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        word = text.split(None, 1)[0].lower()
        rest = text[len(word) :].strip()
        if word == "@relation":
            relation = unquote(rest)
        elif word == "@attribute":
            attribute = _attribute(path, number, rest)
            if attribute.kind == "relational":
                if len(open_) > 4:
                    raise _bad(path, number, "relations inside relations are read four deep")
                open_.append((attribute.name, []))
            else:
                open_[-1][1].append(attribute)
        elif word == "@end":
            if len(open_) < 2:
                raise _bad(path, number, f"@end {rest} without a relational attribute")
            name, inner = open_.pop()
            open_[-1][1].append(Attribute(name, "relational", (), tuple(inner)))
        elif word == "@data":
            if len(open_) > 1:
                raise _bad(path, number, f"the relational attribute {open_[-1][0]!r} has no @end")
            return _checked(path, number, Header(relation, tuple(open_[0][1])))
        elif not word.startswith("@"):
            raise _bad(path, number, f"expected @attribute or @data, found {shown(text)}")
    raise UnreadableFile(
        f"{path}: expected @data after the attributes, found the end of the file. Was it cut off? Fetch it again."
    )


def split_values(path: Path, number: int, text: str) -> list[str]:
    """Cut a dense row into its values."""
    if "'" not in text and '"' not in text:
        cells = text.split(",") if "," in text or "\t" not in text else text.split("\t")
        return [cell.strip() for cell in cells]
    values, at = [], 0
    while at <= len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _bad(path, number, f"a quotation mark that is not closed, near {shown(text[at : at + 30])}")
        single, double, plain = match.groups()
        quoted = single if single is not None else double
        if quoted is None and plain[:1] in ("'", '"'):
            raise _bad(path, number, f"a quotation mark that is not closed, near {shown(plain[:30])}")
        values.append(_unescape(quoted) if quoted is not None else plain)
        if match.end() == at or (match.end() == len(text) and not match.group().rstrip().endswith(",")):
            break
        at = match.end()
        if at == len(text):
            values.append("")
            break
    return values


def unquote(text: str) -> str:
    """Take the quotation marks off a name."""
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return _unescape(text[1:-1])
    return text


def _attribute(path: Path, number: int, text: str) -> Attribute:
    match = _NAME.fullmatch(text)
    if match is None:
        raise _bad(path, number, f"expected a name and a type after @attribute, found {shown(text)}")
    single, double, plain, rest = match.groups()
    name = plain if plain is not None else _unescape(single if single is not None else double)
    rest = rest.strip()
    if rest.startswith("{"):
        inside = rest[1:].rstrip()
        inside = inside[:-1] if inside.endswith("}") else inside
        return Attribute(name, "nominal", tuple(split_values(path, number, inside)))
    kind = rest.split(None, 1)[0].lower() if rest else ""
    if kind in ("real", "integer", "numeric"):
        return Attribute(name, "numeric")
    if kind == "hierarchical":
        return Attribute(name, "hierarchical", tuple(v.strip() for v in rest[len(kind) :].split(",") if v.strip()))
    if kind in _TYPES:
        return Attribute(name, kind)
    raise _bad(path, number, f"attribute {name!r}: expected {', '.join(_TYPES)} or {{values}}, found {shown(rest)}")


def _checked(path: Path, number: int, header: Header) -> Header:
    if not header.attributes:
        raise _bad(path, number, "expected attributes above @data, found none")
    seen: set[str] = set()
    for attribute in header.attributes:
        if attribute.name in seen:
            raise _bad(path, number, f"two attributes are called {attribute.name!r}")
        seen.add(attribute.name)
    return header


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m.group(1), m.group(1)), text, flags=re.DOTALL)


def _bad(path: Path, number: int, found: str) -> UnreadableFile:
    return UnreadableFile(f"{path}, line {number}: {found}. Correct the line, or fetch the file again.")
