"""How many threads do what: one for iterations of small steps, all of them for passes over blocks.

NumPy and SciPy bring an OpenBLAS each and scikit-learn an OpenMP, and the waiting threads of one spin against the
working threads of another: on two cores a fit of thin products took ten times as long with two threads as with one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from threadpoolctl import ThreadpoolController, threadpool_limits

Item = TypeVar("Item")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let linear algebra inside the block use one thread; what was set before comes back afterwards."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Let linear algebra and OpenMP inside the block use one thread; what was set before comes back afterwards."""
    with threadpool_limits(limits=1):
        yield


def for_each_in_threads(work: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Call ``work`` on every item, in as many threads as BLAS was allowed; each call has one BLAS thread.

    Items must not write to the same place; then the result does not depend on the number of threads.
    """
    allowed = max((pool["num_threads"] for pool in ThreadpoolController().info()), default=1)
    with one_thread():
        if allowed == 1:
            for item in items:
                work(item)
            return
        with ThreadPoolExecutor(allowed) as threads:
            for _ in threads.map(work, items):  # takes up what a thread raised
                pass
