"""Labels of rows and bags, from the shapes people keep them in: cells, sets in cells, a column each, a second table."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.data.dataset import TOLD, Note
from sidelight.errors import InvalidData
from sidelight.files.limits import need
from sidelight.files.problems import listing, notice, shown
from sidelight.files.roles.cells import further_marks, is_gap
from sidelight.files.roles.columns import Coded
from sidelight.files.roles.names import NO, YES, folded
from sidelight.words import in_words

EMPTY_SET = "{}"  # a cell that says: none of the labels; sidelight convert writes it
_MINUS = ("-1", "-1.0")


@dataclass(frozen=True, eq=False)
class RowLabels:
    """Label sets of rows: which set each row has (codes into ``sets``), None where nothing is known.

    ``gaps`` are the labels of each set that were not looked at, where single entries are unknown.
    """

    sets: tuple[frozenset[str] | None, ...]
    codes: NDArray[np.intp]
    names: tuple[str, ...]
    gaps: tuple[frozenset[str], ...] = ()

    @property
    def is_single(self) -> bool:
        """Say whether no row has more than one label, and every known one has one and no gaps."""
        return all(s is None or len(s) == 1 for s in self.sets) and not any(
            gap for gap, s in zip(self.gaps, self.sets) if s is not None
        )

    def single(self) -> NDArray[np.object_]:
        """Return one label a row, ``""`` where unknown."""
        table = np.empty(len(self.sets), dtype=object)
        table[:] = ["" if not s else next(iter(s)) for s in self.sets]
        return table[self.codes]

    def indicator(self) -> NDArray[np.int8]:
        """Return rows x labels: 1 present, 0 absent, -1 unknown."""
        need("The labels", len(self.codes) * len(self.names), f"{len(self.codes)} rows with {len(self.names)} labels")
        column = {name: k for k, name in enumerate(self.names)}
        table = np.zeros((len(self.sets), len(self.names)), dtype=np.int8)
        for i, members in enumerate(self.sets):
            if members is None:
                table[i] = -1
            else:
                table[i, [column[m] for m in members]] = 1
        for i, unknown in enumerate(self.gaps):
            table[i, [column[m] for m in unknown]] = -1
        return table[self.codes]

    def counts(self) -> dict[str, int]:
        """Return how many rows have each label."""
        rows = np.bincount(self.codes, minlength=len(self.sets)).tolist()
        counts = dict.fromkeys(self.names, 0)
        for n, members in zip(rows, self.sets):
            for name in members or ():
                counts[name] += n
        return counts

    def are_together(self, one: str, other: str) -> bool:
        """Say whether a set has both labels."""
        return any(members is not None and one in members and other in members for members in self.sets)

    def renamed(self, to: Mapping[str, str]) -> RowLabels:
        """Return the labels under other names; two that get one name are one."""
        if not to:
            return self
        names = tuple(dict.fromkeys(to.get(name, name) for name in self.names))
        sets = [None if s is None else frozenset(to.get(name, name) for name in s) for s in self.sets]
        if not self.gaps:
            return _unified(sets, self.codes, names)
        known = [members or frozenset() for members in sets]
        gaps = (frozenset(to.get(name, name) for name in gap) - here for gap, here in zip(self.gaps, known))
        return RowLabels(tuple(sets), self.codes, names, tuple(gaps))

    def of_bags(self, codes: NDArray[np.intp], n_bags: int) -> list[frozenset[str] | None]:
        """Return the union of the known sets of each bag's rows; None where no row is known."""
        unions: list[frozenset[str] | None] = [None] * n_bags
        for bag, code in zip(*(part.tolist() for part in self._of_each_bag(codes))):
            members, before = self.sets[code], unions[bag]
            if members is not None:
                unions[bag] = members if before is None else before | members
        return unions

    def n_torn(self, codes: NDArray[np.intp]) -> int:
        """Count the bags whose rows name different sets; unlabelled rows are ignored."""
        told = np.array([members is not None for members in self.sets], dtype=bool)
        bags, sets = self._of_each_bag(codes)
        return int((np.bincount(bags[told[sets]]) > 1).sum())

    def _of_each_bag(self, codes: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the different sets of each bag: (bag, number of the set), in this order."""
        both = np.unique(codes * np.intp(max(1, len(self.sets))) + self.codes)
        bags, sets = np.divmod(both, max(1, len(self.sets)))
        return bags, sets

    def is_on_first_rows(self, codes: NDArray[np.intp], n_bags: int) -> bool:
        """Say whether only the first row of each bag carries a set, as people write what holds for all of it."""
        first = np.full(n_bags, len(codes), dtype=np.intp)
        np.minimum.at(first, codes, np.arange(len(codes)))
        told = np.array([members is not None for members in self.sets], dtype=bool)[self.codes]
        others = np.ones(len(codes), dtype=bool)
        others[first[first < len(codes)]] = False
        return bool(told.any() and others.any() and not told[others].any())

    def is_constant(self, codes: NDArray[np.intp], n_bags: int) -> bool:
        """Say whether all rows of a bag carry the same set, in every bag."""
        return len(self._of_each_bag(codes)[0]) == n_bags


def from_cells(column: Coded, separator: str | Sequence[str] | None, *, guesses: bool = False) -> RowLabels:
    """Read one column: a name a cell, or several names between separators; an empty cell says nothing is known.

    Where marks are guessed, labels that are joins of others by a further mark are split by it, too.
    """
    if separator is None:
        sets = tuple(
            None if column.is_gap(value) else frozenset() if value.strip() == EMPTY_SET else frozenset({value})
            for value in column.values
        )
        return RowLabels(sets, column.codes, _names(sets))
    marks = (separator,) if isinstance(separator, str) else tuple(separator)
    parted = [_members(value, marks) for value in column.values]
    further = further_marks(set(_names(parted)), marks) if guesses else ()
    if further:
        parted = [_members(value, (*marks, *further)) for value in column.values]
        notice(
            Note(f"labels stand between {in_words([repr(mark.strip() or mark) for mark in (*marks, *further)])}", TOLD)
        )
    return _unified(parted, column.codes)


def from_ticks(columns: Sequence[Coded], names: Sequence[str], path: Path, place: Any) -> RowLabels:
    """Read one column of zeros and ones for each label; a row of gaps alone says nothing is known.

    Where some cells say 0, an empty cell was not checked, and so is -1; where none does, both mean off.
    """
    n_rows = len(columns[0].codes)
    names = without_prefix(names)
    ticks = np.zeros((n_rows, len(columns)), dtype=np.int8)
    has_zeros = any(tick(value) == 0 and value.strip() not in _MINUS for column in columns for value in column.values)
    for k, column in enumerate(columns):
        values = np.array(
            [-1 if has_zeros and value.strip() in _MINUS else tick(value) for value in column.values], dtype=np.int8
        )
        if (values == 2).any():
            bad = int(np.flatnonzero(values == 2)[0])
            row = int(np.flatnonzero(column.codes == bad)[0])
            raise InvalidData(
                f"{path}, {place(row)}, column {names[k]!r}: expected 0 or 1, found {shown(column.values[bad])}. "
                "Several label columns hold 0 and 1; pass a single column if the cells are names."
            )
        ticks[:, k] = values[column.codes]
    unique, codes = np.unique(ticks, axis=0, return_inverse=True)
    sets = tuple(
        None if (row == -1).all() else frozenset(names[k] for k in np.flatnonzero(row == 1).tolist()) for row in unique
    )
    gaps = tuple(frozenset(names[k] for k in np.flatnonzero(row == -1).tolist()) for row in unique) if has_zeros else ()
    return RowLabels(sets, codes.ravel().astype(np.intp), names, gaps)


def from_marks(marks: NDArray[np.int8]) -> RowLabels:
    """Read a matrix of 0 and 1; the labels are called 1, 2, ... by their columns."""
    names = tuple(str(k + 1) for k in range(marks.shape[1]))
    unique, codes = np.unique(marks > 0, axis=0, return_inverse=True)
    sets = tuple(frozenset(names[k] for k in np.flatnonzero(row).tolist()) for row in unique)
    return RowLabels(sets, codes.ravel().astype(np.intp), names)


def from_combination(columns: Sequence[Coded]) -> RowLabels:
    """Read several columns of words: each combination that occurs is one class, ``B/M``."""
    codes = np.stack([column.codes for column in columns])
    unique, inverse = np.unique(codes, axis=1, return_inverse=True)
    sets: list[frozenset[str] | None] = []
    for combination in unique.T.tolist():
        words = [column.values[code] for column, code in zip(columns, combination)]
        sets.append(None if any(is_gap(word) for word in words) else frozenset({"/".join(words)}))
    return RowLabels(tuple(sets), inverse.ravel().astype(np.intp), _names(sets))


def match_keys(
    path: Path, said: Mapping[str, frozenset[str] | None], names: Sequence[Hashable], what: str
) -> dict[Hashable, frozenset[str] | None]:
    """Bring the keys of a second table together with the names of bags or rows; strangers are an error."""
    by_text = {str(name): name for name in names}
    strangers = [key for key in said if key not in by_text]
    if strangers:
        raise InvalidData(
            f"{path}: {len(strangers)} of {len(said)} keys match no {what}: {listing(strangers)}. "
            f"The {what}s are called {listing(list(names), 3)}. Correct the keys, or drop these rows."
        )
    return {by_text[key]: members for key, members in said.items()}


def tick(value: str) -> int:
    """Read a cell of a label column: 1, 0, -1 for a gap, 2 for anything else."""
    word = folded(value.strip())
    return 1 if word in YES else 0 if word in NO else -1 if is_gap(value) else 2


def are_ticks(columns: Sequence[Coded]) -> bool:
    """Say whether columns hold zeros and ones only."""
    return all(tick(value) != 2 for column in columns for value in column.values)


def _unified(
    sets: Sequence[frozenset[str] | None], codes: NDArray[np.intp], names: tuple[str, ...] | None = None
) -> RowLabels:
    """Give equal sets one code, however their cells were written."""
    place: dict[frozenset[str] | None, int] = {}
    to = np.array([place.setdefault(members, len(place)) for members in sets], dtype=np.intp)
    return RowLabels(tuple(place), to[codes], _names(sets) if names is None else names)


def _members(value: str, marks: Sequence[str]) -> frozenset[str] | None:
    if is_gap(value):
        return None
    text = value.strip()
    if text[:1] + text[-1:] in ("[]", "{}", "()"):
        text = text[1:-1]  # around the whole set; a label keeps its own: owl (barn)
    cells = [text]
    for mark in marks:
        cells = [part for cell in cells for part in cell.split(mark)]
    parts = (part.strip().strip("'\"").strip() for part in cells)
    return frozenset(part for part in parts if part)


def _names(sets: Sequence[frozenset[str] | None]) -> tuple[str, ...]:
    return tuple(sorted({name for members in sets if members for name in members}, key=_natural))


def without_prefix(names: Sequence[str]) -> tuple[str, ...]:
    """Return the label in ``label_wren``: what all columns share in front of the name is no part of it."""
    matches = [re.match(r"(labels?|class|tag|target|y)[_:.\- ](?=.)", name, re.IGNORECASE) for name in names]
    prefixes = {match.group() if match else "" for match in matches}
    prefix = prefixes.pop() if len(prefixes) == 1 and len(names) > 1 else ""
    return tuple(name[len(prefix) :] for name in names)


def _natural(name: str) -> tuple[int, float, str]:
    """Order "2" before "10" and numbers before words."""
    return (0, float(name), name) if name.isdecimal() and len(name) < 16 else (1, 0.0, name)
