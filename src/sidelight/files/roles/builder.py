"""One way from what a reader understood to a :class:`Dataset`: features, labels, bags, roles and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.data.bags import Bags
from sidelight.data.dataset import ColumnRole, Dataset, Doubt
from sidelight.files.problems import listing
from sidelight.files.roles.facts import column_facts
from sidelight.files.roles.labels import RowLabels


class Builder:
    """A data set on its way; what is not set stays empty.

    Parameters
    ----------
    path : Path
        The file.
    title : str
        What it was recognised as, in words.
    """

    def __init__(self, path: Path, title: str) -> None:
        self.path, self.title = path, title
        self.X: Any = np.empty((0, 0))
        self.feature_names: tuple[str, ...] = ()
        self.bags: Bags | None = None
        self.y: NDArray[np.object_] | None = None
        self.Y: NDArray[np.int8] | None = None
        self.label_names: tuple[str, ...] = ()
        self.roles: list[ColumnRole] = []
        self.notes: list[str] = []
        self.sure: dict[str, float] = {}
        self.doubts: list[Doubt] = []

    def role(self, name: str, role: str, why: str, kind: str = "number") -> None:
        """Say what a column (or variable, or attribute) was taken for."""
        self.roles.append(ColumnRole(name, role, why, kind))

    def ask(self, question: str, *readings: tuple[str, Mapping[str, Any]]) -> None:
        """Write down a question; the first reading is the one that was taken."""
        self.doubts.append(Doubt(question, readings))

    def unused(self, shapes: dict[str, Any]) -> None:
        """Say that the variables without a role are not needed."""
        used = {role.name for role in self.roles}
        for name, value in shapes.items():
            if name not in used:
                self.role(name, "ignored", f"not needed, {' x '.join(map(str, np.shape(value))) or 'one value'}")

    def features(self, X: Any, names: Sequence[str] | None = None, *, first: int = 0) -> None:
        """Take the rows; columns without names are called f0, f1, ... from ``first`` on."""
        self.X = X
        self.feature_names = tuple(f"f{j + first}" for j in range(X.shape[1])) if names is None else tuple(names)

    def label_rows(self, labels: RowLabels | None) -> None:
        """Give rows one label each, or a set each where some row has several."""
        if labels is not None:
            self.label_names = labels.names
            self.y, self.Y = (labels.single(), None) if labels.is_single else (None, labels.indicator())

    def mark_bags(self, ids: Any, marks: NDArray[np.int8], names: Sequence[Any]) -> None:
        """Put rows into bags that have 0/1 marks: row ``k`` of ``marks`` belongs to the bag ``names[k]``."""
        self.label_names = tuple(str(k + 1) for k in range(marks.shape[1]))
        self.bags = Bags.from_indicator(ids, marks, classes=self.label_names, names=list(names))

    def build(self, location: Callable[[int], str] | None = None, **parts: Any) -> Dataset:
        """Return the data set, with a note about missing and infinite cells.

        Parameters
        ----------
        location : callable, optional
            Says where a row was in the file; by default its number.
        **parts : objects
            Other attributes of :class:`Dataset`.
        """
        parts |= {} if location is None else {"location": location}
        judged = (replace(role, sure=self.sure[role.name]) if role.name in self.sure else role for role in self.roles)
        parts.setdefault("roles", tuple(judged))
        parts.setdefault("doubts", tuple(self.doubts))
        gaps = gap_notes(self.X, self.feature_names, location or (lambda row: f"row {row + 1}"))
        return Dataset(
            self.X,
            self.feature_names,
            str(self.path),
            self.title,
            bags=self.bags,
            y=self.y,
            Y=self.Y,
            label_names=tuple(map(str, self.label_names)),
            notes=(*self.notes, *gaps),
            **parts,
        )


def gap_notes(X: Any, names: Sequence[str], location: Callable[[int], str]) -> Iterator[str]:
    """Say how many cells are missing or infinite, and where the first one is."""
    if not isinstance(X, np.ndarray) or not X.size:
        return
    facts = column_facts(X)
    if facts.n_missing.any():
        where = [names[k] for k in np.flatnonzero(facts.n_missing).tolist()]
        yield f"{int(facts.n_missing.sum())} missing cells (NaN) in {len(where)} features: {listing(where, 3)}"
    if facts.n_infinite.any():
        row = facts.first_infinite_row
        name = names[int(np.isinf(X[row]).argmax())]
        yield f"{int(facts.n_infinite.sum())} infinite values; the first in {location(row)}, column {name!r}"
