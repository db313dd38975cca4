"""Graphs of several channels, and of sequences, added up: one symmetric operator, and its leading eigenvectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from sidelight._affinity.operators import NormalisedSum

Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class AddedGraphs:
    """A symmetric operator: normalised graphs of several channels, and of sequences, added up."""

    parts: tuple[NormalisedSum, ...]
    weights: tuple[float, ...]
    home: Ints | None  # the sequence of each row
    together: float  # the weight of sequences

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.parts[0].n_rows

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return the product with a vector or a block of vectors."""
        out = sum(weight * part.product(V) for weight, part in zip(self.weights, self.parts))
        if self.home is not None:
            out = out + self.together * _sequence_means(V, self.home)
        return np.asarray(out, dtype=V.dtype)

    def take(self, rows: np.ndarray) -> Self:
        """Return the same among ``rows`` only."""
        parts = tuple(part.take(rows) for part in self.parts)
        return type(self)(parts, self.weights, None if self.home is None else self.home[rows], self.together)

    def components(self) -> Ints:
        """Number the connected components of all graphs together."""
        groups = [connected_components(part.W, directed=False)[1] for part in self.parts]
        numbers = groups[0] if self.home is None else self.home
        for other in groups if self.home is not None else groups[1:]:
            numbers = _joined(numbers, other)
        return np.asarray(np.unique(numbers, return_inverse=True)[1], dtype=np.intp)


def _joined(first: Ints, second: Ints) -> Ints:
    """Number rows by the components of two groupings together: rows that share a group of either belong together."""
    n, m = int(first.max()) + 1, int(second.max()) + 1
    links = sp.csr_array((np.ones(len(first)), (first, n + second)), shape=(n + m, n + m))
    return np.asarray(connected_components(links, directed=False)[1][first], dtype=np.intp)


def _sequence_means(V: np.ndarray, home: Ints) -> np.ndarray:
    """Replace every row by the mean of its sequence: a projection, so no eigenvalue above 1."""
    n = int(home.max()) + 1
    member = sp.csr_array((np.ones(len(home), dtype=V.dtype), (home, np.arange(len(home)))), shape=(n, len(home)))
    sizes = np.bincount(home, minlength=n).astype(V.dtype)
    means = member @ V
    means = means / (np.maximum(sizes, 1) if V.ndim == 1 else np.maximum(sizes, 1)[:, None])
    return np.asarray(means[home])
