"""What lies in a folder: recordings, pictures, texts or tables, by their endings, and which of them it is about."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidelight.errors import InvalidData, UnreadableFile
from sidelight.words import Setting, counted, in_words

KINDS: Mapping[str, tuple[str, ...]] = {
    "sounds": (".wav", ".wave", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aif", ".aiff", ".aifc"),
    "pictures": (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm"),
    "texts": (".txt", ".md", ".text", ".htm", ".html", ".docx", ".pdf", ".eml"),
    "tables": (".csv", ".tsv", ".parquet", ".xlsx", ".ods", ".sqlite", ".jsonl"),
}


_OF_ENDING = {ending: kind for kind, endings in KINDS.items() for ending in endings}


_MATERIAL = ("sounds", "pictures", "texts")


_MIXED = 0.1  # share of the files of a second kind from which a folder is mixed


_MOST_FILES = 2_000_000


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a folder, by kind; names are relative to it, in order.

    Attributes
    ----------
    folder : Path
        The folder.
    files : mapping of str to sequence of str
        For each kind that is there: the files below the folder, folders of folders too.
    other : int
        Files of no known kind.
    """

    folder: Path
    files: Mapping[str, Sequence[str]]
    other: int

    @classmethod
    def of(cls, folder: Path) -> Listing:
        """List a folder; hidden files and folders are passed over."""
        if not folder.is_dir():
            raise UnreadableFile(f"{folder}: there is no such folder.")
        found: dict[str, list[str]] = {}
        bare: list[str] = []
        other = n_files = 0
        for place, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if name.startswith(".") or _would_block(os.path.join(place, name)):
                    continue
                n_files += 1
                ending = os.path.splitext(name)[1].lower()
                kind = _OF_ENDING.get(ending)
                if kind is None:
                    other += 1
                    if not ending[1:] or ending[1:].isdecimal():
                        bare.append(os.path.relpath(os.path.join(place, name), folder))
                else:
                    found.setdefault(kind, []).append(os.path.relpath(os.path.join(place, name), folder))
            if n_files > _MOST_FILES:
                raise InvalidData(f"{folder}: more than {_MOST_FILES:,} files. Name a folder inside it.")
        if bare and not found:  # posts of news groups are called 12345, mails of old archives 12.
            found["texts"], other = bare, other - len(bare)
        return cls(folder, {kind: tuple(sorted(names)) for kind, names in found.items()}, other)

    def kind(self) -> str | None:
        """Return what the folder is about: the one kind of material in it; None where there is none.

        Raises
        ------
        InvalidData
            When there are two kinds, and neither is a by-catch.
        """
        counts = Counter({kind: len(self.files.get(kind, ())) for kind in _MATERIAL})
        (first, n_first), (second, n_second) = counts.most_common(2)
        if not n_first:
            return None
        if n_second > max(n_first > 2, _MIXED * n_first):  # one stray file makes no mixture
            raise InvalidData(
                f"{self.folder} holds {self.in_words()}, and a table has one kind of rows.",
                do=["Say which with ", Setting("kind", first), " or ", Setting("kind", second), ", or name a folder."],
            )
        return first

    def in_words(self) -> str:
        """Say how many files of each kind there are."""
        told = [counted(len(names), kind[:-1]) for kind, names in self.files.items()]
        return in_words([*told, *([counted(self.other, "other file")] if self.other else [])]) or "nothing"


def _would_block(path: str) -> bool:
    """Say whether a name is a pipe or a device, which may never end; what cannot be asked says so when it is opened."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode)


# A short name of a file's content, quick for large files: its size, and its beginning, middle and end.


_PIECE = 1 << 16


def fingerprint(path: Path) -> str:
    """Return a name that changes when the file does: files up to 192 kB count whole, of larger ones three pieces."""
    digest = hashlib.blake2b(digest_size=12)
    try:
        size = path.stat().st_size
        digest.update(str(size).encode())
        with path.open("rb") as file:
            for place in sorted({0, max(0, size // 2 - _PIECE // 2), max(0, size - _PIECE)}):
                file.seek(place)
                digest.update(file.read(_PIECE))
    except OSError:
        return ""
    return digest.hexdigest()


# The note that a table cut from a folder carries; this file is quick to import, what cuts is not.


KEY = "sidelight"


def recipe_text(path: Path) -> str | None:
    """Return how a Parquet table was cut, as JSON, or None where it was not cut from a folder."""
    import polars as pl

    try:
        return pl.read_parquet_metadata(path).get(KEY)
    except (Exception, pl.exceptions.PanicException):  # damaged, or no Parquet: its reader says so
        return None
