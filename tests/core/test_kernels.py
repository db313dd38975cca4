"""The one decorator for compiled loops."""

from __future__ import annotations

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


def test_nothing_recompiles_after_import():
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
