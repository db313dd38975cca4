"""Maximum margin by cutting planes inside a concave-convex procedure: [Z09] table 1.

Minimised over W, one row of weights per cluster:

    J(W) = |W|^2 / 2 + C * mean_i max(0, 1 - f_i(W))    such that  |(W[p] - W[q]) @ centre| <= balance  for all p, q

with f_i convex. Outside, each f_i is replaced by its linear piece at the current W, which can only raise J; inside,
the convex problem left over is solved by cuts (one slack, [Z09] eq. (12)) through a dual with one variable per cut.

Two departures. The k (k - 1) balance constraints of the paper are rank-deficient; here they read
low <= W[p] @ centre <= low + balance with a free ``low``: the same set, with 2 k multipliers. And J is
evaluated with the margins themselves, not with the pieces, so that the trace is comparable between steps and starts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_IDLE = 50  # a cut whose multiplier was 0 for so many rounds is dropped; it comes back if it is violated again
_MAX_CUTS = 2000  # [Z09] theorem 2 bounds the rounds by max(2/eps, 8 C R^2 / eps^2); a runaway stops here


class Pieces(Protocol):
    """Linear functions of W, one per bag."""

    @property
    def n_bags(self) -> int:
        """How many there are."""

    def margins(self, W: Floats) -> Floats:
        """Return their values at ``W``."""

    def combine(self, weights: Floats) -> Floats:
        """Return the weighted sum of their gradients."""


class Margins(Protocol):
    """Convex functions of W that have linear pieces."""

    def pieces(self, W: Floats) -> tuple[Any, Floats]:
        """Return the :class:`Pieces` that touch the margins at ``W``, and the margins."""


@dataclass(frozen=True, slots=True)
class MarginFit:
    """Where one start ended: weights, objective after every outer step, rounds inside each, and how it stopped."""

    W: Floats
    objectives: Floats
    rounds: npt.NDArray[np.intp]
    converged: bool

    @property
    def objective(self) -> float:
        """The objective at ``W``."""
        return float(self.objectives[-1])


def concave_convex(
    margins: Margins,
    start: Floats,
    *,
    C: float,
    centre: Floats,
    balance: float,
    tol: float,
    inner_tol: float,
    max_iter: int,
    report: Callable[[int, float], None] = lambda step, objective: None,
) -> MarginFit:
    """Descend from ``start`` until J falls by less than ``tol`` times itself; J never rises by more than C * inner_tol.

    Parameters
    ----------
    margins : Margins
        The convex functions f_i.
    start : array of shape (n_clusters, n_features)
        The first weights; only their linear pieces matter, so they need not be balanced.
    C, balance : float
        The price of a missed margin; the bound of the balance constraint (infinite for none).
    centre : array of shape (n_features,)
        The vector of the balance constraint.
    tol, inner_tol : float
        The paper's eps_1 (relative, on J) and eps_2 (absolute, on the mean missed margin).
    max_iter : int
        The most outer steps.
    report : callable
        Called with (step, J) after every outer step.
    """
    pieces, _ = margins.pieces(start)
    objectives: list[float] = []
    rounds: list[int] = []
    W, converged = start, False
    while not converged and len(rounds) < max_iter:
        W, n_rounds = cutting_planes(pieces, C=C, centre=centre, balance=balance, tol=inner_tol, like=W)
        pieces, values = margins.pieces(W)
        objectives.append(margin_objective(W, values, C))
        rounds.append(n_rounds)
        report(len(rounds), objectives[-1])
        # The paper compares J with a J of 1e-3 before the first step; there is nothing to compare yet.
        converged = len(rounds) > 1 and objectives[-2] - objectives[-1] <= tol * objectives[-2]
    return MarginFit(W, np.array(objectives), np.array(rounds, dtype=np.intp), converged)


def margin_objective(W: Floats, margins: Floats, C: float) -> float:
    """Return J: [Z09] eq. (6) with the best slacks."""
    return float(0.5 * np.sum(W * W) + C * np.mean(np.maximum(0.0, 1.0 - margins)))


def cutting_planes(
    pieces: Pieces, *, C: float, centre: Floats, balance: float, tol: float, like: Floats
) -> tuple[Floats, int]:
    """Solve [Z09] eq. (12) to ``tol``: return W, within C * tol of the least objective, and the number of rounds.

    ``like`` gives the shape of W. A cut is the mean gradient and the share of the bags that miss their margin.
    """
    n = pieces.n_bags
    length = float(np.linalg.norm(centre))
    direction, bound = (centre / length, balance / length) if length > 0 else (centre, np.inf)
    if bound >= 2 * np.sqrt(C):  # J(0) = C bounds |W| by sqrt(2 C): the constraint cannot be reached
        bound = np.inf
    cuts = _Cuts(direction, bound)
    W, slack, n_rounds = np.zeros_like(like), 0.0, 0
    while n_rounds < _MAX_CUTS:
        n_rounds += 1
        missed = 1.0 - pieces.margins(W)
        violated = missed >= 0  # eq. (16)
        if np.maximum(missed, 0.0).mean() <= slack + tol:  # eq. (14): the most violated constraint holds
            break
        cuts.add(pieces.combine(violated / n), float(violated.mean()))
        W, slack = cuts.solve(C)
    return W, n_rounds


class _Cuts:
    """The cuts so far, their Gram matrix, and the dual over their multipliers."""

    def __init__(self, direction: Floats, bound: float) -> None:
        self.direction, self.bound = direction, bound
        self.gradients: Floats = np.empty((0, 0, 0))
        self.gram: Floats = np.empty((0, 0))
        self.shares: Floats = np.empty(0)
        self.idle: npt.NDArray[np.intp] = np.empty(0, dtype=np.intp)

    def add(self, gradient: Floats, share: float) -> None:
        if self.bound == 0:  # the constraint fixes W[p] @ direction = 0: W lives in the rest of the space
            gradient = gradient - np.outer(gradient @ self.direction, self.direction)
        keep = self.idle < _IDLE
        old = self.gradients[keep] if len(self.shares) else np.empty((0, *gradient.shape))
        self.gradients = np.concatenate([old, gradient[None]])
        column = self.gradients.reshape(len(self.gradients), -1) @ gradient.ravel()
        gram = np.empty((len(column), len(column)))
        gram[:-1, :-1] = self.gram[np.ix_(keep, keep)]
        gram[-1], gram[:, -1] = column, column
        self.gram = gram
        self.shares = np.append(self.shares[keep], share)
        self.idle = np.append(self.idle[keep], 0)

    def solve(self, C: float) -> tuple[Floats, float]:
        """Return the best W under these cuts and its slack."""
        n_cuts = len(self.gradients)
        if 0 < self.bound < np.inf:
            leaning = self.gradients @ self.direction
            alpha, above, below = dual(self.gram, self.shares, C, leaning, self.bound)
            W = np.tensordot(alpha, self.gradients, axes=1) + np.outer(below - above, self.direction)
        else:
            alpha, _, _ = dual(self.gram, self.shares, C)
            W = np.tensordot(alpha, self.gradients, axes=1)
        self.idle = np.where(alpha > 1e-6 * alpha.max(), 0, self.idle + 1)  # an interior point never reaches 0 itself
        reached = self.gradients.reshape(n_cuts, -1) @ W.ravel()
        return W, max(0.0, float(np.max(self.shares - reached)))


def dual(
    gram: Floats, shares: Floats, C: float, leaning: Floats | None = None, bound: float = np.inf
) -> tuple[Floats, Floats, Floats]:
    """Solve the dual of [Z09] eq. (17): multipliers of the cuts, and of the upper and lower balance constraints.

    Minimise |W|^2 / 2 - shares @ alpha + bound * above.sum()  over  alpha, above, below >= 0, alpha.sum() <= C,
    above.sum() == below.sum(), where W = sum_r alpha[r] gradient[r] + outer(below - above, direction).

    Parameters
    ----------
    gram, shares : array of shape (n_cuts, n_cuts), (n_cuts,)
        Products of the cuts' gradients; the right hand sides of the cuts.
    C : float
        The price of the slack.
    leaning : array of shape (n_cuts, n_clusters), optional
        The cuts' gradients times the unit vector of the balance constraint; None for no such constraint.
    bound : float
        The balance allowed along that unit vector.
    """
    n_cuts = len(shares)
    k = 0 if leaning is None else leaning.shape[1]
    n = n_cuts + 2 * k
    P, cost = np.zeros((n, n), order="F"), np.zeros(n)
    P[:n_cuts, :n_cuts] = gram
    cost[:n_cuts] = -shares
    equal = right = None
    if leaning is not None:
        P[:n_cuts, n_cuts : n_cuts + k], P[:n_cuts, n_cuts + k :] = -leaning, leaning
        P[n_cuts:, :n_cuts] = P[:n_cuts, n_cuts:].T
        P[n_cuts:, n_cuts:] = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.eye(k))
        cost[n_cuts : n_cuts + k] = bound
        equal, right = np.zeros((1, n), order="F"), np.zeros(1)
        equal[0, n_cuts : n_cuts + k], equal[0, n_cuts + k :] = 1.0, -1.0
    total = np.zeros((1, n), order="F")
    total[0, :n_cuts] = 1.0
    solution = _interior_point(P, cost, equal, right, total, C)
    return solution[:n_cuts], solution[n_cuts : n_cuts + k], solution[n_cuts + k :]


def _interior_point(
    P: Floats, cost: Floats, equal: Floats | None, right: Floats | None, total: Floats, C: float
) -> Floats:
    import piqp

    solver = piqp.DenseSolver()
    n = len(cost)
    below, above = np.full(1, -np.inf), np.full(1, C)
    solver.setup(P, cost, equal, right, total, below, above, np.zeros(n), np.full(n, np.inf))
    status = solver.solve()
    if status not in (piqp.PIQP_SOLVED, piqp.PIQP_MAX_ITER_REACHED):
        raise FloatingPointError(f"the dual of {n} variables has no solution: {status}")
    solution: Floats = np.maximum(solver.result.x, 0.0)
    return solution
