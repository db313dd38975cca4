"""A text file in blocks of whole rows, as UTF-8 with plain line ends, each with the number of its first line."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.errors import UnreadableFile
from sidelight.files.problems import notice, unclosed_quote
from sidelight.files.source import GUESSED, LATIN_FROM, Source, not_decodable, read_up_to
from sidelight.files.text.dialect import LONGEST_ROW, Dialect, split_rows
from sidelight.words import Setting, counted

BLOCK = 1 << 24


class Block(NamedTuple):
    """Whole rows as UTF-8 bytes, and the number of their first line."""

    data: bytes
    line: int


def text_blocks(source: Source, dialect: Dialect, *, strict: bool) -> Iterator[Block]:
    """Yield the file without its header, comments and blank lines at the top.

    Parameters
    ----------
    source, dialect : Source, Dialect
        The file, and how it is written.
    strict : bool
        The encoding was given by the user: bytes that do not fit are an error.
    """
    path, line, carry, is_first = source.path, 1, b"", True
    for chunk in _decoded(source, dialect.encoding, strict=strict):
        data = carry + chunk
        if is_first:
            if chunk and data.count(b"\n") <= dialect.skip + 1 and len(data) <= LONGEST_ROW:
                carry = data  # the header may not be here as a whole yet
                continue
            data, line = _drop_top(path, data, dialect, line)
            is_first = False
        cut = len(data) if not chunk else _last_whole_row(data, dialect.separator != " ")
        if not cut and len(data) > LONGEST_ROW:
            raise unclosed_quote(path, line) if b'"' in data else _endless_row(path, line)
        if cut:
            yield from _checked(path, Block(data[:cut], line))
            line += count_byte(data[:cut], b"\n")
        carry = data[cut:]


def count_byte(data: bytes, byte: bytes) -> int:
    """Count a frequent byte: ``bytes.count`` stops at each one."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == byte[0]))


def rows_with_lines(block: Block, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells) of a block with Python's own csv: slow, and only for errors and quoted blocks."""
    text = block.data.decode("utf-8", errors="replace")
    if dialect.separator == " ":
        for k, line in enumerate(text.split("\n")):
            if line.strip():
                yield block.line + k, line.split()
        return
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=dialect.separator, skipinitialspace=dialect.has_padding
    )
    end = 0
    try:
        for row in reader:
            if row:
                yield block.line + end, row
            end = reader.line_num
    except csv.Error:
        for k, line in enumerate(text.split("\n")[end:]):
            if line:
                rows = split_rows(line, dialect.separator)  # none of a line of nothing but separators
                yield block.line + end + k, rows[0] if rows else line.split(dialect.separator)


def without_bad_lines(block: Block, dialect: Dialect, skipped: dict[int, str]) -> Block:
    """Return a block whose lines with too few or too many cells are empty, and remember them by their numbers."""
    width, separator = len(dialect.names), dialect.separator.encode()
    if b'"' not in block.data and separator != b" ":
        cells = np.frombuffer(block.data, dtype=np.uint8)
        ends = np.append(np.flatnonzero(cells == 10), len(cells))
        counts = np.diff(np.searchsorted(np.flatnonzero(cells == separator[0]), ends), prepend=0)
        if not ((counts != width - 1) & (np.diff(ends, prepend=-1) > 1)).any():
            return block
    lines = block.data.split(b"\n")
    found = [*rows_with_lines(block, dialect), (block.line + len(lines), [])]
    for (line, row), (after, _) in pairwise(found):
        if len(row) != width:
            skipped[line] = f"{counted(len(row), 'column')} instead of {width}"
            lines[line - block.line : after - block.line] = [b""] * (after - line)
    return Block(b"\n".join(lines), block.line)


def _endless_row(path: Path, line: int) -> UnreadableFile:
    return UnreadableFile(
        f"{path}, line {line}: expected rows, found a line of more than {LONGEST_ROW} bytes. Is it a table at all?"
    )


def _checked(path: Path, block: Block) -> Iterator[Block]:
    if b"\0" in block.data:
        line = block.line + block.data.count(b"\n", 0, block.data.index(b"\0"))
        raise UnreadableFile(
            f"{path}, line {line}: expected text, found a zero byte. The file is damaged, or it is not text."
        )
    if not block.data.isspace():
        yield block


