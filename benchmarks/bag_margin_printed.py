"""The bag margin of [Z09] eq. (1), best score of a row less its second best, which the paper relaxes to (3).

It is a difference of convex functions, so that a linear piece at the current weights does not bound it from below and
the descent has no guarantee: that is why the paper leaves it, and why it lives with the benchmarks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight._core.segments import segment_argmax
from sidelight._models.scaled_rows import Floats, Ints, ScaledRows
from sidelight.estimators.bags.max_margin import BagMargin


@dataclass(frozen=True, slots=True)
class PrintedPieces:
    """margins(W)[i] = (W[first[i]] - W[second[i]]) @ rows[i], with both clusters as they were."""

    rows: ScaledRows
    first: Ints
    second: Ints
    n_clusters: int

    @property
    def n_bags(self) -> int:
        """How many bags there are."""
        return len(self.first)

    def margins(self, W: Floats) -> Floats:
        """Return the linear piece of every bag at ``W``."""
        scores, each = self.rows.products(W), np.arange(self.n_bags)
        return scores[each, self.first] - scores[each, self.second]

    def combine(self, weights: Floats) -> Floats:
        """Return the sum of the pieces' gradients, bag i counted ``weights[i]`` times."""
        M, each = np.zeros((self.n_bags, self.n_clusters)), np.arange(self.n_bags)
        M[each, self.first] += weights
        M[each, self.second] -= weights
        return self.rows.combine(M)


class PrintedMargin(BagMargin):
    """Bags by the row whose best score lies furthest above its second best."""

    def witnesses(self, W: Floats) -> tuple[Ints, Ints, Floats]:
        """Return the deciding row of every bag, the cluster it leans to, and its margin (1)."""
        witness, cluster, _, margin = self._decided(W)
        return witness, cluster, margin

    def pieces(self, W: Floats) -> tuple[PrintedPieces, Floats]:  # type: ignore[override] # other pieces, same use
        """Return the linear pieces at ``W`` and the margins there."""
        witness, first, second, margin = self._decided(W)
        return PrintedPieces(self.rows.take(witness), first, second, len(W)), margin

    def _decided(self, W: Floats) -> tuple[Ints, Ints, Ints, Floats]:
        witness, first, second = (np.empty(self.n_bags, dtype=np.intp) for _ in range(3))
        margin = np.empty(self.n_bags)
        for bags, scores, local, rows in self._scored_blocks(W):
            order = np.argsort(-scores, axis=1, kind="stable")[:, :2]
            top = np.take_along_axis(scores, order, axis=1)
            at = segment_argmax(top[:, 0] - top[:, 1], local)
            witness[bags], first[bags], second[bags] = rows[at], order[at, 0], order[at, 1]
            margin[bags] = (top[:, 0] - top[:, 1])[at]
        return witness, first, second, margin
