"""The labels of the rows asked about, sampled: answers may be wrong, at an unknown rate.

A pool of chains holds labelings of these rows, each with its own share of wrong answers eps ~ Beta and its own view of
the rows. One wrong answer is outvoted by the others and by the rows; the pool then agrees again. A chain moves by
:mod:`sidelight.active.label_chains`, and all chains that heed the answers count alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from sidelight._core.matching import match_rows
from sidelight.active.gaussian import NOISES
from sidelight.active.label_chains import contract, sweep_chains

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

N_CHAINS, N_SWEEPS = 32, 3
ROUNDS = 6  # at most, while one step changes the number of clusters
ANOTHER_ROUND = -1  # no number of clusters
MANY_AT_ONCE = 2  # more rows than that at once, and chains begin anew
ERRORS = (0.3, 6.0)  # Beta prior of the share of wrong answers: about 5 %, often nearly none
LEAST, MOST = 1e-4, 0.3  # shares are kept off certainty and off a coin toss: a chain may not ignore the answers
SPREAD = 0.75  # the clusters are told apart along (n_clusters - 1) ** SPREAD independent directions
FEW = 2  # answers beyond the share MOST: a labeling that breaks more ignores them
MOST_COMPARED = 150  # rows by which chains are compared with each other
MOST_TRUST = 6.5  # log odds: an answer weighs no more than 650 to 1
SPARE_LABELS = 2  # clusters allowed beyond those met when their number is not known
FEW_MET, ENOUGH_ROWS = 3, 15  # clusters met among so many rows, up to which and from which a further one is dear
DEARER = (1.5, 1.0)  # what the price of such a cluster is multiplied by, and nats that are added
MANY_LABELS = 60  # clusters met from which no further ones are allowed


def chance_of_new(labels: Ints) -> float:
    """Return the chance that the next row belongs to a cluster not met so far (Good and Turing)."""
    return (int((np.bincount(labels) == 1).sum()) + 0.5) / (len(labels) + 1.0)


def price_of_cluster(n_rows: int, n_clusters: int) -> float:
    """Return what one cluster more costs when their number is not known, in nats.

    It is log(n / alpha), with the alpha for which n rows of Ewens' sampling formula are expected in so many clusters,
    alpha log(1 + n / alpha): many clusters among few rows make the next one cheap. Where no more than ``FEW_MET`` were
    met among ``ENOUGH_ROWS`` a further one costs more: wrong answers would open it.

    >>> [round(price_of_cluster(50, n_clusters), 1) for n_clusters in (2, 10)]
    [8.2, 2.6]
    """
    if n_clusters >= n_rows:
        return 0.0

    def too_many(log_alpha: float) -> float:
        return float(np.exp(log_alpha) * np.log1p(n_rows * np.exp(-log_alpha)) - n_clusters)

    log_alpha = brentq(too_many, -50.0, 2.0 * np.log(n_rows) + 10.0)
    price = max(float(np.log(n_rows) - log_alpha), 0.0)
    return DEARER[0] * price + DEARER[1] if n_clusters <= FEW_MET and n_rows >= ENOUGH_ROWS else price


def effective_number(labels: Ints) -> float:
    """Return how many clusters of equal size are as even as these (Simpson): rows met alone hardly count.

    >>> round(effective_number(np.array([0] * 20 + [1] * 20 + [2])), 1)
    2.1
    """
    return float(1.0 / np.sum((np.bincount(labels) / len(labels)) ** 2))


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
    of wrong answers, and ``wrong`` the chance of each answer to be wrong.
    """

    q: Floats
    labels: Ints
    n_clusters: int
    eps: float
    wrong: Floats


