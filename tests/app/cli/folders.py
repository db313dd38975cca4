"""Which files are in a folder."""

from __future__ import annotations

from pathlib import Path


def files(folder: Path) -> set[str]:
    """Return the names of what is in a folder."""
    return {path.name for path in folder.iterdir()}
