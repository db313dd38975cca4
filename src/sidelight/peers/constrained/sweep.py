"""Assignments in turn: every row takes its cheapest cluster, given where the rows linked to it are.

One kernel serves the constrained k-means methods. A link of rows i and j has a price that depends on their clusters:
alike rows in clusters k and l cost cut[m, k] + cut[m, l], differing rows in one cluster k cost join[m, k]. An infinite
price forbids.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.cluster import kmeans_plusplus

from sidelight._core.kernels import kernel
from sidelight._core.params import as_seed
from sidelight._core.prototypes import group_means, squared_distances

# First centres for clusterers with answers: rows that must link are a good guess of a cluster (Basu et al. 2002).


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


def centres_from_groups(X: Any, groups: Ints, n_clusters: int, generator: np.random.Generator) -> Floats:
    """Return the means of groups of linked rows, far from each other and large; k-means++ makes up for missing ones."""
    sizes = np.bincount(groups)
    several = np.flatnonzero(sizes > 1)
    place = np.full(len(sizes), -1, dtype=np.intp)
    place[several] = np.arange(len(several))
    rows = np.flatnonzero(place[groups] >= 0)
    if not len(several):
        return random_centres(X, n_clusters, generator)
    means = group_means(X[rows], place[groups[rows]], len(several))
    chosen = [int(np.argmax(sizes[several]))]
    nearest = squared_distances(means, means[chosen])[:, 0]
    while len(chosen) < min(n_clusters, len(several)):  # weighted farthest-first traversal
        chosen.append(int(np.argmax(nearest * sizes[several])))
        nearest = np.minimum(nearest, squared_distances(means, means[chosen[-1:]])[:, 0])
    return _filled(X, means[chosen], n_clusters, generator)


def random_centres(X: Any, n_clusters: int, generator: np.random.Generator) -> Floats:
    """Return rows chosen by k-means++."""
    centres, _ = kmeans_plusplus(X, n_clusters, random_state=as_seed(generator))
    return np.asarray(centres.toarray() if hasattr(centres, "toarray") else centres, dtype=np.float64)


def _filled(X: Any, centres: Floats, n_clusters: int, generator: np.random.Generator) -> Floats:
    """Add rows, each drawn with probability proportional to its squared distance from the centres so far."""
    while len(centres) < n_clusters:
        gaps = squared_distances(X, centres).min(axis=1)
        chances = gaps / gaps.sum() if gaps.sum() > 0 else np.full(len(gaps), 1.0 / len(gaps))
        row = X[[int(generator.choice(len(gaps), p=chances))]]
        centres = np.vstack([centres, row.toarray() if hasattr(row, "toarray") else row])
    return centres


def means_of(X: Any, labels: Ints, centres: Floats) -> Floats:
    """Return the mean row of each cluster; an empty one keeps its centre."""
    used = np.bincount(labels, minlength=len(centres)) > 0
    place = np.cumsum(used) - 1
    means = centres.copy()
    means[used] = group_means(X, place[labels], int(used.sum()))
    return means


NOWHERE = -1  # the label of a row that was not assigned yet


class Incidence(NamedTuple):
    """The links at each row: those of row i are ``links[starts[i]:starts[i + 1]]``, to ``others`` at these places."""

    starts: Ints
    others: Ints
    links: Ints

    @classmethod
    def of(cls, rows: Ints, n_rows: int) -> Incidence:
        """List both ends of every link."""
        here = np.concatenate([rows[:, 0], rows[:, 1]])
        there = np.concatenate([rows[:, 1], rows[:, 0]])
        order = np.argsort(here, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=n_rows))])
        links = np.tile(np.arange(len(rows)), 2)[order]
        return cls(starts.astype(np.intp), there[order].astype(np.intp), links.astype(np.intp))


def assign_in_turn(
    costs: Floats, labels: Ints, order: Ints, incidence: Incidence, same: npt.NDArray[np.bool_], prices: Floats
) -> int:
    """Assign the rows of ``order`` one after the other, in place; return the row that no cluster can take, or -1.

    Parameters
    ----------
    costs : array of shape (n_rows, n_clusters)
        What each row costs in each cluster by itself.
    labels : array of shape (n_rows,)
        Where rows are; -1 where they are nowhere yet, so that their links cost nothing.
    order : array of int
        The rows to assign.
    incidence : Incidence
        The links at each row.
    same : array of bool of shape (n_links,)
        Whether a link says alike.
    prices : array of shape (n_links, n_clusters)
        ``cut`` of alike and ``join`` of differing rows.
    """
    return int(
        _assign(
            np.ascontiguousarray(costs), labels, np.array(order, dtype=np.intp), *incidence,
            np.array(same, dtype=np.intp), np.ascontiguousarray(prices),
        )
    )  # fmt: skip


@kernel("intp(float64[:, ::1], intp[::1], intp[::1], intp[::1], intp[::1], intp[::1], intp[::1], float64[:, ::1])")
def _assign(
    costs: Floats, labels: Ints, order: Ints, starts: Ints, others: Ints, links: Ints, same: Ints, prices: Floats
) -> int:
    K = costs.shape[1]
    total = np.empty(K)
    for i in order:
        for k in range(K):
            total[k] = costs[i, k]
        for place in range(starts[i], starts[i + 1]):
            at = labels[others[place]]
            if at < 0 or others[place] == i:
                continue
            m = links[place]
            if same[m]:
                for k in range(K):
                    if k != at:
                        total[k] += prices[m, k] + prices[m, at]
            else:
                total[at] += prices[m, at]
        best = 0
        for k in range(1, K):
            if total[k] < total[best]:
                best = k
        if total[best] == np.inf:
            return i
        labels[i] = best
    return -1


def broken_links(labels: Ints, rows: Ints, same: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Say which links the labels break."""
    return (labels[rows[:, 0]] == labels[rows[:, 1]]) != same


def price_of_broken(labels: Ints, rows: Ints, same: npt.NDArray[np.bool_], prices: Floats) -> float:
    """Return what the broken links cost together."""
    broken = np.flatnonzero(broken_links(labels, rows, same))
    left, right = labels[rows[broken, 0]], labels[rows[broken, 1]]
    cost = prices[broken, left] + np.where(same[broken], prices[broken, right], 0.0)
    return float(cost.sum())
