"""A folder where a table is expected: it is cut into a table in a cache first, and then read like any other."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from sidelight._core.params import check_choice
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidParameter
from sidelight.files.arrays.parquet import ParquetSource
from sidelight.files.cards.describing import PREFIX
from sidelight.files.material.rows import Material, make_table, material_of
from sidelight.files.problems import notice
from sidelight.files.reading import read
from sidelight.files.roles.columns import TableSource
from sidelight.files.roles.plan import RoleRequest
from sidelight.files.roles.tables import read_table
from sidelight.files.source import Source

_WHY = "the table was cut from a folder"


def read_material(folder: Path, wanted: RoleRequest, label_file: Path | None) -> Dataset:
    """Cut a folder into the cache, and read what came out; the labels of its files are in ``label_file``."""
    how = {"embed": wanted.embed, "separator": wanted.label_separator}
    made = cached_table(folder, labels=label_file, settings={"whole": True} if wanted.whole else {}, **how)
    wanted = replace(wanted, label_separator=None)  # that of the list; the table has one of its own
    notice(f"the folder was cut into {made.path.name} in {made.path.parent}; running again cuts only what is new")
    for note in made.notes:
        notice(note)
    data = read_cut_table(ParquetSource(Source(made.path)), wanted)
    return replace(data, path=str(folder), format=f"a folder of {made.material.kind}")


def read_cut_table(table: TableSource, wanted: RoleRequest, labels: TableSource | None = None) -> Dataset:
    """Read a Parquet table; one that was cut from a folder says itself what its columns are for, and how it was cut."""
    material = material_of(table.path)
    if material is None:
        return read_table(table, wanted, labels)
    data = read_table(table, with_recipe(table.path, material, wanted), labels)
    data = replace(data, material=material.without_files().to_json())
    if not material.card or wanted.features is not None:
        return data
    return replace(data, components=(f"{PREFIX}*",), readable=_readable(table.path, material, data))


def _readable(path: Path, material: Material, data: Dataset) -> tuple[tuple[str, ...], Any] | None:
    """Return the numbers that people can read beside those of a network, for the rows that were read."""
    import polars as pl

    names = list(getattr(material.cutter(), "feature_names", ()))
    if not names:
        return None
    rows = pl.read_parquet(path, columns=names, glob=False).to_numpy()[data.row_numbers - 1]
    return tuple(names), np.nan_to_num(np.asarray(rows, dtype=np.float64))


class CachedTable:
    """Where the table of a folder lies, how it was cut, and what is worth a word."""

    def __init__(self, path: Path, material: Material, notes: list[str]) -> None:
        self.path, self.material, self.notes = path, material, notes


def cached_table(folder: Path, *, settings: Mapping[str, Any] = MappingProxyType({}), **how: Any) -> CachedTable:
    """Cut ``folder`` into a table of the cache; ``how`` is what :func:`make_table` takes."""
    name = hashlib.blake2b(str(folder.resolve()).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    place = cache_folder() / f"material-{name}{'-whole' if settings.get('whole') else ''}.parquet"
    place.parent.mkdir(parents=True, exist_ok=True)
    made, notes = make_table(folder.resolve(), place, settings=settings, is_cache=True, **how)
    return CachedTable(place, made, notes)


def cache_folder() -> Path:
    """Return where tables of folders are kept: $SIDELIGHT_CACHE, else the user's own cache."""
    named = os.environ.get("SIDELIGHT_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "sidelight"


def with_recipe(path: Path, material: Material, wanted: RoleRequest) -> RoleRequest:
    """Take the roles of a table that was cut from a folder from its metadata, where the user named none."""
    known = {name: value for name, value in material.roles.items() if name in RoleRequest.__dataclass_fields__}
    try:
        said = wanted.over(**{name: (tuple(v) if isinstance(v, list) else v, _WHY) for name, v in known.items()})
        return replace(said, knows_features=True)
    except TypeError:
        raise InvalidParameter(f"{path}: the roles in its metadata are damaged. Make the table again.") from None


# ``sidelight.from_folder``: a folder of recordings, pictures or texts as a data set.


Extractor = str | Callable[[str], Iterable[Mapping[str, Any]]]


def from_folder(
    folder: Any,
    *,
    labels: Any = None,
    out: Any = None,
    kind: str | None = None,
    cut: str | None = None,
    rate: int | None = None,
    regions: int | None = None,
    whole: bool = False,
    by: str | None = None,
    extractor: str = "",
    embed: str | None = None,
    n_jobs: int | None = None,
    min_confidence: float = 0.0,
) -> Dataset:
    """Cut a folder into rows: a row for each sound of a recording, region of a picture, or text.

    Files are cut in processes; one that cannot be read is left out, and the notes of the data say so. Calling it again
    cuts only files that are new or have changed.

    Parameters
    ----------
    folder : str or path
        The folder; folders inside it count.
    labels : str or path, optional
        A table that says which labels each file has: one line a file with its labels in one cell or a column of 0 and
        1 for each, a line for each label, or a selection table of Raven, Audacity or BirdNET. Without it, the folders
        that files lie in are their labels where there are several.
    out : str or path, optional
        Where the table is kept, a name that ends with ``.parquet``; in the user's cache by default.
    kind : {"sounds", "pictures", "texts"}, optional
        What to cut in a folder that holds several kinds of files.
    cut : {"time", "masks"}, optional
        Sounds: pieces of time (the default), or patches of time and pitch, where calls overlap.
    rate : int, optional
        Sounds: samples a second up to half of which pitch is heard; 22,050, or what all files have, by default.
    regions : int, optional
        Pictures: regions of each, 6 by default.
    whole : bool
        One row a picture or recording, instead of regions or sounds.
    by : {"file", "paragraph"}, optional
        Texts: what is a row, a file by default.
    extractor : str
        Your own function as ``"module:function"``, from the path of a file to rows: mappings of names to values.
    embed : str, optional
        The pretrained network that describes rows: the name of a card (``sidelight embeddings`` lists them), a file
        that ends with .toml, .onnx or .tflite, a model of another library (``"timm:NAME"``), your own function
        ``"module:function"`` from a piece to numbers, or ``"none"`` for readable numbers alone. By default the best
        card that is installed.
    n_jobs : int, optional
        Processes; as many as there are cores by default.
    min_confidence : float
        Selections below this confidence are left out.

    Returns
    -------
    Dataset
        Rows with their features, bags (files), labels and what to show.

    Examples
    --------
    >>> import sidelight as sl
    >>> data = sl.from_folder("recordings", labels="species.csv")  # doctest: +SKIP
    """
    if cut is not None:
        check_choice("sidelight.from_folder", "cut", cut, ("time", "masks"))
    if by is not None:
        check_choice("sidelight.from_folder", "by", by, ("file", "paragraph"))
    try:
        place = Path(folder).expanduser()
        beside = None if labels is None else Path(labels).expanduser()
        target = None if out is None else Path(out).expanduser()
    except (TypeError, RuntimeError):
        raise InvalidParameter(f"folder, labels and out of from_folder are paths. Got {folder!r:.80}.") from None
    if target is not None and target.suffix.lower() != ".parquet":
        raise InvalidParameter(f"The 'out' parameter of from_folder must end with .parquet. Got {str(out)!r}.")
    given = {"cut": cut, "rate": rate, "regions": regions, "whole": whole or None, "by": by}
    settings = {name: value for name, value in given.items() if value is not None}
    how: dict[str, Any] = {
        "labels": beside, "kind": kind, "extractor": extractor, "embed": embed, "n_jobs": n_jobs,
        "min_confidence": min_confidence,
    }  # fmt: skip
    if target is None:
        made = cached_table(place, settings=settings, **how)
        target, notes = made.path, made.notes
    else:
        notes = make_table(place, target, settings=settings, **how)[1]
    data = read(target)
    return data.with_notes(*notes)