class LabelPool:
    """Chains over the labels of the rows asked about."""

    def __init__(self, n_clusters: int | None) -> None:
        self.n_clusters = n_clusters
        self.n_labels = n_clusters or 1 + SPARE_LABELS
        self.Z = np.zeros((N_CHAINS, 0), dtype=np.intp)
        self.labels = np.zeros(0, dtype=np.intp)
        self.n_unplaced = 0

    def start(self, labels: Ints) -> None:
        """Begin at labels that keep every answer."""
        self.labels = labels.copy()
        self.Z = np.tile(labels, (N_CHAINS, 1))
        self.n_unplaced = 0

    def add(self, n_rows: int) -> None:
        """Take further rows; their labels are sampled with the next ``place``."""
        self.Z = np.ascontiguousarray(np.column_stack([self.Z, np.zeros((N_CHAINS, n_rows), dtype=np.intp)]))
        self.labels = np.append(self.labels, np.zeros(n_rows, dtype=self.labels.dtype))
        self.n_unplaced += n_rows

    def open_row_chances(
        self,
        links: Ints,
        kernels: Floats,
        weights: Floats,
        log_prior: Floats,
        generator: np.random.Generator,
        *,
        most_weighed: int | None = None,
        answer_weights: Floats | None = None,
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
        most_weighed : int or None
            The number of rows that the kernels speak for, if not for all.
        answer_weights : array of shape (n_answers,) or None
            What each answer weighs, if not all weigh alike.
        """
        for _ in range(ROUNDS):
            n_met = self._make_room()
            problem = self._problem(links, kernels, weights, log_prior, n_met, most_weighed, answer_weights)
            if self.n_unplaced > MANY_AT_ONCE:
                problem, n_met = self._begin_anew(problem, generator), ANOTHER_ROUND
            self.n_unplaced = 0
            wider = replace(problem, n_labels=self._n_wider)
            wider.sweep(self.Z, wider.draw_trust(self.Z, generator), N_SWEEPS, generator)
            self._keep_allowed(generator)
            Q = problem.sweep(self.Z, problem.draw_trust(self.Z, generator), N_SWEEPS, generator)
            placed = self._agree(Q, problem)
            if self.n_clusters is not None or placed.n_clusters == n_met:
                break  # else the price of a cluster and the labels allowed have changed
        return placed

    def _problem(
        self,
        links: Ints,
        kernels: Floats,
        weights: Floats,
        log_prior: Floats,
        n_met: int,
        most_weighed: int | None = None,
        answer_weights: Floats | None = None,
    ) -> _Problem:
        n_asked = self.Z.shape[1]
        votes = np.zeros((n_asked, n_asked))
        said = 2.0 * links[:, 2] - 1.0
        np.add.at(votes, (links[:, 0], links[:, 1]), said if answer_weights is None else said * answer_weights)
        D = max((self.n_clusters or effective_number(self.labels)) - 1.0, 1.0) ** SPREAD
        if most_weighed is not None and n_asked > most_weighed:
            D *= (most_weighed - 1.0) / (n_asked - 1.0)
        C, log_prior = _centred_inverses(kernels, weights, log_prior, D)
        price = price_of_cluster(n_asked, n_met)
        ends = np.unique(np.sort(links[:, :2], axis=1), axis=0)
        return _Problem(C, log_prior, votes + votes.T, links, ends, self.n_labels, D, price, self.n_clusters or 1)

    def _make_room(self) -> int:
        """Return how many clusters were met; when their number is not known, allow some more."""
        if self.n_clusters is None:
            n_named = int(self.labels.max()) + 1
            self.n_labels = max(n_named, min(n_named + SPARE_LABELS, MANY_LABELS))
            self.Z %= self.n_labels
        return len(np.unique(self.labels))

    def _begin_anew(self, problem: _Problem, generator: np.random.Generator) -> _Problem:
        """Start every chain by joining rows; where the number of clusters is not known, with many labels at first."""
        n_asked = self.Z.shape[1]
        if self.n_clusters is None:
            self.n_labels = min(n_asked, MANY_LABELS)
            problem = replace(problem, n_labels=self.n_labels)
        self.Z = np.stack([problem.contracted(generator) for _ in range(N_CHAINS)])
        n_met = int(np.median([len(np.unique(z)) for z in self.Z]))
        return replace(problem, price=price_of_cluster(n_asked, n_met))

    @property
    def _n_wider(self) -> int:
        """Labels for the first sweeps: with some to spare, one cluster can be split before two others are joined."""
        return self.n_labels if self.n_clusters in (None, 1, 2) else self.n_labels + SPARE_LABELS

    def _keep_allowed(self, generator: np.random.Generator) -> None:
        """Go on from labelings with as many labels as are allowed: the others take one of those, drawn at random."""
        used = np.array([len(np.unique(z)) for z in self.Z])
        allowed = np.flatnonzero(used <= self.n_labels)
        if len(allowed):
            bad = np.flatnonzero(used > self.n_labels)
            self.Z[bad] = self.Z[generator.choice(allowed, len(bad))]
        if self._n_wider > self.n_labels:
            self.Z = np.stack([np.unique(z, return_inverse=True)[1] % self.n_labels for z in self.Z])

    def _agree(self, Q: Floats, problem: _Problem) -> Placed:
        """Number the labels of all chains like the last labels shown, and average their conditionals."""
        heed = problem.heed(self.Z)
        best = self.Z[heed][most_agreed(self.Z[heed])]
        K, n_asked = self.n_labels, self.Z.shape[1]
        one_hot = np.eye(K)
        best = match_rows(one_hot[best].T @ one_hot[self.labels])[best]
        target, mean = one_hot[best], np.zeros((n_asked, K))
        for r, conditionals in enumerate(Q):
            onto = match_rows(one_hot[self.Z[r]].T @ target)
            mean[:, onto] += heed[r] * conditionals / heed.sum()
            self.Z[r] = onto[self.Z[r]]
        labels = mean.argmax(axis=1)
        if not problem.broken(best[None]).any() and problem.broken(labels[None]).any():
            labels = best  # each row's likeliest label may break answers that the labels together keep
        used = np.unique(labels)
        rest = np.setdiff1d(np.arange(K), used)
        number = np.empty(K, dtype=np.intp)
        number[np.concatenate([used, rest])] = np.arange(K)
        self.Z = np.ascontiguousarray(number[self.Z])
        self.labels = number[labels]
        q = np.column_stack([mean[:, used], mean[:, rest].sum(axis=1)])
        wrong = problem.broken(self.Z[heed]).mean(axis=0)
        return Placed(q, self.labels.copy(), len(used), problem.expected_error(self.Z), wrong)


@dataclass(frozen=True, slots=True)
class _Problem:
    """One posterior over labels: kernels, answers and prior."""

    C: Floats
    log_prior: Floats
    votes: Floats
    links: Ints
    ends: Ints
    n_labels: int
    D: float
    price: float
    n_free: int

    def broken(self, Z: Ints) -> npt.NDArray[np.bool_]:
        """Say which answers each chain breaks."""
        alike = Z[:, self.links[:, 0]] == Z[:, self.links[:, 1]]
        return np.asarray(alike != self.links[:, 2].astype(bool))

    def violated(self, Z: Ints) -> Ints:
        """How many answers each chain breaks."""
        return np.asarray(self.broken(Z).sum(axis=1))

    def heed(self, Z: Ints) -> npt.NDArray[np.bool_]:
        """Say which chains keep enough answers to be listened to; all where none does."""
        enough = self.violated(Z) <= MOST * len(self.links) + FEW
        return enough if enough.any() else ~enough

    def contracted(self, generator: np.random.Generator) -> Ints:
        """Return where to begin: rows joined greedily by reweighted answers, and by how alike they are in some view."""
        n_asked = len(self.votes)
        weight = np.triu(generator.exponential(size=(n_asked, n_asked)), 1)
        C = self.C[generator.integers(len(self.C))]
        scale = np.sqrt(np.maximum(np.diag(C), 1e-12))
        likeness = -4.0 * C / np.outer(scale, scale) * generator.choice([0.5, 1.0, 2.0])
        return contract(2.5 * (weight + weight.T) * self.votes + likeness, self.n_labels)

    def draw_trust(self, Z: Ints, generator: np.random.Generator) -> Floats:
        """Draw the share of wrong answers of each chain, as log odds."""
        v, n = self.violated(Z), len(self.links)
        eps = np.clip(generator.beta(ERRORS[0] + v, ERRORS[1] + n - v), LEAST, MOST)
        return np.clip(np.log((1 - eps) / eps), 0.0, MOST_TRUST)

    def expected_error(self, Z: Ints) -> float:
        """The expected share of wrong answers."""
        return float(((ERRORS[0] + self.violated(Z)) / (sum(ERRORS) + len(self.links))).mean())

    def sweep(self, Z: Ints, trust: Floats, n_sweeps: int, generator: np.random.Generator) -> Floats:
        """Sweep chains in place, and return the conditionals of their rows."""
        uniforms = generator.random((len(Z), 1 + n_sweeps * (len(self.ends) + 2 * Z.shape[1])))
        return sweep_chains(
            Z, self.C, self.log_prior, self.votes, self.ends, trust, self.n_labels, self.D, self.price, self.n_free,
            n_sweeps, uniforms,
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
