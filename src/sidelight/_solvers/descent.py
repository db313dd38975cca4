"""Descent by L-BFGS from one start; SciPy does the work, we keep the trace and pass on signs of life."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from sidelight._core.threads import one_blas_thread
from sidelight._solvers.trace import Reporter, Solution, silent

ValueAndGradient = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def descend(
    objective: ValueAndGradient,
    start: np.ndarray,
    *,
    max_iter: int = 200,
    tol: float = 1e-6,
    resolution: float = 0.0,
    is_round: bool = False,
    report: Reporter = silent,
) -> Solution:
    """Go down ``objective`` from ``start``.

    Parameters
    ----------
    objective : callable
        theta -> (value, gradient).
    start : ndarray of shape (n_parameters,)
        Where to begin.
    max_iter : int
        Most iterations.
    tol : float
        Stop when an iteration lowers the value by less than ``tol`` times its size, or no entry of the gradient
        exceeds ``tol``.
    resolution : float
        Relative rounding of the values: a smaller fall is noise, and ``tol`` below it asks for what cannot be seen.
        The line search would give up in the noise, and the descent would be taken for one that did not converge.
    is_round : bool
        Whether the curvature is about 1 in every direction, so that the gradient itself is a good first step. SciPy's
        first step has length 1, whatever the gradient, and takes several evaluations to find its length.
    report : callable
        Called with (done, total, note) after each iteration.
    """
    trace: list[float] = []
    with one_blas_thread():
        value, gradient = objective(start)
    first: list[tuple[float, np.ndarray]] = [(float(value), gradient)]  # nobody computes it twice
    unit = max(float(np.linalg.norm(gradient)), np.finfo(float).tiny) if is_round else 1.0  # a step of length 1

    def scaled(u: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = first.pop() if first else objective(u * unit)
        return float(value), np.asarray(gradient) * unit

    def after_iteration(intermediate_result: object) -> None:  # SciPy looks at the parameter's name
        trace.append(float(intermediate_result.fun))  # type: ignore[attr-defined] # SciPy ships no types
        report(len(trace) - 1, max_iter, f"objective {trace[-1]:.6g}")

    options = {"maxiter": max_iter, "ftol": max(tol, resolution), "gtol": tol * unit, "maxfun": 10 * max_iter}
    with one_blas_thread():
        trace.append(float(value))
        result = minimize(scaled, start / unit, jac=True, method="L-BFGS-B", callback=after_iteration, options=options)
    return Solution(result.x * unit, float(result.fun), np.asarray(trace), bool(result.success))