def _decoded(source: Source, encoding: str, *, strict: bool) -> Iterator[bytes]:
    """Yield UTF-8 bytes with plain line ends, then one empty piece."""
    path, start = source.path, source.head(1 << 16)
    old_mac = b"\r" in start and b"\n" not in start
    with source.open() as raw:
        if encoding in ("utf-8", "utf-8-sig"):
            pieces = _utf8_pieces(raw, path, strict=strict)
        else:
            is_guess = encoding in GUESSED and not strict  # what does not fit must not stop a guess
            pieces = _recoded_pieces(raw, encoding, path, "replace" if is_guess else "strict")
        held = b""
        for piece in pieces:
            data = held + piece
            held = b"\r" if data.endswith(b"\r") else b""  # its line feed may come with the next piece
            data = data[: len(data) - len(held)]
            if b"\r" in data:
                data = data.replace(b"\r\n", b"\n")
                data = data.replace(b"\r", b"\n") if old_mac else data
            if data:
                yield data
        if held:
            yield b"\n"
    yield b""


def _drop_top(path: Path, data: bytes, dialect: Dialect, line: int) -> tuple[bytes, int]:
    """Leave out the comments and the header; return what follows and its line number."""
    start = 0
    for _ in range(dialect.skip):
        start = data.find(b"\n", start) + 1 or len(data)
    if dialect.has_header:
        end = _end_of_row(data, start)
        if end == len(data) and data.count(b'"', start) % 2:
            raise unclosed_quote(path, dialect.skip + line)
        start = end
    return data[start:], line + data.count(b"\n", 0, start)


def _end_of_row(data: bytes, start: int) -> int:
    """Return where the row that begins at ``start`` ends, minding line feeds inside quotation marks."""
    ends = _row_ends(data[start:])
    return start + int(ends[0]) if len(ends) else len(data)


def _last_whole_row(data: bytes, minds_quotes: bool) -> int:
    """Return the length of the longest piece of ``data`` that ends with a whole row."""
    cut = data.rfind(b"\n") + 1
    if not minds_quotes or b'"' not in data:
        return cut
    ends = _row_ends(data)
    return int(ends[-1]) if len(ends) else 0


def _row_ends(data: bytes) -> NDArray[np.intp]:
    """Return where rows end: after line feeds with an even number of quotation marks before them."""
    cells = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(cells == 10)
    n_quotes = np.searchsorted(np.flatnonzero(cells == 34), ends)
    return ends[n_quotes % 2 == 0] + 1


def _utf8_pieces(raw: Any, path: Path, *, strict: bool) -> Iterator[bytes]:
    """Yield the bytes if they are UTF-8; what turns out to be Latin-1 is recoded from there on, with a note."""
    tail, line, latin, has_accents = b"", 1, False, False
    is_first = True
    while chunk := read_up_to(raw, BLOCK):
        data = tail + chunk
        if is_first and data.startswith(codecs.BOM_UTF8):
            data = data[3:]
        is_first = False
        cut = _utf8_cut(data)
        data, tail = data[:cut], data[cut:]
        try:
            if not latin and not data.isascii():
                data.decode("utf-8")
                has_accents = True
        except UnicodeDecodeError as error:
            bad = line + data.count(b"\n", 0, error.start)
            if strict or has_accents or _is_mostly_utf8(data):
                raise not_decodable(path, bad, "utf-8", error) from None
            notice(LATIN_FROM.format(line=bad))
            latin = True
        line += count_byte(data, b"\n")
        yield data.decode("latin-1").encode() if latin else data
    if tail:
        if not latin:
            try:
                tail.decode("utf-8")
            except UnicodeDecodeError as error:
                if strict or has_accents:
                    raise not_decodable(path, line, "utf-8", error) from None
            notice(LATIN_FROM.format(line=line))
        yield tail.decode("latin-1").encode()


def _is_mostly_utf8(data: bytes) -> bool:
    """Say whether more characters beyond ASCII are UTF-8 than are not: then the others are damage."""
    text = data.decode("utf-8", errors="replace")
    n_bad = text.count("\ufffd")
    return len(text.encode("ascii", errors="ignore")) + n_bad < len(text) - n_bad


def _utf8_cut(data: bytes) -> int:
    """Return where to cut so that no character is cut in two."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return len(data)
        if byte >= 0xC0:
            return len(data) - back if back < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4) else len(data)
    return len(data)


def _recoded_pieces(raw: Any, encoding: str, path: Path, errors: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    line = 1
    try:
        while chunk := read_up_to(raw, BLOCK):
            text = decoder.decode(chunk)
            line += text.count("\n")
            yield text.encode(errors="replace")
        yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError as error:
        raise not_decodable(path, line, encoding, error) from None
    except UnicodeError as error:
        raise UnreadableFile(
            f"{path}, line {line}: cannot be read as {encoding} ({error}).", do=["Pass ", Setting("encoding"), "."]
        ) from None
