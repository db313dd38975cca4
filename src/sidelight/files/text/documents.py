"""The text of one document: plain, Markdown, HTML without its markup, mail without its headers, Word, PDF."""

from __future__ import annotations

import io
import re
import zipfile
from html.parser import HTMLParser
from pathlib import PurePath

from sidelight.errors import UnreadableFile
from sidelight.files.problems import notice
from sidelight.files.source import guess_encoding

MOST_BYTES = 50_000_000  # of one document
_MOST_RATIO = 200  # how far a Word document may unpack
_MOST_PAGES = 5_000  # of a PDF
_SKIPPED = {"script", "style", "head", "template", "noscript"}
_BREAKS = {"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "section", "article"}
_MAIL = re.compile(r"[A-Za-z][A-Za-z-]*:( |\t|$)")


def text_in(name: str, content: bytes, encoding: str | None = None) -> str:
    """Return the text of a document, without markup.

    Parameters
    ----------
    name : str
        Its name, whose ending says what it is.
    content : bytes
        What it holds.
    encoding : str, optional
        Of plain text; UTF-8 where it decodes, else Latin-1, by default.
    """
    ending = PurePath(name).suffix.lower()
    if content.startswith(b"%PDF"):
        return _pdf(name, content)
    if ending == ".docx" or content.startswith(b"PK\x03\x04"):
        return _word_document(name, content)
    if ending == ".pdf":
        raise UnreadableFile(f"{name}: no PDF document, whatever its name says.")
    if b"\0" in content[:4096] and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableFile(f"{name}: expected a text, found bytes that are none.")
    text = content.decode(encoding or guess_encoding(content, is_whole=True), errors="replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    is_page = ending in (".htm", ".html") or text[:200].lstrip().lower().startswith(("<!doctype html", "<html"))
    return _without_markup(text) if is_page else without_mail_header(text)


def without_mail_header(text: str) -> str:
    """Leave out the lines up to the first blank one when they look like a mail's."""
    head, blank, body = text.replace("\r\n", "\n").partition("\n\n")
    lines = head.split("\n")
    looks = [bool(_MAIL.match(line)) or line.startswith((" ", "\t")) for line in lines]
    is_mail = blank and len(lines) > 1 and looks[0] and sum(looks) >= 0.8 * len(lines)
    if is_mail:
        notice("the headers of mails were left out")
    return body if is_mail else text


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


def _word_document(name: str, content: bytes) -> str:
    from xml.etree import ElementTree

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            info = archive.getinfo("word/document.xml")
            if info.file_size > min(MOST_BYTES, _MOST_RATIO * max(info.compress_size, 1)):
                raise UnreadableFile(f"{name}: a Word document that unpacks to {info.file_size:,} bytes. Is it one?")
            inside = archive.read(info)
        if b"<!DOCTYPE" in inside[:1000] or b"<!ENTITY" in inside:
            raise UnreadableFile(f"{name}: a Word document that declares entities, which none does.")
        root = ElementTree.fromstring(inside)
    except UnreadableFile:
        raise
    except Exception as error:  # a zip, its members and XML fail in a dozen ways
        raise UnreadableFile(f"{name}: no Word document that can be read ({error}).") from None
    prefix = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"  # a name, not an address to ask
    paragraphs = ["".join(node.text or "" for node in p.iter(f"{prefix}t")) for p in root.iter(f"{prefix}p")]
    return "\n\n".join(paragraphs)


def _pdf(name: str, content: bytes) -> str:
    """Return the text of a PDF's pages; a scan has none."""
    try:
        import pypdf
    except ImportError:
        raise UnreadableFile(
            f'{name}: a PDF document. Reading PDF needs pypdf: pip install "sidelight[pdf]", or save it as text.'
        ) from None
    import logging

    logging.getLogger("pypdf").addHandler(logging.NullHandler())  # damage is told once, by us
    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        if len(reader.pages) > _MOST_PAGES:
            raise UnreadableFile(f"{name}: a PDF of {len(reader.pages):,} pages. Cut it into documents first.")
        text = "\n\n".join(page.extract_text() for page in reader.pages)
    except UnreadableFile:
        raise
    except Exception as error:  # pypdf raises what it meets: KeyError, RecursionError, its own errors, ...
        raise UnreadableFile(f"{name}: a PDF that cannot be read ({error!r:.100}).") from None
    if not text.strip():
        raise UnreadableFile(f"{name}: a PDF without text, probably a scan. Recognise its text first.")
    return text
