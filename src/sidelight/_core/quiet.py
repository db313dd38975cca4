"""Silence for warnings of other libraries that say nothing new, counted so that fits that overlap restore the filters.

Python's filters belong to the whole process: two threads that each save and restore them may leave them changed for
ever. Here the first that enters changes them and the last that leaves restores them.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.exceptions import ConvergenceWarning

_lock = threading.Lock()
_inside = 0
_saved: warnings.catch_warnings[None] | None = None


@contextmanager
def without_library_warnings() -> Iterator[None]:
    """Hide k-means' note about few different rows, LOBPCG's about guard vectors and SciPy's about names."""
    global _inside, _saved  # counted under the lock
    with _lock:
        if not _inside:
            _saved = warnings.catch_warnings()
            _saved.__enter__()
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", category=UserWarning, module=r"sidelight\._affinity\.spectral")
            warnings.filterwarnings("ignore", module=r"scipy\.io\.matlab|sidelight\.data\.readers\.matlab")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside and _saved is not None:
                _saved.__exit__(None, None, None)
