"""A short name of a file's content, quick for large files: its size, and its beginning, middle and end."""

from __future__ import annotations

import hashlib
from pathlib import Path

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
