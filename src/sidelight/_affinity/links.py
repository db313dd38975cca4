"""What ties rows together: components of similarities, and must-links and cannot-links that bag labels imply.

Lanczos methods are silently wrong on a graph with several components (a repeated eigenvalue is found once), so every
eigenproblem is split into components first. With bag constraints the parts are those of similarities, bags and shared
labels together: Q couples what W separates. Fragments are judged by W alone: each would take an eigenvector with
eigenvalue 1, and a few dozen of them would leave none for the rest.

Links follow [PF14] table 1, without ever listing a pair of rows. Rows of bags that carry one and the same single label
must link: a block per class. Rows of two bags whose complete label sets share no label cannot link: a relation between
distinct label sets. Bags without labels imply nothing, and neither does a partial label set as to what it leaves out.
When there are more clusters than classes, must-links do not hold: one class may have several clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidelight.data.bags import Bags

FRAGMENT = 0.05  # of the mean cluster size n_rows / n_clusters; smaller components join their neighbours afterwards
_CHUNK = 256


def similarity_components(W: Any, d: np.ndarray | None = None) -> np.ndarray:
    """Number the connected components of ``W`` (dense or sparse), 0, 1, ... in order of their first rows.

    Entries below the precision of W next to the degrees ``d`` of both rows are no connection: an eigensolver cannot
    see it.
    """
    root = np.sqrt(degrees(W) if d is None else d)
    if sparse.issparse(W):
        eps, graph = np.finfo(W.dtype).eps, W.tocsr()
        if W.nnz and graph.data.min() <= eps * root.max() ** 2:  # else every entry is a connection
            seen = graph.data > eps * np.repeat(root, np.diff(graph.indptr)) * root[graph.indices]
            graph = sparse.csr_array((seen.astype(W.dtype), graph.indices, graph.indptr), shape=W.shape, copy=True)
            graph.eliminate_zeros()
        return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)
    return _dense_components(W, root)


def coupled_components(parts: np.ndarray, couplings: Sequence[Any]) -> np.ndarray:
    """Join the components ``parts`` that anything else couples; numbered as they first appear.

    Each coupling is a CSR matrix (things x rows): rows that share a thing (a bag, a class) belong together.
    """
    n_rows, n_parts = len(parts), int(parts.max(initial=0)) + 1
    things = [coupling for coupling in couplings if coupling.nnz]
    if n_parts == 1 or not things:
        return parts
    member = sparse.csr_array((np.ones(n_rows), (np.arange(n_rows), parts)), shape=(n_rows, n_parts))
    touched = sparse.vstack([abs(thing) @ member for thing in things])
    graph = sparse.block_array([[None, touched.T], [touched, None]])
    joined = connected_components(graph, directed=False)[1][:n_parts]
    return np.asarray(np.unique(joined, return_inverse=True)[1][parts], dtype=np.intp)


def fragments(parts: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return which rows lie in components smaller than ``FRAGMENT`` of a mean cluster; never all of them."""
    sizes = np.bincount(parts)
    small = sizes < FRAGMENT * len(parts) / n_clusters
    if small.all():
        small[np.argmax(sizes)] = False
    return small[parts]


def degrees(W: Any) -> np.ndarray:
    """Return the row sums of ``W`` in float64."""
    return np.asarray(W.sum(axis=1, dtype=np.float64)).ravel()


def _dense_components(W: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Search breadth first; in a connected matrix the first few rows reach everything."""
    n_rows, eps = len(W), np.finfo(W.dtype).eps
    parts = np.full(n_rows, -1, dtype=np.intp)
    number = 0
    for seed in range(n_rows):
        if parts[seed] >= 0:
            continue
        parts[seed] = number
        waiting = np.array([seed])
        while len(waiting):
            now, waiting = waiting[:_CHUNK], waiting[_CHUNK:]
            open_rows = np.flatnonzero(parts < 0)
            if not len(open_rows):
                return parts
            linked = (W[np.ix_(now, open_rows)] > eps * root[now, None] * root[open_rows]).any(axis=0)
            reached = open_rows[linked]
            parts[reached] = number
            waiting = np.concatenate([waiting, reached])
        number += 1
    return parts


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
