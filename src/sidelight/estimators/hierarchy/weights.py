"""The weights: alone, with the tree and the rates of loss fixed, and together with them by the EM of [P17] algorithm 4.

The gradient of log P(Z | X) is that of the M-step's objective, [P17] eq. (5.8), at the posteriors of the same weights,
so one pass over the edges of the tree gives both, and L-BFGS climbs the likelihood itself. EM with some steps of L-BFGS
a round ends lower after more passes (docs/decisions/0019).

Every round of the EM: exact posteriors of all pairs of labels under the old tree; alpha by (5.7); then weights by
L-BFGS (5.8) and the tree as the maximum arborescence of the edge weights (5.9), in turn, both under the old posteriors.
At fixed eps the bound never falls. eps starts at 0.05 and shrinks by 0.98 a round.

The thesis does not say what W starts from, and everything depends on it. Weights that fit a tree make that tree the
best one: from a star it stays a star, and it stays near any other tree. With W = 0, and the tree before the weights in
every round, a label hangs from the rarest label that its rows have, which is mostly its parent (decision 59).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from sidelight._core.forest import parents_first
from sidelight._core.label_passes import (
    Inputs,
    Posterior,
    as_inputs,
    edge_targets,
    logistic_residual,
    pair_sums,
    pair_targets,
    parent_columns,
    posterior,
    weighted_targets,
)
from sidelight._models.label_logits import LabelLogits
from sidelight._solvers.descent import Reporter, Solution, ValueAndGradient, descend, silent
from sidelight.estimators.hierarchy.candidates import LEAST, MOST
from sidelight.estimators.hierarchy.counts import Entries, Floats, PairCounts, unique_rows
from sidelight.estimators.hierarchy.edges import maximum_arborescence, spanning_tree

Ints = NDArray[np.intp]

START_STEPS = 15  # of L-BFGS for the first weights, from zero


def closed_start(model: LabelLogits, Z: Entries, parents: Ints, weights: Floats | None = None) -> Floats:
    """Fit first weights to the labels that were seen, with every ancestor of a seen label on.

    Without features, rows of Z may be distinct rows of labels with ``weights``.
    """
    on = (Z == 1).astype(np.float64)
    for c in parents_first(parents)[::-1]:
        if parents[c] >= 0:
            np.maximum(on[:, parents[c]], on[:, c], out=on[:, parents[c]])
    above = parent_columns(on, parents)
    if weights is not None:
        above = above * weights[:, None]
    return fit_weights(model, model.start(), on * above, above, steps=START_STEPS)


def fit_weights(model: LabelLogits, theta: Floats, both: Floats, parent: Floats, *, steps: int) -> Floats:
    """Make some steps of L-BFGS on the M-step's objective, [P17] eq. (5.8); without features it has a closed form."""
    if model.rows is None:
        rate = np.clip((both.sum(axis=0) + 1e-3) / (parent.sum(axis=0) + 2e-3), 1e-6, 1 - 1e-6)  # finite for 0 of n
        return np.asarray(logit(rate))

    loss: Any = partial(model.loss, both=both, parent=parent)
    return np.asarray(descend(loss, theta, max_iter=steps, tol=1e-9).parameters)


def learn_weights(
    model: LabelLogits,
    Z: Entries,
    tree: Inputs,
    *,
    max_iter: int,
    tol: float,
    weights: Floats | None = None,
    report: Reporter = silent,
) -> Solution:
    """Go down minus the penalised log-likelihood from the closed labels; ``trace`` holds it.

    Without features, rows of Z may be distinct rows of labels with ``weights``.
    """
    start = closed_start(model, Z, tree.parents, weights)
    if model.rows is None:
        return descend(without_features(model, Z, tree, weights), start, max_iter=max_iter, tol=tol, report=report)

    def judge(part: slice, scores: Floats) -> tuple[float, Floats]:
        targets = edge_targets(scores, Z[part], tree)
        return float(targets.log_likelihood.sum()), logistic_residual(scores, targets.both, targets.parent)[1]

    objective: Any = partial(model.pull, judge=judge)
    return descend(objective, start, max_iter=max_iter, tol=tol, report=report)


def without_features(model: LabelLogits, Z: Entries, tree: Inputs, weights: Floats | None = None) -> ValueAndGradient:
    """The same objective of the biases alone: all rows have the same scores, so distinct rows of labels are enough."""
    patterns, times = unique_rows(Z) if weights is None else (Z, weights)

    def objective(b: Floats) -> Any:
        both, parent, value = weighted_targets(b, patterns, times, tree)
        return model.ridge(b) - value, model.ridge_gradient(b) - (both - parent * expit(b))

    return objective


INITS = ("zero", "several", "star", "chow-liu", "random")

EPS, DECAY = 0.05, 0.98  # [P17] 5.5.1
_ALPHA = 0.1  # where the rate of loss starts
_STEPS = 15  # of L-BFGS a turn
_TURNS = 2  # of weights and tree within a round; a third never changed the tree


@dataclass(frozen=True, slots=True)
class JointFit:
    """Where one start ended."""

    parents: Ints
    alpha: float
    theta: Floats
    trace: Floats  # the bound, less the penalty, at the beginning of every round and at the end
    converged: bool


