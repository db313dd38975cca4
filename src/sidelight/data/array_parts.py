"""Rows of an array, in memory or mapped from a file, as a source of parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.data.bag_lists import BagLists, lists_of
from sidelight.data.bags import Bags

Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class ArrayRows:
    """Rows of ``X``, bag by bag: row i of the source is row ``order[i]`` of X, or row i where there is no order."""

    X: NDArray[Any]
    bags: BagLists | None
    order: Ints | None
    first_number: int = 0

    @classmethod
    def of(cls, X: NDArray[Any], bags: Bags | None) -> ArrayRows:
        """Take the rows of X, the bags in the order of their names."""
        if bags is None:
            return cls(X, None, None)
        is_arranged = bool((np.diff(bags.order) == 1).all())
        return cls(X, lists_of(bags), None if is_arranged else np.array(bags.order, dtype=np.intp))

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.X) if self.order is None else len(self.order)

    def rows(self, first: int, last: int) -> NDArray[Any]:
        """Return these rows."""
        return self.X[first:last] if self.order is None else self.X[self.order[first:last]]

    def lists(self, first: int, last: int) -> BagLists | None:
        """Return the bags of these rows."""
        if self.bags is None:
            return None
        begin = int(np.searchsorted(self.bags.starts, first, side="right")) - 1
        end = int(np.searchsorted(self.bags.starts, last))
        starts = np.clip(self.bags.starts[begin : end + 1], first, last) - first
        return BagLists(self.bags.names[begin:end], starts, self.bags.sets, self.bags.codes[begin:end])

    def numbers(self, first: int, last: int) -> Ints:
        """Return the numbers of these rows in X."""
        if self.order is not None:
            return self.order[first:last]
        return np.arange(self.first_number + first, self.first_number + last)

    def place(self, row: int) -> str:
        """Say which row it is, counted from 1."""
        return f"row {int(self.numbers(row, row + 1)[0]) + 1}"

    def only(self, first: int, last: int) -> tuple[ArrayRows, int, int]:
        """Return a source of these rows alone; a mapped file or an order is handed on whole."""
        if self.order is not None:
            return self, first, last
        lists = self.lists(first, last)
        return replace(self, X=self.X[first:last], bags=lists, first_number=self.first_number + first), 0, last - first
