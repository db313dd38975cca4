"""Bytes and lines of a file, compressed or not, with limits: what every reader of text stands on.

A :class:`Source` is made once for a file and handed on: a first look at its header, the recognition of its format, its
dialect, its rows and its fingerprint all come from it, and what was read once is not read again. gzip is undone on the
way in. A file that unpacks to much more than any real table would (a decompression bomb) is refused while it is still
small.
"""

from __future__ import annotations

import atexit
import codecs
import gzip
import hashlib
import io
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from sidelight.errors import InvalidParameter, UnreadableFile
from sidelight.files.limits import need
from sidelight.files.problems import notice

STANDARD_INPUT = "-"
_SERVERS = ("postgresql", "postgres", "mysql", "mariadb", "mssql", "oracle")
GZIP_MAGIC = b"\x1f\x8b"
# Real tables of text shrink 3 to 60 times; a megabyte of zeros shrinks 1000 times.
MAX_RATIO = 250
GUESSED = {"latin-1": "Latin-1", "cp1252": "Windows-1252", "euc_kr": "EUC-KR (Korean)", "cp932": "Shift-JIS (Japanese)"}
LATIN = "not UTF-8: read as {}; say which encoding it is if accents look wrong"
LATIN_FROM = "line {line} is not UTF-8 and was read as Latin-1; say which encoding it is if accents look wrong"
_CELL = 66  # bytes of a short text in a list, which is what a cell is while lines are read
_KEPT = 1 << 20  # bytes of a file that are kept once they were read
MAX_UNPACKED = 1 << 28  # below this a strange ratio does no harm


class GuardedStream(io.RawIOBase):
    """A gzip stream that turns damage and bombs into :class:`UnreadableFile`."""

    def __init__(self, path: Path, packed: BinaryIO) -> None:
        super().__init__()
        self._path, self._size, self._seen = path, max(path.stat().st_size, 1), 0
        self._packed, self._stream = packed, gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        """Say that it can be read from."""
        return True

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]  # typeshed's buffer type is private
        """Fill ``buffer`` with unpacked bytes."""
        try:
            chunk = self._stream.read(len(buffer))
        except EOFError:
            raise UnreadableFile(
                f"{self._path}: the gzip file stops after {self._seen} unpacked bytes, in the middle of its data. "
                "It was cut off while it was copied or written: fetch it again."
            ) from None
        except (OSError, zlib.error) as error:
            raise UnreadableFile(
                f"{self._path}: the gzip file is damaged after {self._seen} unpacked bytes ({error}). Fetch it again."
            ) from None
        self._seen += len(chunk)
        if self._seen > MAX_UNPACKED and self._seen > MAX_RATIO * self._size:
            raise UnreadableFile(
                f"{self._path}: {self._size} bytes unpack to more than {self._seen}; no real table shrinks that much, "
                "so this looks like a decompression bomb. If you trust it, unpack it yourself with gunzip."
            )
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        """Close the file underneath."""
        self._stream.close()
        self._packed.close()
        super().close()


