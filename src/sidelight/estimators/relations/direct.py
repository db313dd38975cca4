"""The default way to learn from answers: each answer's likelihood, weak information, a penalty, many starts.

minimised over W: mean of -log p(answer) + tau (Balance + Confidence) + penalty |W|^2 / 2, on features that bend.

The penalty is scaled by mu, the largest eigenvalue of the features' covariance: at penalty = 2 tau mu / K the
information alone cannot leave W = 0, whatever the units of the rows.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._affinity.similarities import graph_features
from sidelight._affinity.spectral import unit_rows
from sidelight._core.params import as_seed
from sidelight._core.process import map_in_threads, one_blas_thread
from sidelight._core.prototypes import round_by_kmeans
from sidelight._models.objective import Term
from sidelight._solvers.descent import Solution, best
from sidelight._terms.information import Balance, Confidence, OnRows
from sidelight.estimators._linear_rule import RuleFit
from sidelight.estimators.relations.answered import Answered

# Where the descent begins: a k-means clustering of some coordinates, learnt by a linear rule.
#
# Several coordinates are tried, because the objective has many optima and none of them is best everywhere: the rows,
# their features, their neighbour graph, and the *agreement space*, in which rows said to be alike lie close together.
# That is a canonical correlation analysis of alike rows, minus that of differing ones: with features whitened, M =
# mean of sym(z_a z_b') over alike pairs - the same over differing ones, and its leading eigenvectors span the space.


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
RIDGE = 0.1  # added to the eigenvalues when whitening, as a share of the largest: keeps rounding from counting
START_RIDGE = 0.3  # of the mean variance of a feature
SHARPNESS = 5.0  # logits a start gives its clusters: sure, but not so sure that the descent cannot move


def agreement_space(features: npt.NDArray[Any], alike: Ints, differing: Ints, n_directions: int) -> Floats:
    """Return coordinates of every row in which answers are kept best."""
    values, vectors = np.linalg.eigh(features.T @ features / len(features))
    ridge = max(RIDGE * float(values[-1]), float(np.finfo(features.dtype).tiny))  # of equal rows nothing varies
    Z = features @ (vectors / np.sqrt(np.maximum(values, 0.0) + ridge))
    M = np.zeros((Z.shape[1], Z.shape[1]))
    for sign, links in ((1.0, alike), (-1.0, differing)):
        if len(links):
            product = Z[links[:, 0]].T @ Z[links[:, 1]] / len(links)
            M += sign * (product + product.T) / 2.0
    values, vectors = np.linalg.eigh(M)
    kept = max(1, min(n_directions, int((values > 0).sum())))
    return np.asarray(Z @ (vectors[:, -kept:] * np.sqrt(np.maximum(values[-kept:], np.finfo(float).tiny))))


def ridge_start(features: npt.NDArray[Any], labels: Ints, n_clusters: int) -> Floats:
    """Return the parameters of a rule for a clustering of the rows: ridge regression on its indicators, made sharp."""
    Y = np.eye(n_clusters)[labels]
    shares = Y.mean(axis=0)
    covariance = features.T @ features / len(features)
    ridge = START_RIDGE * np.trace(covariance) / len(covariance)
    covariance[np.diag_indices_from(covariance)] += max(ridge, np.finfo(covariance.dtype).tiny)
    W = np.linalg.solve(covariance, features.T @ (Y - shares) / len(features))
    return SHARPNESS * np.concatenate([W.ravel(), shares])


TAU = 0.3  # weight of the information when answers are as good as exact
PENALTY = 0.04  # of tau mu / K, likewise; 2 would let the information alone find nothing
TRUSTED = 0.05  # the share of wrong answers at which TAU and PENALTY hold
DOUBT_POWER = 3.0  # how fast both grow with the share of wrong answers
START_STEPS = 20  # L-BFGS iterations after which starts are compared
FEW_ROWS = 3_000  # rows that starts are compared on, and those that answers are about
START_ROWS = 10_000  # but no more than these, of all
FOLLOWED = 2  # starts that are followed to the end
N_GRAPH = 100  # features of the neighbour graph


@dataclass(frozen=True, slots=True)
class Settings:
    """What a fit was asked for; tau and the penalty may be left to :func:`weigh`."""

    n_clusters: int
    tau: float | None
    penalty: float | None
    n_init: int
    max_iter: int
    tol: float
    max_rows: int


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of the information and of ``|W|^2 / 2``."""

    tau: float
    penalty: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """Where a fit ended, the penalty in use, and the value that each start had reached when they were compared."""

    solution: Solution
    penalty: float
    starts: dict[str, float]

    @property
    def kinds(self) -> list[str]:
        """The kinds of starts, that of the lowest first."""
        return list(dict.fromkeys(name.rsplit(" ", 1)[0] for name in sorted(self.starts, key=self.starts.__getitem__)))


@dataclass(frozen=True, slots=True)
class StartSpace:
    """What every fit on the same rows shares: their features, and coordinates of some rows that starts come from.

    ``rough`` are the features in single precision: fits that are only compared take half the time on them.
    """

    features: Floats
    rough: npt.NDArray[np.float32]
    few: Ints
    coordinates: dict[str, Any]
    largest_variance: float

    @classmethod
    def of(cls, X: Any, features: Floats, answered: Answered, K: int, generator: np.random.Generator) -> StartSpace:
        """Find the coordinates that need no answers: the rows, their features and their neighbour graph."""
        with one_blas_thread():
            few = _rows_for_starts(answered, len(features), generator)
            coordinates = {"rows": X[few], "features": features[few]}
            if len(few) > K + 1:
                coordinates["graph"] = graph_features(X[few], N_GRAPH, generator=generator)
                coordinates["narrow graph"] = unit_rows(coordinates["graph"][:, :K])
            variances = np.linalg.eigvalsh(features.T @ features / len(features))
        return cls(features, features.astype(np.float32), few, coordinates, float(variances[-1]))


