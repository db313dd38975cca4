"""A query in a file: one SELECT, and nothing that writes."""

from __future__ import annotations

from pathlib import Path

from sidelight.errors import InvalidData, UnreadableFile


def query_in(path: Path) -> str:
    """Return the one SELECT that a file holds."""
    file = path.expanduser()
    if not file.is_file():
        raise UnreadableFile(f"{file}: there is no such file with a query.")
    text = file.read_text(encoding="utf-8", errors="replace").strip().rstrip(";")
    if not text.lower().startswith(("select", "with")):
        raise InvalidData(f"{file}: expected one SELECT, found {text[:40]!r}.")
    return text
