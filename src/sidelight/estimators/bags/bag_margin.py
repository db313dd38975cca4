"""How far the most decided row of a bag leans towards one cluster: the modified bag margin of [Z09] eq. (3).

The margin of a bag is convex in the weights (a maximum of linear functions), so its linear piece at the current
weights, one row and one cluster per bag, bounds it from below: that is all the concave-convex procedure needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sidelight._core.segments import segment_argmax, segment_max
from sidelight._models.scaled_rows import Floats, Ints, ScaledRows

_BLOCK_ROWS = 1 << 15  # rows scored together: the scores of a block stay in the cache


@dataclass(frozen=True, slots=True)
class BagPieces:
    """The linear piece of every bag's margin: [Z09] eq. (7), with ``rows`` the witnesses and ``clusters`` theirs.

    margins(W)[i] = k / (k - 1) * (W[clusters[i]] - W.mean(axis=0)) @ rows[i]
    """

    rows: ScaledRows
    clusters: Ints
    n_clusters: int

    @property
    def n_bags(self) -> int:
        """How many bags there are."""
        return len(self.clusters)

    def margins(self, W: Floats) -> Floats:
        """Return the linear piece of every bag at ``W``."""
        scores = self.rows.products(W)
        own = scores[np.arange(self.n_bags), self.clusters]
        return _factor(self.n_clusters) * (own - scores.mean(axis=1))

    def combine(self, weights: Floats) -> Floats:
        """Return the sum of the pieces' gradients, bag i counted ``weights[i]`` times; of the shape of W."""
        M = np.zeros((self.n_bags, self.n_clusters))
        M[np.arange(self.n_bags), self.clusters] = weights
        sums = self.rows.combine(M)
        return _factor(self.n_clusters) * (sums - sums.mean(axis=0))


@dataclass(frozen=True, slots=True)
class BagMargin:
    """The margins of bags of rows: those of bag b are ``order[starts[b]:starts[b + 1]]``, and none is empty."""

    rows: ScaledRows
    order: Ints
    starts: Ints

    @property
    def n_bags(self) -> int:
        """How many bags there are."""
        return len(self.starts) - 1

    def witnesses(self, W: Floats) -> tuple[Ints, Ints, Floats]:
        """Return the deciding row of every bag, the cluster it leans to, and its margin ([Z09] table 1, step 14)."""
        k = len(W)
        witness, cluster = np.empty(self.n_bags, dtype=np.intp), np.empty(self.n_bags, dtype=np.intp)
        margin = np.empty(self.n_bags)
        for bags, scores, local, rows in self._scored_blocks(W):
            leaning = scores.max(axis=1) - scores.mean(axis=1)
            at = segment_argmax(leaning, local)
            witness[bags], cluster[bags] = rows[at], scores[at].argmax(axis=1)
            margin[bags] = _factor(k) * leaning[at]
        return witness, cluster, margin

    def cluster_margins(self, W: Floats) -> Floats:
        """Return, for every bag and cluster, the margin of the bag's row that leans most to that cluster."""
        margins = np.empty((self.n_bags, len(W)))
        for bags, scores, local, _ in self._scored_blocks(W):
            scores -= scores.mean(axis=1, keepdims=True)
            margins[bags] = _factor(len(W)) * segment_max(scores, local)
        return margins

    def pieces(self, W: Floats) -> tuple[BagPieces, Floats]:
        """Return the linear pieces at ``W`` and the margins there, which the pieces attain."""
        witness, cluster, margin = self.witnesses(W)
        everyone = len(witness) == self.rows.n_rows and bool((witness == np.arange(len(witness))).all())
        rows = self.rows if everyone else self.rows.take(witness)  # bags of one row each: no second copy of X
        return BagPieces(rows, cluster, len(W)), margin

    def centre(self) -> Floats:
        """Return the sum over bags of the mean row of each: the vector of the balance constraint, [Z09] eq. (4).

        Centred rows in bags of one size add up to 0. What rounding leaves of that is no direction, so it is made 0.
        """
        sizes = np.diff(self.starts)
        weights = np.empty(len(self.order))
        weights[self.order] = np.repeat(1.0 / sizes, sizes)
        centre: Floats = self.rows.combine(weights[:, None])[0]
        rounding = len(weights) * np.finfo(np.float64).eps * self.rows.magnitude(weights)
        return np.where(np.abs(centre) > rounding, centre, 0.0)

    def _scored_blocks(self, W: Floats) -> Iterator[tuple[slice, Floats, Ints, Ints]]:
        """Yield runs of whole bags: which bags, the scores of their rows, where each bag starts, and the rows."""
        ends = self.starts
        in_order = bool((self.order[1:] > self.order[:-1]).all())
        first = 0
        while first < self.n_bags:
            reach = int(np.searchsorted(ends, ends[first] + _BLOCK_ROWS, side="right")) - 1
            last = min(max(reach, first + 1), self.n_bags)
            begin, end = int(ends[first]), int(ends[last])
            rows = self.order[begin:end]
            block = self.rows.take(slice(begin, end) if in_order else rows)
            yield slice(first, last), block.products(W), ends[first : last + 1] - begin, rows
            first = last


def _factor(k: int) -> float:
    return k / (k - 1) if k > 1 else 0.0  # one cluster alone has no margin over others


