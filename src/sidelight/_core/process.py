"""What belongs to the whole process and is set while anybody is inside: threads of linear algebra, warning filters.

NumPy and SciPy bring an OpenBLAS each and scikit-learn an OpenMP, and the waiting threads of one spin against the
working threads of another: on two cores a fit of thin products took ten times as long with two threads as with one.
Limits and filters belong to the process: two threads that each save and restore them may leave them changed for ever.
So all fits share one count of each: the first that enters remembers what was set, the last that leaves brings it back,
in whatever order they come and go.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ContextDecorator, contextmanager
from contextvars import copy_context
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeVar

import threadpoolctl
from threadpoolctl import ThreadpoolController

WORTH_A_THREAD = 1 << 26  # multiplications below which starting threads takes longer than they save
Item = TypeVar("Item")
Result = TypeVar("Result")


class _Limiter(ContextDecorator):
    """One BLAS thread while anybody is inside; what was set before comes back when the last one leaves."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limits: Any = None
        self._allowed = 1

    @property
    def allowed(self) -> int:
        """How many threads BLAS may use, or might when the first came in."""
        with self._lock:
            return self._allowed if self._inside else _blas_threads(_pools())

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                pools = _pools()
                self._allowed = _blas_threads(pools)
                _let_any_thread_set_blas()
                self._limits = pools.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                _let_any_thread_set_blas()  # the last to leave need not be the first that came
                self._limits.restore_original_limits()
                _let_any_thread_set_blas()


_limiter = _Limiter()


def n_threads() -> int:
    """Return how many threads Sidelight may use: as many as BLAS is allowed (OMP_NUM_THREADS, threadpoolctl)."""
    return _limiter.allowed


def one_blas_thread() -> _Limiter:
    """Let linear algebra inside the block use one thread; what was set before comes back afterwards."""
    return _limiter


@contextmanager
def one_thread() -> Iterator[None]:
    """Let linear algebra and OpenMP inside the block use one thread; OpenMP's limit is the calling thread's own."""
    with _limiter, _pools().limit(limits=1, user_api="openmp"):
        yield


def map_in_threads(
    work: Callable[[Item], Result], items: Iterable[Item], *, multiplications: float = float("inf")
) -> list[Result]:
    """Return ``work(item)`` for every item, in order, from as many threads as BLAS was allowed; each has one of BLAS.

    Items must not write to the same place; then the result does not depend on the number of threads. Progress and
    cancelling go with the threads. There is no pool of OpenMP or numba beside these threads. Work of so few
    ``multiplications`` that it is done before a thread has started stays in the caller's thread.
    """
    items = list(items)
    with _limiter:
        width = min(n_threads(), len(items))
        if width <= 1 or multiplications < WORTH_A_THREAD:
            return list(map(work, items))
        with ThreadPoolExecutor(width) as pool:
            jobs = [pool.submit(copy_context().run, work, item) for item in items]
            return [job.result() for job in jobs]


def for_each_in_threads(work: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Call ``work`` on every item as :func:`map_in_threads` does."""
    map_in_threads(work, items)


def _pools() -> ThreadpoolController:
    return _found_with(len(sys.modules))


@lru_cache(maxsize=1)
def _found_with(n_modules: int) -> ThreadpoolController:
    """Look through all loaded libraries: milliseconds, so again only when modules were imported."""
    return ThreadpoolController()


def _let_any_thread_set_blas() -> None:
    """Undo that threadpoolctl (from 3.8 on) ignores, without a word, every thread but the one that set BLAS first.

    It does so because threads that fight over the one limit of a process make no sense. Ours do not: the limiter counts
    them.
    """
    openblas: Any = getattr(threadpoolctl, "OpenBLASController", None)  # older versions have another name for it
    if hasattr(openblas, "clear_controlling_thread"):
        openblas.clear_controlling_thread(force=True)


def _blas_threads(pools: ThreadpoolController) -> int:
    return int(max(map(itemgetter("num_threads"), pools.select(user_api="blas").info()), default=1))


_lock = threading.Lock()
_inside = 0
_saved: warnings.catch_warnings[None] | None = None


@contextmanager
def without_library_warnings() -> Iterator[None]:
    """Hide k-means' note about few different rows, LOBPCG's about guard vectors and SciPy's about names."""
    from sklearn.exceptions import ConvergenceWarning  # its import takes a second

    global _inside, _saved  # counted under the lock
    with _lock:
        if not _inside:
            _saved = warnings.catch_warnings()
            _saved.__enter__()
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", category=UserWarning, module=r"sidelight\._affinity\.spectral")
            warnings.filterwarnings("ignore", module=r"scipy\.io\.matlab|sidelight\.files\.matlab")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside and _saved is not None:
                _saved.__exit__(None, None, None)
