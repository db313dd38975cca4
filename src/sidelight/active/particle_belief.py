"""The thesis' belief, [P17] chapter 4: logistic rules as particles, with exact inference on the forest of answers.

The Gaussian of the printed prior is centred on 0. Without answers its mode is W = 0, one cluster, and few answers make
little of it; centred on a start, a k-means clustering learnt by a ridge rule, many answers are needed where k-means is
wrong. Unless one of them is asked for, the prior is an even mixture of both, and the answers decide (decision 58).

Particles are resampled by weight and moved by elliptical slice sampling (Murray, Adams and MacKay 2010), which needs no
tuning and runs over all particles at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sidelight._core.forest import root_forest, spanning_edges
from sidelight._core.kernels import kernel
from sidelight._core.params import as_seed
from sidelight._core.prototypes import round_by_kmeans
from sidelight._core.simplex import softmax
from sidelight._solvers.descent import descend
from sidelight.active.belief import Belief, as_dense
from sidelight.estimators._base import reporting

Floats = npt.NDArray[np.float64]
Factor = Callable[[Floats], Floats]  # (n_particles, d) -> log factor of each


def resample(log_weights: Floats, generator: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return the particles to go on with, drawn by systematic resampling."""
    weights = np.exp(log_weights - log_weights.max())
    edges = np.cumsum(weights / weights.sum())
    points = (generator.random() + np.arange(len(weights))) / len(weights)
    return np.minimum(np.searchsorted(edges, points), len(weights) - 1).astype(np.intp)


def move(
    particles: Floats, mean: Floats, spread: float, factor: Factor, n_moves: int, generator: np.random.Generator
) -> Floats:
    """Move every particle ``n_moves`` times along ellipses through N(mean, spread^2 I), times the factor.

    ``mean`` is one for all particles, or one for each.
    """
    mean = np.broadcast_to(mean, particles.shape)
    states = particles - mean
    levels = factor(states + mean)
    for _ in range(n_moves):
        directions = spread * generator.standard_normal(states.shape)
        threshold = levels + np.log(generator.random(len(states)))
        angle = generator.uniform(0.0, 2 * np.pi, len(states))
        low, high = angle - 2 * np.pi, angle.copy()
        waiting = np.arange(len(states))
        moved, reached = states.copy(), levels.copy()
        while len(waiting):
            turn = angle[waiting][:, None]
            proposals = states[waiting] * np.cos(turn) + directions[waiting] * np.sin(turn)
            values = factor(proposals + mean[waiting])
            accepted = values > threshold[waiting]
            done = waiting[accepted]
            moved[done], reached[done] = proposals[accepted], values[accepted]
            waiting = waiting[~accepted]
            below = angle[waiting] < 0
            low[waiting] = np.where(below, angle[waiting], low[waiting])
            high[waiting] = np.where(below, high[waiting], angle[waiting])
            angle[waiting] = generator.uniform(low[waiting], high[waiting])
        states, levels = moved, reached
    return states + mean


# Exact inference on a forest of pair answers, in O(K) a message, for many parameters at once.
#
# An answer "same" has the table (1 - eps) on the diagonal and eps beside it, [P17] eq. (4.4), so a message is
# eps sum_j b(j) + (1 - 2 eps) b(k), and (1 - eps) sum_j b(j) - (1 - 2 eps) b(k) for "different".


Ints = npt.NDArray[np.intp]


class PairForest(NamedTuple):
    """Answers that close no cycle, hung from the lowest row of each tree."""

    parents: Ints
    same: npt.NDArray[np.bool_]  # the answer about each row and its parent; of no meaning at roots
    order: Ints  # every row after its parent

    @classmethod
    def of(cls, left: Ints, right: Ints, same: npt.NDArray[np.bool_], n_rows: int) -> PairForest:
        """Hang the answers; :class:`~sidelight.errors.InvalidData` when they close a cycle."""
        hung = root_forest(left, right, n_rows)
        along = np.zeros(n_rows, dtype=bool)
        has_parent = hung.edges >= 0
        along[has_parent] = same[hung.edges[has_parent]]
        return cls(hung.parents, along, hung.order)


@kernel("float64(float64[::1])")
def _normalise(weights: Floats) -> float:
    total = weights.sum()
    weights /= total
    return total


