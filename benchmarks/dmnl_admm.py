"""Algorithm 1 of [Z17] as printed, with the signs and factors mended: the record of an attempt, not a method to use.

It alternates a pass of stochastic steps for W, a multiplicative step for H on the Stiefel manifold and a dual step, and
takes sizes and shares anew. docs/decisions/0029 says what came of it; the page of the benchmark "novel" has the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import sidelight as sl
from sidelight._core.simplex import softmax
from sidelight._models.objective import Objective
from sidelight._solvers.descent import descend
from sidelight.estimators._labelled_bags.supervision import Layout
from sidelight.estimators.novelty.problem import STEPS, DisjointLabels, Problem, draw_labels

ROUNDS = 30
RATE = (
    0.05  # of the first stochastic step; the paper gives none. Larger ones diverge sooner, smaller ones leave W behind
)
TINY = 1e-12  # below a quotient that may be 0 / 0
LARGEST = 1e6  # entries of H beyond it count as divergence: all of them lie in [0, 1] on the manifold
VARIANTS = {
    "as in the paper": {},
    "our start": {"start": "lists"},
    "our start, L-BFGS for W": {"start": "lists", "w_step": "descent"},
    "our start, L-BFGS, no dual step": {"start": "lists", "w_step": "descent", "dual": False},
    "our start, L-BFGS, square root of the step": {"start": "lists", "w_step": "descent", "power": 0.5},
    "our start, L-BFGS, H put back on the manifold": {"start": "lists", "w_step": "descent", "put_back": True},
    "our start, L-BFGS, H put back, no dual step": {
        "start": "lists", "w_step": "descent", "put_back": True, "dual": False,
    },
}  # fmt: skip


@dataclass
class Outcome:
    """Where a run ended: residuals before the first and after the last finite round."""

    labels: np.ndarray
    rounds: int
    finite: bool
    orthogonality: list[float]  # |H'H - I|
    gap: list[float]  # |H - F S^-1/2|
    dual: list[float]  # |Lambda|
    residual: list[float]  # |F'F / S - I|, the residual that DMNL reports
    objective: list[float]  # eq. (2)


def run(
    X: np.ndarray,
    bags: sl.Bags,
    n_novel: int,
    *,
    start: str = "k-means",
    w_step: str = "sgd",
    dual: bool = True,
    power: float = 1.0,
    put_back: bool = False,
    lam: float = 0.1,
    rho: float = 10.0,
    seed: int = 0,
) -> Outcome:
    """Run Algorithm 1 on standardised rows."""
    generator = np.random.default_rng(seed)
    layout = Layout.of(bags.classes, 1, n_novel)
    problem = Problem.of(X, bags, layout, sl.DMNL(lam=lam, rho=rho, ridge=0.0), generator)
    theta, z = _start(problem, X, bags, layout, start, generator)
    S = problem._sizes(z)
    H = np.eye(layout.n_clusters)[z] / np.sqrt(S)
    Lambda = np.zeros_like(H)
    seen: list[tuple[float, ...]] = []
    for done in range(ROUNDS + 1):
        F = np.exp(problem.model.log_posterior(theta, X))
        seen.append(_judge(problem, F, H, Lambda, S))
        if done == ROUNDS:
            break
        shares = problem.lists.shares(z, layout.n_clusters)
        if w_step == "sgd":
            theta = _stochastic_pass(problem, X, theta, shares, H + Lambda, S, generator)
        else:
            terms = [(1.0, problem._listed(z)), (rho, Follow(H + Lambda, S))]
            theta = descend(Objective(problem.model, X, terms, 0.0), theta, max_iter=STEPS, tol=1e-9).parameters
        F = np.exp(problem.model.log_posterior(theta, X))
        after = _multiplicative_step(problem, X, H, F, Lambda, S, shares, power)
        if not np.isfinite(after).all() or after.max() > LARGEST:
            break
        H = _on_manifold(after) if put_back else after
        if dual:
            Lambda = Lambda + H - F / np.sqrt(S)
        z = np.argmax(F, axis=1)
        S = problem._sizes(z)
    ends = [[values[0], values[-1]] for values in zip(*seen)]
    return Outcome(np.argmax(F, axis=1), len(seen) - 1, len(seen) == ROUNDS + 1, *ends)


@dataclass(frozen=True)
class Follow:
    """How far F S^-1/2 is from a target: value = 1/2 |T - P S^-1/2|^2."""

    target: np.ndarray
    sizes: np.ndarray

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> tuple[Any, np.ndarray]:
        root = np.sqrt(self.sizes)
        behind = self.target - P / root
        return 0.5 * np.square(behind).sum(), -P * behind / root


def _start(
    problem: Problem, X: np.ndarray, bags: sl.Bags, layout: Layout, start: str, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return W and labels: random weights and k-means, as the paper has it, or the start of DMNL."""
    if start == "lists":
        z = draw_labels(X, bags, layout, generator)
        return problem._fit_labels(z), z
    z = KMeans(layout.n_clusters, n_init=1, random_state=int(generator.integers(2**31))).fit(X).labels_
    return generator.random(problem.model.n_parameters), z


