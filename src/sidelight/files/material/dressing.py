"""What the rows of a folder wear beside their features: labels, what to show, and what every column is for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidelight.files.material.labels import Labels

if TYPE_CHECKING:
    from sidelight.files.material.rows import Material

SEPARATOR = "|"  # between the labels of a file
_FIRST = ("row", "folder", "file", "labels", "label", "start", "end", "date", "show")
_ASIDE = ("start", "end", "date", "latitude", "longitude", "fragment", "share of the picture", "label", "file")


def dressed(frame: Any, folder: Path, beside: Path | None, material: Material, said: Labels) -> Any:
    """Add what to show (as seen from ``beside``, or by whole paths) and the labels, and put names first."""
    import polars as pl

    files = frame["file"].to_list()
    if material.kind != "texts":
        place = {n: str(folder / n) if beside is None else os.path.relpath(folder / n, beside) for n in set(files)}
        parts = frame["fragment"].to_list() if "fragment" in frame.columns else [None] * len(files)
        show = [place[name] + (f"#{part}" if part else "") for name, part in zip(files, parts)]
        frame = frame.with_columns(pl.Series("show", show, dtype=pl.String))
    if said.are_of_folders:
        frame = frame.with_columns(pl.Series("folder", [os.path.dirname(name) or "." for name in files]))
    if said.lists:
        joined = {name: SEPARATOR.join(sorted(labels)) for name, labels in said.lists.items()}
        cells = [joined.get(name) for name in files]
        frame = frame.with_columns(pl.Series("labels", cells, dtype=pl.String))
    first = [c for c in _FIRST if c in frame.columns]
    return frame.select(*first, *[c for c in frame.columns if c not in first])


def roles_of(frame: Any, material: Material, said: Labels) -> dict[str, Any]:
    """Say what the columns are for, as sidelight.read takes it."""
    roles: dict[str, Any] = {"id": "row"}
    is_alone = material.recipe.get("by") == "file" or bool(material.recipe.get("whole"))
    if said.are_of_folders or not is_alone:
        roles["bag"] = "folder" if said.are_of_folders else "file"
    if said.lists:
        roles |= {"label": "labels", "label_separator": SEPARATOR}
    elif "label" in frame.columns:
        roles["label"] = "label"
    if material.kind == "texts":
        roles["text"] = ["text"]
    else:  # said, not guessed: "mean time" is a feature here, and no time
        numbers = [name for name, kind in frame.schema.items() if kind.is_numeric()]
        roles["features"] = [name for name in numbers if name not in (*_FIRST, *_ASIDE)]
    used = {value for value in roles.values() if isinstance(value, str)}
    roles["ignore"] = [c for c in _ASIDE if c in frame.columns and c not in used]
    roles["keep"] = [c for c in ("file", "start", "end") if c in frame.columns]
    if "show" in frame.columns or "text" in frame.columns:
        roles["show"] = "show" if "show" in frame.columns else "text"
    return roles
