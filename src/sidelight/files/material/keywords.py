"""Keywords of photographs in XMP: files beside them, and the packet inside a JPEG file.

What a packet holds beside keywords (ratings, captions, edits) stays as it is: keywords are added, never taken away.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sidelight.errors import UnreadableFile

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_LISTS = {  # where programs look for keywords: name, namespace, kind of list, and what parts a path
    "dc:subject": ("http://purl.org/dc/elements/1.1/", "Bag", None),
    "digiKam:TagsList": ("http://www.digikam.org/ns/1.0/", "Seq", "/"),
    "lr:hierarchicalSubject": ("http://ns.adobe.com/lightroom/1.0/", "Bag", "|"),
}
_EMPTY = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="' + _RDF + '"><rdf:Description rdf:about=""/></rdf:RDF>'
    "</x:xmpmeta>"
)
_BEGIN = "<?xpacket begin='\ufeff' id='W5M0MpCehiHzreSzNTczkc9d'?>"
_END = "<?xpacket end='w'?>"
_NOT_XML = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]"
)  # characters that XML has no way to write
_IN_JPEG = b"http://ns.adobe.com/xap/1.0/\x00"
_LARGEST = 10_000_000  # bytes of a packet that is read
_SEGMENT = 65_533  # bytes that a segment of a JPEG file holds


def with_keywords(packet: bytes | None, keywords: Sequence[str], parents: Mapping[str, str], where: str) -> bytes:
    """Return an XMP packet with these keywords beside those that it has.

    Parameters
    ----------
    packet : bytes or None
        What is there already.
    keywords : sequence of str
        What to add.
    parents : mapping of str to str
        The keyword above a keyword; programs that know paths get paths.
    where : str
        What a message calls the packet.
    """
    document = _parsed(packet or _EMPTY.encode(), where)
    try:
        return _added(document, keywords, parents, where)
    except RecursionError:
        raise UnreadableFile(
            f"{where}: its XMP is nested hundreds of levels deep. Rename or remove it, and export again."
        ) from None


def _added(document: Any, keywords: Sequence[str], parents: Mapping[str, str], where: str) -> bytes:
    described = _first(document, _RDF, "Description")
    if described is None:
        raise UnreadableFile(f"{where}: no XMP was found in it. Rename or remove it, and export again.")
    for name, (namespace, kind, mark) in _LISTS.items():
        listed = _list(document, described, name, namespace, kind)
        known = {_text(item) for item in listed.getElementsByTagNameNS(_RDF, "li")}
        for keyword in keywords:
            written = _NOT_XML.sub("", keyword if mark is None else mark.join(path_of(keyword, parents)))
            if written and written not in known:
                item = document.createElement(f"{listed.prefix}:li" if listed.prefix else "li")
                item.appendChild(document.createTextNode(written))
                listed.appendChild(item)
                known.add(written)
    return (_BEGIN + document.documentElement.toxml() + _END).encode("utf-8")


def path_of(keyword: str, parents: Mapping[str, str]) -> list[str]:
    """Return a keyword with all that stand above it, the highest first."""
    path = [keyword]
    while (above := parents.get(path[0])) and above not in path:
        path.insert(0, above)
    return path


def in_jpeg(data: bytes, keywords: Sequence[str], parents: Mapping[str, str], where: str) -> bytes:
    """Return a JPEG file with these keywords in its XMP; nothing else of it changes."""
    place, end = _packet_in(data, where)
    packet = with_keywords(data[place + 4 + len(_IN_JPEG) : end] if end > place else None, keywords, parents, where)
    inside = _IN_JPEG + packet
    if len(inside) > _SEGMENT:
        raise UnreadableFile(f"{where}: its XMP would take {len(inside):,} bytes, and JPEG has room for {_SEGMENT:,}.")
    return data[:place] + b"\xff\xe1" + (len(inside) + 2).to_bytes(2, "big") + inside + data[end:]


def _packet_in(data: bytes, where: str) -> tuple[int, int]:
    """Return where the XMP of a JPEG file begins and ends; twice where it would go."""
    if not data.startswith(b"\xff\xd8"):
        raise UnreadableFile(f"{where}: not a JPEG file. Keywords can go into a file beside it.")
    at, free = 2, 2
    while at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] not in (0xDA, 0xD9):
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        if end <= at + 3 or end > len(data):
            break  # a length that cannot be: told below
        if data[at + 1] == 0xE1 and data.startswith(_IN_JPEG, at + 4):
            return at, end
        if data[at + 1] in (0xE0, 0xE1):  # after JFIF and EXIF, which some programs want first
            free = end
        at = end
    if not data.startswith((b"\xff\xda", b"\xff\xd9"), at):  # where the pixels begin, or the end
        raise UnreadableFile(f"{where}: damaged after byte {at:,}. Nothing was written into it.")
    return free, free


def _parsed(packet: bytes, where: str) -> Any:
    from xml.dom.minidom import parseString
    from xml.parsers.expat import ExpatError

    plain = packet.replace(b"\x00", b"")  # so that UTF-16 hides nothing
    if len(packet) > _LARGEST or b"<!DOCTYPE" in plain or b"<!ENTITY" in plain:
        raise UnreadableFile(f"{where}: its XMP declares entities or has more than 10 MB. Nothing was written to it.")
    is_wide = packet.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return parseString(
            packet.decode("utf-16").strip("\x00\ufeff \r\n")
            if is_wide
            else packet.removeprefix(b"\xef\xbb\xbf").strip(b"\x00 \r\n")
        )
    except (ExpatError, ValueError, LookupError) as error:
        raise UnreadableFile(
            f"{where}: its XMP cannot be read ({error}). Rename or remove it, and export again."
        ) from None


def _list(document: Any, described: Any, name: str, namespace: str, kind: str) -> Any:
    """Return the list of keywords of this name, made where there is none."""
    prefix, _, local = name.partition(":")
    found = _first(document, namespace, local)
    if found is None:
        found = described.appendChild(document.createElementNS(namespace, name))
        found.setAttribute(f"xmlns:{prefix}", namespace)  # here alone: the file may mean something else by the prefix
    listed = next((node for node in found.childNodes if getattr(node, "namespaceURI", None) == _RDF), None)
    if listed is not None:
        return listed
    listed = found.appendChild(document.createElementNS(_RDF, f"rdf:{kind}"))
    listed.setAttribute("xmlns:rdf", _RDF)
    return listed


def _first(document: Any, namespace: str, local: str) -> Any:
    return next(iter(document.getElementsByTagNameNS(namespace, local)), None)


def _text(item: Any) -> str:
    return "".join(node.data for node in item.childNodes if hasattr(node, "data")).strip()
