"""The one decorator for compiled loops: eager signatures, cached on disk where that is possible.

Every kernel takes C-contiguous float64 and intp arrays that its caller prepared, so nothing recompiles behind the
user's back. The cache falls back to none when neither the package nor the user's cache folder can be written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(signature: str | list[str], *, parallel: bool = False) -> Callable[[F], F]:
    """Compile a function when its module is imported; the plain one stays at ``.py_func`` for the tests.

    Parameters
    ----------
    signature : str or list of str
        numba signature(s), for example ``"float64[::1](float64[:, ::1], intp[::1])"``.
    parallel : bool
        Let ``numba.prange`` share independent iterations between threads. No result may depend on a
        reduction across threads.
    """

    def compile_(function: F) -> F:
        options = {"nogil": True, "parallel": parallel, "fastmath": False, "error_model": "numpy"}
        try:
            return numba.njit(signature, cache=True, **options)(function)
        except (RuntimeError, OSError):  # "no locator available": nowhere to write a cache
            return numba.njit(signature, **options)(function)

    return compile_
