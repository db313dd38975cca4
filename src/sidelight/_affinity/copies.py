"""Copies and near copies among things that a network described: much nearer to each other than things usually are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

NEAR = 0.3  # of the upper quartile of distances to the nearest other: saved again, smaller or with less edge
FEWEST = 12  # things of which a usual distance can be told
NARROW = 16  # numbers of a thing below which some lie so near by chance
MOST = 10_000  # things that are compared with all others
_BLOCK = 1000


def near_copies(M: np.ndarray) -> np.ndarray:
    """Return the first thing that each is a copy of, exactly or nearly; its own number where it is none.

    Both 1 - cosine about the mean and the squared distance are much shorter than usual. Where things are few, very many
    or told by few numbers, only exact copies are told.

    Parameters
    ----------
    M : ndarray of shape (n_things, n_numbers)
        What is known of each thing.
    """
    exact = np.unique(M, axis=0, return_inverse=True)[1].ravel()
    first = np.full(exact.max(initial=-1) + 1, len(M))
    np.minimum.at(first, exact, np.arange(len(M)))
    distinct = np.sort(first)
    if not FEWEST <= len(distinct) <= MOST or M.shape[1] < NARROW:
        return first[exact]
    group = _joined(M[distinct].astype(np.float64, copy=False))
    found = np.arange(len(M))
    found[distinct] = distinct[group]
    return found[first[exact]]


def _joined(M: np.ndarray) -> np.ndarray:
    """Return the first of those that each of some different things is joined to by short distances."""
    M = M - M.mean(axis=0)
    near_by_both = None
    for measure in (_angles, _squares):  # far out, many things lie in one direction; in the middle, all lie close
        nearest = np.concatenate([apart.min(axis=1) for _, apart in measure(M)])
        most = NEAR * float(np.quantile(nearest, 0.75))
        ends = np.hstack([np.add([[begin], [0]], np.nonzero(apart <= most)) for begin, apart in measure(M)])
        near = csr_array((np.ones(ends.shape[1]), tuple(ends)), shape=(len(M), len(M)))
        near_by_both = near if near_by_both is None else near_by_both.multiply(near)
    group = connected_components(near_by_both, directed=False)[1]
    first = np.full(len(M), len(M))
    np.minimum.at(first, group, np.arange(len(M)))
    return first[group]


def _angles(M: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield 1 - cosine of a block of things to all, with the number of its first; a thing is far from itself."""
    lengths = np.linalg.norm(M, axis=1, keepdims=True)
    M = M / np.where(lengths > 0, lengths, 1.0)
    for begin in range(0, len(M), _BLOCK):
        yield begin, _but_itself(1.0 - M[begin : begin + _BLOCK] @ M.T, begin)


def _squares(M: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield squared distances in the same way."""
    squares = np.einsum("ij,ij->i", M, M)
    for begin in range(0, len(M), _BLOCK):
        some = slice(begin, begin + _BLOCK)
        yield begin, _but_itself(squares[some, None] + squares - 2.0 * (M[some] @ M.T), begin)


def _but_itself(apart: np.ndarray, begin: int) -> np.ndarray:
    apart[np.arange(len(apart)), begin + np.arange(len(apart))] = np.inf
    return apart
