"""The thesis' belief, [P17] chapter 4: logistic rules as particles, with exact inference on the forest of answers.

The Gaussian of the printed prior is centred on 0. Without answers its mode is W = 0, one cluster, and few answers make
little of it; centred on a start, a k-means clustering learnt by a ridge rule, many answers are needed where k-means is
wrong. Unless one of them is asked for, the prior is an even mixture of both, and the answers decide (decision 58).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._core.forest import spanning_edges
from sidelight._core.params import as_seed
from sidelight._core.simplex import softmax
from sidelight._solvers.descent import descend
from sidelight._solvers.rounding import round_by_kmeans
from sidelight.active.pair_messages import PairForest, best_labels, log_likelihood, pair_marginals
from sidelight.active.particles import move, resample
from sidelight.active.rows_of_belief import RowsOfBelief
from sidelight.estimators._base import reporting

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

START_RIDGE, SHARPNESS = 1.0, 4.0  # of the rule that a start is learnt by
CENTRES = ("either", "zero", "start")
_N_ASIDE, _ASIDE = 5, 0.1  # further starts of the best rule, and how far from the centre their weights lie
_HEAT = 20  # iterations after which starts are compared


@dataclass(frozen=True, slots=True)
class Prior:
    """Parameters of the model: [P17] eq. (4.3) and (4.4)."""

    n_clusters: int
    eps: float = 0.05
    tau: float = 1.0
    penalty: float = 10.0
    centre: str = "either"
    n_particles: int = 64
    n_moves: int = 3


class ParticleBelief(RowsOfBelief):
    """Rules W as particles, and what answers about pairs make of them."""

    def __init__(self, X: Any, prior: Prior, generator: np.random.Generator) -> None:
        dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        self.mean, spread = dense.mean(axis=0), dense.std(axis=0)
        self.scale = np.where(spread > 0, spread, 1.0)
        self.X = self._rows(dense)
        self.prior, self.n_rows, self.n_clusters = prior, len(self.X), prior.n_clusters
        self.eps, self.n_known, self.is_consistent = prior.eps, prior.n_clusters, True
        self.centres = self._centres(generator)
        self.left, self.right, self.same = (np.zeros(0, dtype=np.intp) for _ in range(3))
        self.spread = 1.0 / np.sqrt(prior.penalty)
        self.parts = np.arange(prior.n_particles) % len(self.centres)  # which Gaussian each particle belongs to
        drawn = self.centres[self.parts] + self.spread * generator.standard_normal(
            (prior.n_particles, self.centres.shape[1])
        )
        self.particles = self._moved(drawn, generator)

    def _rows(self, X: Floats) -> Floats:
        return np.column_stack([(X - self.mean) / self.scale, np.ones(len(X))])

    def _centres(self, generator: np.random.Generator) -> Floats:
        centres = [] if self.prior.centre == "start" else [np.zeros(self.X.shape[1] * self.prior.n_clusters)]
        return np.array(centres if self.prior.centre == "zero" else [*centres, self._start(generator)])

    def _start(self, generator: np.random.Generator) -> Floats:
        d, K = self.X.shape[1], self.prior.n_clusters
        labels = round_by_kmeans(self.X[:, :-1], K, seed=as_seed(generator), n_init=10)
        targets = np.eye(K)[labels] - 1.0 / K
        gram = self.X.T @ self.X / self.n_rows + START_RIDGE / d * np.eye(d)
        return np.asarray(SHARPNESS * np.linalg.solve(gram, self.X.T @ targets / self.n_rows)).ravel()

    @property
    def features(self) -> Floats:
        """The rows, standardised."""
        return np.asarray(self.X[:, :-1])

    @property
    def rows(self) -> list[int]:  # type: ignore[override] # here it follows from the answers
        """The rows asked about."""
        return [int(row) for row in self.asked]

    # -- the model ---------------------------------------------------------------------------------------------------

    def rules(self, W: Floats, rows: Any = slice(None)) -> Floats:
        """Return P (..., n, K) of the rules W (..., d K), for all rows or for some."""
        return softmax(np.matmul(self.X[rows], self._table(W)))

    def _table(self, W: Floats) -> Floats:
        return W.reshape(*W.shape[:-1], self.X.shape[1], self.prior.n_clusters)

    @property
    def asked(self) -> Ints:
        """The rows in answers, ascending."""
        return np.unique(np.concatenate([self.left, self.right]))

    def _forest(self) -> tuple[Ints, PairForest]:
        rows = self.asked
        ends = np.searchsorted(rows, self.left), np.searchsorted(rows, self.right)
        return rows, PairForest.of(ends[0], ends[1], self.same.astype(bool), len(rows))

    def _log_factor(self, W: Floats) -> Floats:
        """Log of everything but the Gaussian: log P(Z | W, X) - tau / N sum_i H(y_i | W, x_i)."""
        value = -self.prior.tau / self.n_rows * self._entropies(W)
        if len(self.left):
            rows, forest = self._forest()
            value = value + log_likelihood(self.rules(W, rows), forest, self.prior.eps)
        return np.asarray(value)

    def _entropies(self, W: Floats) -> Floats:
        """Return sum_i H(y_i | W, x_i) of each rule; rows lie along the last axis, which numpy sums fast."""
        logits = np.matmul(self._table(W).swapaxes(-2, -1), self.X.T)
        logits -= logits.max(axis=-2, keepdims=True)
        weights = np.exp(logits)
        totals = weights.sum(axis=-2)
        return np.asarray((np.log(totals) - (weights * logits).sum(axis=-2) / totals).sum(axis=-1))

    def tell(self, a: int, b: int, same: bool, generator: np.random.Generator) -> None:
        """Resample by the chance of the answer, then move: [P17] 4.3.3. An answer that closes a cycle is left out."""
        left, right = np.append(self.left, a), np.append(self.right, b)
        if not spanning_edges(left, right, self.n_rows)[-1]:
            return
        q = self.marginals()
        alike = np.einsum("sk,sk->s", q[:, a], q[:, b])
        chance = self.prior.eps + (1 - 2 * self.prior.eps) * alike
        kept = resample(np.log(np.maximum(chance if same else 1 - chance, 1e-300)), generator)
        self.left, self.right, self.same = left, right, np.append(self.same, int(same))
        self.parts = self.parts[kept]
        self.particles = self._moved(self.particles[kept], generator)

    def _moved(self, particles: Floats, generator: np.random.Generator) -> Floats:
        means = self.centres[self.parts]
        return move(particles, means, self.spread, self._log_factor, self.prior.n_moves, generator)

    def marginals(self) -> Floats:
        """Return p(label | answers, W) of every row under each particle."""
        q = self.rules(self.particles)
        if len(self.left):
            rows, forest = self._forest()
            q[:, rows] = pair_marginals(q[:, rows], forest, self.prior.eps)[0]
        return q

    # -- the best rule -----------------------------------------------------------------------------------------------

    def best_rule(self) -> Floats:
        """Return W_map of [P17] eq. (4.13), by L-BFGS with the exact gradient, the best of several starts.

        Where the prior is centred at zero the gradient there is exactly 0, because clusters may change places: a
        descent from it alone would stay whatever was answered. Small random rules and the best particle set out, too.
        """
        progress = reporting("finding the best rule")
        generator = np.random.default_rng(len(self.left))  # the same answers, the same rule
        joint = self._log_factor(self.particles)
        joint = joint - 0.5 * self.prior.penalty * ((self.particles - self.centres[self.parts]) ** 2).sum(axis=-1)
        best = self.particles[int(np.argmax(joint))]
        found = []
        for centre in self.centres:
            aside = [centre + _ASIDE * generator.normal(size=centre.size) for _ in range(_N_ASIDE)]
            objective = partial(self.negative_log_joint, centre=centre)
            found += [
                (descend(objective, start, max_iter=_HEAT, tol=1e-7), objective) for start in (centre, *aside, best)
            ]
        ahead = sorted(found, key=lambda end: end[0].value)[:2]
        ends = [descend(to, end.parameters, tol=1e-7, report=progress) for end, to in ahead]
        return min(ends, key=lambda end: end.value).parameters

    def negative_log_joint(self, W: Floats, centre: Floats) -> tuple[Floats, Floats]:
        """Return minus log P(W, Z | X) and its gradient, with the Gaussian at one of the centres.

        The last term of the gradient printed below (4.13) has the wrong sign; this one agrees with differences.
        """
        P = self.rules(W)
        log_P = np.log(np.maximum(P, 1e-300))
        away = W - centre
        weight = self.prior.tau / self.n_rows
        value = 0.5 * self.prior.penalty * away @ away - weight * (P * log_P).sum()
        G = -weight * P * (log_P - (P * log_P).sum(axis=1, keepdims=True))
        if len(self.left):
            rows, forest = self._forest()
            q, log_Z = pair_marginals(P[rows], forest, self.prior.eps)
            value -= float(log_Z)
            G[rows] -= q - P[rows]
        return np.asarray(value), (self.X.T @ G).ravel() + self.prior.penalty * away

    def posterior(self, X: Any = None) -> Floats:
        """Return P of the best rule, given the answers, for all rows or for new ones."""
        W = self._map()
        if X is not None:
            dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
            return np.asarray(softmax(self._rows(dense) @ W.reshape(-1, self.prior.n_clusters)))
        P = self.rules(W)
        if len(self.left):
            rows, forest = self._forest()
            P[rows] = pair_marginals(P[rows], forest, self.prior.eps)[0]
        return P

    def partition(self, generator: np.random.Generator) -> Ints:
        """Return the labels of the best rule; rows with answers by max-product."""
        P = self.rules(self._map())
        labels = P.argmax(axis=1)
        if len(self.left):
            rows, forest = self._forest()
            labels[rows] = best_labels(P[rows], forest, max(self.prior.eps, 1e-9))
        return np.asarray(labels)

    def _map(self) -> Floats:
        known = getattr(self, "_best", None)
        if known is None or known[0] != len(self.left):
            self._best = (len(self.left), self.best_rule())
        return self._best[1]