class Source:
    """A file that is opened as seldom as can be: its beginning is kept, and all of it when it is small.

    Parameters
    ----------
    given : str or path
        The file as the user names it; messages about the call repeat it, ``path`` is where it is. After ``::`` stands
        which part of it is meant: ``book.xlsx::Sheet2``, ``birds.sqlite::segments``. The ``address`` of a database on
        a server is kept with its password, which ``given`` and ``path`` lack: these are shown and written down.
    """

    def __init__(self, given: str | os.PathLike[str]) -> None:
        self.given = os.fspath(given)
        name, self.part = split_part(self.given)
        self.address = self.password = ""
        if is_server(name):
            self.address = name
            name, self.password = without_password(name)
            self.given = name if self.part is None else f"{name}::{self.part}"
            self.path: Path = _Address(name)
        else:
            self.path = standard_input() if name == STANDARD_INPUT else Path(os.path.expanduser(name))
        self._start, self._is_whole, self._is_packed = b"", False, False

    @classmethod
    def of(cls, file: Source | str | os.PathLike[str]) -> Source:
        """Return the source itself, or one for a path."""
        return file if isinstance(file, Source) else cls(file)

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return repr(self.given)

    @property
    def is_packed(self) -> bool:
        """Whether the bytes on the disk are gzipped; asks the first of them."""
        self.head(1)
        return self._is_packed

    def head(self, size: int) -> bytes:
        """Return the first ``size`` bytes, unpacked; fewer when the file is shorter."""
        if len(self._start) < size and not self._is_whole:
            wanted = max(size, _KEPT)
            with self.open() as stream:
                self._start = read_up_to(stream, wanted)
            self._is_whole = len(self._start) < wanted
        return self._start[:size]

    def open(self) -> BinaryIO:
        """Open the file for reading, through gzip when its first bytes say so."""
        if self._is_whole:
            return io.BytesIO(self._start)
        try:
            raw = self.path.open("rb")
            self._is_packed = raw.peek(2)[:2] == GZIP_MAGIC
            return io.BufferedReader(GuardedStream(self.path, raw), 1 << 20) if self._is_packed else raw
        except OSError as error:
            raise UnreadableFile(f"{self.path}: cannot be opened ({error.strerror or error}).") from None

    def fingerprint(self) -> str | None:
        """Return a short name of the bytes on the disk, for a later run to compare; None for what is no file."""
        digest = hashlib.blake2b(digest_size=16)
        try:
            if not self.path.is_file():
                return None
            if self._is_whole and not self._is_packed:
                digest.update(self._start)
            else:
                with self.path.open("rb") as handle:
                    while piece := handle.read(1 << 20):
                        digest.update(piece)
        except (OSError, ValueError):  # ValueError: a NUL in the name
            return None
        return f"blake2b:{digest.hexdigest()}"


class _Address(type(Path())):  # type: ignore[misc]  # the class of this system's paths
    """The address of a server in the place of a path, for messages: a path would lose one of its slashes."""

    def __new__(cls, text: str) -> _Address:
        made: _Address = super().__new__(cls, text)
        made.text = text
        return made

    def __str__(self) -> str:
        return str(self.text)


def refuse_web(name: str) -> None:
    """Raise for an address on the web: nothing is ever fetched."""
    if name.lower().startswith(("http:/", "https:/", "ftp:/", "s3:/")):
        raise UnreadableFile(f"{name}: an address on the web, which is never asked. Download the file first.")


def is_server(name: str) -> bool:
    """Say whether a name is the address of a database on a server: ``postgresql://user@host/name``."""
    scheme, mark, _ = name.partition("://")
    return bool(mark) and scheme.partition("+")[0].lower() in _SERVERS


def without_password(address: str) -> tuple[str, str]:
    """Return an address as it may be shown, and the password that it held (or nothing)."""
    parts = urlsplit(address)
    login, at, host = parts.netloc.rpartition("@")
    user, _, password = login.partition(":")
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    hidden = [value for name, value in pairs if "password" in name.lower()]
    query = urlencode([(name, value) for name, value in pairs if "password" not in name.lower()])
    return urlunsplit(parts._replace(netloc=f"{user}{at}{host}", query=query)), unquote(password) or "".join(hidden)


@cache
def standard_input() -> Path:
    """Return a file with all of what standard input holds; it is removed when the program ends."""
    handle, name = tempfile.mkstemp(prefix="sidelight-")
    atexit.register(lambda: Path(name).unlink(missing_ok=True))
    with os.fdopen(handle, "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
    return Path(name)


def split_part(given: str) -> tuple[str, str | None]:
    """Return the file and the part of it that a name means; a file that is called so is meant whole."""
    name, mark, part = given.rpartition("::")
    return (name, part) if mark and name and part and not os.path.exists(os.path.expanduser(given)) else (given, None)


def read_up_to(stream: BinaryIO, size: int) -> bytes:
    """Return the next ``size`` bytes, or all that are left."""
    parts, wanted = [], size
    while wanted > 0 and (part := stream.read(wanted)):
        parts.append(part)
        wanted -= len(part)
    return b"".join(parts)


def guess_encoding(sample: bytes, *, is_whole: bool = False) -> str:
    """Name the encoding: by a mark, UTF-8 if it decodes, Korean or Japanese where it can be nothing else, else Western.

    A sample may end inside a letter. Western is Windows-1252 where a byte says so that Latin-1 has no letter for.
    """
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if sample.startswith(mark):
            return name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=is_whole)
    except UnicodeDecodeError:
        return _east_asian(sample) or _western(sample)
    return "utf-8"


