"""Must-links and cannot-links that bag labels imply, [PF14] table 1, without ever listing a pair of rows.

Rows of bags that carry one and the same single label must link: a block per class. Rows of two bags whose complete
label sets share no label cannot link: a relation between distinct label sets. Bags without labels imply nothing, and
neither does a partial label set as to what it leaves out. When there are more clusters than classes, must-links do not
hold: one class may have several clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from sidelight.data.bags import Bags

_BLOCK = 4_000_000  # entries judged at a time


@dataclass(frozen=True, slots=True)
class BagLinks:
    """The links among rows whose bags are ``codes``.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        The bag of each row.
    single : ndarray of shape (n_bags,)
        The class of a bag with one label, complete; -1 for all others.
    kind : ndarray of shape (n_bags,)
        The number of the bag's label set among the distinct complete ones; -1 when it is unlabelled or partial.
    sets : CSR of shape (n_sets, n_classes)
        The distinct complete label sets.
    """

    codes: np.ndarray
    single: np.ndarray
    kind: np.ndarray
    sets: Any

    @classmethod
    def from_bags(cls, bags: Bags) -> Self:
        """Read the label sets of ``bags``."""
        labels_of_bag = sparse.csr_array(bags.label_matrix)
        complete = bags.is_labelled & ~bags.is_partial
        alone = complete & (np.diff(labels_of_bag.indptr) == 1)
        single = np.full(bags.n_bags, -1, dtype=np.intp)
        single[alone] = labels_of_bag[np.flatnonzero(alone)].indices
        kind = np.full(bags.n_bags, -1, dtype=np.intp)
        number: dict[bytes, int] = {}
        first = []
        for bag in np.flatnonzero(complete):
            key = np.sort(labels_of_bag.indices[labels_of_bag.indptr[bag] : labels_of_bag.indptr[bag + 1]]).tobytes()
            if key not in number:
                number[key] = len(number)
                first.append(bag)
            kind[bag] = number[key]
        return cls(bags.codes, single, kind, labels_of_bag[np.asarray(first, dtype=np.intp)])

    @property
    def single_rows(self) -> np.ndarray:
        """The class that each row must have, or -1."""
        return self.single[self.codes]

    def n_must(self) -> int:
        """Count the pairs of rows that must link."""
        sizes = np.bincount(self.single_rows + 1)[1:]
        return int((sizes * (sizes - 1) // 2).sum())

    def n_cannot(self) -> int:
        """Count the pairs of rows that cannot link."""
        rows = np.bincount(self.kind[self.codes] + 1, minlength=self.sets.shape[0] + 1)[1:].astype(np.float64)
        return round(sum(float(rows[at] @ (self._disjoint(at) @ rows)) for at in self._blocks())) // 2

    def cannot(self, p: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Tell for pairs of rows ``p``, ``q`` (arrays of equal length) whether they cannot link."""
        left, right = self.kind[self.codes[p]], self.kind[self.codes[q]]
        known = np.flatnonzero((left >= 0) & (right >= 0))
        out = np.zeros(len(p), dtype=bool)
        sizes = np.diff(self.sets.indptr)
        for at in range(0, len(known), _BLOCK):
            part = known[at : at + _BLOCK]
            a, b = left[part], right[part]
            shared = np.asarray(self.sets[a].multiply(self.sets[b]).sum(axis=1)).ravel()
            out[part] = (shared == 0) & (sizes[a] + sizes[b] > 0)
        return out

    def must(self, p: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Tell for pairs of rows whether they must link."""
        single = self.single_rows
        return (single[p] >= 0) & (single[p] == single[q])

    def without(self, W: Any, *, must: bool = True) -> Any:
        """Return ``W`` with the entries of cannot-links, and of must-links unless told otherwise, set to 0."""
        if sparse.issparse(W):
            lines = W.tocoo()
            gone = self.cannot(lines.row, lines.col)
            if must:
                gone |= self.must(lines.row, lines.col)
            kept = ~gone
            return sparse.csr_array((lines.data[kept], (lines.row[kept], lines.col[kept])), shape=W.shape)
        W = W.copy()
        single, kind = self.single_rows, self.kind[self.codes]
        step = max(1, _BLOCK // len(W))
        for at in range(0, len(W), step):
            rows = slice(at, at + step)
            W[rows][self._cannot_block(kind[rows], kind)] = 0
            if must:
                W[rows][(single[rows, None] >= 0) & (single[rows, None] == single)] = 0
        return W

    def _cannot_block(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        here, where = np.unique(left, return_inverse=True)
        table = np.zeros((len(here), self.sets.shape[0] + 1), dtype=bool)  # the last column stands for "unknown"
        known = here >= 0
        table[known, :-1] = self._disjoint(here[known]) > 0
        return table[where][:, right]

    def _disjoint(self, at: np.ndarray) -> np.ndarray:
        """Return 1.0 where label sets ``at`` share nothing with any distinct label set; two empty sets say nothing."""
        sizes = np.diff(self.sets.indptr)
        shared = (self.sets[at] @ self.sets.T).toarray()
        return ((shared == 0) & (sizes[at, None] + sizes > 0)).astype(np.float64)

    def _blocks(self) -> list[np.ndarray]:
        n_sets = self.sets.shape[0]
        step = max(1, _BLOCK // max(n_sets, 1))
        return [np.arange(at, min(at + step, n_sets)) for at in range(0, n_sets, step)]


@dataclass(frozen=True, slots=True)
class MustBlocks:
    """The matrix with 1 between rows of the same class in ``single`` and 0 elsewhere, or its graph Laplacian.

    ``single`` holds a class or -1 for each row; ``gather`` (classes x rows) adds up the rows of each block.
    """

    single: np.ndarray
    gather: Any
    laplacian: bool

    @classmethod
    def of(cls, single: np.ndarray, *, laplacian: bool = False, dtype: Any = np.float64) -> Self:
        """Build the blocks of the rows with ``single >= 0``."""
        rows = np.flatnonzero(single >= 0)
        shape = (int(single.max(initial=-1)) + 1, len(single))
        gather = sparse.csr_array((np.ones(len(rows), dtype=dtype), (single[rows], rows)), shape=shape)
        return cls(single, gather, laplacian)

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return the product with a vector or a block of vectors."""
        ones = self.gather.T @ (self.gather @ V)
        if not self.laplacian:
            return np.asarray(ones)
        return np.asarray((self.sizes if V.ndim == 1 else self.sizes[:, None]) * V - ones)

    @property
    def sizes(self) -> np.ndarray:
        """How many rows each row must link with, itself included; 0 outside the blocks."""
        counts = np.asarray(self.gather.sum(axis=1)).ravel()
        return np.where(self.single >= 0, np.append(counts, 0)[self.single], 0).astype(self.gather.dtype)

    def couplings(self) -> list[Any]:
        """Return what couples rows, as (classes x rows)."""
        return [self.gather]

    def take(self, rows: np.ndarray) -> Self:
        """Return the blocks among ``rows``; rows of other components keep no link to these."""
        return self.of(self.single[rows], laplacian=self.laplacian, dtype=self.gather.dtype)
