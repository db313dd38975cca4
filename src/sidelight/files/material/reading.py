"""A folder where a table is expected: it is cut into a table in a cache first, and then read like any other."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidParameter
from sidelight.files.arrays.parquet import ParquetSource
from sidelight.files.material.rows import Material, make_table, material_of
from sidelight.files.noticed import notice
from sidelight.files.roles.columns import TableSource
from sidelight.files.roles.plan import RoleRequest
from sidelight.files.roles.tables import read_table
from sidelight.files.source import Source

_WHY = "the table was cut from a folder"


def read_material(folder: Path, wanted: RoleRequest, label_file: Path | None) -> Dataset:
    """Cut a folder into the cache, and read what came out; the labels of its files are in ``label_file``."""
    made = cached_table(folder, labels=label_file)
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
    return replace(data, material=material.without_files().to_json())


class CachedTable:
    """Where the table of a folder lies, how it was cut, and what is worth a word."""

    def __init__(self, path: Path, material: Material, notes: list[str]) -> None:
        self.path, self.material, self.notes = path, material, notes


def cached_table(folder: Path, *, settings: Mapping[str, Any] = MappingProxyType({}), **how: Any) -> CachedTable:
    """Cut ``folder`` into a table of the cache; ``how`` is what :func:`make_table` takes."""
    name = hashlib.blake2b(str(folder.resolve()).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    place = cache_folder() / f"material-{name}.parquet"
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
        return wanted.over(**{name: (tuple(v) if isinstance(v, list) else v, _WHY) for name, v in known.items()})
    except TypeError:
        raise InvalidParameter(f"{path}: the roles in its metadata are damaged. Make the table again.") from None
