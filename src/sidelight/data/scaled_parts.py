"""Rows of another source, with every feature shifted and divided as they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.data.bag_lists import BagLists
from sidelight.data.parts import Source


@dataclass(frozen=True, slots=True, eq=False)
class ScaledSource:
    """The rows (x - mean) / scale of a source; everything else is as it was."""

    source: Source
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.source.n_rows

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What the features are called, for a message; nothing where the source does not know."""
        return getattr(self.source, "feature_names", ())

    def rows(self, first: int, last: int) -> NDArray[Any]:
        """Return these rows, scaled."""
        return (self.source.rows(first, last) - self.mean) / self.scale

    def lists(self, first: int, last: int) -> BagLists | None:
        """Return the bags of these rows."""
        return self.source.lists(first, last)

    def numbers(self, first: int, last: int) -> NDArray[np.intp]:
        """Return the numbers of these rows among all rows."""
        return self.source.numbers(first, last)

    def place(self, row: int) -> str:
        """Say where a row is."""
        return self.source.place(row)

    def only(self, first: int, last: int) -> tuple[ScaledSource, int, int]:
        """Return a source with at least these rows."""
        source, begin, end = self.source.only(first, last)
        return ScaledSource(source, self.mean, self.scale), begin, end
