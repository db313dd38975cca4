"""What every result has: what was read, a fitted model, a table of rows, and further tables.

A job's result is a subclass with the numbers that its page needs, each computed once::

    @dataclass(frozen=True, kw_only=True, eq=False)
    class RelationsResult(Result):
        share_sure: float                       # goes into the JSON
        map: Map = big()                        # too long for it

        def page(self) -> Page:                 # sentences, pictures and tables, from these numbers alone
            ...
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.app.report.gallery import Gallery
from sidelight.data.dataset import ColumnRole, Dataset, LeftOut

if TYPE_CHECKING:
    from sidelight.app.jobs.checking import Truth
    from sidelight.app.jobs.in_parts import AllRows
    from sidelight.app.report import Page
    from sidelight.estimators._how_many import NumberOfClusters

Columns = Mapping[str, Sequence[Any]]


def big(**options: Any) -> Any:
    """Declare a field that is left out of the JSON: models, pictures, one entry for each row."""
    return field(metadata={"big": True}, **options)


def if_known() -> Any:
    """Declare a field that only some methods know; the JSON of the others has no word of it."""
    return field(metadata={"if known": True}, default=None)


@dataclass(frozen=True, eq=False)
class Reading:
    """What a run took from its table, and what it did not.

    Attributes
    ----------
    path : str
        The table.
    n_rows, n_features : int
        How much of it was used.
    left_out : tuple of LeftOut
        Rows that were not used, and why.
    unused : tuple of ColumnRole
        Columns that this job did not use, and why.
    guessed : tuple of ColumnRole
        Columns that were used for what they were guessed to be, features apart.
    notes : tuple of str
        What else a careful reader of the file would like to know.
    columns : mapping of str to str or list
        The columns that were used and are no features, by role: what a later table is read with.
    features : tuple of str
        The names of the features.
    material : str
        How the rows were cut from a folder, as JSON; empty where they were not.
    """

    path: str
    n_rows: int
    n_features: int
    left_out: tuple[LeftOut, ...] = ()
    unused: tuple[ColumnRole, ...] = ()
    guessed: tuple[ColumnRole, ...] = ()
    notes: tuple[str, ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict)
    features: tuple[str, ...] = big(default=())
    material: str = big(default="")

    @classmethod
    def of(cls, data: Dataset, uses: Sequence[str]) -> Reading:
        """Say what a job that uses columns of these roles made of ``data``."""
        beside = {*data.kept, *(() if data.readable is None else data.readable[0])}  # copied, or shown on pages
        idle = tuple(role for role in data.roles if role.role not in uses and role.name not in beside)
        guessed = tuple(role for role in data.roles if role.role in uses and role.is_guess and role.role != "feature")
        used = [role for role in _SAID if role in uses and data.columns(role)]
        columns = {role.replace(" ", "_"): _one_or_all(data.columns(role)) for role in used}
        return cls(
            data.path,
            data.n_rows,
            data.n_features,
            data.left_out,
            idle,
            guessed,
            data.notes,
            columns,
            tuple(data.feature_names),
            data.material,
        )


_SAID = ("id", "bag", "sequence", "label", "bag label")  # roles that a later table is read with


def _one_or_all(names: Sequence[str]) -> str | list[str]:
    return names[0] if len(names) == 1 else list(names)


@dataclass(frozen=True, eq=False)
class Map:
    """Rows (or bags) as dots.

    Attributes
    ----------
    coordinates : ndarray of shape (n, 2)
        Where each lies.
    labels : ndarray of int
        The cluster of each.
    names : sequence of str
        What the clusters are called.
    ids : sequence
        What the rows (or bags) are called.
    bags : sequence, optional
        The bag of each row.
    sure : ndarray, optional
        The probability of each one's cluster.
    """

    coordinates: np.ndarray
    labels: np.ndarray
    names: Sequence[str]
    ids: Sequence[Any] | np.ndarray = ()
    bags: Sequence[Any] | None = None
    sure: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Curve:
    """The share of information that k clusters keep, and what a table without structure would seem to keep."""

    n_clusters: Sequence[int]
    shares: Sequence[float]
    floor: Sequence[float] | None = None


@dataclass(frozen=True, eq=False)
class Blocks:
    """A table of probabilities and its approximation by clusters, sorted by cluster."""

    P: np.ndarray
    Q: np.ndarray
    row_breaks: np.ndarray
    column_breaks: np.ndarray
    axes_names: Sequence[str]


@dataclass(frozen=True, kw_only=True, eq=False)
class Result(ABC):
    """What a job found.

    Attributes
    ----------
    reading : Reading
        What was read.
    model : estimator
        The fitted model that is saved.
    assignments : columns
        One entry for each row, under the row's own name.
    tables : mapping of str to columns
        Tables for the output folder, by file name without ending. Names are fixed in the code, never taken from data.
    heard : tuple of str
        What the fit warned about.
    gallery : Gallery, optional
        Rows to look at.
    truth : Truth or None
        How the clusters agree with a column of the table that was not used; the cross table is ``tables["truth"]``.
    n_clusters_choice : tuple of NumberOfClusters
        How surely each number of clusters comes back, where the number was left open; one entry for each axis.
    in_parts : AllRows or None
        What was written of all rows, where only a sample was ever in memory.
    """

    reading: Reading
    model: Any = big()
    assignments: Columns = big()
    tables: Mapping[str, Columns] = field(default_factory=dict)
    heard: tuple[str, ...] = ()
    gallery: Gallery | None = big(default=None)
    truth: Truth | None = None
    n_clusters_choice: tuple[NumberOfClusters, ...] = ()
    in_parts: AllRows | None = big(default=None)

    @abstractmethod
    def page(self) -> Page:
        """Say what was found: sentences, then pictures and tables."""

    def write_assignments(self, folder: Path, *, disarm: bool) -> None:
        """Write what each row was found to be.

        Parameters
        ----------
        folder : Path
            Where the files go.
        disarm : bool
            Whether cells of CSV files that a spreadsheet would run are disarmed.
        """
        from sidelight.app.jobs.output import write_csv, write_parquet

        if self.in_parts is not None:
            self.in_parts.write(folder)
            return
        write_parquet(folder / "assignments.parquet", self.assignments)
        write_csv(folder / "assignments.csv", self.assignments, disarm=disarm)

    @property
    def assignment_files(self) -> Mapping[str, str]:
        """The files of assignments, and what each holds."""
        if self.in_parts is not None:
            return {"assignments": "a folder of Parquet files: what each row was found to be"}
        return {
            "assignments.csv": "what each row was found to be",
            "assignments.parquet": "the same as assignments.csv, with types",
        }

    def numbers(self) -> dict[str, Any]:
        """Return everything but what is big, as plain values that can be written as JSON."""
        return _numbers_of(self) | ({} if self.in_parts is None else _numbers_of(self.in_parts))


def columns_of(data: Dataset, own: Columns) -> dict[str, Sequence[Any]]:
    """Return a table of rows: the user's name of each row, the columns to keep, then ``own``.

    A column of the user's that is called like one of ours is told apart: ``"your cluster"``.
    """
    table: dict[str, Sequence[Any]] = {}
    for name, cells in {data.row_title: data.row_names, **data.kept}.items():
        while name in own or name in table:
            name = f"your {name}"
        table[name] = cells.tolist()
    return table | dict(own)


def _numbers_of(found: Any) -> dict[str, Any]:
    told = [(f, getattr(found, f.name)) for f in fields(found) if not f.metadata.get("big")]
    return {f.name: _plain(value) for f, value in told if value is not None or not f.metadata.get("if known")}


def _plain(value: Any) -> Any:
    """Return numbers, texts, lists and mappings; NaN becomes None, which JSON has a word for."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, np.generic):
        value = value.item()
    if is_dataclass(value) and not isinstance(value, type):
        return _numbers_of(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
