"""A project from uploaded files: a table, pictures, sounds or texts, or a table that names pictures.

What strangers sent is read in a process with limits of memory and time: a picture that grows to gigabytes, a sound of
ten hours or a table that never ends takes that process down and nothing else. It is forked from one that does nothing
but wait, so that it starts quickly. What a file is called on the sender's machine is only ever a name; no cell of a
table that was sent opens a file of this machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from sidelight.app.jobs.columns import Columns
from sidelight.app.jobs.convert import cut_folder
from sidelight.app.jobs.describe import describe
from sidelight.app.jobs.media import IMAGES, MediaReader, NotShown, thumbnail
from sidelight.app.jobs.options import build
from sidelight.app.jobs.roles import Roles
from sidelight.app.report.gallery import Media
from sidelight.app.studio.sources import Source, describe_image, from_table, image_features
from sidelight.errors import InvalidData, SidelightError, UnknownName, UnreadableFile, nearest
from sidelight.words import counted

TABLE_ENDINGS = (".csv", ".tsv", ".txt", ".arff", ".parquet", ".xlsx", ".ods", ".jsonl")
IMAGE_ENDINGS = IMAGES
MATERIAL = {
    "sounds": (".wav", ".wave", ".flac", ".ogg", ".oga", ".opus", ".mp3"),
    "texts": (".txt", ".md", ".htm", ".html", ".docx"),
}  # what is cut into rows; pictures are rows themselves
MATERIAL_ENDINGS = tuple(ending for endings in MATERIAL.values() for ending in endings)
_SHOWN, _MOST_COLUMNS = 5, 60  # rows of a preview, and columns that a form lists
_LONG = 60  # characters of a cell in a preview


class SentOnly(MediaReader):
    """Shows texts of a table that was sent, and opens no file: names in it are names on the sender's machine."""

    def _path(self, text: str) -> Path:
        raise NotShown("not among the files that were sent")


def describe_sent(table: Path) -> dict[str, Any]:
    """Say what a table that was sent is understood as: its columns, questions about weak guesses, some of its rows."""
    with _without_place(table):
        told = describe(str(table))
        seen = _preview(table)
    listed = [dict(role) for role in told.roles]
    features = [role["name"] for role in listed if role["role"] == "feature"]
    shown = [role for role in listed if role["role"] != "feature" or len(listed) <= _MOST_COLUMNS]
    return {
        "format": told.format,
        "rows": told.facts.get("rows", 0),
        "columns": shown[:_MOST_COLUMNS],
        "n_features": len(features),
        "missing": int(told.facts.get("missing cells", 0)) + int(told.facts.get("infinite cells", 0)),
        "doubts": list(told.doubts),
        "warnings": [str(words) for words in told.warnings][:8],
        "preview": seen,
    }


def write_sent(
    place: Path, table: Path | None, images: Mapping[str, Path], material: Path | None, said: Mapping[str, Any]
) -> tuple[list[str], dict[str, Any], int]:
    """Write the rows of what was sent into ``place``; return notes, what shows the project, and how many rows."""
    source = source_of(table, images, build(Roles, dict(said), "field"), material)
    cover = source.write(place)
    return source.notes(), cover, len(source.ids)


def source_of(table: Path | None, images: Mapping[str, Path], roles: Roles, material: Path | None = None) -> Source:
    """Return the rows of what was sent; ``images`` go by the name they were sent under, which is never a path."""
    if material is not None:
        return _of_material(material)
    if table is None and not images:
        raise InvalidData("Send a table, or pictures, sounds or texts. Nothing was made.")
    if table is None:
        return _of_images(images)
    with _without_place(table):
        source = from_table(str(table), roles, SentOnly(table.parent))
    return source if not images else _with_images(source, images)


