"""Tables that are read part by part: patterns of Parquet files, what their columns are, and who goes over the rows."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._models.engines import engine_for
from sidelight._models.on_dask import OnDask
from sidelight._models.part_work import Engine
from sidelight.app.jobs.first_look import matching
from sidelight.app.jobs.options import Roles
from sidelight.data.dataset import ColumnRole, Dataset
from sidelight.data.parts import Part
from sidelight.errors import InvalidParameter
from sidelight.files.part_events import count_parquet
from sidelight.files.part_tables import ParquetRows
from sidelight.files.parts import Parts
from sidelight.words import Setting

_READ_HERE = ("id", "bag", "label", "bag_label", "label_separator", "features", "ignore", "truth", "show", "keep")
_OF_FILES = ("missing", "max_memory", "disarm", "yes", "format")  # said of any table, and harmless here


def open_parts(table: str, roles: Roles, features: list[str] | None = None, *, with_lists: bool = True) -> Parts:
    """Take a pattern of Parquet files as rows in bags.

    Parameters
    ----------
    table : str
        A file or a pattern.
    roles : Roles
        Which columns hold bags, labels and features; here nothing is guessed.
    features : list of str, optional
        The columns that a model was fitted on.
    with_lists : bool
        Whether bags and their labels have to be named.
    """
    _refuse_others(table, roles, _READ_HERE)
    label = label_column(roles)
    if label is not None and not isinstance(label, str):
        raise InvalidParameter(
            "Rows that are read part by part have their labels in one column: a list, or text between separators.",
            do=["Name one column with ", Setting("label"), "."],
        )
    if with_lists and not (isinstance(roles.bag, str) and label):
        raise InvalidParameter(
            f"{table!r} is read part by part, and nothing about its columns is guessed.",
            do=["Name the columns of bags and labels: ", Setting("bag"), " and ", Setting("label"), "."],
        )
    files = matching(table)
    schema, _ = ParquetRows.look_into(Path(files[0]))
    apart = [name for name in (roles.id, roles.truth) if isinstance(name, str)]
    apart += [name for name in schema if any(fnmatchcase(name, mark) for mark in roles.ignore)]
    wanted = features or [name for mark in roles.features for name in schema if fnmatchcase(name, mark)] or None
    return Parts.from_parquet(
        files, bag=roles.bag if isinstance(roles.bag, str) else None, labels=label, features=wanted, ignore=apart,
        separator=roles.label_separator or "|",
    )  # fmt: skip


def count_parts(table: str, roles: Roles) -> Dataset:
    """Count the events of a pattern of Parquet files, piece by piece."""
    _refuse_others(table, roles, ("events", "weight"))
    if not isinstance(roles.events, list) or len(roles.events) < 2:
        raise InvalidParameter(
            f"{table!r} is read part by part, and nothing about its columns is guessed.",
            do=["Name the columns to count together: ", Setting("events"), " twice."],
        )
    counts = count_parquet([Path(file) for file in matching(table)], roles.events, weight=roles.weight)
    said = [*((name, "event") for name in roles.events), *([(roles.weight, "weight")] if roles.weight else [])]
    columns = tuple(ColumnRole(name, role, "you said so") for name, role in said)
    return Dataset(np.empty((0, 0)), (), table, "Parquet files", counts=counts, roles=columns)


def _refuse_others(table: str, roles: Roles, read_here: tuple[str, ...]) -> None:
    """Refuse what was said of columns that are not looked at part by part."""
    defaults = Roles()
    for name in roles.settings():
        said = getattr(roles, name)
        if name not in (*read_here, *_OF_FILES) and said is not False and said != getattr(defaults, name):
            raise InvalidParameter(
                f"{table!r} is read part by part, where {name} cannot be told.",
                do=["Leave ", Setting(name), " out, or read one table."],
            )


def label_column(roles: Roles) -> Any:
    """Return the column of labels; several columns as they were said, None where none was."""
    said = roles.label or roles.bag_label or None
    return said[0] if isinstance(said, (list, tuple)) and len(said) == 1 else said


def engine_of(options: Any, parts: Parts) -> Engine:
    """Return the engine that the options of a job ask for."""
    if options.engine == "dask" or options.scheduler:
        if not options.scheduler:
            raise InvalidParameter(
                "The engine dask needs a cluster.",
                do=["Give the address of its scheduler: ", Setting("scheduler"), "."],
            )
        return OnDask(options.scheduler, scratch=options.scratch)
    return engine_for(options.engine, parts, memory=options.memory, scratch=options.scratch)


def dataset_of(parts: Parts, part: Part, path: str, roles: tuple[ColumnRole, ...] = ()) -> Dataset:
    """Return a part as the data of a table, its rows numbered as in all files together."""
    lists = part.lists()
    bags = None if lists is None else lists.as_bags(parts.classes)
    rows = np.asarray(part.rows(), dtype=np.float64)
    return Dataset(
        rows, parts.feature_names, path=path, format="Parquet files", bags=bags, roles=roles, location=part.place,
        label_names=tuple(map(str, parts.classes)), reader="parquet", row_numbers=part.numbers() + 1,
    )  # fmt: skip


class DatasetsOfParts:
    """The rows of a pattern of files as one table after the other."""

    extra: tuple[str, ...] = ()

    def __init__(self, table: str, roles: Roles, features: list[str] | None) -> None:
        self.table, self.parts = table, open_parts(table, roles, features, with_lists=False)

    def __iter__(self) -> Iterator[Dataset]:
        return (dataset_of(self.parts, part, self.table) for part in self.parts.parts())
