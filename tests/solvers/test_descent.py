"""Descent keeps an honest trace."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.optimize import rosen, rosen_der

from sidelight._solvers.descent import descend


def rosenbrock(theta):
    return rosen(theta), rosen_der(theta)


def test_finds_the_minimum_and_never_goes_up():
    road = descend(rosenbrock, np.array([-1.2, 1.0]), tol=1e-12)
    np.testing.assert_allclose(road.parameters, 1.0, atol=1e-4)
    assert (np.diff(road.trace) <= 0).all()
    assert road.trace[0] == rosen(np.array([-1.2, 1.0]))
    assert road.trace[-1] == road.value
    assert road.converged


def test_an_iteration_limit_is_not_called_convergence():
    road = descend(rosenbrock, np.array([-1.2, 1.0]), max_iter=3, tol=1e-12)
    assert not road.converged
    assert road.n_iter == 3


def test_a_watch_ends_a_descent_that_is_then_settled():
    class Watch:
        every = 4
        seen: ClassVar[list] = []

        def __call__(self, theta):
            self.seen.append(theta)
            return len(self.seen) == 3

    road = descend(rosenbrock, np.array([-1.2, 1.0]), tol=1e-12, watch=Watch())
    assert road.n_iter == 12
    assert road.settled
    assert road.converged
    np.testing.assert_array_equal(road.parameters, Watch.seen[-1])
    assert rosen(road.parameters) == road.value == road.trace[-1]
    assert not descend(rosenbrock, np.array([-1.2, 1.0]), tol=1e-12).settled


def test_small_products_get_one_blas_thread_and_the_rest_stays_as_it_was():
    from threadpoolctl import threadpool_info, threadpool_limits

    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    seen = []

    def objective(theta):
        seen.append(threads())
        return rosenbrock(theta)

    with threadpool_limits(2, user_api="blas"):
        descend(objective, np.array([-1.2, 1.0]))
        assert seen == [{1}] * len(seen)
        assert threads() == {2}