def _western(sample: bytes) -> str:
    if not any(0x80 <= byte < 0xA0 for byte in set(sample)):
        return "latin-1"  # where the two are the same
    try:
        sample.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def _east_asian(sample: bytes) -> str | None:
    """Name a Korean or Japanese encoding where nearly all letters are of its script: Western bytes hardly ever are."""
    for name in ("euc_kr", "cp932"):
        try:
            text = codecs.getincrementaldecoder(name)().decode(sample)
        except UnicodeDecodeError:
            continue
        letters = [letter for letter in text if not letter.isascii()]
        if name == "euc_kr":
            known = sum("\uac00" <= letter <= "\ud7a3" for letter in letters)
        else:  # by first bytes that are no letters in Western texts, but for quotation marks and dashes
            firsts = [letter.encode(name, "replace")[0] for letter in letters]
            known = sum(0x81 <= first < 0xA0 and not 0x91 <= first <= 0x97 for first in firsts)
            known += sum(0x91 <= first <= 0x97 for first in firsts) if known else 0
        if len(letters) >= 4 and known > (0.95 if name == "euc_kr" else 0.6) * len(letters):
            return name
    return None


def check_encoding(path: Path, encoding: str) -> str:
    """Return the encoding if Python knows it."""
    try:
        codecs.lookup(encoding)
        "".encode(encoding)
    except (LookupError, TypeError, ValueError):
        raise InvalidParameter(
            f"{path}: there is no encoding called {encoding!r:.80}. Common ones: 'utf-8', 'latin-1', 'utf-16'."
        ) from None
    return encoding


def text_lines(path: Path, encoding: str | None = None) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its end) for every line of a text file."""
    source = Source(path)
    chosen = check_encoding(path, encoding) if encoding else guess_encoding(source.head(1 << 20))
    if not encoding and chosen in GUESSED:
        notice(LATIN.format(GUESSED[chosen]))
    with source.open() as raw:
        stream = io.TextIOWrapper(
            raw, encoding=chosen, errors="strict" if encoding else "surrogateescape"
        )  # closed with raw
        number, taken = 0, 0
        try:
            for line in stream:
                number += 1
                taken += len(line) + _CELL * (1 + line.count(",") + line.count(" "))
                if not number % 1000:
                    need(path, taken, f"the first {number} lines, cut into cells,")
                if not encoding and not line.isascii():
                    line = _checked_line(line, number)
                if "\0" in line:
                    raise UnreadableFile(
                        f"{path}, line {number}: expected text, found a zero byte. "
                        "The file is damaged or is not text at all."
                    )
                yield number, line.rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise not_decodable(path, number + 1, chosen, error) from None


def _checked_line(line: str, number: int) -> str:
    """Read a line as Latin-1 when its bytes are not UTF-8, and say so."""
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:  # what was not UTF-8 is a lone surrogate
        notice(LATIN_FROM.format(line=number))
        return line.encode("utf-8", errors="surrogateescape").decode("latin-1")
    return line


def not_decodable(path: Path, line: int, encoding: str, error: UnicodeDecodeError) -> UnreadableFile:
    """Say where bytes stop being text of an encoding."""
    byte = error.object[error.start : error.start + 1].hex()
    return UnreadableFile(
        f"{path}, line {line}: expected {encoding} text, found byte 0x{byte}. "
        "Say which encoding it is, for example encoding='latin-1' (Western Windows files) or 'utf-16'."
    )


def as_path(path: Any, who: str, name: str = "path") -> Path:
    """Return a path that was given to ``who``, or raise our own error."""
    try:
        if os.fspath(path) and b"\0" not in os.fsencode(path):
            return Path(path).expanduser()
    except (TypeError, ValueError, RuntimeError):  # no path, a lone surrogate, no home
        pass
    raise InvalidParameter(f"The {name!r} parameter of {who} must be a path. Got {path!r:.80} instead.")
