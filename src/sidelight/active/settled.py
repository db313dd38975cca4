"""Where rows belong while all answers can be right: rows known to be alike, and which of them are known to differ.

Rows joined by "same" are a *block*. A block that differs from every cluster so far opens the next cluster, and clusters
stay in the order in which they were opened; with the number of clusters given, a block that differs from all but one
belongs to that one. Every other block is open: it may belong to each cluster that no answer excludes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

Ints = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]

OPEN = -1


@dataclass(frozen=True, slots=True)
class Settled:
    """What follows from answers that are all right.

    ``labels`` has the cluster of each row asked about, OPEN where answers do not say; ``excluded`` (n_asked,
    n_clusters) has the clusters that a row differs from; ``blocks`` has the block of each row, ``openers`` a row of the
    block that opened each cluster.
    """

    labels: Ints
    excluded: Bools
    blocks: Ints
    openers: tuple[int, ...]

    @property
    def n_clusters(self) -> int:
        """How many clusters were met."""
        return len(self.openers)

    @property
    def says_enough(self) -> bool:
        """Whether every row has a cluster or was compared with one; pairs chosen at random seldom say that much."""
        linked = (self.labels != OPEN) | self.excluded.any(axis=1)
        return bool(linked.all())


def consequences_of(links: Ints, n_asked: int, n_clusters: int | None, openers: tuple[int, ...] = ()) -> Settled | None:
    """Return what follows from answers, or None if they contradict each other.

    Parameters
    ----------
    links : array of shape (n_answers, 3)
        Two rows (numbered as they were asked about) and 1 for same, 0 for different.
    n_asked : int
        How many rows were asked about.
    n_clusters : int or None
        How many clusters there are, if that is known.
    openers : tuple of int
        Rows that opened a cluster before, the first one first; some were only believed to, and not compared with all.
    """
    n_blocks, blocks = _blocks(links, n_asked)
    differ = np.zeros((n_blocks, n_blocks), dtype=bool)
    apart = links[links[:, 2] == 0]
    differ[blocks[apart[:, 0]], blocks[apart[:, 1]]] = True
    differ |= differ.T
    if differ.diagonal().any():
        return None
    of_block, excluded = np.full(n_blocks, OPEN, dtype=np.intp), np.zeros((n_blocks, 0), dtype=bool)
    opened: list[int] = []
    while (found := _next_place(of_block, excluded, n_clusters, [int(blocks[t]) for t in openers])) is not None:
        block, cluster = found
        if cluster == len(opened):
            if cluster == n_clusters:
                return None  # it differs from all clusters there are
            excluded = np.column_stack([excluded, np.zeros(n_blocks, dtype=bool)])
            opened.append(int(np.argmax(blocks == block)))
        of_block[block] = cluster
        excluded[:, cluster] |= differ[block]
        if (excluded[:, cluster] & (of_block == cluster)).any():
            return None
    return Settled(of_block[blocks], excluded[blocks], blocks, tuple(opened))


def _next_place(of_block: Ints, excluded: Bools, n_clusters: int | None, openers: list[int]) -> tuple[int, int] | None:
    """Return the next block whose cluster follows, and that cluster; the next number is a new one."""
    n_known = excluded.shape[1]
    is_open = of_block == OPEN
    if n_known != n_clusters:
        opener = next((block for block in openers if is_open[block]), None)
        if opener is not None:
            return opener, n_known
    left = n_known - excluded.sum(axis=1)
    new = np.flatnonzero(is_open & (left == 0))
    if len(new):
        return int(new[0]), n_known
    if n_known != n_clusters:
        return None
    last = np.flatnonzero(is_open & (left == 1))
    return (int(last[0]), int(np.argmin(excluded[last[0]]))) if len(last) else None


def _blocks(links: Ints, n_asked: int) -> tuple[int, Any]:
    alike = links[links[:, 2] == 1]
    graph = coo_array((np.ones(len(alike), dtype=np.int8), (alike[:, 0], alike[:, 1])), shape=(n_asked, n_asked))
    return connected_components(graph)
