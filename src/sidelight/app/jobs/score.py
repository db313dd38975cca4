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
        Columns as Table,  # brings compiled loops, which nobody waits for to hear of a column
    )
    from sidelight.app.jobs.truth import Truth

_CLUSTERS = ("label", "cluster", "labels")  # what our assignments call what was found


@dataclass(frozen=True)
class Score:
    """The figures, the cross table, and rows that only one side has."""

    truth: Truth
    table: Table
    compared: str
    n_only_assigned: int
    n_only_true: int

    @property
    def sentences(self) -> list[str]:
        """What a person wants to know."""
        from sidelight.app.jobs.pages.truth import about_truth  # as above

        told = [about_truth(self.truth, used="")]
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
    name = truth_column or _truth_column(right, key)
    right.need(name, *({key} if key in right.names or by is not None else ()))
    true_keys = _true_keys(found, right, key, said=by is not None)
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
    )


def _true_keys(found: Columns, right: Columns, key: str, *, said: bool) -> list[str]:
    """Return the names of the rows of the truth: the same column, or their numbers where rows are only counted."""
    if key in right.names or said:
        return right.cells(key)
    if key == "row" and found.has_numbers_only(key):
        n_rows = len(right.cells(_truth_column(right, key)))
        return [str(number) for number in range(1, n_rows + 1)]
    raise InvalidData(
        f"{right.path!r} has no column {key!r}, which names the rows of {found.path!r}. It has "
        f"{some_of(map(repr, right.names))}.",
        do=["Name a column that both have: ", Setting("by"), "."],
    )


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
