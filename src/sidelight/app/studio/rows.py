"""The rows of a project, on disk: numbers, names and one small picture, sound or text each.

A project is made whole before anybody is asked, so that it needs no other file later. Files are named by the number of
their row, never by what data says; a request for a picture gives a number, and no path.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._core.atomic import folder_beside
from sidelight._core.prototypes import mean_and_scale, scaled
from sidelight._models.column_kinds import families_of, guess_components
from sidelight._models.prepared_rows import Preparation
from sidelight.app.report.gallery import Media, Profile
from sidelight.errors import CannotWrite, InvalidData, OutputExists, UnreadableFile
from sidelight.progress import report

Part = tuple[str, tuple[float, ...]]  # the name of a picture, and a box of it (left, top, width, height) in percent
MOST_ROWS = 50_000  # of a project: what the model can keep up with
_COVER = 4  # rows that show a project
_SHOWN = 8  # values of a small chart
_TYPES = {"png": "image/png", "jpeg": "image/jpeg", "wav": "audio/wav", "mpeg": "audio/mpeg", "ogg": "audio/ogg",
          "flac": "audio/flac", "mp4": "audio/mp4", "aac": "audio/aac"}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one project.

    Attributes
    ----------
    folder : Path
        Where their files are.
    X : ndarray of shape (n_rows, n_features)
        Their numbers, as they came.
    ids, features : tuple of str
        Names of rows and of columns.
    kinds : tuple of str
        What there is to show of each row: ``"image"``, ``"sound"``, ``"text"`` or ``"values"``.
    wholes : tuple of str
        Files of the pictures that rows are parts of.
    parts : tuple
        Of each row which of these it is a part of, and its box in percent; empty where rows are no parts.
    y : tuple of str or None
        The key: the true class of each row, where it is known.
    """

    folder: Path
    X: np.ndarray
    ids: tuple[str, ...]
    features: tuple[str, ...]
    kinds: tuple[str, ...]
    texts: tuple[str, ...]
    tiny: tuple[bool, ...]
    files: tuple[tuple[str, ...], ...]
    y: tuple[str, ...] | None = None
    wholes: tuple[str, ...] = ()
    parts: tuple[tuple[int, tuple[float, ...]] | None, ...] = ()

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.ids)

    @cached_property
    def Z(self) -> np.ndarray:
        """The numbers as the model learns from them."""
        return prepared(self.X, self.features)

    @cached_property
    def n_copies(self) -> np.ndarray:
        """How many rows have the very same numbers as each row, itself among them."""
        _, code, n = np.unique(self.X, axis=0, return_inverse=True, return_counts=True)
        return np.asarray(n[code.ravel()], dtype=np.intp)

    @cached_property
    def charted(self) -> np.ndarray:
        """The numbers with mean 0 and variance 1 in every column, for small charts."""
        return np.asarray(scaled(self.X, *mean_and_scale(self.X)))

    @cached_property
    def truth(self) -> np.ndarray | None:
        """The key as numbers."""
        return None if self.y is None else np.unique(np.array(self.y, dtype=object).astype(str), return_inverse=True)[1]

    @cached_property
    def examples(self) -> list[tuple[str, int]]:
        """One row of every class of the key, the nearest to the mean of its class ([P17] 3.5.1.2)."""
        if self.y is None:
            return []
        y, found = np.array(self.y, dtype=object).astype(str), []
        for name in sorted(set(y.tolist())):
            members = np.flatnonzero(y == name)
            Z = self.Z[members]
            found.append((name, int(members[np.argmin(((Z - Z.mean(axis=0)) ** 2).sum(axis=1))])))
        return found

    def check(self, row: int) -> int:
        """Return a row's number, if there is such a row."""
        if not 0 <= row < self.n:
            raise InvalidData(f"There is no row {row}: the project has rows 0 to {self.n - 1}.")
        return row

    def file(self, row: int, part: str) -> tuple[Path, str]:
        """Return the file of a row's picture, sound, spectrogram, larger or whole picture, and its type.

        A picture of which no larger copy was made is its own.
        """
        main, spectrogram, large = self.files[self.check(row)]
        place = self.parts[row] if self.parts else None
        whole = "" if place is None else self.wholes[place[0]]
        name = {"spectrogram": spectrogram, "large": large or main, "whole": whole}.get(part, main)
        if not name:
            raise InvalidData(f"Row {row} has no {part}.")
        return self.folder / "media" / name, _TYPES[name.rpartition(".")[2]]

    def media(self, row: int, address: Callable[[int, str], str]) -> Media | None:
        """Return what a page shows of a row; ``address`` says where the page finds a row's file."""
        kind = self.kinds[row]
        if kind == "values":
            return None
        main, spectrogram, _ = self.files[row]
        return Media(
            kind,
            address(row, "media") if main else "",
            address(row, "spectrogram") if spectrogram else "",
            self.texts[row],
            self.tiny[row],
        )

    def profiles(self, rows: tuple[int, ...]) -> list[Profile]:
        """Return small charts of the values in which ``rows`` differ most, in standard deviations from the mean."""
        if not rows:
            return []
        Z = self.charted[list(rows)]
        apart = np.sort(np.argsort(-np.ptp(Z, axis=0), kind="stable")[:_SHOWN])
        names = [self.features[j] for j in apart.tolist()]
        return [Profile(names, z[apart].tolist(), [0.0] * len(names), [1.0] * len(names)) for z in Z]


def type_of(name: str) -> str:
    """Return the type of a file that was written here, by its ending."""
    return _TYPES[name.rpartition(".")[2]]


