"""Info and Uncertain, [P17] eq. (4.6) and (4.7): the pair whose answer teaches most, by particles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._core.forest import components
from sidelight._core.simplex import binary_entropy

Floats = npt.NDArray[np.float64]

CANDIDATES = 50_000  # pairs that are looked at; all of them where there are no more
SCORED = 32  # particles that every pair is scored on
SHORTLIST = 2000  # of the best pairs are scored on all particles
BLOCK = 20_000
REFINED = 5  # one in so many of the pairs looked at are partners of rows whose drawn pairs score best


class CriterionStrategy:
    """Ask the pair of largest Info or Uncertain; where answers must form a forest, among those that close no cycle.

    A belief without particles has one probability for each row and cluster. Info is then the information about the
    labels of the two rows, and picks the same pair as Uncertain.

    Parameters
    ----------
    criterion : {"info", "uncertain"}
        What is maximised.
    n_candidates, n_scored : int
        Pairs looked at, and particles each is scored on; the best of them are then compared on all particles.
    """

    def __init__(self, criterion: str = "info", n_candidates: int = CANDIDATES, n_scored: int = SCORED) -> None:
        self.criterion, self.n_candidates, self.n_scored = criterion, n_candidates, n_scored

    def choose(
        self, belief: Any, asked: Any, generator: np.random.Generator, busy: frozenset[int] = frozenset()
    ) -> tuple[tuple[int, ...], float] | None:
        """Return the best candidate."""
        score = self._scores(belief)
        a, b = _pairs(belief.n_rows, self.n_candidates, generator)
        gains = score(a, b)
        if len(a) < belief.n_rows * (belief.n_rows - 1) // 2:
            left, right = _partners(a, b, gains, belief.n_rows, self.n_candidates // REFINED)
            gains = np.concatenate([gains, score(left, right)])
            a, b = np.concatenate([a, left]), np.concatenate([b, right])
        free = np.ones(len(a), dtype=bool)
        if busy:
            taken = np.isin(np.arange(belief.n_rows), list(busy))
            free = ~taken[a] & ~taken[b]
        if hasattr(belief, "marginals"):
            tree = components(belief.left, belief.right, belief.n_rows)
            free &= tree[a] != tree[b]
        a, b, gains = a[free], b[free], gains[free]
        order = np.argsort(-gains, kind="stable")
        best = order[:SHORTLIST]
        gains[best] = score(a[best], b[best], on_all=True)
        order[:SHORTLIST] = best[np.argsort(-gains[best], kind="stable")]
        for at in order:
            pair = (int(a[at]), int(b[at]))
            if not asked(*pair):
                return pair, float(gains[at])
        return None

    def _scores(self, belief: Any) -> Callable[..., Floats]:
        """Return what scores pairs, on some particles or on all."""
        if hasattr(belief, "marginals"):
            q = belief.marginals()
            return lambda a, b, on_all=False: self.gains(q if on_all else q[: self.n_scored], a, b, belief.eps)
        P, uncertain = np.asarray(belief.posterior(), dtype=np.float64)[None], CriterionStrategy("uncertain")
        least = float(binary_entropy(belief.eps))
        return lambda a, b, on_all=False: uncertain.gains(P, a, b, belief.eps) - least

    def gains(self, q: Floats, a: Any, b: Any, eps: float) -> Floats:
        """Score pairs by the particles' marginals q (S, n, K)."""
        out = np.empty(len(a))
        for begin in range(0, len(a), BLOCK):
            block = slice(begin, begin + BLOCK)
            alike = np.einsum("spk,spk->sp", q[:, a[block]], q[:, b[block]])
            same = eps + (1 - 2 * eps) * alike
            out[block] = binary_entropy(same.mean(axis=0))
            if self.criterion == "info":
                out[block] -= binary_entropy(same).mean(axis=0)
        return out

    def after_answer(self, belief: Any, rows: tuple[int, ...], answer: str) -> None:
        """Nothing to note."""


def _pairs(n: int, most: int, generator: np.random.Generator) -> tuple[Any, Any]:
    if n * (n - 1) // 2 <= most:
        a, b = np.triu_indices(n, 1)
        return a, b
    most -= most // REFINED
    a = generator.integers(n, size=most)
    b = (a + generator.integers(1, n, size=most)) % n
    return a, b


def _partners(a: Any, b: Any, gains: Floats, n: int, most: int) -> tuple[Any, Any]:
    """Return all pairs of the rows in the best pairs, ``most`` of them."""
    best = np.argsort(-gains, kind="stable")[: most // n + 1]
    rows = list(dict.fromkeys(np.column_stack([a[best], b[best]]).ravel().tolist()))[: most // n]
    left, right = np.repeat(rows, n).astype(np.intp), np.tile(np.arange(n), len(rows))
    other = left != right
    return left[other], right[other]
