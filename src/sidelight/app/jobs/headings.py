"""The headings of our own columns: words on pages, the same words without blanks in files.

Columns under the user's own names, and labels that are columns, keep their names. Files of earlier versions had blanks
in their headings: they are understood, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")

_OURS = (
    "also in", "bags that disagree", "bits kept", "by features alone", "evidence (nats)", "for example",
    "further parents", "gaps look like forgetting", "is called", "it was", "label added", "labels told rightly",
    "log likelihood", "made of", "most frequent", "next cluster", "novel cluster", "number of clusters",
    "probability of same", "right label", "rows stand out by", "rows with the parent seen", "share kept",
    "share kept of nothing", "stands out by", "times chance", "typical rows", "witness row", "witnesses stand out by",
)  # fmt: skip
_CHANNEL = "cluster of "  # followed by the name of a channel or axis, which stays as it is


def without_blanks(words: str) -> str:
    """Return a heading in which every run of blanks and marks is one underscore."""
    return re.sub(r"[^A-Za-z0-9]+", "_", words).strip("_")


_FILE_OF = {words: without_blanks(words) for words in _OURS}
_WORDS_OF = {heading: words for words, heading in _FILE_OF.items()}


def heading(words: str) -> str:
    """Return how one of our columns is called in a file; any other name as it is."""
    if words.startswith(_CHANNEL):
        return without_blanks(_CHANNEL) + "_" + words.removeprefix(_CHANNEL)
    return _FILE_OF.get(words, words)


def words_of(heading: str) -> str:
    """Return what a column of a file is called here, whichever version wrote it."""
    channel = without_blanks(_CHANNEL) + "_"
    if heading.startswith(channel):
        return _CHANNEL + heading.removeprefix(channel)
    return _WORDS_OF.get(heading, heading)


def with_headings(columns: Mapping[str, T]) -> dict[str, T]:
    """Return columns as they are called in a file."""
    return {heading(name): cells for name, cells in columns.items()}
