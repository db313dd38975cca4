"""One logistic score per label: scores[i, c] = x_i . V_c + b_c, fitted to soft targets with weights.

value(V, b) = sum_ic both[i, c] * s - parent[i, c] * log(1 + e^s)  -  penalty / 2 |V|^2  -  0.0005 |b|^2

This is the part of [P17] eq. (5.6) that the weights enter: ``both`` = Q(parent on, label on), ``parent`` = Q(parent
on). The ridge is counted once, on rows scaled as :class:`~sidelight._models.scaled_rows.ScaledRows` does (the thesis
divides by the number of features twice). The bias is as good as free: its tiny ridge keeps a label that is always on
finite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sidelight._core.label_passes import logistic_residual
from sidelight._core.process import for_each_in_threads, map_in_threads
from sidelight._models.scaled_rows import ScaledRows

Floats = NDArray[np.float64]

_BLOCK = 1 << 21  # entries of X or of the scores that one task looks at: 16 MB
_BIAS_PENALTY = 1e-3  # a bias of 7 (one row in a thousand) costs 0.02 nats


@dataclass(frozen=True, slots=True)
class LabelLogits:
    """What L-BFGS goes down: ``objective(theta)`` returns minus the value above, and its gradient."""

    rows: ScaledRows | None  # None: no features, a bias per label
    n_rows: int
    n_labels: int
    penalty: float

    @property
    def n_features(self) -> int:
        """The number of features, 0 when there are no rows."""
        return 0 if self.rows is None else len(self.rows.mean)

    def unpack(self, theta: Floats) -> tuple[Floats, Floats]:
        """Split ``theta`` into views V (labels x features) and b."""
        weights = self.n_labels * self.n_features
        return theta[:weights].reshape(self.n_labels, self.n_features), theta[weights:]

    def start(self) -> Floats:
        """Return weights of zero."""
        return np.zeros(self.n_labels * (self.n_features + 1))

    def scores(self, theta: Floats) -> Floats:
        """Return the score of every label for every row."""
        V, b = self.unpack(theta)
        scores = np.empty((self.n_rows, self.n_labels))
        scores[:] = b
        rows = self.rows
        if rows is not None:
            for_each_in_threads(
                lambda part: np.add(scores[part], rows.take(part).products(V), out=scores[part]), self._parts()
            )
        return scores

    def in_units_of_x(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return weights (features x labels) and intercepts for rows that were not scaled."""
        V, b = self.unpack(theta)
        if self.rows is None:
            return np.zeros((0, self.n_labels)), b.copy()
        scaled = V * self.rows.inverse_scale
        return scaled.T.copy(), b - scaled @ self.rows.mean

    def ridge(self, theta: Floats) -> float:
        """Return what the penalty takes off the value."""
        V, b = self.unpack(theta)
        return 0.5 * (self.penalty * float(np.vdot(V, V)) + _BIAS_PENALTY * float(b @ b))

    def ridge_gradient(self, theta: Floats) -> Floats:
        """Return the gradient of :meth:`ridge`."""
        gradient = np.empty_like(theta)
        (V, b), (grad_V, grad_b) = self.unpack(theta), self.unpack(gradient)
        grad_V[:], grad_b[:] = self.penalty * V, _BIAS_PENALTY * b
        return gradient

    def loss(self, theta: Floats, both: Floats, parent: Floats) -> tuple[float, Floats]:
        """Return minus the value and its gradient for targets that are known."""
        return self.pull(theta, lambda part, scores: logistic_residual(scores, both[part], parent[part]))

    def pull(self, theta: Floats, judge: Callable[[slice, Floats], tuple[float, Floats]]) -> tuple[float, Floats]:
        """Return what the ridge and minus the rows are worth, and the gradient.

        Rows are taken in fixed blocks, in threads when there are many; each is scored, judged and pulled back while it
        is in the cache.

        Parameters
        ----------
        theta : array
            The weights.
        judge : callable
            Called with the rows of a block and their scores; returns their value and its gradient by the scores.
        """
        V, b = self.unpack(theta)

        def work(part: slice) -> tuple[float, Floats | None, Floats]:
            rows = None if self.rows is None else self.rows.take(part)
            products = np.zeros((part.stop - part.start, self.n_labels)) if rows is None else rows.products(V)
            value, residual = judge(part, np.ascontiguousarray(products + b))
            return value, None if rows is None else rows.combine(residual), residual.sum(axis=0)

        value, gradient = self.ridge(theta), self.ridge_gradient(theta)
        grad_V, grad_b = self.unpack(gradient)
        for part_value, pulled, total in map_in_threads(work, self._parts()):
            value -= part_value
            grad_b -= total
            if pulled is not None:
                grad_V -= pulled
        return value, gradient

    def _parts(self) -> list[slice]:
        """Cut the rows into blocks that do not depend on the number of threads."""
        size = max(1, _BLOCK // max(self.n_features, self.n_labels))
        return [slice(start, min(start + size, self.n_rows)) for start in range(0, self.n_rows, size)]


def one_scale(X: object) -> tuple[Floats, Floats]:
    """Return the mean of every column and one inverse scale for all: centred rows have mean square 1 an entry."""
    from sidelight._models.scaled_rows import column_scaling

    mean, inverse = column_scaling(X)
    deviation = np.divide(1.0, inverse, out=np.zeros_like(inverse), where=inverse > 0)
    # column_scaling divides by sqrt(number of columns that vary) too; undo it before averaging the squares
    deviation /= np.sqrt(max(1, int(np.count_nonzero(inverse))))
    root_mean_square = float(np.sqrt(np.mean(deviation**2))) if len(deviation) else 0.0
    return mean, np.full(len(mean), 1.0 / root_mean_square if root_mean_square > 0 else 0.0)
