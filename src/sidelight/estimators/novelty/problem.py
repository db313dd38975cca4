"""The optimisation of DMNL: eq. (3) of [Z17] with its constraint as a penalty, in rounds between which sizes change.

Its terms are the labels of bags, compact clusters or a smooth manifold, and near-disjoint labels, of H = P S^-1/2 with
S the sizes of the labels, as the paper has it; sizes and shares are fixed while a term is used. It starts from k-means
in which a row may only join a label of its bag or a novel cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidelight._affinity.neighbours import nearest_rows
from sidelight._affinity.similarities import graph_local_scaling
from sidelight._models.objective import Objective, SoftmaxLinear, Term
from sidelight._solvers.descent import descend
from sidelight._terms.information import CrossEntropy
from sidelight.data.bags import Bags
from sidelight.estimators._base import reporting
from sidelight.estimators._labelled_bags.supervision import Layout

Valued = tuple[np.ndarray, np.ndarray]


def _each(term: Callable[[np.ndarray, np.ndarray], Valued], P: np.ndarray, log_P: np.ndarray) -> Valued:
    """Visit the leading axis one by one: sparse products have none."""
    values, gradients = zip(*(term(p, log_p) for p, log_p in zip(P, log_P)))
    return np.stack(values), np.stack(gradients)


@dataclass(frozen=True, slots=True)
class ListedLabels:
    """How far what the rows of each bag carry is from its list, for the known labels ([Z17] proposition 1).

    value = 1/2 * sum_bc told[b, c] * (Y[b, c] - sum_i shares[b, i] * P[i, c])^2        over the known labels c

    ``shares`` (bags x rows, sparse) holds 1 / (number of rows of the bag with the row's label), ``told`` is 0 where
    the list says nothing.
    """

    shares: Any
    Y: np.ndarray
    told: np.ndarray

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> Valued:
        if P.ndim > 2:
            return _each(self, P, log_P)
        c = self.Y.shape[1]
        gap = self.told * (self.shares @ P[:, :c] - self.Y)
        G = np.zeros_like(P)
        G[:, :c] = P[:, :c] * (self.shares.T @ gap)
        return 0.5 * np.square(gap).sum(), G


@dataclass(frozen=True, slots=True)
class CompactClusters:
    """How little of the rows' spread lies between the labels ([Z17] proposition 2, k-means as a trace).

    value = -|A' H|^2        with A = scale * X, rows whose mean is 0

    A A' is never formed, and X is touched only by ``@``.
    """

    X: Any
    scale: float
    sizes: np.ndarray

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> Valued:
        if P.ndim > 2:
            return _each(self, P, log_P)
        H = P / np.sqrt(self.sizes)
        between = self.scale * np.asarray(self.X.T @ H)
        back = self.scale * np.asarray(self.X @ between)
        return -np.square(between).sum(), -2.0 * H * back


@dataclass(frozen=True, slots=True)
class SmoothManifold:
    """How much the posteriors of neighbours differ, for a normalised symmetric adjacency ``N`` ([Z17] remark 1).

    value = Tr(P' (I - N) P)
    """

    N: Any

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> Valued:
        if P.ndim > 2:
            return _each(self, P, log_P)
        rough = P - self.N @ P
        return (P * rough).sum(), 2.0 * P * rough


@dataclass(frozen=True, slots=True)
class DisjointLabels:
    """How far the labels are from sharing no row: the constraint of [Z17] eq. (3) as a penalty.

    value = 1/2 * |H' H - I|^2
    """

    sizes: np.ndarray

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> Valued:
        H = P / np.sqrt(self.sizes)
        excess = np.swapaxes(H, -1, -2) @ H - np.eye(P.shape[-1])
        return 0.5 * np.square(excess).sum(axis=(-2, -1)), 2.0 * H * (H @ excess)


ROUNDS = 30  # of k-means; what is left to move after that is moved by the descent


def allowed_labels(bags: Bags, layout: Layout) -> np.ndarray:
    """Return which clusters each row may join, shape (n_rows, n_clusters): those of its bag's list, and novel ones."""
    known = bags.row_label_mask()
    return np.hstack([known, np.ones((bags.n_rows, layout.n_novel), dtype=bool)])


def draw_labels(X: Any, bags: Bags, layout: Layout, generator: np.random.Generator) -> np.ndarray:
    """Return a cluster for each row.

    Known centres begin at the mean of the rows of the bags that list the label, a long list counting less. Novel ones
    begin at rows of bags without any known label, else at rows far from every centre that they may join.
    """
    squares = np.asarray((X.multiply(X) if sp.issparse(X) else np.square(X)).sum(axis=1)).ravel()
    allowed = allowed_labels(bags, layout)
    listed = np.asarray(bags.label_matrix.toarray(), dtype=np.float64)
    weights = (listed / np.maximum(listed.sum(axis=1, keepdims=True), 1.0))[bags.codes]
    is_listed = weights.sum(axis=0) > 0
    allowed[:, : len(layout.classes)] &= is_listed  # a label that no bag lists has no known look
    centres = np.zeros((layout.n_clusters, X.shape[1]))
    centres[: len(layout.classes)] = _means(X, weights)
    nearest = _least(X, squares, centres[: len(layout.classes)], allowed[:, : len(layout.classes)])
    _seed_novel(X, squares, bags, centres[len(layout.classes) :], nearest, generator)
    z = np.full(X.shape[0], -1)
    for _ in range(ROUNDS):
        before, z = z, np.argmin(np.where(allowed, _distances(X, squares, centres), np.inf), axis=1)
        if (z == before).all():
            break
        held = np.bincount(z, minlength=layout.n_clusters) > 0
        centres[held] = _means(X, np.eye(layout.n_clusters)[z])[held]
    return z


def _seed_novel(
    X: Any, squares: np.ndarray, bags: Bags, centres: np.ndarray, nearest: np.ndarray, generator: np.random.Generator
) -> None:
    """Draw each novel centre with odds of the squared distance to the nearest one so far, as k-means++ does."""
    empty = np.asarray(bags.label_matrix.sum(axis=1)).ravel() == 0
    nameless = (empty & bags.is_labelled & ~bags.is_partial)[bags.codes]
    for j in range(len(centres)):
        odds = np.where(np.isfinite(nearest), nearest, 1.0)  # no centre yet: any row will do
        if (odds * nameless).sum() > 0:
            odds = odds * nameless
        total = odds.sum()
        row = generator.choice(len(odds), p=odds / total if total > 0 else None)
        centres[j] = X[[row]].toarray()[0] if sp.issparse(X) else X[row]
        nearest = np.minimum(nearest, _distances(X, squares, centres[j : j + 1])[:, 0])


def _least(X: Any, squares: np.ndarray, centres: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return the squared distance of each row to the nearest centre that it may join; infinite without any."""
    if not len(centres):
        return np.full(X.shape[0], np.inf)
    return np.asarray(np.where(allowed, _distances(X, squares, centres), np.inf).min(axis=1))


def _distances(X: Any, squares: np.ndarray, centres: np.ndarray) -> np.ndarray:
    crossed = np.asarray(X @ centres.T)
    return np.maximum(squares[:, None] - 2.0 * crossed + np.square(centres).sum(axis=1), 0.0)


def _means(X: Any, weights: np.ndarray) -> np.ndarray:
    total = weights.sum(axis=0)
    return np.asarray(X.T @ weights).T / np.where(total > 0, total, 1.0)[:, None]


STEPS = 10  # L-BFGS steps of a round; with many more the labels collapse before their sizes are taken anew
N_NEIGHBOURS = 10  # of the manifold's graph
FIT_STEPS = 3  # of the rule that learns the labels of a start: a soft one, so that the rounds lower the residual too


class CentredRows:
    """Sparse rows minus their mean, for products only: the descent then takes the same steps as on dense rows."""

    def __init__(self, X: Any, mean: np.ndarray) -> None:
        self.X, self.mean, self.shape, self.dtype = X, mean, X.shape, X.dtype

    def __matmul__(self, W: np.ndarray) -> np.ndarray:
        return np.asarray(self.X @ W) - self.mean @ W

    @property
    def T(self) -> _Turned:
        """The transpose, for products only."""
        return _Turned(self)


class _Turned:
    def __init__(self, rows: CentredRows) -> None:
        self.rows = rows

    def __matmul__(self, H: np.ndarray) -> np.ndarray:
        return np.asarray(self.rows.X.T @ H) - np.outer(self.rows.mean, H.sum(axis=0))


@dataclass(frozen=True, slots=True)
class Lists:
    """What the lists of bags demand: ``told`` is 1 where a list says whether the label is there."""

    Y: np.ndarray
    told: np.ndarray
    codes: np.ndarray

    @classmethod
    def of(cls, bags: Bags) -> Lists:
        """Read the lists. A partial one does not rule out labels, a bag that was cut need not carry its labels."""
        Y = bags.label_matrix.toarray().astype(np.float64)
        closed = (bags.is_labelled & ~bags.is_partial)[:, None]
        told = np.where(Y > 0, bags.whole[:, None] | (bags.is_labelled & bags.is_partial)[:, None], closed)
        return cls(Y, told.astype(np.float64), np.asarray(bags.codes))

    def shares(self, z: np.ndarray, n_clusters: int) -> Any:
        """Return beta as a sparse matrix: each row's part among the rows of its bag with the same label."""
        cell = self.codes * n_clusters + z
        _, inverse, counts = np.unique(cell, return_inverse=True, return_counts=True)
        beta = 1.0 / counts[inverse]
        return sp.csr_array((beta, (self.codes, np.arange(len(z)))), shape=(len(self.Y), len(z)))


@dataclass(frozen=True, slots=True)
class State:
    """Where a start stands: its parameters, and eq. (2) and the constraint's residual before and after each round."""

    theta: np.ndarray
    values: np.ndarray
    residuals: np.ndarray

    @property
    def value(self) -> float:
        """Eq. (2) at the end."""
        return float(self.values[-1])


@dataclass(frozen=True, slots=True)
class Problem:
    """Everything but the start; ``X`` is standardised, sparse rows inside :class:`CentredRows`."""

    X: Any
    lists: Lists
    layout: Layout
    lam: float
    rho: float
    ridge: float
    N: Any = None
    scale: float = field(default=1.0)

    @classmethod
    def of(cls, X: Any, bags: Bags, layout: Layout, options: Any, generator: np.random.Generator) -> Problem:
        """Scale the rows so that their spread counts as much as there are labelled bags, and make the graph."""
        mean = np.asarray(X.mean(axis=0)).ravel()
        squares = float((X.multiply(X) if sp.issparse(X) else np.square(X)).sum()) - X.shape[0] * float(mean @ mean)
        n_told = int(bags.is_labelled.sum()) or bags.n_bags
        scale = np.sqrt(n_told / squares) if squares > 1e-9 * X.shape[0] else 0.0  # all columns constant
        lam, N = options.lam, None
        if options.structure == "manifold":
            N, lam = _normalised_graph(X, generator), options.lam * n_told / X.shape[0]
        if sp.issparse(X):
            X = CentredRows(X, mean)
        return cls(X, Lists.of(bags), layout, lam, options.rho, options.ridge, N, scale)

    @property
    def model(self) -> SoftmaxLinear:
        """The softmax-linear rule from rows to labels."""
        return SoftmaxLinear(self.X.shape[1], self.layout.n_clusters)

    def solve(self, z: np.ndarray, max_iter: int, tol: float, stage: str) -> State:
        """Start from the labels ``z``, then repeat: fix sizes and shares, go down some steps, take them anew."""
        theta = self._fit_labels(z)
        told = reporting(stage)
        z, value, residual = self._judge(theta)
        values, residuals, before = [value], [residual], np.inf
        for done in range(max_iter):
            told(done, max_iter, f"objective {values[-1]:.6g}")
            solution = descend(self.objective(z), theta, max_iter=STEPS, tol=1e-9)
            theta, last = solution.parameters, z
            z, value, residual = self._judge(theta)
            values.append(value)
            residuals.append(residual)
            if (z == last).all() and abs(before - solution.value) <= tol * abs(solution.value):
                break
            before = solution.value
        return State(theta, np.array(values), np.array(residuals))

    def objective(self, z: np.ndarray) -> Objective:
        """J of W with the sizes and shares of the labels ``z``."""
        sizes = self._sizes(z)
        terms: list[tuple[float, Term]] = [
            (1.0, self._listed(z)), (self.lam, self._structure(sizes)), (self.rho, DisjointLabels(sizes)),
        ]  # fmt: skip
        return Objective(self.model, self.X, terms, self.ridge)

    def hard_value(self, z: np.ndarray) -> float:
        """Eq. (2) of [Z17] at the labels ``z``: the bags' squared errors minus ``lam`` times the trace."""
        P = np.eye(self.layout.n_clusters)[z]
        return float(2.0 * self._listed(z)(P, P)[0] + self.lam * self._structure(self._sizes(z))(P, P)[0])

    def _judge(self, theta: np.ndarray) -> tuple[np.ndarray, float, float]:
        P = np.exp(self.model.log_posterior(theta, self.X))
        z = np.argmax(P, axis=1)
        residual = np.sqrt(2.0 * DisjointLabels(self._sizes(z))(P, P)[0])
        return z, self.hard_value(z), float(residual)

    def _fit_labels(self, z: np.ndarray) -> np.ndarray:
        targets = CrossEntropy(np.eye(self.layout.n_clusters)[z])
        objective = Objective(self.model, self.X, [(1.0, targets)], max(self.ridge, 1e-3))  # else W may have no end
        return descend(objective, np.zeros(self.model.n_parameters), max_iter=FIT_STEPS, tol=1e-4).parameters

    def _sizes(self, z: np.ndarray) -> np.ndarray:
        return np.maximum(np.bincount(z, minlength=self.layout.n_clusters), 1).astype(np.float64)

    def _listed(self, z: np.ndarray) -> ListedLabels:
        return ListedLabels(self.lists.shares(z, self.layout.n_clusters), self.lists.Y, self.lists.told)

    def _structure(self, sizes: np.ndarray) -> Term:
        if self.N is not None:
            return SmoothManifold(self.N)
        return CompactClusters(self.X, self.scale, sizes)


def _normalised_graph(X: Any, generator: np.random.Generator) -> Any:
    """Return the normalised self-tuned adjacency of the nearest rows."""
    if X.shape[0] < 2:
        return sp.eye_array(X.shape[0], format="csr")
    W = graph_local_scaling(nearest_rows(X, N_NEIGHBOURS, generator=generator))[0].astype(np.float64)
    root = sp.diags_array(1.0 / np.sqrt(np.asarray(W.sum(axis=1)).ravel()))  # a row is its own neighbour: never 0
    return (root @ W @ root).tocsr()
