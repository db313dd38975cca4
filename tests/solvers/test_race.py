"""Several starts: who is followed to the end."""

from __future__ import annotations

import numpy as np

from sidelight._solvers.descent import Solution, best, race


def walk(start, max_iter, stage):
    """Halve the parameter at each iteration; converged below 0.01."""
    values = [float(start[0])]
    while len(values) <= max_iter and values[-1] >= 0.01:
        values.append(values[-1] / 2)
    return Solution(np.array([values[-1]]), values[-1], np.array(values), values[-1] < 0.01)


def test_only_the_leaders_are_followed_to_the_end():
    starts = [np.array([float(2**i)]) for i in range(8)]
    solutions = race(starts, walk, 100, heat=3, keep_one_in=4)
    assert [solution.converged for solution in solutions] == [True, True] + [False] * 6
    assert best(solutions) is solutions[np.argmin([s.value for s in solutions])]


def test_a_trace_goes_on_where_the_heat_ended():
    solutions = race([np.array([1.0]), np.array([9.0])], walk, 100, heat=3, keep_one_in=2)
    np.testing.assert_allclose(solutions[0].trace, walk(np.array([1.0]), 100, "").trace)


def test_without_a_heat_every_start_is_solved_once():
    solutions = race([np.array([1.0]), np.array([4.0])], walk, 100)
    assert all(solution.converged for solution in solutions)
