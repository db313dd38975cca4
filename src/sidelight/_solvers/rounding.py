"""Rounding: from continuous coordinates to one cluster per row."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._core.quiet import without_library_warnings
from sidelight._core.threads import one_blas_thread


def round_by_kmeans(coordinates: Any, n_clusters: int, *, seed: int, n_init: int = 1) -> np.ndarray:
    """Assign rows to ``n_clusters`` groups by k-means (k-means++ starts, best of ``n_init`` by inertia)."""
    from sklearn.cluster import KMeans  # .1 s, which placing rows with a fitted model need not wait for

    # k-means limits BLAS by itself; only inside our count do overlapping fits restore it
    with one_blas_thread(), without_library_warnings():  # fewer different rows than clusters: the callers say it
        return np.asarray(KMeans(n_clusters, n_init=n_init, random_state=seed).fit_predict(coordinates), dtype=np.intp)