def starts(counts: PairCounts, init: str, n_init: int, rng: np.random.Generator) -> list[Ints]:
    """Return trees to start from; "zero" and "star" are a star, "several" also the Chow-Liu tree and random trees."""
    n = len(counts.both)
    if init in ("zero", "star"):
        return [np.full(n, -1, dtype=np.intp)]
    if init == "chow-liu":
        return [spanning_tree(counts)[0]]
    fixed = [np.full(n, -1, dtype=np.intp), spanning_tree(counts)[0]] if init == "several" else []
    return (fixed + [_random_tree(n, rng) for _ in range(n_init - len(fixed))])[:n_init]


def _random_tree(n: int, rng: np.random.Generator) -> Ints:
    """Hang each label, in random order, from one before it, or from the root with probability 0.2."""
    order, parents = rng.permutation(n), np.full(n, -1, dtype=np.intp)
    for place in range(1, n):
        if rng.random() < 0.8:
            parents[order[place]] = order[rng.integers(place)]
    return parents


def joint_em(
    model: LabelLogits,
    Z: Entries,
    parents: Ints,
    *,
    least_eps: float,
    max_iter: int,
    tol: float,
    eps: float = EPS,
    decay: float = DECAY,
    learn_tree: bool,
    tree_first: bool,
    report: Reporter = silent,
) -> JointFit:
    """Run EM from one tree; ``decay=1`` keeps eps fixed, and then the trace never falls.

    ``learn_tree=False`` keeps the tree (GT of [P17] 5.5.2): only weights and alpha are learned. ``tree_first`` begins
    with W = 0, and learns the tree before the weights in every round.
    """
    alpha, theta = _ALPHA, model.start() if tree_first else closed_start(model, Z, parents)
    trace: list[float] = []
    converged = False
    for done in range(1, max_iter + 1):
        tree = as_inputs(alpha, parents, eps)
        Q = posterior(model.scores(theta), Z, tree)
        trace.append(float(Q.log_likelihood.sum()) - model.ridge(theta))
        report(done, max_iter, f"bound {trace[-1]:.6g}")
        settled = len(trace) > 1 and abs(trace[-1] - trace[-2]) <= tol * abs(trace[-1])
        alpha = _loss(Q, Z)
        turns = _TURNS if learn_tree and not tree_first else 0
        new_parents = _best_tree(model, theta, Q, tree) if learn_tree and tree_first else parents
        new_parents, theta = _maximise(model, theta, Q, tree, new_parents, turns=turns)
        if settled and (new_parents == parents).all():
            converged = True
            break
        parents, eps = new_parents, max(eps * decay, least_eps)
    last = posterior(model.scores(theta), Z, as_inputs(alpha, parents, eps))
    trace.append(float(last.log_likelihood.sum()) - model.ridge(theta))
    return JointFit(parents, alpha, theta, np.asarray(trace), converged)


def _loss(Q: Posterior, Z: Entries) -> float:
    """Return alpha by [P17] eq. (5.7), over the checked entries."""
    expected, seen = float(Q.on[Z >= 0].sum()), float(Q.on[Z == 1].sum())
    return float(np.clip(1 - seen / max(expected, 1e-12), LEAST, MOST))


def _maximise(
    model: LabelLogits, theta: Floats, Q: Posterior, old: Inputs, parents: Ints, *, turns: int
) -> tuple[Ints, Floats]:
    """Improve weights and tree in turn under the posteriors of the old tree; no turns: the weights alone."""
    for turn in range(max(turns, 1)):
        both = pair_targets(Q, old, parents)
        theta = fit_weights(model, theta, both, parent_columns(Q.on, parents), steps=_STEPS)
        best = _best_tree(model, theta, Q, old) if turn < turns else parents
        if (best == parents).all():
            break
        parents = best
    return parents, theta


def _best_tree(model: LabelLogits, theta: Floats, Q: Posterior, old: Inputs) -> Ints:
    """Return the maximum arborescence of the edge weights."""
    return (maximum_arborescence(edge_weights(Q, model.scores(theta), old), 0)[1:] - 1).astype(np.intp)


def edge_weights(Q: Posterior, scores: Floats, old: Inputs) -> Floats:
    """Compute [P17] eq. (5.9) for the root (row and column 0) and all ordered pairs of labels.

    sum_i Q11 log sigma + Q10 log(1 - sigma) + Q01 log eps + Q00 log(1 - eps), with log sigma = s + log(1 - sigma).
    """
    n_rows, n = scores.shape
    together, times_score = pair_sums(Q, scores, old)
    log_off = -np.logaddexp(0.0, scores)
    on = Q.on.sum(axis=0)
    weights = np.full((n + 1, n + 1), -np.inf)
    weights[0, 1:] = (Q.on * scores + log_off).sum(axis=0)
    weights[1:, 1:] = (
        times_score
        + Q.on.T @ log_off
        + (on[None, :] - together) * np.log(old.eps)
        + (n_rows - on[:, None] - on[None, :] + together) * np.log1p(-old.eps)
    )
    return weights
