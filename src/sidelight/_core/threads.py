"""One BLAS thread for iterations of small products.

NumPy and SciPy bring an OpenBLAS each, and the waiting threads of one spin against the working threads of the other:
on two cores a fit of thin products took ten times as long with two threads as with one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let linear algebra inside the block use one thread; what was set before comes back afterwards."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield
