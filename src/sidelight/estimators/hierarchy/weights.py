"""EM for the weights alone, with the tree and the rates of loss fixed.

E-step: exact posteriors on the edges of the tree. M-step: some steps of L-BFGS on the weighted logistic losses, warm
from the round before (generalised EM), so the objective log P(Z | X) - penalty never falls.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from sidelight._core.forest import parents_first
from sidelight._core.label_passes import EdgeTargets, Inputs, edge_targets, parent_columns
from sidelight._models.label_logits import LabelLogits
from sidelight._solvers.descent import descend
from sidelight._solvers.em import alternate
from sidelight._solvers.trace import Reporter, Solution, silent
from sidelight.estimators.hierarchy.counts import Entries, Floats

Ints = NDArray[np.intp]

START_STEPS = 15  # of L-BFGS for the first weights, from zero
_STEPS = 3  # of L-BFGS a round: the targets move with every round, and 8 steps cost twice as much in all


def closed_start(model: LabelLogits, Z: Entries, parents: Ints) -> Floats:
    """Fit first weights to the labels that were seen, with every ancestor of a seen label on."""
    on = (Z == 1).astype(np.float64)
    for c in parents_first(parents)[::-1]:
        if parents[c] >= 0:
            np.maximum(on[:, parents[c]], on[:, c], out=on[:, parents[c]])
    above = parent_columns(on, parents)
    return fit_weights(model, model.start(), on * above, above, steps=START_STEPS)


def fit_weights(
    model: LabelLogits, theta: Floats, both: Floats, parent: Floats, *, steps: int, scores: Floats | None = None
) -> Floats:
    """Make some steps of L-BFGS on the M-step's objective, [P17] eq. (5.8); without features it has a closed form.

    ``scores`` are those of ``theta``, if the E-step left them.
    """
    if model.rows is None:
        rate = np.clip((both.sum(axis=0) + 1e-3) / (parent.sum(axis=0) + 2e-3), 1e-6, 1 - 1e-6)  # finite for 0 of n
        return np.asarray(logit(rate))
    first = model.loss(theta, both, parent, scores)
    seen: list[tuple[Floats, Any]] = [(theta.copy(), first)]  # the solver asks for the start twice, and X may be large

    def loss(t: Floats) -> Any:
        if not np.array_equal(seen[-1][0], t):
            seen[:] = [(t.copy(), model.loss(t, both, parent))]
        return seen[-1][1]

    return np.asarray(descend(loss, theta, max_iter=steps, tol=1e-9).parameters)


def learn_weights(
    model: LabelLogits,
    Z: Entries,
    tree: Inputs,
    *,
    max_iter: int,
    tol: float,
    steps: int = _STEPS,
    report: Reporter = silent,
) -> Solution:
    """Run EM from the closed labels; ``trace`` is minus the penalised log-likelihood."""

    def expect(theta: Floats) -> tuple[float, Any]:
        scores = model.scores(theta)
        targets = edge_targets(scores, Z, tree)
        return model.ridge(theta) - float(targets.log_likelihood.sum()), (targets, scores)

    def maximise(theta: Floats, expected: tuple[EdgeTargets, Floats]) -> Floats:
        targets, scores = expected
        return fit_weights(model, theta, targets.both, targets.parent, steps=steps, scores=scores)

    start = closed_start(model, Z, tree.parents)
    return alternate(expect, maximise, start, max_iter=max_iter, tol=tol, report=report)
