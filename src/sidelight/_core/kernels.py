"""The one decorator for compiled loops: fixed signatures, compiled or read from the cache on the first call.

Every kernel takes C-contiguous float64 and intp arrays that its caller prepared, so nothing recompiles behind the
user's back. A command calls few of the kernels that it imports: numba itself (.2 s) and each kernel (.02 to .1 s) are
loaded when they are first called. The cache falls back to none when neither the package nor the user's cache folder
can be written.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
_compiling = threading.RLock()  # one at a time: numba's compiler has a lock of its own, our replacing of names has none


def kernel(signature: str | list[str], *, parallel: bool = False) -> Callable[[F], F]:
    """Compile a function for its signatures when it is first called; the plain one stays at ``.py_func`` for the tests.

    Parameters
    ----------
    signature : str or list of str
        numba signature(s), for example ``"float64[::1](float64[:, ::1], intp[::1])"``.
    parallel : bool
        Let ``numba.prange`` share independent iterations between threads. No result may depend on a
        reduction across threads.
    """

    def wait(function: F) -> F:
        return cast(F, Kernel(function, signature, parallel))

    return wait


class Kernel:
    """A function that is compiled on its first call; then the compiled one takes its name in its module."""

    def __init__(self, function: Callable[..., Any], signature: str | list[str], parallel: bool) -> None:
        self.py_func = function
        self._signature = signature
        self._parallel = parallel
        self._compiled: Any = None
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return (self._compiled or self.compiled())(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copying and pickling ask for these before there is anything to compile
            raise AttributeError(name)
        return getattr(self.compiled(), name)

    def compiled(self) -> Any:
        """Return numba's dispatcher, compiled (or read from the cache) when it is first asked for."""
        with _compiling:
            if self._compiled is None:
                names = self.py_func.__globals__
                for name in self.py_func.__code__.co_names:  # numba does not know this class: kernels that are called
                    if isinstance(names.get(name), Kernel):  # by this one must be compiled functions under their names
                        names[name] = names[name].compiled()
                self._compiled = _compile(self.py_func, self._signature, self._parallel)
                if names.get(self.py_func.__name__) is self:  # no further look-up here for calls by this name
                    names[self.py_func.__name__] = self._compiled
        return self._compiled


def _compile(function: Callable[..., Any], signature: str | list[str], parallel: bool) -> Any:
    import numba  # takes .2 s, and many commands call no kernel

    options = {"nogil": True, "parallel": parallel, "fastmath": False, "error_model": "numpy"}
    try:
        return numba.njit(signature, cache=True, **options)(function)
    except (RuntimeError, OSError):  # "no locator available": nowhere to write a cache
        return numba.njit(signature, **options)(function)
