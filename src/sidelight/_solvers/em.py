"""Expectation maximisation: posteriors of what is hidden, then a better fit to them, until the likelihood rests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sidelight._solvers.trace import Reporter, Solution, silent


def alternate(
    expect: Callable[[np.ndarray], tuple[float, Any]],
    maximise: Callable[[np.ndarray, Any], np.ndarray],
    start: np.ndarray,
    *,
    max_iter: int = 100,
    tol: float = 1e-6,
    report: Reporter = silent,
) -> Solution:
    """Alternate both steps from ``start``; a step that does not lower the value ends the search before it.

    Parameters
    ----------
    expect : callable
        theta -> (value, Q): the objective to be lowered and the posteriors of the hidden part.
    maximise : callable
        (theta, Q) -> a theta that fits Q better, exactly or by some steps (generalised EM).
    start : ndarray
        Where to begin.
    max_iter, tol : int, float
        Most rounds, and the relative fall of the value at which it stops.
    report : callable
        Called with (done, total, note) after each round.
    """
    theta = np.asarray(start)
    value, Q = expect(theta)
    trace, converged = [float(value)], False
    for done in range(1, max_iter + 1):
        candidate = maximise(theta, Q)
        new_value, new_Q = expect(candidate)
        fall = trace[-1] - float(new_value)
        if fall > 0:
            theta, Q = candidate, new_Q
            trace.append(float(new_value))
        report(done, max_iter, f"objective {trace[-1]:.6g}")
        if fall <= tol * max(1.0, abs(trace[-1])):
            converged = True
            break
    return Solution(theta, trace[-1], np.asarray(trace), converged)
