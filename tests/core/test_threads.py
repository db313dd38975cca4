"""One limiter for the whole process: whoever comes and goes in what order, BLAS ends with what it had."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.linalg  # noqa: F401 - its own BLAS has to be there before threads are counted
from threadpoolctl import threadpool_info, threadpool_limits

import sidelight as sl
from sidelight._core.process import map_in_threads, n_threads, one_blas_thread


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def three_threads():
    with threadpool_limits(3, user_api="blas"):
        yield


def test_blocks_that_overlap_leave_blas_as_it_was():
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)  # the first to come leaves first, which a plain context manager cannot survive
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == {3}


def test_a_limit_holds_whichever_thread_sets_it():
    def inside(together):
        with one_blas_thread():
            together.wait()  # both are inside
            return blas_threads()

    for _ in range(3):  # whoever comes first and leaves last
        with ThreadPoolExecutor(2) as pool:
            together = threading.Barrier(2, timeout=20)
            assert list(pool.map(inside, [together, together])) == [{1}, {1}]
        assert blas_threads() == {3}


def test_the_last_thread_to_leave_brings_back_what_was_set():
    first = one_blas_thread()
    first.__enter__()
    with ThreadPoolExecutor(1) as pool:
        last = one_blas_thread()
        pool.submit(last.__enter__).result()
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        pool.submit(last.__exit__, None, None, None).result()
        assert blas_threads() == {3}


def test_the_number_of_threads_is_that_outside_of_the_block():
    assert n_threads() == 3
    with one_blas_thread():
        assert n_threads() == 3
        assert blas_threads() == {1}


def test_an_error_inside_restores_the_limit():
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        1 / 0  # noqa: B018 # the error is the point
    assert blas_threads() == {3}


def test_results_come_in_order_and_errors_come_through():
    assert map_in_threads(lambda i: i * i, range(20)) == [i * i for i in range(20)]
    with pytest.raises(ZeroDivisionError):
        map_in_threads(lambda i: 1 // i, range(3))


def test_several_threads_take_part():
    together = threading.Barrier(3, timeout=20)  # passes only when three calls wait at once
    places = map_in_threads(lambda i: together.wait(), range(3))
    assert sorted(places) == [0, 1, 2]


def test_two_fits_at_once_leave_blas_as_it_was():
    X = np.random.default_rng(0).normal(size=(300, 4))
    bags = sl.Bags(np.arange(300) % 75, labels={b: {"ab"[b % 2]} for b in range(75)})

    def fit(seed):
        sl.DiscriminativeClustering(3, n_init=2, max_iter=20, tol=1e-2, random_state=seed).fit(X)
        sl.CoverageClustering(n_subclusters=2, n_init=2, tol=1e-2, random_state=seed).fit(X, bags=bags)
        sl.BagSpectralClustering(3, n_init=1, random_state=seed).fit(X, bags=bags)
        sl.estimators.Codebook(5, random_state=seed).fit(X)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fit, range(8)))
    assert blas_threads() == {3}


@pytest.mark.slow
def test_a_fit_starts_no_pool_of_numba():
    code = (
        "import numpy as np, sidelight as sl; from numba.np.ufunc import parallel;"
        "from sidelight.estimators._labelled_bags import coverage; coverage._WORTH_A_THREAD = 0;"
        "X = np.random.default_rng(0).normal(size=(40, 2)); "
        "bags = sl.Bags(np.arange(40) // 4, labels={b: {'ab'[b % 2]} for b in range(10)});"
        "sl.CoverageClustering().fit(X, bags=bags); sl.InformationCoclustering(2, n_init=4).fit(abs(X));"
        "assert not parallel._is_initialized"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "3"}  # one thread would start no pool, whatever the code does
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


def test_work_that_is_done_before_a_thread_has_started_stays_in_the_callers_thread():
    where = map_in_threads(lambda i: threading.get_ident(), range(3), multiplications=1000)
    assert set(where) == {threading.get_ident()}
    where = map_in_threads(lambda i: threading.get_ident(), range(3), multiplications=1e12)
    assert threading.get_ident() not in where