def weigh(settings: Settings, terrain: StartSpace, eps: float) -> Weights:
    """Settle tau and the penalty where they were left open.

    Both grow with the share of wrong answers: an answer that is wrong with probability eps tells less, by about
    (1 - 2 eps)^2, and a rule that bends would rather follow a wrong answer than break it.
    """
    doubt = ((1.0 - 2.0 * TRUSTED) / (1.0 - 2.0 * eps)) ** DOUBT_POWER
    tau = TAU * doubt if settings.tau is None else settings.tau
    if settings.penalty is not None:
        return Weights(tau, settings.penalty)
    return Weights(tau, PENALTY * tau * doubt * terrain.largest_variance / settings.n_clusters)


def learn(
    terrain: StartSpace,
    answered: Answered,
    settings: Settings,
    eps: float,
    generator: np.random.Generator,
    *,
    n_followed: int = FOLLOWED,
    kinds: Collection[str] = (),
    rough: bool = False,
) -> Fitted:
    """Compare the starts (of some kinds only), follow the best ones to the end, and keep the lowest."""
    with one_blas_thread():
        weights = weigh(settings, terrain, eps)
        reached = _compare_starts(terrain, answered, settings, weights, generator, kinds)
        if len(terrain.few) < len(terrain.features):
            n_followed = 1  # with many rows each is a long way
        ahead = sorted(reached, key=lambda start: reached[start].value)[:n_followed]
        followed = [
            follow(
                terrain.rough if rough else terrain.features,
                answered,
                settings,
                weights,
                reached[start].parameters,
                generator,
            )
            for start in ahead
        ]
    return Fitted(best(followed), weights.penalty, {start: at.value for start, at in reached.items()})


def follow(
    features: npt.NDArray[Any],
    answered: Answered,
    settings: Settings,
    weights: Weights,
    start: Floats,
    generator: np.random.Generator,
) -> Solution:
    """Minimise the objective from one start; the information is that of a sample of the rows where there are many."""
    n, sample = len(features), None
    if n > settings.max_rows:
        chosen = np.sort(generator.choice(n, settings.max_rows, replace=False))
        rows = np.union1d(chosen, answered.rows)
        features, answered, sample = features[rows], answered.among(rows), np.searchsorted(rows, chosen)
    terms = _terms(answered, weights.tau, sample)
    return RuleFit(features, weights.penalty).minimise(
        terms, settings.n_clusters, start, max_iter=settings.max_iter, tol=settings.tol, stage="following the answers"
    )


def _terms(answered: Answered, tau: float, rows: Ints | None = None) -> list[tuple[float, Term]]:
    information: list[Term] = [Balance(), Confidence()]
    if rows is not None:
        information = [OnRows(term, rows) for term in information]
    return [*answered.terms(), *((tau, term) for term in information)]


def _compare_starts(
    terrain: StartSpace,
    answered: Answered,
    settings: Settings,
    weights: Weights,
    generator: np.random.Generator,
    kinds: Collection[str],
) -> dict[str, Solution]:
    """Cluster several coordinates of the rows, several times each, and go some steps from every clustering."""
    K, features = settings.n_clusters, terrain.rough[terrain.few]
    answered, coordinates = answered.among(terrain.few), dict(terrain.coordinates)
    if answered.n_answers:
        coordinates["agreement"] = agreement_space(features, *answered.links(), max(1, K - 1))
    coordinates = {name: space for name, space in coordinates.items() if not kinds or name in kinds}
    starts = {
        f"{name} {turn}": ridge_start(features, round_by_kmeans(space, K, seed=as_seed(generator)), K)
        for turn in range(1, settings.n_init + 1)
        for name, space in coordinates.items()
    }
    terms = _terms(answered, weights.tau)

    fit = RuleFit(features, weights.penalty)

    def try_start(name: str) -> Solution:
        stage = f"trying a start: {name}"
        return fit.minimise(terms, K, starts[name], max_iter=START_STEPS, tol=settings.tol, stage=stage)

    tried = map_in_threads(try_start, starts, multiplications=features.size * K * START_STEPS)
    return dict(zip(starts, tried))


def _rows_for_starts(answered: Answered, n_rows: int, generator: np.random.Generator) -> Ints:
    """All rows where they are few; else some that answers are about, and others."""
    if n_rows <= FEW_ROWS:
        return np.arange(n_rows)
    chosen = np.zeros(n_rows, dtype=bool)
    chosen[answered.rows] = True
    n_wanted = max(FEW_ROWS, int(chosen.sum()) + FEW_ROWS // 6)
    if n_wanted > START_ROWS:
        n_wanted, chosen = START_ROWS, np.zeros(n_rows, dtype=bool)
        for answers in (answered.pairs, answered.triplets):
            order = generator.permutation(answers.n_answers)[: START_ROWS // (4 * answers.WIDTH)]
            chosen[answers.rows[order].ravel()] = True
    others = np.flatnonzero(~chosen)
    n_more = min(len(others), n_wanted - int(chosen.sum()))
    chosen[generator.choice(others, n_more, replace=False)] = True
    return np.flatnonzero(chosen)
