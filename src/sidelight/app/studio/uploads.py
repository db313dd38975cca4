"""A project from files that somebody sent: a table, images, or a table that names the images sent with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from sidelight.app.jobs.media import IMAGES, MediaReader, NotShown, thumbnail
from sidelight.app.jobs.options import Roles
from sidelight.app.report.gallery import Media
from sidelight.app.studio.sources import Source, describe_image, from_table, image_features
from sidelight.errors import InvalidData, UnknownName, UnreadableFile, nearest
from sidelight.words import counted

TABLE_ENDINGS = (".csv", ".tsv", ".txt", ".arff", ".parquet", ".json")
IMAGE_ENDINGS = IMAGES


class SentOnly(MediaReader):
    """Shows texts of a table that was sent, and opens no file: names in it are names on the sender's machine."""

    def _path(self, text: str) -> Path:
        raise NotShown("not among the files that were sent")


def source_of(table: Path | None, images: Mapping[str, Path], columns: Sequence[str] = ()) -> Source:
    """Return the rows of what was sent; ``images`` go by the name they were sent under, which is never a path."""
    if table is None and not images:
        raise InvalidData("Send a table, or images. Nothing was made.")
    if table is None:
        return _of_images(images)
    try:
        source = from_table(str(table), Roles(show=list(columns)) if columns else Roles(), SentOnly(table.parent))
    except InvalidData as error:
        raise type(error)(str(error).replace(repr(str(table)), "The table")) from error  # not our temporary name
    return source if not images else _with_images(source, images)


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
        lambda row: thumbnail(images[names[row]]),
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
    cells = source.cells
    wanted = [next((found for found in (_found(cell, by_name) for cell in row) if found), "") for row in cells]
    if not any(wanted):
        example = next((cell for row in cells for cell in row if cell), "")
        raise UnknownName(
            f"No row of the table names one of the {counted(len(images), 'image')} sent. Name the column to show. "
            f"{nearest(PurePosixPath(example).name, by_name)}"
        )
    missing = sum(not name for name in wanted)

    def look(row: int) -> Media | None:
        try:
            return thumbnail(by_name[wanted[row]]) if wanted[row] else None
        except NotShown:
            return None

    notes = [f"{counted(missing, 'row')} of {len(wanted)} could not be shown: no image of its name was sent."]
    return Source(source.X, source.ids, source.features, look, source.y, lambda: notes if missing else [])
