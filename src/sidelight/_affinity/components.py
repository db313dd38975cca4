"""Connected components of similarities, and the fragments too small to be clusters.

Lanczos methods are silently wrong on a graph with several components (a repeated eigenvalue is found once), so every
eigenproblem is split into components first. With bag constraints the parts are those of similarities, bags and shared
labels together: Q couples what W separates. Fragments are judged by W alone: each would take an eigenvector with
eigenvalue 1, and a few dozen of them would leave none for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

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
