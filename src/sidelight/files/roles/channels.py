"""Channels hidden in the names of columns: face_1, face_2, upper_1, upper_2 are two channels of two columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PARTS = re.compile(r"([A-Za-z][A-Za-z0-9 ]*?)[_.:\-](.+)")


def guess_channels(names: Sequence[str]) -> dict[str, list[str]] | None:
    """Return channel -> columns when every column has one of 2 to 20 prefixes, with two columns each on average."""
    groups: dict[str, list[str]] = {}
    for name in names:
        match = _PARTS.fullmatch(name)
        if match is None:
            return None
        groups.setdefault(match.group(1), []).append(name)
    enough = 2 <= len(groups) <= 20 and len(names) >= 2 * len(groups)
    return groups if enough else None