@kernel("void(float64[::1], boolean, float64, float64[::1])")
def _message(belief: Floats, same: bool, eps: float, message: Floats) -> None:
    """Write what a row tells its neighbour; ``belief`` sums to 1."""
    for k in range(len(belief)):
        message[k] = eps + (1 - 2 * eps) * belief[k] if same else (1 - eps) - (1 - 2 * eps) * belief[k]


def pair_marginals(P: Floats, forest: PairForest, eps: float) -> tuple[Floats, Floats]:
    """Return p(label of each row | answers) and the log probability of the answers; P has shape (..., n, K)."""
    q = np.array(P, dtype=np.float64, order="C")
    many = q.reshape(-1, *q.shape[-2:])
    log_Z = _pass_messages(many, forest.parents, forest.same, forest.order, eps, True)
    return many.reshape(q.shape), log_Z.reshape(q.shape[:-2])


def log_likelihood(P: Floats, forest: PairForest, eps: float) -> Floats:
    """Return the log probability of the answers alone, which needs the messages up the trees only."""
    many = np.array(P, dtype=np.float64, order="C").reshape(-1, *P.shape[-2:])
    return _pass_messages(many, forest.parents, forest.same, forest.order, eps, False).reshape(P.shape[:-2])


@kernel("float64[::1](float64[:, :, ::1], intp[::1], boolean[::1], intp[::1], float64, boolean)")
def _pass_messages(
    q: Floats, parents: Ints, same: npt.NDArray[np.bool_], order: Ints, eps: float, down: bool
) -> Floats:
    """Turn P into the marginals, in place: from the leaves up, and ``down`` again; return log p(answers)."""
    n_tables, n, K = q.shape
    log_Z, messages, without = np.zeros(n_tables), np.ones((n, K)), np.empty(K)
    for s in range(n_tables):
        for at in range(n - 1, -1, -1):
            v = order[at]
            log_Z[s] += np.log(_normalise(q[s, v]))
            if parents[v] >= 0:
                _message(q[s, v], same[v], eps, messages[v])
                q[s, parents[v]] *= messages[v]
        for v in order:
            if down and parents[v] >= 0:
                without[:] = q[s, parents[v]] / messages[v]
                _normalise(without)
                _message(without, same[v], eps, messages[v])
                q[s, v] *= messages[v]
                _normalise(q[s, v])
    return log_Z


def best_labels(P: Floats, forest: PairForest, eps: float) -> Ints:
    """Return the most probable labels of all rows together; P has shape (n, K), eps is above 0."""
    log_P = np.log(np.maximum(P, 1e-300))
    agree, differ = np.log(1 - eps), np.log(eps)
    score, choice = log_P.copy(), np.zeros(P.shape, dtype=np.intp)
    for v in forest.order[::-1]:
        parent = forest.parents[v]
        if parent < 0:
            continue
        on, off = (agree, differ) if forest.same[v] else (differ, agree)
        first = int(score[v].argmax())
        others = score[v].copy()
        others[first] = -np.inf
        second = int(others.argmax()) if len(others) > 1 else first
        best_other = np.where(np.arange(len(others)) == first, second, first)
        stay, leave = score[v] + on, score[v][best_other] + off
        if len(others) == 1:
            leave = np.full(1, -np.inf)
        choice[v] = np.where(stay >= leave, np.arange(len(others)), best_other)
        score[parent] += np.maximum(stay, leave)
    labels = np.empty(len(P), dtype=np.intp)
    for v in forest.order:
        parent = forest.parents[v]
        labels[v] = score[v].argmax() if parent < 0 else choice[v, labels[parent]]
    return labels


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


class ParticleBelief(Belief):
    """Rules W as particles, and what answers about pairs make of them."""

    def __init__(self, X: Any, prior: Prior, generator: np.random.Generator) -> None:
        dense = as_dense(X)
        self.mean, spread = dense.mean(axis=0), dense.std(axis=0)
        self.scale = np.where(spread > 0, spread, 1.0)
        self.X = self._rows(dense)
        self.prior, self.n_rows, self.n_clusters = prior, len(self.X), prior.n_clusters
        self.eps, self.n_known, self.is_consistent = prior.eps, prior.n_clusters, True
        self._best: tuple[int, Floats] | None = None  # the best rule, and after how many answers
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
            dense = as_dense(X)
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
        if self._best is None or self._best[0] != len(self.left):
            self._best = (len(self.left), self.best_rule())
        return self._best[1]
