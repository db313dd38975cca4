"""Where the rows of a project come from: a table, a folder of images, the bundled digits, or the results of a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.app.jobs.gallery import looker_of
from sidelight.app.jobs.media import IMAGES, Fragment, MediaReader, of_array, thumbnail
from sidelight.app.jobs.reading import as_dense
from sidelight.app.jobs.reading import read_rows as read_table
from sidelight.app.jobs.roles import Roles
from sidelight.app.report.gallery import Media
from sidelight.app.studio.rows import Part, write_rows
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData, UnreadableFile
from sidelight.files.cards.card import Card
from sidelight.files.cards.choosing import card_for
from sidelight.files.cards.describing import PREFIX, describe_regions
from sidelight.files.cards.words import notes_about
from sidelight.files.material.pictures import PictureRecipe, cut_picture
from sidelight.progress import report
from sidelight.words import Setting, counted

_SIDE, _BINS = 16, 8  # pixels of the small grey copy, and steps of each colour's histogram
_MOST_IMAGES = 20_000
_MEDIA_LIMIT = 2_000_000_000  # bytes that all small copies of a project may take


@dataclass(frozen=True, eq=False)
class Source:
    """Rows that can become a project: numbers, names, what to show, and the true classes where they are known.

    ``parts`` says of each row that is a part of a picture of which one, and its box in percent.
    """

    X: np.ndarray
    ids: list[str]
    features: list[str]
    look: Callable[[int], Media | None]
    y: list[str] | None = None
    notes: Callable[[], list[str]] = list
    cells: Sequence[tuple[str, ...]] = ()
    parts: Sequence[Part | None] = ()
    whole: Callable[[str], Media | None] | None = None

    def write(self, folder: Path) -> dict[str, Any]:
        """Write the rows of a new project; return what shows it on a card."""
        return write_rows(
            folder, self.X, self.ids, self.features, self.look, self.y, parts=self.parts, whole=self.whole
        )


def from_table(path: str, roles: Roles, reader: MediaReader | None = None) -> Source:
    """Read a table; rows need ids, so that answers can be told apart when the table comes again in another order.

    ``reader`` looks at the columns to show, where not every file that they name may be opened.
    """
    data = read_table(path, roles)
    source = of_dataset(data, reader)
    if data.row_ids is not None:
        return source
    names = next((names for names in map(_distinct_texts, data.show.values()) if names), None)
    if names is None:
        raise InvalidData(
            f"{path!r} has no column that names its rows, so answers could not be taken back to it.",
            do=["Add a column with a different name in every row, or say which one it is with ", Setting("id"), "."],
        )
    return replace(source, ids=names)


def _distinct_texts(column: Any) -> list[str]:
    """Return texts that can name rows, because they differ in every one; else nothing."""
    texts = [str(text).strip() for text in column]
    return texts if all(texts) and len(set(texts)) == len(texts) else []


def of_dataset(data: Dataset, reader: MediaReader | None = None) -> Source:
    """Take the rows of a data set as they are; ``reader`` looks at its columns to show."""
    looker = looker_of(data)
    if looker is not None and reader is not None:
        looker = reader
    if looker is not None:
        looker.limit, looker.has_large = _MEDIA_LIMIT, True
    columns = list(data.show.values())

    def look(row: int) -> Media | None:
        if looker is None:
            return None
        shown = [media for media in (looker.look(column[row]) for column in columns) if media is not None]
        return next((media for media in shown if media.kind != "text"), shown[0] if shown else None)

    y = None if data.y is None or not (data.y != "").any() else [str(label) for label in data.y]
    notes = list if looker is None else looker.notes
    cells = [tuple(str(column[row]) for column in columns) for row in range(data.n_rows)]
    return Source(
        as_dense(data), [str(n) for n in data.row_names], list(data.feature_names), look, y, notes, cells,
        [] if looker is None else [next(filter(None, map(_part_of, some)), None) for some in cells],
        None if looker is None else looker.look,
    )  # fmt: skip


def _part_of(cell: str) -> Part | None:
    """Return the picture that a cell names and the box of it, where it names a part of one."""
    name, part = Fragment.split(cell)
    return None if part.box is None else (name, part.box)


def from_images(folder: str, embed: str | None = None) -> Source:
    """Describe every image below a folder: by a pretrained network, or by a small grey copy and its colours.

    Images in folders of their own have the folder's name as their class, which is only used to judge.
    """
    home = Path(folder)
    if not home.is_dir():
        raise UnreadableFile(f"There is no folder {folder!r} of images.")
    found = sorted(path for path in home.rglob("*") if path.suffix.lower() in IMAGES and path.is_file())
    real = os.path.realpath(home)
    found = [path for path in found if os.path.realpath(path).startswith(real + os.sep)]
    if not 2 <= len(found) <= _MOST_IMAGES:
        raise InvalidData(
            f"{folder!r} has {counted(len(found), 'image')} ({', '.join(IMAGES)}); a project takes 2 to "
            f"{_MOST_IMAGES:,}."
        )
    card = card_for(embed, "pictures")
    kept, vectors, broken = [], [], 0
    for number, path in enumerate(found):
        vector = describe_image(path) if card is None else _by_network(card, path)
        broken += vector is None
        if vector is not None:
            kept.append(path)
            vectors.append(vector)
        report("reading images", number, len(found))
    if len(kept) < 2:
        raise UnreadableFile(f"None but {counted(len(kept), 'image')} of {folder!r} can be read as an image.")
    names = [path.relative_to(home).as_posix() for path in kept]
    classes = [path.relative_to(home).parts[0] if len(path.relative_to(home).parts) > 1 else "" for path in kept]
    features = image_features() if card is None else [f"{PREFIX}{k}" for k in range(len(vectors[0]))]
    looker = MediaReader(home, limit=_MEDIA_LIMIT, has_large=True)
    has_classes = len(set(classes)) > 1 and "" not in classes

    def notes() -> list[str]:
        left = [
            f"{counted(broken, 'file')} could not be read as an image and {'is' if broken == 1 else 'are'} left out."
        ]
        said = [f"{str(note)[:1].upper()}{note[1:]}" for note in notes_about("pictures", card, embed)]
        return [*(left if broken else []), *said, *looker.notes()]

    return Source(
        np.array(vectors), names, features, lambda row: looker.look(names[row]), classes if has_classes else None, notes
    )


def _by_network(card: Card, path: Path) -> np.ndarray | None:
    """Return what a network says of an image as a whole; None when it cannot be read."""
    try:
        regions = cut_picture(path, PictureRecipe(whole=True), partial(describe_regions, card))
    except UnreadableFile:
        return None
    return np.array(list(regions[0].embedded.values()))


def image_features() -> list[str]:
    """Return the names of what :func:`describe_image` returns."""
    colours = [f"{colour} {i}" for colour in ("red", "green", "blue") for i in range(_BINS)]
    return [f"grey {i}" for i in range(_SIDE**2)] + colours


def describe_image(path: Path) -> np.ndarray | None:
    """Return the grey copy and the histograms of an image as one vector; None when it cannot be read."""
    from PIL import Image

    try:
        thumbnail(path)  # checks size and format, as for a page
        with Image.open(path) as opened:
            opened.draft("RGB", (4 * _SIDE, 4 * _SIDE))
            image = opened.convert("RGB")
            grey = np.asarray(image.convert("L").resize((_SIDE, _SIDE)), dtype=np.float64).ravel() / 255
            pixels = np.asarray(image.resize((64, 64)), dtype=np.float64).reshape(-1, 3) / 256
    except Exception:  # Pillow raises whatever its decoders meet
        return None
    shares = [np.bincount((pixels[:, c] * _BINS).astype(int), minlength=_BINS) / len(pixels) for c in range(3)]
    return np.concatenate([grey, *shares])


def digits() -> Source:
    """Return scikit-learn's 1,797 digits, 8 x 8 pixels each."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    names = [f"pixel {i // 8},{i % 8}" for i in range(64)]
    ids = [f"digit {i}" for i in range(len(bunch.data))]
    return Source(bunch.data, ids, names, lambda row: of_array(bunch.images[row]), [str(t) for t in bunch.target])