# Margins of bags judged by the best row for each cluster, with offsets that make clusters equally good on average.
#
# With M[i, p] the largest score of a row of bag i for cluster p, and h[p] its mean over bags, the margin of a bag is
#
# "rows":  f_i = k / (k - 1) * [max_p (M[i, p] - h[p]) + mean_q h[q]]      scores (W[p] - mean W) @ x, as in [Z09]
# "rest":  f_i = k / (k - 1) * [max_p s[i, p] - mean_q s[i, q]]             s = M - h, scores W[p] @ x
#
# Without the offsets h one direction serves all bags: a bag of many rows has one that is far along it. With one centred
# row in each bag h is 0 and both are the margin of [Z09] eq. (3).
#
# The concave-convex step: at the current W every bag has its cluster and its row. That row's score and +h are
# replaced by their linear pieces there, -h and the other best rows stay exact. What is left is concave, positively
# homogeneous, and never above f, so that J falls; its gradient anywhere gives a cut that needs no constant.


@dataclass(frozen=True, slots=True)
class BagMaxima:
    """The margins of bags of rows: those of bag b are ``order[starts[b]:starts[b + 1]]``, and none is empty."""

    rows: ScaledRows
    order: Ints
    starts: Ints
    rest: bool
    offsets: Floats | None = None  # of the training bags; None: the mean over these bags

    @property
    def n_bags(self) -> int:
        """How many bags there are."""
        return len(self.starts) - 1

    def best_rows(self, W: Floats) -> tuple[Ints, Floats]:
        """Return the best row of every bag for every cluster, and its score, both of shape (n_bags, n_clusters)."""
        scores = self.rows.products(W if self.rest else W - W.mean(axis=0))[self.order]
        at = segment_argmax(scores, self.starts)
        return self.order[at], np.take_along_axis(scores, at, axis=0)

    def mean_maxima(self, W: Floats) -> Floats:
        """Return h: the best score of a bag for each cluster, averaged over these bags."""
        return self.best_rows(W)[1].mean(axis=0)

    def cluster_margins(self, W: Floats) -> Floats:
        """Return, for every bag and cluster, the margin of the bag's row that leans most to that cluster."""
        return self._margins(self.best_rows(W)[1])

    def witnesses(self, W: Floats) -> tuple[Ints, Ints, Floats]:
        """Return the deciding row of every bag, the cluster it leans to, and its margin."""
        best, scores = self.best_rows(W)
        margins = self._margins(scores)
        cluster = margins.argmax(axis=1)
        bag = np.arange(self.n_bags)
        return best[bag, cluster], cluster, margins[bag, cluster]

    def pieces(self, W: Floats) -> tuple[MaximaPieces, Floats]:
        """Return the concave pieces at ``W`` and the margins there, which the pieces attain."""
        best, scores = self.best_rows(W)
        margins = self._margins(scores)
        cluster = margins.argmax(axis=1)
        return MaximaPieces(self, best, cluster, len(W)), margins.max(axis=1)

    def _margins(self, scores: Floats) -> Floats:
        k = scores.shape[1]
        h = scores.mean(axis=0) if self.offsets is None else self.offsets
        gained = scores - h
        shared = -gained.mean(axis=1, keepdims=True) if self.rest else h.mean()
        return _factor(k) * (gained + shared)


@dataclass(slots=True)
class MaximaPieces:
    """For every bag, the concave function that touches its margin where ``touching`` (its best rows) was taken."""

    bags: BagMaxima
    touching: Ints
    clusters: Ints
    n_clusters: int
    _best: Ints = field(init=False)  # best rows where the margins were last asked for

    def __post_init__(self) -> None:
        self._best = self.touching

    @property
    def n_bags(self) -> int:
        """How many bags there are."""
        return self.bags.n_bags

    def margins(self, W: Floats) -> Floats:
        """Return the value of every piece at ``W``."""
        if not W.any():  # every row is a best row: those of the last step will do
            self._best = self.touching
            return np.zeros(self.n_bags)
        scores = self.bags.rows.products(W if self.bags.rest else W - W.mean(axis=0))
        at = segment_argmax(scores[self.bags.order], self.bags.starts)
        self._best = self.bags.order[at]
        columns = np.arange(self.n_clusters)
        now, then = scores[self._best, columns], scores[self.touching, columns]
        own = then[np.arange(self.n_bags), self.clusters]
        shared = then.mean(axis=0).mean() - (now.mean(axis=1) if self.bags.rest else 0.0)
        return _factor(self.n_clusters) * (own - now.mean(axis=0)[self.clusters] + shared)

    def combine(self, weights: Floats) -> Floats:
        """Return the sum of the pieces' gradients where the margins were last asked for; of the shape of W."""
        n, k = self.n_bags, self.n_clusters
        columns = np.broadcast_to(np.arange(k), (n, k))
        of_cluster = np.bincount(self.clusters, weights, minlength=k)
        exact = np.full((n, k), of_cluster / -n)
        if self.bags.rest:
            exact -= weights[:, None] / k
        touching = np.full((n, k), weights.sum() / (n * k))
        touching[np.arange(n), self.clusters] += weights
        cells = self.bags.rows.n_rows * k
        M = np.bincount((self._best * k + columns).ravel(), exact.ravel(), minlength=cells)
        M += np.bincount((self.touching * k + columns).ravel(), touching.ravel(), minlength=cells)
        sums = self.bags.rows.combine(np.asarray(M, dtype=np.float64).reshape(-1, k))
        return _factor(k) * (sums if self.bags.rest else sums - sums.mean(axis=0))
