"""The text of one file: plain, Markdown, HTML without its markup, mail without its headers, Word documents."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from sidelight.errors import UnreadableFile
from sidelight.files.source import guess_encoding

_MOST_BYTES = 50_000_000  # of one text
_MOST_RATIO = 200  # how far a Word document may unpack
_SKIPPED = {"script", "style", "head", "template", "noscript"}
_BREAKS = {"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "section", "article"}


@dataclass(frozen=True, slots=True)
class TextRecipe:
    """How a folder of texts is cut: a row a ``"file"``, or a row a ``"paragraph"``."""

    by: str = "file"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """None: the words themselves are the features."""
        return ()


def cut_text(path: Path, recipe: TextRecipe) -> list[str]:
    """Return the text of a file, or its paragraphs; empty ones are left out."""
    text = text_of(path)
    parts = re.split(r"\n\s*\n", text) if recipe.by == "paragraph" else [text]
    return [part.strip() for part in parts if part.strip()]


def text_of(path: Path) -> str:
    """Return the text of a file, without markup."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UnreadableFile(f"{path}: {path.stat().st_size:,} bytes are no text that a person wrote.")
        if path.suffix.lower() == ".docx":
            return _word_document(path)
        content = path.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{path}: cannot be read ({error.strerror or error}).") from None
    if b"\0" in content[:4096] and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableFile(f"{path}: expected a text, found bytes that are none.")
    text = content.decode(guess_encoding(content), errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    if path.suffix.lower() in (".htm", ".html"):
        return _without_markup(text)
    if path.suffix.lower() == ".eml":
        return text.partition("\n\n")[2]
    return text


class _Text(HTMLParser):
    """Collects what a reader of a page sees."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Go inside a tag."""
        self.hidden += tag in _SKIPPED
        if tag in _BREAKS:
            self.parts.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        """Leave a tag."""
        self.hidden = max(0, self.hidden - (tag in _SKIPPED))

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        if not self.hidden:
            self.parts.append(data)


def _without_markup(text: str) -> str:
    parser = _Text()
    parser.feed(text)
    return re.sub(r"[ \t]+", " ", "".join(parser.parts))


def _word_document(path: Path) -> str:
    from xml.etree import ElementTree

    try:
        with zipfile.ZipFile(path) as archive:
            info = archive.getinfo("word/document.xml")
            if info.file_size > min(_MOST_BYTES, _MOST_RATIO * max(info.compress_size, 1)):
                raise UnreadableFile(f"{path}: a Word document that unpacks to {info.file_size:,} bytes. Is it one?")
            content = archive.read(info)
        if b"<!DOCTYPE" in content[:1000] or b"<!ENTITY" in content:
            raise UnreadableFile(f"{path}: a Word document that declares entities, which none does.")
        root = ElementTree.fromstring(content)
    except UnreadableFile:
        raise
    except Exception as error:  # a zip, its members and XML fail in a dozen ways
        raise UnreadableFile(f"{path}: no Word document that can be read ({error}).") from None
    prefix = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"  # a name, not an address to ask
    paragraphs = ["".join(node.text or "" for node in p.iter(f"{prefix}t")) for p in root.iter(f"{prefix}p")]
    return "\n\n".join(paragraphs)
