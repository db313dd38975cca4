"""Compare assignments with a truth: two tables, joined by the names of their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sidelight.app.jobs.columns import Columns
from sidelight.errors import InvalidData
from sidelight.files.roles.guesses import is_label_name
from sidelight.words import Setting, counted, some_of

if TYPE_CHECKING:
    from sidelight.app.jobs.result import (
        Columns as Table,  # brings compiled loops, which are slow to import
    )
    from sidelight.app.jobs.truth import Truth

_CLUSTERS = ("label", "cluster", "labels")  # what our assignments call what was found


@dataclass(frozen=True)
class Score:
    """The figures, the cross table, rows that only one side has, and whether rows were told apart by their place."""

    truth: Truth
    table: Table
    compared: str
    n_only_assigned: int
    n_only_true: int
    is_by_place: bool = False

    @property
    def sentences(self) -> list[str]:
        """What a person wants to know."""
        from sidelight.app.jobs.page import about_truth  # as above

        told = [about_truth(self.truth, used="")]
        if self.is_by_place:
            told.append(
                "The truth does not name its rows as the assignments do, so rows were joined by their place: the first "
                "line is row 1. In another order the figures mean nothing."
            )
        if self.n_only_assigned:
            told.append(f"{counted(self.n_only_assigned, 'row')} of the assignments have no truth.")
        if self.n_only_true:
            told.append(f"{counted(self.n_only_true, 'row')} of the truth were not assigned.")
        return told

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that can be written as JSON."""
        numbers = {**asdict(self.truth), "compared": self.compared}
        return {
            **numbers,
            "n_only_assigned": self.n_only_assigned,
            "n_only_true": self.n_only_true,
            "is_by_place": self.is_by_place,
            "table": {name: list(cells) for name, cells in self.table.items()},
        }


def score(
    assignments: str, truth: str, *, column: str | None = None, truth_column: str | None = None, by: str | None = None
) -> Score:
    """Join two tables by the names of their rows and compare what they say.

    Parameters
    ----------
    assignments : str
        A table that a job or ``predict`` wrote, or the folder of a run.
    truth : str
        A table with the right kind of each row.
    column : str, optional
        The column of the assignments to judge; by default "label" where it has names of the truth, else "cluster".
    truth_column : str, optional
        The column of the truth; by default the one that is called like labels, or the only one left.
    by : str, optional
        The column with the names of the rows, in both tables; by default the first column of the assignments.
    """
    found, right = Columns(assignments), Columns(truth)
    key = by or found.names[0]
    found.need(key, *({column} if column else {name for name in _CLUSTERS if name in found.names}))
    keys = found.cells(key)
    is_by_place = by is None and key not in right.names
    if is_by_place and not (key == "row" and found.has_numbers_only(key)):
        raise InvalidData(
            f"{right.path!r} has no column {key!r}, which names the rows of {found.path!r}. It has "
            f"{some_of(map(repr, right.names))}.",
            do=["Name a column that both have: ", Setting("by"), "."],
        )
    name = truth_column or _truth_column(right, key)
    right.need(name, *(() if is_by_place else (key,)))
    true_keys = _places(found, right, len(right.cells(name))) if is_by_place else right.cells(key)
    kinds = dict(zip(true_keys, right.cells(name)))
    _refuse_twins(true_keys, right.path, key)
    _refuse_twins(keys, found.path, key)
    chosen = column or _found_column(found, set(kinds.values()))
    groups = found.cells(chosen)
    both = [(kinds[row], group) for row, group in zip(keys, groups) if kinds.get(row, "") != ""]
    if not any(kinds.values()):
        raise InvalidData(f"The column {name!r} of {right.path!r} is empty: it says of no row what it is.")
    if not both:
        raise InvalidData(
            f"No row of {found.path!r} has a truth in {right.path!r}: rows are called like {some_of(keys, 3)} "
            f"there and like {some_of(true_keys, 3)} here.",
            do=["Name the column with the names of rows: ", Setting("by"), "."],
        )
    from sidelight.app.jobs.truth import (
        Truth,
        cross_table,  # as above
    )

    truths, clusters = [kind for kind, _ in both], [group for _, group in both]
    return Score(
        Truth.of(truths, clusters, name),
        cross_table(truths, clusters),
        chosen,
        len(keys) - len(both),
        len(set(kinds) - set(keys)),
        is_by_place,
    )


def _places(found: Columns, right: Columns, n_rows: int) -> list[str]:
    """Return the numbers of the rows of the truth, unless rows can be joined by names or cannot be the same ones."""
    for name in found.names:
        if name in right.names and name not in _CLUSTERS:
            cells, others = found.cells(name), right.cells(name)
            if len(set(cells)) == len(cells) and len(set(others)) == len(others) and set(cells) <= set(others):
                raise InvalidData(
                    f"{right.path!r} does not number its rows, and both tables name them in {name!r}.",
                    do=["Join them by it: ", Setting("by", name), "."],
                )
    last = max((int(cell) for cell in found.cells(found.names[0]) if cell.isdecimal()), default=0)
    if last > n_rows:
        raise InvalidData(
            f"{found.path!r} speaks of row {last}, and {right.path!r} has {counted(n_rows, 'row')} without such names.",
            do=["Name a column that both have: ", Setting("by"), "."],
        )
    return [str(number) for number in range(1, n_rows + 1)]


def _truth_column(right: Columns, key: str) -> str:
    others = [name for name in right.names if name != key]
    named = [name for name in others if is_label_name(name)]
    if len(named) == 1 or len(others) == 1:
        return (named if len(named) == 1 else others)[0]
    raise InvalidData(
        f"{right.path!r} has several columns that may hold the truth: {some_of(map(repr, named or others))}.",
        do=["Name one: ", Setting("truth_column"), "."],
    )


def _found_column(found: Columns, kinds: set[str]) -> str:
    there = [name for name in _CLUSTERS if name in found.names]
    if not there:
        raise InvalidData(
            f"{found.path!r} has no column {_CLUSTERS[1]!r}. It has {some_of(map(repr, found.names))}.",
            do=["Name the column to judge: ", Setting("column"), "."],
        )
    return next(
        (name for name in there if kinds & set(found.cells(name))), "cluster" if "cluster" in there else there[0]
    )


def _refuse_twins(keys: Sequence[str], path: str, key: str) -> None:
    twice = [name for name, times in Counter(keys).items() if times > 1]
    if twice:
        raise InvalidData(f"{path!r}: several rows are called {twice[0]!r} in {key!r}, so rows cannot be told apart.")
