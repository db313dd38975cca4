"""The default way to learn from answers: each answer's likelihood, weak information, a penalty, many starts.

minimised over W: mean of -log p(answer) + tau (Balance + Confidence) + penalty |W|^2 / 2, on features that bend.

The penalty is scaled by mu, the largest eigenvalue of the features' covariance: at penalty = 2 tau mu / K the
information alone cannot leave W = 0, whatever the units of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._affinity.graph_features import graph_features
from sidelight._affinity.spectral import unit_rows
from sidelight._core.params import as_seed
from sidelight._models.objective import Term
from sidelight._solvers.race import best
from sidelight._solvers.rounding import round_by_kmeans
from sidelight._solvers.trace import Solution
from sidelight._terms.information import Balance, Confidence, OnRows
from sidelight.estimators._linear_rule import RuleFit
from sidelight.estimators.relations.answered import Answered
from sidelight.estimators.relations.starts import agreement_space, learnt_start

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

PENALTY = 0.04  # of tau mu / K; 2 would let the information alone find nothing
START_STEPS = 30  # L-BFGS iterations after which starts are compared
FOLLOWED = 2  # starts that are followed to the end
N_GRAPH = 100  # features of the neighbour graph
START_ROWS = 10_000  # rows that starts are compared on


@dataclass(frozen=True, slots=True)
class Settings:
    """What a fit was asked for, with everything settled."""

    n_clusters: int
    tau: float
    penalty: float | None  # None: from the features
    n_init: int
    max_iter: int
    tol: float
    max_rows: int


@dataclass(frozen=True, slots=True)
class DirectFit:
    """Where a fit ended: the parameters, the penalty in use, and the value each start had reached."""

    solution: Solution
    penalty: float
    starts: dict[str, float]


def scaled_penalty(features: Floats, tau: float, n_clusters: int) -> float:
    """Return the default penalty for these features."""
    covariance = features.T @ features / len(features)
    return PENALTY * tau * float(np.linalg.eigvalsh(covariance)[-1]) / n_clusters


def learn(
    X: Any, features: Floats, answered: Answered, settings: Settings, generator: np.random.Generator
) -> DirectFit:
    """Compare the starts, follow the best ones to the end, and keep the lowest."""
    tau, K = settings.tau, settings.n_clusters
    penalty = scaled_penalty(features, tau, K) if settings.penalty is None else settings.penalty
    few = _rows_for_starts(answered, len(features), generator)
    reached = _compare_starts(X[few], features[few], answered.among(few), settings, penalty, generator)
    ahead = sorted(reached, key=lambda start: reached[start].value)[:FOLLOWED]
    if len(few) < len(features):
        ahead = ahead[:1]  # a long way for each
    followed = [go_on(features, answered, settings, penalty, reached[name].parameters, generator) for name in ahead]
    return DirectFit(best(followed), penalty, {start: at.value for start, at in reached.items()})


def go_on(
    features: Floats,
    answered: Answered,
    settings: Settings,
    penalty: float,
    start: Floats,
    generator: np.random.Generator,
) -> Solution:
    """Minimise the objective from one start; the information is that of a sample of the rows where there are many."""
    n = len(features)
    if n > settings.max_rows:
        sample = np.sort(generator.choice(n, settings.max_rows, replace=False))
        rows = np.union1d(sample, answered.rows)
        features, answered = features[rows], answered.among(rows)
        terms = _terms(answered, settings.tau, np.searchsorted(rows, sample))
    else:
        terms = _terms(answered, settings.tau, None)
    return _minimise(features, terms, penalty, start, settings, settings.max_iter, "following the answers")


def _terms(answered: Answered, tau: float, rows: Ints | None) -> list[tuple[float, Term]]:
    information: list[Term] = [Balance(), Confidence()]
    if rows is not None:
        information = [OnRows(term, rows) for term in information]
    return [*answered.terms(), *((tau, term) for term in information)]


def _minimise(
    features: Floats,
    terms: list[tuple[float, Term]],
    penalty: float,
    start: Floats,
    settings: Settings,
    max_iter: int,
    stage: str,
) -> Solution:
    fit = RuleFit(features, penalty)
    return fit.minimise(terms, settings.n_clusters, start, max_iter=max_iter, tol=settings.tol, stage=stage)


def _compare_starts(
    X: Any, features: Floats, answered: Answered, settings: Settings, penalty: float, generator: np.random.Generator
) -> dict[str, Solution]:
    """Cluster several coordinates of the rows, several times each, and go some steps from every clustering."""
    K = settings.n_clusters
    coordinates = {"rows": X, "features": features}
    if answered.n_answers:
        coordinates["agreement"] = agreement_space(features, *answered.links(), max(1, K - 1))
    if X.shape[0] > K + 1:
        coordinates["graph"] = graph_features(X, N_GRAPH, generator=generator)
        coordinates["narrow graph"] = unit_rows(coordinates["graph"][:, :K])
    terms, reached = _terms(answered, settings.tau, None), {}
    for turn in range(settings.n_init):
        for name, space in coordinates.items():
            labels = round_by_kmeans(space, K, seed=as_seed(generator))
            start = learnt_start(features, labels, K, penalty)
            stage = f"comparing starts: {name} {turn + 1}"
            reached[f"{name} {turn + 1}"] = _minimise(features, terms, penalty, start, settings, START_STEPS, stage)
    return reached


def _rows_for_starts(answered: Answered, n_rows: int, generator: np.random.Generator) -> Ints:
    """All rows where they are few; else some that answers are about, and as many others."""
    if n_rows <= START_ROWS:
        return np.arange(n_rows)
    chosen = np.zeros(n_rows, dtype=bool)
    for answers in (answered.pairs, answered.triplets):
        order = generator.permutation(answers.n_answers)[: START_ROWS // (4 * answers.WIDTH)]
        chosen[answers.rows[order].ravel()] = True
    others = np.flatnonzero(~chosen)
    chosen[generator.choice(others, START_ROWS - int(chosen.sum()), replace=False)] = True
    return np.flatnonzero(chosen)