def _stochastic_pass(
    problem: Problem,
    X: np.ndarray,
    theta: np.ndarray,
    shares: Any,
    target: np.ndarray,
    S: np.ndarray,
    generator: np.random.Generator,
) -> np.ndarray:
    """Step once for each bag with the exact gradient of its part of eq. (7), and return the mean of all W."""
    W, b = (part.copy() for part in problem.model.unpack(theta))
    c, root, codes = problem.lists.Y.shape[1], np.sqrt(S), problem.lists.codes
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    beta = np.asarray(shares.sum(axis=0)).ravel()
    mean_W, mean_b = np.zeros_like(W), np.zeros_like(b)
    for step, bag in enumerate(generator.permutation(len(members))):
        rows = members[bag]
        F = softmax(X[rows] @ W + b)
        G = -problem.rho * F * (target[rows] - F / root) / root
        G[:, :c] += F[:, :c] * np.outer(beta[rows], beta[rows] @ F[:, :c] - problem.lists.Y[bag])
        G -= F * G.sum(axis=1, keepdims=True)
        rate = RATE / (1.0 + step / len(members))
        W -= rate * X[rows].T @ G
        b -= rate * G.sum(axis=0)
        mean_W += W / len(members)
        mean_b += b / len(members)
    return problem.model.pack(mean_W, mean_b)


def _multiplicative_step(
    problem: Problem,
    X: np.ndarray,
    H: np.ndarray,
    F: np.ndarray,
    Lambda: np.ndarray,
    S: np.ndarray,
    shares: Any,
    power: float,
) -> np.ndarray:
    """Eq. (10) in the direction that descends, with the factors that the printed gradient lacks."""
    c, root = problem.lists.Y.shape[1], np.sqrt(S)
    M = 2.0 * problem.lam * problem.scale**2 * X @ (X.T @ H)
    up = np.maximum(-M, 0.0) + problem.rho * (H + np.maximum(Lambda, 0.0))
    down = np.maximum(M, 0.0) + problem.rho * (F / root + np.maximum(-Lambda, 0.0))
    up[:, :c] += shares.T @ (shares @ (H[:, :c] * root[:c])) * root[:c]
    down[:, :c] += shares.T @ problem.lists.Y * root[:c]
    ratio = (down + H @ (up.T @ H)) / np.maximum(up + H @ (down.T @ H), TINY)
    return np.asarray(H * ratio**power)


def _on_manifold(H: np.ndarray) -> np.ndarray:
    """Keep the largest entry of each row and give every column length 1: H >= 0 with H'H = I."""
    kept = np.where(np.arange(H.shape[1]) == np.argmax(H, axis=1)[:, None], H, 0.0)
    return np.asarray(kept / np.maximum(np.linalg.norm(kept, axis=0), TINY))


def _judge(problem: Problem, F: np.ndarray, H: np.ndarray, Lambda: np.ndarray, S: np.ndarray) -> tuple[float, ...]:
    z = np.argmax(F, axis=1)
    return (
        float(np.linalg.norm(H.T @ H - np.eye(H.shape[1]))),
        float(np.linalg.norm(H - F / np.sqrt(S))),
        float(np.linalg.norm(Lambda)),
        float(np.sqrt(2.0 * DisjointLabels(problem._sizes(z))(F, F)[0])),
        problem.hard_value(z),
    )
