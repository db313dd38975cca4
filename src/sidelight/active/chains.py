"""The labels of the rows asked about, sampled: answers may be wrong, and nobody knows how often.

A pool of chains holds labelings of these rows, each with its own share of wrong answers eps ~ Beta and its own view of
the rows. One wrong answer is outvoted by the others and by the rows; the pool then agrees again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betaln

from sidelight._core.matching import match_rows
from sidelight._core.simplex import softmax
from sidelight._solvers.label_chains import contract, sweep_chains
from sidelight.active.gaussian import NOISES

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

N_CHAINS, N_FRESH, N_SWEEPS = 32, 10, 6
ERRORS = (0.3, 6.0)  # Beta prior of the share of wrong answers: about 5 %, often nearly none
LEAST, MOST = 1e-4, 0.3  # shares are kept off certainty and off a coin toss: a chain may not ignore the answers
SPREAD = 0.75  # the clusters are told apart along (n_clusters - 1) ** SPREAD independent directions
HEAT = 5.0  # log odds by which a chain must be behind to count for a third
FEW = 2  # answers beyond the share MOST: a labeling that breaks more ignores them
DISMISSED = 1e3  # what the log odds of such a labeling fall by
MOST_COMPARED = 150  # rows by which chains are compared with each other
MOST_TRUST = 6.5  # log odds: an answer weighs no more than 650 to 1
SPARE_LABELS, MANY_LABELS = 2, 60  # clusters allowed beyond those met when their number is not known, and at most


def chance_of_new(labels: Ints) -> float:
    """Return the chance that the next row belongs to a cluster not met so far (Good and Turing)."""
    return (int((np.bincount(labels) == 1).sum()) + 0.5) / (len(labels) + 1.0)


def most_agreed(Z: Ints) -> int:
    """Return the chain whose labeling agrees with the others about most pairs of rows.

    >>> most_agreed(np.array([[0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 0, 0]]))
    1
    """
    shown = Z[:, :: max(Z.shape[1] // MOST_COMPARED, 1)]
    alike = (shown[:, :, None] == shown[:, None, :]).reshape(len(Z), -1).astype(np.float32)
    sizes = alike.sum(axis=1)
    agreement = 2.0 * alike @ alike.T - sizes[:, None] - sizes
    return int(agreement.sum(axis=1).argmax())


@dataclass(frozen=True, slots=True)
class Placed:
    """Where the rows asked about belong.

    ``q`` (n_asked, n_clusters + 1) has the probability of each cluster, and last of none of them; ``eps`` is the share
    of wrong answers.
    """

    q: Floats
    labels: Ints
    n_clusters: int
    eps: float


class LabelPool:
    """Chains over the labels of the rows asked about."""

    def __init__(self, n_clusters: int | None) -> None:
        self.n_clusters = n_clusters
        self.n_labels, self.n_met = n_clusters or 1 + SPARE_LABELS, 1
        self.Z = np.zeros((N_CHAINS, 0), dtype=np.intp)
        self.labels = np.zeros(0, dtype=np.intp)

    def start(self, labels: Ints) -> None:
        """Begin at labels that keep every answer."""
        self.labels = labels.copy()
        self.Z = np.tile(labels, (N_CHAINS, 1))
        self.n_met = int(labels.max()) + 1

    def add(self) -> None:
        """Take one more row; its label is sampled with the next ``place``."""
        self.Z = np.ascontiguousarray(np.column_stack([self.Z, np.zeros(N_CHAINS, dtype=np.intp)]))
        self.labels = np.append(self.labels, 0)

    def place(
        self, links: Ints, kernels: Floats, weights: Floats, log_prior: Floats, generator: np.random.Generator
    ) -> Placed:
        """Sample the labels again, after an answer.

        Parameters
        ----------
        links : array of shape (n_answers, 3)
            Two rows (numbered as they were asked about) and 1 for same, 0 for different.
        kernels : array of shape (n_views, n_asked, n_asked)
            Kernels among the rows asked about.
        weights, log_prior : array of shape (n_mixtures, n_views) and (n_mixtures,)
            Mixtures of views, and their prior.
        generator : numpy.random.Generator
            Draws everything.
        """
        self._make_room()
        n_asked = self.Z.shape[1]
        problem = self._problem(links, kernels, weights, log_prior)
        _, _, views = problem.sweep(self.Z, problem.draw_trust(self.Z, generator), 1.5, N_SWEEPS, generator)
        chances = 0.5 * views.mean(axis=0) + 0.5 / len(problem.C)
        if n_asked > 3:
            self._refresh(problem, chances, generator)
        energies, Q, _ = problem.sweep(self.Z, problem.draw_trust(self.Z, generator), 1.0, 1, generator)
        energies = energies + problem.answers(self.Z)
        shares = softmax(energies / HEAT)  # chains that are stuck at an improbable labeling count for less
        heeding = self.Z[energies > energies.max() - DISMISSED / 2.0]
        return self._agree(Q, heeding[most_agreed(heeding)], problem, shares)

    def _problem(self, links: Ints, kernels: Floats, weights: Floats, log_prior: Floats) -> _Problem:
        n_asked = self.Z.shape[1]
        votes = np.zeros((n_asked, n_asked))
        np.add.at(votes, (links[:, 0], links[:, 1]), 2.0 * links[:, 2] - 1.0)
        D = max((self.n_clusters or self.n_met) - 1.0, 1.0) ** SPREAD
        C, log_prior = _centred_inverses(kernels, weights, log_prior, D)
        chance = 0.5 if self.n_clusters else chance_of_new(self.labels)  # rows met make other clusters dear
        price = float(np.log(1.0 / chance - 1.0))
        return _Problem(C, log_prior, votes + votes.T, links, self.n_labels, D, price, self.n_met)

    def _make_room(self) -> None:
        """When the number of clusters is not known, allow some more than were met."""
        if self.n_clusters is None:
            self.n_labels = min(max(int(self.labels.max()) + 1, self.n_met) + SPARE_LABELS, MANY_LABELS)
            self.Z %= self.n_labels

    def _refresh(self, problem: _Problem, chances: Floats, generator: np.random.Generator) -> None:
        """Start chains anew from reweighted answers, views by ``chances``; each may replace an old one, by its odds."""
        n_asked = self.Z.shape[1]
        fresh = np.empty((N_FRESH, n_asked), dtype=np.intp)
        for f in range(N_FRESH):
            g = np.triu(generator.exponential(size=(n_asked, n_asked)), 1)
            fresh[f] = problem.contracted(2.5 * (g + g.T), chances, generator)
        problem.sweep(fresh, np.full(N_FRESH, 2.0), 2.0, N_SWEEPS, generator)
        new, _, _ = problem.sweep(fresh, problem.draw_trust(fresh, generator), 1.0, N_SWEEPS, generator)
        old, _, _ = problem.sweep(self.Z, problem.draw_trust(self.Z, generator), 1.0, 1, generator)
        new, old = new + problem.answers(fresh), old + problem.answers(self.Z)
        for f, r in enumerate(generator.permutation(N_CHAINS)[:N_FRESH]):
            if new[f] - old[r] > np.log(generator.random()):
                self.Z[r] = fresh[f]

    def _agree(self, Q: Floats, best: Ints, problem: _Problem, shares: Floats) -> Placed:
        """Number the labels of all chains like the last labels shown, and average their conditionals."""
        K, n_asked = self.n_labels, self.Z.shape[1]
        one_hot = np.eye(K)
        best = match_rows(one_hot[best].T @ one_hot[self.labels])[best]
        target, mean = one_hot[best], np.zeros((n_asked, K))
        for r, conditionals in enumerate(Q):
            onto = match_rows(one_hot[self.Z[r]].T @ target)
            mean[:, onto] += shares[r] * conditionals
            self.Z[r] = onto[self.Z[r]]
        labels = mean.argmax(axis=1)
        used = np.unique(labels)
        rest = np.setdiff1d(np.arange(K), used)
        number = np.empty(K, dtype=np.intp)
        number[np.concatenate([used, rest])] = np.arange(K)
        self.Z = np.ascontiguousarray(number[self.Z])
        self.labels = number[labels]
        q = np.column_stack([mean[:, used], mean[:, rest].sum(axis=1)])
        return Placed(q, self.labels.copy(), len(used), problem.expected_error(self.Z))


@dataclass(frozen=True, slots=True)
class _Problem:
    """One posterior over labels: kernels, answers and prior."""

    C: Floats
    log_prior: Floats
    votes: Floats
    links: Ints
    n_labels: int
    D: float
    price: float
    n_free: int

    def violated(self, Z: Ints) -> Ints:
        """How many answers each chain breaks."""
        alike = Z[:, self.links[:, 0]] == Z[:, self.links[:, 1]]
        return np.asarray((alike != self.links[:, 2].astype(bool)).sum(axis=1))

    def answers(self, Z: Ints) -> Floats:
        """The log likelihood of the answers under each chain, the share of wrong ones integrated out."""
        v, n = self.violated(Z), len(self.links)
        ignores = v > MOST * n + FEW
        return np.asarray(betaln(ERRORS[0] + v, ERRORS[1] + n - v) - betaln(*ERRORS) - DISMISSED * ignores)

    def contracted(self, weight: Any, chances: Floats, generator: np.random.Generator) -> Ints:
        """Join rows greedily by weighted answers, and by how alike they are in some view."""
        C = self.C[generator.choice(len(self.C), p=chances)]
        scale = np.sqrt(np.maximum(np.diag(C), 1e-12))
        likeness = -4.0 * C / np.outer(scale, scale) * generator.choice([0.5, 1.0, 2.0])
        labels = contract(np.ascontiguousarray(weight * self.votes + likeness), self.n_labels)
        return np.minimum(labels, self.n_labels - 1)

    def draw_trust(self, Z: Ints, generator: np.random.Generator) -> Floats:
        """Draw the share of wrong answers of each chain, as log odds."""
        v, n = self.violated(Z), len(self.links)
        eps = np.clip(generator.beta(ERRORS[0] + v, ERRORS[1] + n - v), LEAST, MOST)
        return np.clip(np.log((1 - eps) / eps), 0.0, MOST_TRUST)

    def expected_error(self, Z: Ints) -> float:
        """The expected share of wrong answers."""
        return float(((ERRORS[0] + self.violated(Z)) / (sum(ERRORS) + len(self.links))).mean())

    def sweep(self, Z: Ints, trust: Floats, hot: float, n_sweeps: int, generator: np.random.Generator) -> Any:
        """Sweep chains in place."""
        uniforms = generator.random((len(Z), 1 + n_sweeps * Z.shape[1]))
        return sweep_chains(
            Z, self.C, self.log_prior, self.votes, np.ascontiguousarray(trust, dtype=np.float64), self.n_labels, self.D,
            self.price, self.n_free, hot, 1.0, n_sweeps, uniforms,
        )  # fmt: skip


def _centred_inverses(kernels: Floats, weights: Floats, log_prior: Floats, D: float) -> tuple[Floats, Floats]:
    """C - C11'C / 1'C1 for every mixture of views and noise, and what determinant and prior say for each."""
    n_asked = kernels.shape[1]
    mixed = np.tensordot(weights, kernels, 1)[:, None] + NOISES[:, None, None] * np.eye(n_asked)
    C = np.linalg.inv(mixed).reshape(-1, n_asked, n_asked)
    sums = C.sum(axis=2)
    total = sums.sum(axis=1)
    log_det = np.linalg.slogdet(C)[1]
    prior = D / 2.0 * (log_det - np.log(np.maximum(total, 1e-300))) + np.repeat(log_prior, len(NOISES))
    centred = C - sums[:, :, None] * sums[:, None, :] / total[:, None, None]
    return np.ascontiguousarray(centred), np.ascontiguousarray(prior - prior.max())
