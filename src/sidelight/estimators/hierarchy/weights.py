"""The weights alone, with the tree and the rates of loss fixed.

The gradient of log P(Z | X) is that of the M-step's objective, [P17] eq. (5.8), at the posteriors of the same weights,
so one pass over the edges of the tree gives both, and L-BFGS climbs the likelihood itself. EM with some steps of L-BFGS
a round ends lower after more passes (docs/decisions/0019).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from sidelight._core.forest import parents_first
from sidelight._core.label_passes import Inputs, edge_targets, logistic_residual, parent_columns, weighted_targets
from sidelight._models.label_logits import LabelLogits
from sidelight._solvers.descent import Reporter, Solution, ValueAndGradient, descend, silent
from sidelight.estimators.hierarchy.counts import Entries, Floats, unique_rows

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
