"""What labels of a few rows say about all others: Gaussian processes over several views, weighed by evidence.

With C = K_AA + s2 N over the n_asked rows that have labels (N their doubt) and one-hot labels T, Tc = T - 1/k:
evidence = -k/2 [n_asked log(tr(Tc' C^-1 Tc) / (k n_asked)) + log det C], the scale of the labels profiled out.
posterior = sum over the best mixtures of views of w softmax(slope K_iA C^-1 T), the slope by closed-form leave-one-out.
novelty = posterior over prior variance: near 1 far from every row with a label.

Which view of the rows suits is not known beforehand: straight or curved, along the raw or the whitened directions, or
along the graph of nearest rows. Each is a set of explicit features, whose inner products are the kernel.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._affinity.neighbours import nearest_of
from sidelight._affinity.similarities import graph_features
from sidelight._affinity.spectral import unit_rows
from sidelight._core.process import one_blas_thread
from sidelight._core.simplex import softmax
from sidelight._models.feature_map import FeatureMap

Floats = npt.NDArray[np.floating[Any]]
MOST_COLUMNS = 200  # wider rows are looked at along their leading directions
LANDMARKS = 300
N_GRAPH = 100
NEIGHBOURS = 5  # known rows whose graph features a new row takes the mean of
SMALLEST = 1e-5  # directions with a smaller share of the largest spread are rounding, and are not whitened
CONSTANT = 0.3  # of the straight views: a bias that rows share
TIGHT = 0.25  # width of the second curved view, of the median squared distance: half the length scale


@dataclass(frozen=True, slots=True, eq=False)
class RowKernels:
    """The features of every row in each view, float32, rows of about unit length; and how to get those of new rows."""

    views: dict[str, Floats]
    straight: FeatureMap
    whitening: Floats
    curved: dict[str, FeatureMap]
    known: Floats

    @classmethod
    def of(cls, X: Any, generator: np.random.Generator) -> RowKernels:
        """Look at the rows of X."""
        with one_blas_thread():
            straight = FeatureMap.learn(X, generator=generator, n_landmarks=0, most_columns=MOST_COLUMNS)
            rows = straight(X)
            whitening = _whitening(rows)
            white = rows @ whitening
            curved = {
                "curved": _map(rows, 1.0, generator),
                "tightly curved": _map(rows, TIGHT, generator),
                "whitened curved": _map(white, 1.0, generator),
            }
            graphs = {}
            if len(rows) > NEIGHBOURS:
                graphs = {
                    "graph": graph_features(rows, N_GRAPH, generator=generator, sharp=True),
                    "whitened graph": graph_features(white, N_GRAPH, generator=generator, sharp=True),
                }
            kernels = cls({}, straight, whitening, curved, rows)
            kernels.views.update(kernels._explicit(rows, white))
            kernels.views.update({name: graph.astype(np.float32) for name, graph in graphs.items()})
        return kernels

    def of_new(self, X: Any) -> dict[str, Floats]:
        """Return the features of new rows; on the graph they take the mean of their nearest known rows."""
        rows = self.straight(X)
        white = rows @ self.whitening
        views = self._explicit(rows, white)
        for name, new, known in (("graph", rows, self.known), ("whitened graph", white, self.known @ self.whitening)):
            if name in self.views:
                near, _ = nearest_of(known, new, NEIGHBOURS)
                views[name] = unit_rows(self.views[name][near].mean(axis=1))
        return views

    def _explicit(self, rows: Floats, white: Floats) -> dict[str, Floats]:
        views = {"straight": _with_constant(rows), "whitened": _with_constant(white)}
        for name, bend in self.curved.items():
            if len(bend.landmarks):
                views[name] = unit_rows(bend.curved(white if name.startswith("whitened") else rows))
        return {name: np.ascontiguousarray(view, dtype=np.float32) for name, view in views.items()}


def _whitening(rows: Floats) -> Floats:
    _, spreads, directions = np.linalg.svd(rows, full_matrices=False)
    kept = spreads > SMALLEST * max(float(spreads[0]), np.finfo(float).tiny)
    if not kept.any():
        return np.zeros((rows.shape[1], 1))
    return np.asarray(directions[kept].T / spreads[kept] * np.sqrt(len(rows) / kept.sum()))


def _with_constant(rows: Floats) -> Floats:
    return np.column_stack([rows, np.full(len(rows), CONSTANT)])


def _map(rows: Floats, width: float, generator: np.random.Generator) -> FeatureMap:
    return FeatureMap.learn(
        rows, generator=generator, n_landmarks=LANDMARKS, width=width, rank=None, unit_rows=False, most_columns=None
    )


Ints = npt.NDArray[np.intp]
NOISES = np.array([0.03, 0.2])
SLOPES = np.array([4.0, 8.0, 16.0])
BEST = 5  # mixtures that the posterior averages
LIGHT = 0.03  # mixtures with less weight than that are left out
LEAST_VARIANCE = 1e-6  # of a row that labels say everything about
CANDIDATES, REFERENCE = 2000, 400  # rows that questions are chosen from, and rows that influence is measured on


@dataclass(frozen=True, slots=True)
class Mixture:
    """One way to weigh the views: its own weight, the weights of the views, the noise and the slope."""

    weight: float
    views: Floats
    noise: float
    slope: float


class LabelProcess:
    """Labels of some rows, and the belief about all others that follows."""

    @np.errstate(invalid="ignore")  # see above
    def __init__(self, views: list[Floats], generator: np.random.Generator) -> None:
        self.views, n, M = views, len(views[0]), len(views)
        every = np.arange(n)
        self.candidates: Ints = every if n <= CANDIDATES else np.sort(generator.choice(n, CANDIDATES, replace=False))
        self.position = np.full(n, -1, dtype=np.intp)
        self.position[self.candidates] = np.arange(len(self.candidates))
        size = min(len(self.candidates), REFERENCE)
        self.reference: Ints = generator.choice(len(self.candidates), size, replace=False)
        near = [view[self.candidates] for view in views]
        self._near = near
        self._to_reference = np.stack([view @ view[self.reference].T for view in near])
        self._own = np.stack([(view * view).sum(axis=1) for view in near])
        self.weights = np.concatenate([np.full((1, M), 1.0 / M), np.eye(M)])
        self.log_prior = np.log(np.concatenate([[1.0], np.full(M, 1.0 / 3.0)]))  # the equal mixture is favoured
        self._forget()

    def _forget(self) -> None:
        M = len(self.views)
        self.rows: list[int] = []
        self.kernels = np.zeros((M, 0, 0))
        self._columns = np.zeros((M, len(self.candidates), 0), dtype=np.float32)
        self.mixtures = [Mixture(1.0, self.weights[0], 0.1, 6.0)]
        self._settle_mixture()

    def anew(self) -> LabelProcess:
        """Return the same without labels; what was worked out about the rows is shared."""
        other = copy.copy(self)
        other._forget()
        return other

    def branch(self) -> LabelProcess:
        """Return the same with the same labels, to which rows can be added without changing this one."""
        other = copy.copy(self)
        other.rows = self.rows.copy()
        return other

    @np.errstate(invalid="ignore")  # see above
    def add(self, *rows: int) -> None:
        """Take rows among those with labels; their labels come with the next ``fit``."""
        n_before = len(self.rows)
        self.rows.extend(rows)
        kernels = np.zeros((len(self.views), len(self.rows), len(self.rows)))
        kernels[:, :n_before, :n_before] = self.kernels
        for at, row in enumerate(rows, start=n_before):
            own = np.stack([view[self.rows[: at + 1]] @ view[row] for view in self.views])
            kernels[:, : at + 1, at] = kernels[:, at, : at + 1] = own
        self.kernels = kernels
        columns = [np.stack([near @ view[row] for near, view in zip(self._near, self.views)]) for row in rows]
        self._columns = np.concatenate([self._columns, *(column[:, :, None] for column in columns)], axis=2)

    def fit(self, T: Floats, doubt: Floats, *, weigh: bool = True) -> None:
        """Learn labels T (n_asked x k); ``doubt`` multiplies the noise of each row.

        Where it is inf a row has no label. With ``weigh`` the views are weighed anew by the evidence.
        """
        self.T, self.doubt, self.is_labelled = T, doubt, np.isfinite(doubt)
        has = np.flatnonzero(self.is_labelled)
        kernels, labels, N = self.kernels[:, has[:, None], has], T[has], np.diag(doubt[has])
        if weigh and T.shape[1] >= 2:
            self.mixtures = self._weigh(kernels, labels, doubt[has])
        self._settle_mixture()
        self.inverse = np.zeros((len(T), len(T)))  # rows without a label say nothing
        self.inverse[has[:, None], has] = np.linalg.inv(np.tensordot(self.mix, kernels, 1) + self.noise * N)
        self._pulls = []
        for mixture in self.mixtures:
            pull = np.zeros_like(T)
            pull[has] = np.linalg.solve(np.tensordot(mixture.views, kernels, 1) + mixture.noise * N, labels)
            self._pulls.append(pull)

    def weigh_by(self, T: Floats, some: Ints) -> None:
        """Weigh the views by the labels of some rows asked about, for every ``fit`` that does not weigh them."""
        self.mixtures = self._weigh(self.kernels[:, some[:, None], some], T[some], np.ones(len(some)))

    def _weigh(self, kernels: Floats, T: Floats, doubt: Floats) -> list[Mixture]:
        n_asked, k = T.shape
        C = np.tensordot(self.weights, kernels, 1)[:, None] + NOISES[:, None, None] * np.diag(doubt)
        inverse = np.linalg.inv(C)
        left_out = T - (inverse @ T) / np.diagonal(inverse, axis1=2, axis2=3)[..., None]
        scores = SLOPES[:, None, None] * left_out[:, :, None]
        scores -= scores.max(axis=-1, keepdims=True)
        log_p = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
        shared = (T.sum(axis=0)[T.argmax(axis=1)] > 1.5) / doubt  # a row alone in its cluster cannot be left out
        by_slope = ((log_p * T).sum(axis=-1) * shared).sum(axis=-1)
        centred = T - 1.0 / k
        fit = np.einsum("lk,cnlm,mk->cn", centred, inverse, centred) / (k * n_asked)
        evidence = -0.5 * k * (n_asked * np.log(np.maximum(fit, 1e-300)) - np.linalg.slogdet(inverse)[1])
        total = by_slope - by_slope.max(axis=-1, keepdims=True) + evidence[..., None] + self.log_prior[:, None, None]
        p = np.exp(total - total.max()).ravel()
        best = np.argsort(-p, kind="stable")[:BEST]
        best = best[p[best] > LIGHT * p.sum()]
        shares = p[best] / p[best].sum()
        places = [np.unravel_index(at, total.shape) for at in best]
        return [
            Mixture(float(w), self.weights[v], float(NOISES[s]), float(SLOPES[t]))
            for w, (v, s, t) in zip(shares, places)
        ]

    def _settle_mixture(self) -> None:
        self.mix = np.sum([mixture.weight * mixture.views for mixture in self.mixtures], axis=0)
        self.noise = float(sum(mixture.weight * mixture.noise for mixture in self.mixtures))

    @np.errstate(invalid="ignore")  # see above
    def posterior(self, views: list[Floats] | None = None) -> Floats:
        """Return the probability of each known cluster: for the candidates, or for rows given by their views."""
        P: Floats = np.zeros(0)
        for mixture, pull in zip(self.mixtures, self._pulls):
            if views is None:
                field = np.tensordot(mixture.views.astype(np.float32), self._columns, 1) @ pull
            else:
                field = np.zeros((len(views[0]), pull.shape[1]))
                for weight, new, view in zip(mixture.views, views, self.views):
                    if weight > 0:
                        field += weight * (new @ (view[self.rows].T @ pull.astype(np.float32)))
            P = (
                P + mixture.weight * softmax(mixture.slope * field)
                if P.size
                else mixture.weight * softmax(mixture.slope * field)
            )
        return P

    @np.errstate(invalid="ignore")  # see above
    def novelty(self, views: list[Floats] | None = None) -> Floats:
        """Return how little the labels say: about each candidate, or about rows given by their views; from 0 to 1."""
        if views is None:
            return self._novelty(np.tensordot(self.mix.astype(np.float32), self._columns, 1), self.mix @ self._own)
        parts = []
        for begin in range(0, len(views[0]), CANDIDATES):
            K: Any = 0.0
            own: Any = 0.0
            for weight, new, view in zip(self.mix.astype(np.float32), views, self.views):
                if weight > 0:
                    some = new[begin : begin + CANDIDATES]
                    K, own = K + weight * (some @ view[self.rows].T), own + weight * (some * some).sum(axis=1)
            parts.append(self._novelty(K, own))
        return np.concatenate(parts)

    def _novelty(self, K: Floats, own: Floats) -> Floats:
        return np.clip(1.0 - np.einsum("ij,ij->i", K @ self.inverse, K) / np.maximum(own, 1e-9), 0.0, 1.0)

    def of_asked(self) -> tuple[Floats, Floats]:
        """Return the probability of each known cluster and the novelty of the rows asked about."""
        P = np.zeros_like(self._pulls[0])
        for mixture, pull in zip(self.mixtures, self._pulls):
            P += mixture.weight * softmax(mixture.slope * (np.tensordot(mixture.views, self.kernels, 1) @ pull))
        K = np.tensordot(self.mix, self.kernels, 1)
        known = np.einsum("ij,ij->i", K @ self.inverse, K)
        return P, np.clip(1.0 - known / np.maximum(np.diagonal(K), 1e-9), 0.0, 1.0)

    def without(self, block: Ints) -> Floats:
        """Return the probability of each known cluster for some rows asked about, as if they had no labels."""
        rest = self.inverse[block]
        field = self.T[block] - np.linalg.solve(rest[:, block], rest @ self.T)
        slope = sum(mixture.weight * mixture.slope for mixture in self.mixtures)
        return softmax(slope * field)

    def each_without(self) -> tuple[Floats, Floats]:
        """Return the chances and the novelty of every row with a label, as if it alone had none."""
        spread = np.diagonal(self.inverse)
        has = self.is_labelled
        P, novelty = self.of_asked()
        field = self.T[has] - (self.inverse @ self.T)[has] / spread[has, None]
        P[has] = softmax(sum(mixture.weight * mixture.slope for mixture in self.mixtures) * field)
        own = np.einsum("m,mtt->t", self.mix, self.kernels)[has]
        novelty[has] = np.clip((1.0 / spread[has] - self.noise * self.doubt[has]) / np.maximum(own, 1e-9), 0.0, 1.0)
        return P, novelty

    def novelty_without(self, block: Ints) -> Floats:
        """Return the novelty of some rows asked about, as if they had no labels."""
        own = np.einsum("m,mtt->t", self.mix, self.kernels[:, block[:, None], block])
        spread = np.diagonal(np.linalg.inv(self.inverse[block[:, None], block])) - self.noise * self.doubt[block]
        return np.clip(spread / np.maximum(own, 1e-9), 0.0, 1.0)

    @np.errstate(invalid="ignore")  # see above
    def influence(self, weights: Floats) -> Floats:
        """Return how much a label of each candidate would lower the weighted variance of the reference rows."""
        mix = self.mix.astype(np.float32)
        shared, own = np.tensordot(mix, self._to_reference, 1), mix @ self._own
        if not self.rows:
            return np.asarray(shared**2 @ weights / (np.maximum(own, 0) + self.noise))
        K = np.tensordot(mix, self._columns, 1)
        through = K @ self.inverse.astype(np.float32)
        shared = shared - through @ K[self.reference].T
        own = own - (through * K).sum(axis=1)
        gains = shared**2 @ weights / (np.maximum(own, 0) + self.noise)
        asked = [
            (t, self.position[row])
            for t, row in enumerate(self.rows)
            if self.is_labelled[t] and self.position[row] >= 0
        ]
        if asked:  # of a row that has a label already: what it would tell if that label were taken away
            at, places = np.array([t for t, _ in asked]), np.array([place for _, place in asked])
            own_inverse = self.inverse[at, at]
            withheld = (self.inverse[at] @ K[self.reference].T) / own_inverse[:, None]
            spread = np.maximum(1.0 / own_inverse - self.noise * self.doubt[at], 0) + self.noise
            gains[places] = withheld**2 @ weights / spread
        return np.asarray(gains)

    @np.errstate(invalid="ignore")  # see above
    def likeness(self, rows: list[int], row: int) -> Floats:
        """Return how alike some rows are to one, in the present mixture of views."""
        return np.sum([w * (view[rows] @ view[row]) for w, view in zip(self.mix, self.views)], axis=0)

    @np.errstate(invalid="ignore")  # see above
    def most_telling(self, n: int, doubt: Floats, wish: Floats) -> list[int]:
        """Return places of candidates whose labels together lower the doubt about the reference rows most.

        Each is chosen as if those before it had labels already: wish x cov(candidate, reference)^2 doubt / variance.

        Parameters
        ----------
        n : int
            How many, at most.
        doubt : array of shape (n_candidates,)
            What the variance of each counts for.
        wish : array of shape (n_candidates,)
            What choosing each counts for; those with 0 are not chosen.
        """
        mix = self.mix.astype(np.float32)
        shared, own = np.tensordot(mix, self._to_reference, 1), mix @ self._own
        K = np.tensordot(mix, self._columns, 1)
        through = K @ self.inverse.astype(np.float32) if self.rows else K
        shared = shared - through @ K[self.reference].T
        own = np.maximum(own - (through * K).sum(axis=1), LEAST_VARIANCE)
        weights = doubt[self.reference].astype(np.float32)
        left, chosen, known = wish.copy(), list[int](), list[Floats]()
        while len(chosen) < n:
            gains = left * ((shared**2) @ weights) / (own + self.noise)
            best = int(gains.argmax())
            if not gains[best] > 0.0:
                break
            chosen.append(best)
            left[best] = 0.0
            covariance = np.zeros(len(own), dtype=np.float32)
            for weight, near in zip(mix, self._near):
                if weight > 0:
                    covariance += weight * (near @ near[best])
            covariance -= through @ K[best]
            for column in known:
                covariance -= column * column[best]
            column = covariance / np.sqrt(own[best] + self.noise)
            known.append(column)
            shared = shared - column[:, None] * column[self.reference][None]
            own = np.maximum(own - column * column, LEAST_VARIANCE)
        return chosen