def prepared(X: np.ndarray, features: Sequence[str]) -> np.ndarray:
    """Return measures with mean 0 and variance 1; those of an embedding keep their relative variances."""
    found, _ = guess_components(X, features)
    if found:
        return np.asarray(Preparation.of(X, "numbers", families=families_of(features, found))(X))
    return np.asarray(scaled(X, *mean_and_scale(X)))


def write_rows(
    folder: Path,
    X: Any,
    ids: Any,
    features: Any,
    look: Callable[[int], Media | None],
    y: Any = None,
    *,
    parts: Sequence[Part | None] = (),
    whole: Callable[[str], Media | None] | None = None,
) -> dict[str, Any]:
    """Write the rows of a new project into ``folder``, whole or not at all; return what shows the project on a card."""
    n = len(ids)
    if not 2 <= n <= MOST_ROWS:
        raise InvalidData(f"A project takes 2 to {MOST_ROWS:,} rows; this one has {n:,}.")
    if folder.exists():
        raise OutputExists(f"There is something in {str(folder)!r} already; nothing was written.")
    kinds, texts, tiny, files = [], [], [], []
    with folder_beside(folder) as work:
        try:
            (work / "media").mkdir()
            for row in range(n):
                shown = look(row)
                kinds.append("values" if shown is None else shown.kind)
                texts.append("" if shown is None else shown.text)
                tiny.append(shown is not None and shown.is_tiny)
                main = _write(work / "media", f"{row}", "" if shown is None else shown.uri)
                beside = _write(work / "media", f"{row}-s", "" if shown is None else shown.picture)
                large = _write(work / "media", f"{row}-l", "" if shown is None else shown.large)
                files.append((main, beside, large))
                if row % 100 == 0:
                    report("reading rows", row, n)
            wholes = _write_wholes(work / "media", parts, whole)
            np.save(work / "X.npy", np.asarray(X, dtype=np.float64), allow_pickle=False)
            about = {
                "sidelight rows": 1,
                "ids": [str(name) for name in ids],
                "features": [str(name) for name in features],
                "kinds": kinds,
                "texts": texts,
                "tiny": tiny,
                "files": files,
                "y": None if y is None else [str(label) for label in y],
                "wholes": list(wholes.values()),
                "parts": _places(parts, list(wholes)),
            }
            (work / "rows.json").write_text(json.dumps(about), encoding="utf-8")
            work.rename(folder)
            return cover_of(kinds, texts, tiny, files)
        except OSError as error:
            raise CannotWrite(f"Cannot write the project's rows: {error.strerror}.") from error


def _write_wholes(
    folder: Path, parts: Sequence[Part | None], look: Callable[[str], Media | None] | None
) -> dict[str, str]:
    """Write the pictures that rows are parts of; return the file of each, by its name."""
    written: dict[str, str] = {}
    for name in dict.fromkeys(part[0] for part in parts if part is not None):
        shown = None if look is None else look(name)
        file = "" if shown is None else _write(folder, f"whole-{len(written)}", shown.large or shown.uri)
        if file:
            written[name] = file
    return written


def _places(parts: Sequence[Part | None], wholes: Sequence[str]) -> list[Any]:
    number = {name: k for k, name in enumerate(wholes)}
    return [None if part is None or part[0] not in number else [number[part[0]], part[1]] for part in parts]


def cover_of(
    kinds: Sequence[str], texts: Sequence[str], tiny: Sequence[bool], files: Sequence[tuple[str, ...]]
) -> dict[str, Any]:
    """Return some pictures, spectrograms or first words of rows from all over the project."""
    n = len(kinds)
    some = [i * n // _COVER for i in range(_COVER)] if n >= _COVER else list(range(n))
    pictures = [files[i][0] if kinds[i] == "image" else files[i][1] for i in some]
    pictures = [name for name in pictures if name]
    words = [texts[i][:80] for i in some if kinds[i] == "text" and texts[i]]
    return {"rows": n, "pictures": pictures, "is_tiny": any(tiny[i] for i in some), "texts": words[:2]}


def read_rows(folder: Path) -> Rows:
    """Read the rows of a project."""
    try:
        about = json.loads((folder / "rows.json").read_text(encoding="utf-8"))
        X = np.load(folder / "X.npy", allow_pickle=False)
        files = tuple(tuple(map(str, (*names, "", "")[:3])) for names in about["files"])  # older ones name two
        y = about["y"]
        wholes = tuple(map(str, about.get("wholes", ())))
        parts = tuple(part and (int(part[0]), tuple(map(float, part[1]))) for part in about.get("parts", ()))
        ids, features, kinds, texts, tiny = (tuple(about[n]) for n in ("ids", "features", "kinds", "texts", "tiny"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnreadableFile(
            f"The rows of this project cannot be read from {str(folder)!r}: {error}. Its answers are kept."
        ) from error
    if any("/" in name or "\\" in name for some in (*files, wholes) for name in some):
        raise UnreadableFile(f"{str(folder / 'rows.json')!r} names files outside of its folder.")
    return Rows(folder, X, ids, features, kinds, texts, tiny, files, None if y is None else tuple(y), wholes, parts)


def _write(folder: Path, stem: str, uri: str) -> str:
    if not uri:
        return ""
    head, _, content = uri.partition(";base64,")
    ending = head.rpartition("/")[2]
    if ending not in _TYPES:
        return ""
    name = f"{stem}.{ending}"
    (folder / name).write_bytes(base64.b64decode(content))
    return name
