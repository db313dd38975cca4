"""A first look at the header of a plain table, so that nobody waits for libraries only to hear of a misspelt column.

It refuses only what the readers would refuse, in the same words, and lets everything pass that is not plain: a few
kinds of text with a header, as most tables are. The readers have the last word.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from sidelight.errors import unknown_column
from sidelight.jobs.options import Roles

ENDINGS = (".csv", ".tsv")
SEPARATORS = (",", ";", "\t")
_LINE = 1 << 20  # characters of a line that are read at most


def check_columns(path: str, roles: Roles) -> None:
    """Raise when a column that was asked for is not in the header."""
    names = _header(path) if roles.settings().keys().isdisjoint(_FILE) else None
    if names is None:
        return
    for role, wanted in _asked_for(roles):
        if not any(name == wanted or fnmatchcase(name, wanted) for name in names):
            raise unknown_column(Path(path), wanted, role, names)


_FILE = {"format", "separator", "encoding", "header"}  # who sets these knows better than a first look


def _asked_for(roles: Roles) -> Iterator[tuple[str, str]]:
    for role in ("id", "bag", "sequence", "bag_label", "label", "show", "weight", "ignore", "features", "keep"):
        value = getattr(roles, role)
        for name in [value] if isinstance(value, str) else value if isinstance(value, (list, tuple)) else ():
            yield role.replace("_", " "), name


def _header(path: str) -> list[str] | None:
    """Return the names of the columns, or None where that takes more than a look."""
    if not path.lower().endswith(ENDINGS):
        return None
    try:
        with open(os.path.expanduser(path), encoding="utf-8-sig", newline="") as file:
            lines = [file.readline(_LINE).rstrip("\r\n") for _ in range(2)]
    except (OSError, ValueError):
        return None
    if any(len(line) >= _LINE - 2 or not line or '"' in line or "#" in line[:1] for line in lines):
        return None
    separator = max(SEPARATORS, key=lines[0].count)
    names, cells = (line.split(separator) for line in lines)
    is_plain = len(names) > 1 and len(names) == len(cells) and len(set(names)) == len(names)
    clean = is_plain and all(name and name == name.strip() and not _is_number(name) for name in names)
    return names if clean else None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
