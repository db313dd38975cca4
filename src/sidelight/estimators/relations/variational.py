"""The method of [P17] chapter 3 itself: variational EM for the objective (3.6), on the rows as they are.

E-step: mean field over the rows with answers, eq. (3.10), or (3.11) when answers are certain. M-step: L-BFGS on
(1 / M) sum_i Q_i log P_i + tau I(Y, X; W) - lambda |W|^2, with the confidence of the rows without answers only. The
traced value is minus the lower bound (3.7), which never drops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._core.params import as_seed
from sidelight._core.prototypes import round_by_kmeans
from sidelight._core.simplex import xlogx
from sidelight._models.objective import Objective, SoftmaxLinear, Term
from sidelight._solvers.descent import alternate
from sidelight._solvers.mean_field import infer
from sidelight._terms.information import Balance, Confidence, CrossEntropy, OnRows
from sidelight.estimators._base import reporting
from sidelight.estimators._linear_rule import RuleFit
from sidelight.estimators.relations.answered import Answered, pair_truths, triplet_truths
from sidelight.estimators.relations.direct import Fitted, Settings

Floats = npt.NDArray[np.float64]

TAU = 1.0  # the middle of the thesis' grid
PENALTY = 2.0**-5  # 2 lambda with lambda = 2^-6, the middle of the thesis' grid
KMEANS_RESTARTS = 50  # as the thesis has it
M_STEPS = 20  # L-BFGS iterations of an M-step; more fit a Q that the next round changes anyway


def learn(
    X: Any, features: Floats, answered: Answered, eps: float, settings: Settings, generator: np.random.Generator
) -> Fitted:
    """Start from k-means and a logistic rule (3.2.4.3), then alternate both steps."""
    K, n = settings.n_clusters, len(features)
    penalty = PENALTY if settings.penalty is None else settings.penalty
    tau = TAU if settings.tau is None else settings.tau
    labels = round_by_kmeans(X, K, seed=as_seed(generator), n_init=KMEANS_RESTARTS)
    model, fit = SoftmaxLinear(features.shape[1], K), RuleFit(features, penalty)
    targets: list[tuple[float, Term]] = [(1.0 / n, CrossEntropy(np.eye(K)[labels]))]
    start = fit.minimise(targets, K, max_iter=100, tol=1e-4, stage="learning the start").parameters
    answered_rows = answered.rows
    free = np.setdiff1d(np.arange(n), answered_rows)
    information: list[tuple[float, Term]] = [(tau, Balance())]
    if len(free):  # when every row has an answer the term is absent
        information.append((tau, OnRows(Confidence(), free)))
    if not answered.n_answers:
        terms: list[tuple[float, Term]] = [(tau, Balance()), (tau, Confidence())]
        solution = fit.minimise(terms, K, start, max_iter=settings.max_iter, tol=settings.tol, stage="information")
        return Fitted(solution, penalty, {"rows": solution.trace[0]})
    few = answered.among(answered_rows)
    unsupervised = Objective(model, features, information, penalty)

    def expect(theta: Floats) -> tuple[float, Floats]:
        log_P = model.log_posterior(theta, features[answered_rows])
        Q = _infer(log_P, few, eps)
        bound = _expected_answers(few, Q, eps) + (Q * log_P - xlogx(Q)).sum()
        return float(unsupervised(theta)[0]) - float(bound) / answered.n_answers, Q

    def maximise(theta: Floats, Q: Floats) -> Floats:
        pull: tuple[float, Term] = (1.0 / answered.n_answers, OnRows(CrossEntropy(Q), answered_rows))
        terms = [pull, *information]
        return fit.minimise(terms, K, theta, max_iter=M_STEPS, tol=settings.tol, stage="M-step").parameters

    solution = alternate(
        expect, maximise, start, max_iter=settings.max_iter, tol=settings.tol, report=reporting("variational EM")
    )
    return Fitted(solution, penalty, {"rows": float(solution.trace[0])})


def _infer(log_P: Floats, few: Answered, eps: float) -> Floats:
    gain_pair, gain_triplet = (np.inf, np.inf) if eps == 0 else (np.log((1 - eps) / eps), np.log(3 * (1 - eps) / eps))
    return infer(
        log_P, few.pairs.rows, few.pairs.codes, few.triplets.rows, few.triplets.codes,
        gain_pair=gain_pair, gain_triplet=gain_triplet,
    )  # fmt: skip


def _expected_answers(few: Answered, Q: Floats, eps: float) -> float:
    """Return E_Q[log P(L | Y)]; where answers are certain, a broken one costs a large number."""
    floor = max(eps, 1e-6)  # the cost would be infinite, and q breaks some answers while it is not yet sharp
    total = 0.0
    for truths, codes, wrong in (
        (pair_truths(Q, few.pairs.rows), few.pairs.codes, floor),
        (triplet_truths(Q, few.triplets.rows), few.triplets.codes, floor / 3),
    ):
        kept = truths[np.arange(len(codes)), codes]
        total += float((kept * np.log(1 - floor) + (1 - kept) * np.log(wrong)).sum())
    return total
