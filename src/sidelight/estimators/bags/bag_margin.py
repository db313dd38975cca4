"""How far the most decided row of a bag leans towards one cluster: the modified bag margin of [Z09] eq. (3).

The margin of a bag is convex in the weights (a maximum of linear functions), so its linear piece at the current
weights, one row and one cluster per bag, bounds it from below: that is all the concave-convex procedure needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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
