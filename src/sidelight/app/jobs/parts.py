"""Tables that are read part by part: patterns of Parquet files, what their columns are, and who goes over the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._models.on_dask import OnDask
from sidelight.app.jobs.first_look import matching
from sidelight.app.jobs.roles import Roles
from sidelight.data.bag_lists import BagLists
from sidelight.data.dataset import ColumnRole, Dataset
from sidelight.data.parts import Part
from sidelight.data.spill import scratch_folder
from sidelight.errors import InvalidParameter, unknown_column
from sidelight.files.part_tables import ParquetRows
from sidelight.files.parts import Parts
from sidelight.words import Setting

_READ_HERE = ("id", "bag", "label", "bag_label", "label_separator", "features", "ignore", "truth", "show", "keep")
Cells = dict[str, Any]  # columns that go with rows, as arrays of text or None
_OF_FILES = ("max_memory", "disarm", "yes", "format")  # said of any table, and harmless here


class OpenParts:
    """The rows of a pattern of Parquet files, in bags or not: in parts, and as one table after the other.

    Parameters
    ----------
    table : str
        A file or a pattern.
    roles : Roles
        Which columns hold bags, labels and features; here nothing is guessed.
    features : list of str, optional
        The columns that a model was fitted on.
    lists_are : {"bags", "rows", "sequences"}
        What labels are said of; sequences, with channels, are read in the place of bags.
    needs : sequence of str
        What has to be named: the columns of bags and of labels, one of them or none.
    empty : {"unlabelled", "none"}
        What an empty list of labels means: nobody looked, or none of them is there.
    gaps : bool
        Whether somebody does something about gaps; else they are refused where they are met.
    """

    extra: tuple[str, ...] = ()

    def __init__(
        self,
        table: str,
        roles: Roles,
        features: list[str] | None = None,
        *,
        lists_are: str = "bags",
        needs: Sequence[str] = (),
        empty: str = "unlabelled",
        gaps: bool = False,
    ) -> None:
        sequences = lists_are == "sequences"
        also = (*(("missing",) if gaps else ()), *(("sequence", "channels") if sequences else ()))
        refuse_others(table, roles, (*_READ_HERE, *also))
        label = label_column(roles)
        if label is not None and not isinstance(label, str):
            raise InvalidParameter(
                "Rows that are read part by part have their labels in one column: a list, or text between separators.",
                do=["Name one column with ", Setting("label"), "."],
            )
        told = {"bag": isinstance(roles.bag, str), "label": bool(label)}
        if not all(told[name] for name in needs):
            words = " and ".join({"bag": "bags", "label": "labels"}[name] for name in needs)
            flags = [part for name in needs for part in (" and ", Setting(name))][1:]
            raise InvalidParameter(
                f"{table!r} is read part by part, and nothing about its columns is guessed.",
                do=[f"Name the column{'s' if len(needs) > 1 else ''} of {words}: ", *flags, "."],
            )
        files = matching(table)
        schema, _ = ParquetRows.look_into(Path(files[0]))
        carried = carried_columns(roles)
        for name in carried:
            if name not in schema:
                raise unknown_column(files[0], name, "id, truth, show or keep", schema)
        apart = [*carried, *(name for name in schema if any(fnmatchcase(name, mark) for mark in roles.ignore))]
        wanted = features or _named(schema, roles.features) or None
        if sequences and not features:
            wanted = [name for columns in channels_of(schema, roles).values() for name in columns]
        bag = roles.sequence if sequences else roles.bag
        self.parts = Parts.from_parquet(
            files, bag=bag if isinstance(bag, str) else None, labels=label or None, features=wanted, ignore=apart,
            separator=roles.label_separator or "|", empty=empty,
        )  # fmt: skip
        classes = self.parts.classes if self.parts.in_bags else ()
        self.table = TableOfParts(table, self.parts.feature_names, classes, roles, lists_are)

    def __iter__(self) -> Iterator[Dataset]:
        return (self.table.of_part(part, part.rows()) for part in self.parts.parts())


def channels_of(names: Iterable[str], roles: Roles) -> dict[str, list[str]]:
    """Return the columns of each channel, in the order of the table."""
    names = list(names)
    found = {}
    for channel, marks in roles.channels.items():
        several = [marks] if isinstance(marks, str) else marks
        found[channel] = _named(names, several)
        if not found[channel]:
            raise unknown_column("the first file", ",".join(several), f"channel {channel!r}", names)
    return found


def _named(names: Iterable[str], marks: Sequence[str]) -> list[str]:
    """Return the names that a pattern stands for."""
    return [name for name in names if any(fnmatchcase(name, mark) for mark in marks)]


def carried_columns(roles: Roles) -> list[str]:
    """Return the columns that are no features and go with the rows: their names, what to copy, to show, to compare."""
    shown = [roles.show] if isinstance(roles.show, str) else roles.show or []
    said = [roles.id, roles.truth, *(shown if isinstance(shown, (list, tuple)) else ()), *roles.keep]
    return list(dict.fromkeys(name for name in said if isinstance(name, str)))


@contextmanager
def arranged(parts: Parts, roles: Roles, options: Any) -> Iterator[Parts]:
    """Bring bags whose rows lie apart together on disk, as long as the block lasts; where workers see them, too."""
    if parts.survey.is_arranged:
        yield parts
        return
    with scratch_folder(options.scratch) as folder:
        yield parts.together(folder, carried_columns(roles))


@dataclass(frozen=True, slots=True)
class TableOfParts:
    """What the parts of a run are called: enough to make a table of any of their rows, here or on a worker."""

    path: str
    feature_names: tuple[str, ...]
    classes: tuple[Any, ...]
    roles: Roles
    lists_are: str = "bags"  # or "rows": what labels are said of; or "sequences", which are read as bags are

    @property
    def columns(self) -> list[str]:
        """The columns that go with the rows and are no features."""
        return carried_columns(self.roles)

    def cells(self, part: Part) -> Cells:
        """Read these columns of a part as text; None where a cell is empty."""
        read = [source.texts(first, last, self.columns) for source, first, last in part.pieces if self.columns]  # type: ignore[attr-defined] # columns go with tables only
        return {name: _as_texts(chain.from_iterable(texts[name] for texts in read)) for name in self.columns}

    def dataset(self, rows: Any, lists: BagLists | None, numbers: Any, texts: Cells, location: Any = None) -> Dataset:
        """Return some rows as the data of a table, numbered as in all files together."""
        from sidelight.estimators.hierarchy.in_parts import entries_of

        roles = self.roles
        shown = [name for name in self.columns if name not in (roles.id, roles.truth, *roles.keep)]
        truth = texts[roles.truth] if isinstance(roles.truth, str) else None
        in_bags, of_rows = (lists if self.lists_are == kind else None for kind in ("bags", "rows"))
        in_order = lists if self.lists_are == "sequences" else None
        return Dataset(
            np.asarray(rows, dtype=np.float64), self.feature_names, path=self.path, format="Parquet files",
            bags=None if in_bags is None else in_bags.as_bags(self.classes),
            Y=None if of_rows is None else entries_of(of_rows, self.classes),
            sequence=None if in_order is None else np.repeat(in_order.names, np.diff(in_order.starts)),
            channels=self._channels() if self.lists_are == "sequences" else None,
            label_names=tuple(map(str, self.classes)), roles=self._column_roles(), reader="parquet",
            row_ids=texts[roles.id] if isinstance(roles.id, str) else None, row_numbers=np.asarray(numbers) + 1,
            truth=None if truth is None else _as_texts(value or "" for value in truth),
            show={name: texts[name] for name in shown}, kept={name: texts[name] for name in roles.keep},
            **({} if location is None else {"location": location}),
        )  # fmt: skip

    def _channels(self) -> dict[str, slice] | None:
        """Return where the columns of each channel are; a model that places rows knows its channels itself."""
        found, start = {}, 0
        for channel, columns in channels_of(self.feature_names, self.roles).items():
            found[channel] = slice(start, start + len(columns))
            start += len(columns)
        return found or None

    def of_part(self, part: Part, rows: Any) -> Dataset:
        """Return a part whose rows were read."""
        return self.dataset(rows, part.lists(), part.numbers(), self.cells(part), part.place)

    def _column_roles(self) -> tuple[ColumnRole, ...]:
        roles, said = self.roles, "you said so"
        told = {"bag": roles.bag, "sequence": roles.sequence, "label": label_column(roles) or None}
        told |= {"id": roles.id, "truth": roles.truth}
        named = (ColumnRole(name, role, said, "text") for role, name in told.items() if isinstance(name, str))
        return (*(ColumnRole(name, "feature", "a column of numbers") for name in self.feature_names), *named)


def _as_texts(values: Iterable[Any]) -> Any:
    return np.array([*values, None], dtype=object)[:-1]  # an array of texts alone would be no array of objects


def refuse_others(table: str, roles: Roles, read_here: tuple[str, ...]) -> None:
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


def cluster_of(options: Any, *, writes: bool = True) -> OnDask | None:
    """Return the cluster that the options of a job name; None where this process does the work.

    Workers write what they place, and read what is brought together, in a folder that they and this process see.
    """
    if options.engine != "dask" and not options.scheduler:
        return None
    if not options.scheduler:
        raise InvalidParameter(
            "The engine dask needs a cluster.",
            do=["Give the address of its scheduler: ", Setting("scheduler"), "."],
        )
    if writes and options.scratch is None:
        raise InvalidParameter(
            "The workers of a cluster write the rows that they place to a folder.",
            do=["Name a folder that all workers and this machine see: ", Setting("scratch"), "."],
        )
    return OnDask(options.scheduler, scratch=options.scratch)
