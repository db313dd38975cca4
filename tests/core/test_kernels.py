"""The one decorator for compiled loops."""

from __future__ import annotations

import copy
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

from sidelight._core import kernels


def plain_total(values):
    total = 0.0
    for value in values:
        total += value
    return total


def test_a_kernel_equals_its_plain_version():
    compiled = kernels.kernel("float64(float64[::1])")(plain_total)
    values = np.random.default_rng(0).normal(size=100)
    assert compiled(values) == plain_total(values)
    assert compiled.py_func is plain_total


def test_nothing_recompiles_after_the_first_call():
    compiled = kernels.kernel("float64(float64[::1])")(plain_total)
    compiled(np.ones(3))
    assert len(compiled.signatures) == 1


def test_a_cache_that_cannot_be_written_is_done_without(monkeypatch):
    real = numba.njit

    def refuse_cache(*args, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return real(*args, **options)

    monkeypatch.setattr(numba, "njit", refuse_cache)
    assert kernels.kernel("float64(float64[::1])")(plain_total)(np.ones(4)) == 4.0


def outer(values):
    return 2 * inner(values)


inner = kernels.kernel("float64(float64[::1])")(plain_total)


def test_a_kernel_that_calls_another_is_compiled_with_it():
    assert kernels.kernel("float64(float64[::1])")(outer)(np.ones(4)) == 8.0
    assert not isinstance(inner, kernels.Kernel)  # numba knows only its own functions under this name


def test_kernels_that_are_imported_are_not_loaded():
    code = "import sys, sidelight.estimators._labelled_bags.coverage; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_threads_that_call_first_at_once_get_one_compiled_kernel():
    lazy = kernels.kernel("float64(float64[::1])")(plain_total)
    with ThreadPoolExecutor(4) as pool:
        assert len({id(compiled) for compiled in pool.map(lambda _: lazy.compiled(), range(4))}) == 1


def test_a_kernel_is_known_by_the_name_and_words_of_its_function():
    lazy = kernels.kernel("float64(float64[::1])")(plain_total)
    assert lazy.__name__ == "plain_total"
    assert copy.copy(lazy)(np.ones(2)) == 2.0
