"""A document as rows: one, or one for each paragraph; its words are the features when the table is read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sidelight.errors import UnreadableFile
from sidelight.files.text.folder import MOST_BYTES, text_in


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
