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
    report : callable
        Called with (done, total, note) after each iteration.
    """
    trace: list[float] = []

    def after_iteration(intermediate_result: object) -> None:  # SciPy looks at the parameter's name
        trace.append(float(intermediate_result.fun))  # type: ignore[attr-defined] # SciPy ships no types
        report(len(trace) - 1, max_iter, f"objective {trace[-1]:.6g}")

    options = {"maxiter": max_iter, "ftol": max(tol, resolution), "gtol": tol, "maxfun": 10 * max_iter}
    with one_blas_thread():
        trace.append(float(objective(start)[0]))
        result = minimize(objective, start, jac=True, method="L-BFGS-B", callback=after_iteration, options=options)
    return Solution(result.x, float(result.fun), np.asarray(trace), bool(result.success))
