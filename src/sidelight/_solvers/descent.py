"""How solvers go down: by L-BFGS, from several starts of which the best are followed, or by expectation maximising."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, Protocol

import numpy as np
from scipy.optimize import minimize

from sidelight._core.process import one_blas_thread

# Solvers call ``report(done, total, note)`` once per iteration; estimators bind it to sidelight.progress.
Reporter = Callable[[int, int, str], None]


def silent(done: int, total: int, note: str = "") -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class Solution:
    """Where a solver ended and how it got there: ``trace[t]`` is the objective after iteration t.

    ``settled`` says that it ended because what it is used for had stopped moving (:class:`Watch`).
    """

    parameters: np.ndarray
    value: float
    trace: np.ndarray
    converged: bool
    settled: bool = False

    @property
    def n_iter(self) -> int:
        """Number of iterations made."""
        return len(self.trace) - 1


ValueAndGradient = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class Coordinates(Protocol):
    """Where a solver walks in the place of the parameters; ``is_round`` as in :func:`descend`."""

    is_round: bool

    def enter(self, theta: np.ndarray) -> np.ndarray:
        """From parameters to coordinates."""
        ...

    def leave(self, v: np.ndarray) -> np.ndarray:
        """From coordinates back to parameters."""
        ...

    def slope(self, gradient: np.ndarray) -> np.ndarray:
        """From a gradient by parameters to one by coordinates."""
        ...


class Watch(Protocol):
    """Looks at what parameters are used for, after every so many iterations."""

    every: int

    def __call__(self, theta: np.ndarray) -> bool:
        """Whether it has stopped moving."""
        ...


def descend(
    objective: ValueAndGradient,
    start: np.ndarray,
    *,
    max_iter: int = 200,
    tol: float = 1e-6,
    resolution: float = 0.0,
    coordinates: Coordinates | None = None,
    watch: Watch | None = None,
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
    coordinates : Coordinates, optional
        Where to walk; in the parameters themselves by default. Where they are round, the curvature is about 1 in every
        direction, so that the gradient itself is a good first step. SciPy's first step has length 1, whatever the
        gradient, and takes several evaluations to find its length.
    watch : Watch, optional
        Ends the descent as soon as it says that what the parameters are used for has stopped moving.
    report : callable
        Called with (done, total, note) after each iteration.
    """
    trace: list[float] = []
    ends: list[int] = []  # the iteration at which the watch ended the descent
    place = start if coordinates is None else coordinates.enter(start)
    with one_blas_thread():
        value, gradient = objective(start if coordinates is None else coordinates.leave(place))
        gradient = gradient if coordinates is None else coordinates.slope(gradient)
    first: list[tuple[np.ndarray, np.ndarray]] = [(value, gradient)]  # nobody computes it twice
    is_round = coordinates is not None and coordinates.is_round
    unit = max(float(np.linalg.norm(gradient)), np.finfo(float).tiny) if is_round else 1.0  # a step of length 1

    def leave(u: np.ndarray) -> np.ndarray:
        return u * unit if coordinates is None else coordinates.leave(u * unit)

    def scaled(u: np.ndarray) -> tuple[float, np.ndarray]:
        if first:
            value, gradient = first.pop()
        else:
            value, gradient = objective(leave(u))
            gradient = gradient if coordinates is None else coordinates.slope(gradient)
        return float(value), np.asarray(gradient) * unit

    def after_iteration(intermediate_result: Any) -> None:  # SciPy looks at the parameter's name
        trace.append(float(intermediate_result.fun))
        report(len(trace) - 1, max_iter, f"objective {trace[-1]:.6g}")
        if watch is not None and (len(trace) - 1) % watch.every == 0 and watch(leave(intermediate_result.x)):
            ends.append(len(trace) - 1)
            raise StopIteration  # so SciPy is told to stop

    options = {"maxiter": max_iter, "ftol": max(tol, resolution), "gtol": tol * unit, "maxfun": 10 * max_iter}
    with one_blas_thread():
        trace.append(float(value))
        result = minimize(scaled, place / unit, jac=True, method="L-BFGS-B", callback=after_iteration, options=options)
    settled = bool(ends)
    return Solution(leave(result.x), float(result.fun), np.asarray(trace), bool(result.success) or settled, settled)


# (start, most iterations, stage) -> where a solver got to
Solver = Callable[[np.ndarray, int, str], Solution]


def race(
    starts: Sequence[np.ndarray], solve: Solver, max_iter: int, *, heat: int = 0, keep_one_in: int = 1
) -> list[Solution]:
    """Solve from every start, and to the end only from the best of them after ``heat`` iterations.

    Parameters
    ----------
    starts : sequence of ndarray
        Where to begin.
    solve : callable
        (start, max_iter, stage) -> Solution.
    max_iter : int
        Most iterations of a start.
    heat : int
        Iterations after which starts are compared.
    keep_one_in : int
        One start in so many is followed to the end; 1 follows all of them.
    """
    n_kept, names = -(-len(starts) // keep_one_in), [f"start {i + 1} of {len(starts)}" for i in range(len(starts))]
    if n_kept == len(starts) or max_iter <= heat:
        return list(map(solve, starts, repeat(max_iter), names))
    solutions = list(map(solve, starts, repeat(heat), [f"trying {name}" for name in names]))
    for i in np.argsort([solution.value for solution in solutions], kind="stable")[:n_kept].tolist():
        first = solutions[i]
        if not first.converged:
            rest = solve(first.parameters, max_iter - heat, names[i])
            trace = np.append(first.trace, rest.trace[1:])
            solutions[i] = replace(rest, trace=trace)
    return solutions


def best(solutions: Sequence[Solution]) -> Solution:
    """Return the solution of the lowest value; of equal ones the first."""
    return min(solutions, key=lambda solution: solution.value)


def alternate(
    expect: Callable[[np.ndarray], tuple[float, Any]],
    maximise: Callable[[np.ndarray, Any], np.ndarray],
    start: np.ndarray,
    *,
    max_iter: int = 100,
    tol: float = 1e-6,
    report: Reporter = silent,
) -> Solution:
    """Alternate both steps of EM from ``start``; a step that does not lower the value ends the search before it.

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