class _without_place:
    """Raises errors about a table without its temporary name."""

    def __init__(self, table: Path) -> None:
        self.table = str(table)

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Change the words of an error."""
        if isinstance(error, SidelightError) and self.table in error.what:
            what = error.what.replace(f"{self.table!r}: ", "").replace(repr(self.table), "The table")
            raise type(error)(what.replace(self.table, "The table"), who=error.who, do=error.do) from error


def _preview(table: Path) -> dict[str, Any]:
    """Return the first rows as text; nothing where a format has no columns by name."""
    try:
        columns = Columns(str(table))
        names = list(columns.names)[:_MOST_COLUMNS]
        columns.need(*names)
    except SidelightError:
        return {"columns": [], "rows": []}
    cells = [[_short(cell) for cell in columns.cells(name)[:_SHOWN]] for name in names]
    return {"columns": names, "rows": [list(row) for row in zip(*cells)]}


def _short(cell: str) -> str:
    """Return a cell as a preview shows it: a long text cut, and a number with more digits than one reads rounded."""
    if re.fullmatch(r"-?\d+\.\d{5,}(e-?\d+)?", cell):
        return f"{float(cell):.5g}"
    return cell[:_LONG]


def _of_material(folder: Path) -> Source:
    """Cut recordings or texts into rows, as ``sidelight from`` does."""
    out = folder.parent / "rows.parquet"
    told, _ = cut_folder(str(folder), str(out), n_jobs=1, settings={})
    source = from_table(str(out), Roles(yes=True), MediaReader(out.parent))
    kept = [words for words in told[1:] if not words.startswith("Next:")]
    return Source(
        source.X, source.ids, source.features, source.look, source.y, lambda: [*kept, *source.notes()], source.cells
    )


def _of_images(images: Mapping[str, Path]) -> Source:
    described = {name: describe_image(path) for name, path in images.items()}
    names = [name for name, vector in described.items() if vector is not None]
    if len(names) < 2:
        raise UnreadableFile(f"None but {counted(len(names), 'file')} of those sent can be read as an image.")
    broken = len(images) - len(names)
    return Source(
        np.array([described[name] for name in names]),
        names,
        image_features(),
        lambda row: thumbnail(images[names[row]], has_large=True),
        None,
        lambda: [f"{counted(broken, 'file')} could not be read as an image and was left out."] if broken else [],
    )


def _by_name(images: Mapping[str, Path]) -> dict[str, Path]:
    """Return images by the name they were sent under, and by their bare name where only one has it."""
    bare = Counter(PurePosixPath(name).name for name in images)
    alone = {PurePosixPath(name).name: path for name, path in images.items() if bare[PurePosixPath(name).name] == 1}
    return {**alone, **images}


def _found(cell: str, by_name: Mapping[str, Path]) -> str:
    """Return under which name the image of a cell was sent; nothing when it was not."""
    name = cell.replace("\\", "/")
    return next((wanted for wanted in (name, PurePosixPath(name).name) if wanted in by_name), "")


def _with_images(source: Source, images: Mapping[str, Path]) -> Source:
    """Show for every row the image whose name one of its cells has."""
    by_name = _by_name(images)
    cells: Sequence[tuple[str, ...]] = source.cells
    wanted = [next((found for found in (_found(cell, by_name) for cell in row) if found), "") for row in cells]
    if not any(wanted):
        example = next((cell for row in cells for cell in row if cell), "")
        raise UnknownName(
            f"No row of the table names one of the {counted(len(images), 'image')} sent. Choose the column that does "
            f"as “shown to people”. {nearest(PurePosixPath(example).name, by_name)}"
        )
    missing = sum(not name for name in wanted)

    def look(row: int) -> Media | None:
        try:
            return thumbnail(by_name[wanted[row]], has_large=True) if wanted[row] else None
        except NotShown:
            return None

    notes = [f"{counted(missing, 'row')} of {len(wanted)} could not be shown: no image of its name was sent."]
    return Source(source.X, source.ids, source.features, look, source.y, lambda: notes if missing else [])
