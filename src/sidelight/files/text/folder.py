"""A folder (or tar archive) of text files: one row a file, the folder is its label, words are counted.

Dotted folder names (``rec.sport.hockey``) are a hierarchy: inner nodes that hold two or more folders are labels too.
"""

from __future__ import annotations

import io
import json
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple

import numpy as np

from sidelight.data.dataset import Dataset
from sidelight.errors import UnreadableFile
from sidelight.files.arff.labels import tree_of
from sidelight.files.limits import need
from sidelight.files.problems import notice
from sidelight.files.roles.builder import Builder
from sidelight.files.roles.plan import RoleRequest
from sidelight.files.source import GUESSED, MAX_RATIO, MAX_UNPACKED, guess_encoding
from sidelight.files.text.words import count_words
from sidelight.progress import report

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


_LARGEST = 1 << 24  # a text file beyond this is not a document
_MOST = 2_000_000
_FILE, _GROWTH = 1_000, 8  # bytes that a file takes, and that each of its bytes takes as text, words and counts
_NO_TEXTS = (".csv", ".tsv", ".toml", ".parquet", ".json", ".jsonl", ".xlsx")
# How new texts are cut for a model, as files.material.rows reads it.
_HOW = json.dumps({"version": 1, "kind": "texts", "recipe": {"by": "file"}, "roles": {"text": ["text"]}})


class Document(NamedTuple):
    """One file: its name, its folder, its text."""

    name: str
    folder: str
    text: str


def read_folder(path: Path, wanted: RoleRequest, encoding: str | None = None) -> Dataset:
    """Count the words of every file below ``path``."""
    documents = list(_documents(path, encoding))
    if not documents:
        raise UnreadableFile(f"{path}: expected text files in folders, found none.")
    texts = [document.text for document in documents]
    X, words = count_words(texts, least=2 if len(documents) > 1 else 1)
    if not words:
        raise UnreadableFile(f"{path}: expected texts that share words, found no word in two of {len(texts)} files.")
    folders = [document.folder for document in documents]
    names, paths, Y = dotted_labels(folders)
    has_labels = len(set(folders)) > 1 and wanted.label is not False
    nested = has_labels and any(len(p) > 1 for p in paths)
    data = Builder(path, "a folder of text files")
    data.features(X, words)
    data.notes.append("words that occur in a single file were left out")
    if has_labels:
        data.y, data.label_names = _texts(folders), tuple(sorted(set(folders)))
    if nested:
        data.Y, data.label_names = Y, names
    data.role("file name", "id", "one file is one row", "text")
    data.role("folder", "label" if has_labels else "ignored", "the folder of the file", "text")
    data.role("words", "feature", f"{X.shape[1]} words, counted", "text")
    data.role("text", "show", "the text of the file", "text")
    made = data.build(
        row_ids=_texts([document.name for document in documents]),
        tree=tree_of(names, {p[-1]: p[-2] if len(p) > 1 else None for p in paths}) if nested else None,
        show={"text": _texts([text[:2000] for text in texts])},
    )
    return replace(made, material=_HOW)


def _texts(values: list[str]) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def dotted_labels(folders: list[str]) -> tuple[tuple[str, ...], list[tuple[str, ...]], np.ndarray]:
    """Return labels (groups, and inner nodes with two or more groups), their paths, and who has which."""
    groups = sorted(set(folders))
    below: dict[str, set[str]] = {}
    for group in groups:
        steps = group.split(".")
        for depth in range(1, len(steps)):
            below.setdefault(".".join(steps[:depth]), set()).add(group)
    inner = [node for node, held in below.items() if len(held) > 1 and node not in groups]
    names = tuple(sorted({*groups, *inner}))
    known = set(names)
    paths = [
        tuple(
            ".".join(name.split(".")[:d])
            for d in range(1, name.count(".") + 2)
            if ".".join(name.split(".")[:d]) in known
        )
        for name in names
    ]
    column = {name: k for k, name in enumerate(names)}
    of_group = {name: [column[node] for node in path] for name, path in zip(names, paths)}
    Y = np.zeros((len(folders), len(names)), dtype=np.int8)
    for i, folder in enumerate(folders):
        Y[i, of_group[folder]] = 1
    return names, paths, Y


def _documents(path: Path, encoding: str | None) -> Iterator[Document]:
    members = _from_folder(path) if path.is_dir() else _from_tar(path)
    taken = 0
    for k, (name, data) in enumerate(members):
        taken += _FILE + _GROWTH * len(data)
        need(path, taken, f"the words of the first {k + 1} files")
        if k >= _MOST:
            raise UnreadableFile(f"{path}: more than {_MOST} files; split the folder.")
        pure = PurePosixPath(name)
        ending = pure.suffix.lower()
        if ending in _NO_TEXTS or (b"\0" in data[:4096] and ending not in (".docx", ".pdf", ".txt")):
            continue  # a picture, an index file or a table of labels among the texts
        report("reading", k, None, pure.name)
        text = _text(name, data, encoding)
        if text is not None:
            yield Document(name, pure.parent.name or path.name, text)


def _text(name: str, data: bytes, encoding: str | None) -> str | None:
    """Return the text of a document; one that cannot be read is named and left out."""
    try:
        text = text_in(name, data, encoding)
    except UnreadableFile as error:
        notice(f"left out: {error}")
        return None
    if encoding is None and not data.isascii() and guess_encoding(data, is_whole=True) in GUESSED:
        notice("some files are not UTF-8 and were read by a guess; say which encoding it is if accents look wrong")
    return text


def _from_folder(path: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith(".")):
        if file.stat().st_size > _LARGEST:
            raise UnreadableFile(f"{file}: expected a text of at most {_LARGEST} bytes, found {file.stat().st_size}.")
        yield file.relative_to(path).as_posix(), file.read_bytes()


def _from_tar(path: Path) -> Iterator[tuple[str, bytes]]:
    """Read the files of a tar archive in memory; nothing is ever unpacked to disk."""
    total, limit = 0, max(MAX_UNPACKED, MAX_RATIO * path.stat().st_size)
    try:
        with tarfile.open(path, "r:*") as archive:
            for member in archive:
                if not member.isfile() or PurePosixPath(member.name).name.startswith("."):
                    continue
                total += member.size
                if member.size > _LARGEST or total > limit:
                    raise UnreadableFile(
                        f"{path}: {member.name} declares {member.size} bytes; texts of at most {_LARGEST} are read."
                    )
                stream = archive.extractfile(member)
                data = b"" if stream is None else stream.read()
                if len(data) < member.size:
                    raise UnreadableFile(f"{path}: the archive stops inside {member.name}. Fetch it again.")
                yield member.name, data
    except (tarfile.TarError, EOFError, OSError, zlib.error, UnicodeDecodeError) as error:
        raise UnreadableFile(f"{path}: a damaged archive ({error}). Fetch it again.") from None


# A document as rows: one, or one for each paragraph; its words are the features when the table is read.


@dataclass(frozen=True, slots=True)
class TextRecipe:
    """How a folder of texts is cut: a row a ``"file"``, or a row a ``"paragraph"``."""

    by: str = "file"


def cut_text(path: Path, recipe: TextRecipe) -> list[str]:
    """Return the text of a file, or its paragraphs; empty ones are left out."""
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise UnreadableFile(f"{path}: {size:,} bytes are no text that a person wrote.")
        content = path.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{path}: cannot be read ({error.strerror or error}).") from None
    text = text_in(str(path), content)
    parts = re.split(r"\n\s*\n", text) if recipe.by == "paragraph" else [text]
    return [part.strip() for part in parts if part.strip()]
