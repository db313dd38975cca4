"""One way from what a reader understood to a :class:`Dataset`: features, labels, bags, roles and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import is_sparse
from sidelight.data.bags import Bags
from sidelight.data.dataset import ColumnRole, Dataset, Doubt
from sidelight.files.problems import listing
from sidelight.files.roles.labels import RowLabels

_BLOCK = 1 << 21  # cells looked at together: 16 MB


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """One entry for each column."""

    n_missing: NDArray[np.int64]
    n_infinite: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    first_infinite_row: int = -1

    @property
    def is_constant(self) -> NDArray[np.bool_]:
        """Say which columns hold a single value (or none)."""
        return ~(self.low < self.high)


def column_facts(X: Any) -> ColumnFacts:
    """Count gaps and infinities, and find the range of every column."""
    width = X.shape[1]
    missing, infinite = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    low, high = np.full(width, np.inf), np.full(width, -np.inf)
    first, start = -1, 0
    if is_sparse(X):
        return _sparse_facts(X.tocsc())
    for block in _blocks(X):
        if is_finite(block):
            low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
        else:
            gaps, endless = np.isnan(block), np.isinf(block)
            missing += gaps.sum(axis=0)
            infinite += endless.sum(axis=0)
            if first < 0 and endless.any():
                first = start + int(endless.any(axis=1).argmax())
            low = np.minimum(low, np.where(gaps, np.inf, block).min(axis=0))
            high = np.maximum(high, np.where(gaps, -np.inf, block).max(axis=0))
        start += len(block)
    return ColumnFacts(missing, infinite, low, high, first)


def is_finite(X: NDArray[np.float64]) -> bool:
    """Say whether no cell is missing or infinite, without an array of answers."""
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf; a sum beyond the largest number only costs time
        return bool(np.isfinite(X.sum())) or bool(np.isfinite(X).all())


def n_repeated_rows(X: Any) -> int:
    """Count the rows that are copies of an earlier row, by a 64-bit fingerprint of each."""
    prints = _sparse_prints(X) if is_sparse(X) else _dense_prints(X)
    ordered = np.sort(prints)  # ten times faster than np.unique, which hashes
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))


def _dense_prints(X: NDArray[np.float64]) -> NDArray[np.uint64]:
    weights = _odd_numbers(X.shape[1])
    parts = [_mix((np.ascontiguousarray(block) + 0.0).view(np.uint64) * weights).sum(axis=1) for block in _blocks(X)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint64)


def _sparse_prints(X: Any) -> NDArray[np.uint64]:
    rows = X.tocsr()
    weights = _odd_numbers(rows.shape[1])
    cells = _mix((rows.data.astype(np.float64) + 0.0).view(np.uint64) * weights[rows.indices])
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(cells, dtype=np.uint64)])
    return total[rows.indptr[1:]] - total[rows.indptr[:-1]]  # wraps around, and so does the subtraction


def _mix(cells: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return cells ^ (cells >> np.uint64(29))


def _odd_numbers(n: int) -> NDArray[np.uint64]:
    drawn = np.random.default_rng(0).integers(
        0, 2**63, size=n, dtype=np.uint64
    )  # fixed: the same file, the same answer
    return drawn * np.uint64(2) + np.uint64(1)


def _blocks(X: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    step = max(1, _BLOCK // max(X.shape[1], 1))
    for start in range(0, X.shape[0] if X.shape[1] else 0, step):
        yield X[start : start + step]


def _sparse_facts(X: Any) -> ColumnFacts:
    width = X.shape[1]
    column = np.repeat(np.arange(width), np.diff(X.indptr))
    gaps, endless = np.isnan(X.data), np.isinf(X.data)
    is_full = np.diff(X.indptr) == X.shape[0]
    low, high = np.where(is_full, np.inf, 0.0), np.where(is_full, -np.inf, 0.0)
    kept = ~gaps
    np.minimum.at(low, column[kept], X.data[kept])
    np.maximum.at(high, column[kept], X.data[kept])
    missing, infinite = (np.bincount(column[mask], minlength=width) for mask in (gaps, endless))
    return ColumnFacts(missing, infinite, low, high, int(X.indices[endless].min()) if endless.any() else -1)


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
