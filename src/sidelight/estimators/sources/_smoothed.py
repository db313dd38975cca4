"""Ragged borders of clusters made straight, where a straight border foretells the clusters as well as near rows do.

Clusters of a graph follow whatever rows happen to be near each other. Where they are round, a linear discriminant that
is learnt from them (one covariance for all, shrunk as Ledoit and Wolf (2004) do) has the better borders; where they
bend, it has none. Which of the two holds is asked of rows that the discriminant has not seen: it must foretell their
clusters as well as their neighbours in the graph do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.covariance import ledoit_wolf
from sklearn.utils.extmath import randomized_svd

from sidelight._core.params import as_seed
from sidelight._core.process import one_blas_thread

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_WORSE = 0.02  # share of rows that the discriminant may foretell less than neighbours do
_FOLDS = 5
_DIRECTIONS = 100  # at most, and no more than a quarter of the rows: with as many as rows every border fits
_ROWS_EACH = 4
_FEWEST = 40  # rows below which nothing can be foretold
_LEARNT_FROM, _ASKED, _BLOCK = 20_000, 4_000, 100_000  # rows that teach, rows that are foretold, rows judged at a time


def smoothed(rows: Floats, labels: Ints, n_clusters: int, graph: Any, generator: np.random.Generator) -> Ints:
    """Return labels with straight borders, or as they are where straight borders do not suit them.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Where distances mean something: prepared channels side by side.
    labels : ndarray of int
        The clusters of the graph.
    n_clusters : int
        Number of clusters.
    graph : CSR of shape (n_rows, n_rows)
        Similarities of near rows.
    generator : numpy.random.Generator
        Draws rows, and folds.
    """
    n = len(rows)
    if n < _FEWEST or len(np.unique(labels)) < 2:
        return labels
    few = _some(n, _LEARNT_FROM, generator)
    centre = rows[few].mean(axis=0)
    with one_blas_thread():
        axes = _leading_axes(rows[few] - centre, generator)
        near = rows[few] - centre if axes is None else (rows[few] - centre) @ axes
        if not _suits(near, labels[few], n_clusters, graph, few, labels, generator):
            return labels
        rule = Discriminant.learnt(near, labels[few], n_clusters)
        out = np.empty(n, dtype=np.intp)
        for at in range(0, n, _BLOCK):
            block = rows[at : at + _BLOCK] - centre
            out[at : at + _BLOCK] = rule(block if axes is None else block @ axes)
    return out if len(np.unique(out)) == len(np.unique(labels)) else labels  # no cluster loses its last row


@dataclass(frozen=True, slots=True)
class Discriminant:
    """Linear scores of clusters: x' S^-1 m_k - m_k' S^-1 m_k / 2 + log share_k; the largest wins."""

    slopes: Floats
    offsets: Floats

    @classmethod
    def learnt(cls, rows: Floats, labels: Ints, n_clusters: int) -> Self:
        """Learn means, one covariance and shares from labelled rows; clusters without rows never win."""
        sizes = np.bincount(labels, minlength=n_clusters).astype(np.float64)
        member = sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(n_clusters, len(labels)))
        means = (member @ rows) / np.maximum(sizes, 1.0)[:, None]
        covariance = ledoit_wolf(rows - means[labels], assume_centered=True)[0]
        slopes = np.linalg.lstsq(covariance, means.T, rcond=None)[
            0
        ]  # columns that never vary within clusters: no slope
        with np.errstate(divide="ignore"):
            offsets = np.log(sizes / len(labels)) - (means * slopes.T).sum(axis=1) / 2
        return cls(slopes, offsets)

    def __call__(self, rows: Floats) -> Ints:
        """Return the cluster of each row."""
        return np.asarray((rows @ self.slopes + self.offsets).argmax(axis=1), dtype=np.intp)


def _suits(
    near: Floats, own: Ints, n_clusters: int, graph: Any, few: Ints, labels: Ints, generator: np.random.Generator
) -> bool:
    """Say whether unseen rows are foretold by a discriminant about as well as by their neighbours."""
    fold = generator.permutation(len(near)) % _FOLDS
    asked = np.zeros(len(near), dtype=bool)
    asked[_some(len(near), _ASKED, generator)] = True
    n_right = 0
    for number in range(_FOLDS):
        now = asked & (fold == number)
        rule = Discriminant.learnt(near[fold != number], own[fold != number], n_clusters)
        n_right += int((rule(near[now]) == own[now]).sum())
    by_near = neighbours_say(graph, labels, few[asked], n_clusters)
    return n_right / asked.sum() >= float(np.mean(by_near == own[asked])) - _WORSE


def neighbours_say(graph: Any, labels: Ints, rows: Ints, n_clusters: int) -> Ints:
    """Return the cluster that most of the similarity of each row to others lies in."""
    member = sp.csr_array((np.ones(len(labels)), (np.arange(len(labels)), labels)), shape=(len(labels), n_clusters))
    votes = (graph[rows] @ member).toarray()
    votes[np.arange(len(rows)), labels[rows]] -= graph.diagonal()[rows]
    return np.asarray(votes.argmax(axis=1), dtype=np.intp)


def _leading_axes(centred: Floats, generator: np.random.Generator) -> Floats | None:
    """Return the directions in which rows differ most, or None where there are few columns anyway."""
    most = max(2, min(_DIRECTIONS, len(centred) // _ROWS_EACH))
    if centred.shape[1] <= most:
        return None
    return np.asarray(randomized_svd(centred, most, random_state=as_seed(generator))[2].T)


def _some(n: int, most: int, generator: np.random.Generator) -> Ints:
    return np.arange(n) if n <= most else np.sort(generator.choice(n, size=most, replace=False)).astype(np.intp)
