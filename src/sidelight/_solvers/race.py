"""Several starts, of which only those that are ahead after some iterations are followed to the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sidelight._solvers.trace import Solution

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
    n_kept = -(-len(starts) // keep_one_in)
    if n_kept == len(starts) or max_iter <= heat:
        return [solve(start, max_iter, f"start {i + 1} of {len(starts)}") for i, start in enumerate(starts)]
    solutions = [solve(start, heat, f"trying start {i + 1} of {len(starts)}") for i, start in enumerate(starts)]
    for i in np.argsort([solution.value for solution in solutions], kind="stable")[:n_kept].tolist():
        first = solutions[i]
        if not first.converged:
            rest = solve(first.parameters, max_iter - heat, f"start {i + 1} of {len(starts)}")
            trace = np.append(first.trace, rest.trace[1:])
            solutions[i] = Solution(rest.parameters, rest.value, trace, rest.converged)
    return solutions


def best(solutions: Sequence[Solution]) -> Solution:
    """Return the solution of the lowest value; of equal ones the first."""
    return min(solutions, key=lambda solution: solution.value)
