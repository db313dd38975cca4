"""Prototypes of rows: k-means centres or means of groups, and the nearest of them for every row."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sidelight._core.process import one_blas_thread, one_thread, without_library_warnings

_LARGE = 1e100  # the square of a larger number might overflow in a sum


def mean_and_scale(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of every column; a column that never changes has the scale 1."""
    largest = np.asarray(abs(X).max(axis=0).todense() if sp.issparse(X) else np.abs(X).max(axis=0)).ravel()
    unit = np.where(largest > _LARGE, largest, 1.0)
    if sp.issparse(X):
        small = sp.csr_array(X @ sp.diags_array(1.0 / unit))
        mean = np.asarray(small.mean(axis=0)).ravel()
        variance = np.asarray(small.multiply(small).mean(axis=0)).ravel() - mean**2
    else:
        small = X / unit if (unit != 1.0).any() else X
        mean, variance = small.mean(axis=0), small.var(axis=0)
    scale = np.sqrt(np.maximum(variance, 0.0))
    constant = scale <= 1e-12 * np.maximum(1.0, np.abs(mean))  # rounding noise of a constant column is not a scale
    return mean * unit, np.where(constant, 1.0, scale) * unit


def scaled(X: Any, mean: NDArray[np.float64], scale: NDArray[np.float64]) -> Any:
    """Centre and scale dense columns; sparse ones are scaled only, for centring would fill them."""
    if sp.issparse(X):
        return sp.csr_array(X @ sp.diags_array(1.0 / scale))
    return X / scale - mean / scale  # divided first: the difference of two numbers near 1e308 has no value


def standardised(X: Any, mean: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centre and scale columns, dense whatever came."""
    rows = scaled(X, mean, scale)
    return rows.toarray() - mean / scale if sp.issparse(rows) else rows


Ints = NDArray[np.intp]
Floats = NDArray[np.float64]
_BLOCK = 4_000_000  # distances held at a time


def kmeans_prototypes(
    X: Any, n_prototypes: int, seed: int, *, n_init: int = 1, max_iter: int = 300, n_seeding: int | None = None
) -> Floats:
    """Return the different centres that k-means finds: fewer than asked for where fewer rows differ.

    Parameters
    ----------
    X : array or CSR matrix
        The rows, at least ``n_prototypes`` of them.
    n_prototypes, n_init, max_iter, seed : int
        How many centres, starts and steps; the seed.
    n_seeding : int, optional
        Draw the first centres from that many rows only: with many centres, k-means++ on all rows takes as long as all
        steps after it.
    """
    from sklearn.cluster import (
        KMeans,
        kmeans_plusplus,
    )  # .1 s, which the users of the other functions need not wait for

    with without_library_warnings(), one_thread():  # fewer different rows than centres: seen to below
        init: Any = "k-means++"
        if n_seeding is not None and n_seeding < X.shape[0]:
            rows = np.random.default_rng(seed).choice(X.shape[0], max(n_seeding, n_prototypes), replace=False)
            init = kmeans_plusplus(X[np.sort(rows)], n_prototypes, random_state=seed)[0]
            init = init.toarray() if sp.issparse(init) else init
        kmeans = KMeans(n_prototypes, init=init, n_init=n_init, max_iter=max_iter, random_state=seed)
        centres: Floats = kmeans.fit(X).cluster_centers_
    first = np.unique(centres, axis=0, return_index=True)[1]
    return centres[np.sort(first)]


def group_means(X: Any, codes: Ints, n_groups: int) -> Floats:
    """Average the rows of each group."""
    member = sp.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(n_groups, len(codes)))
    sums = member @ X
    sums = sums.toarray() if sp.issparse(sums) else np.asarray(sums)
    return sums / np.bincount(codes, minlength=n_groups)[:, None]


def nearest_prototype(X: Any, prototypes: Floats) -> tuple[Ints, Floats]:
    """Return the nearest prototype of each row and the distance to it, a block of rows at a time."""
    codes, distances = np.empty(X.shape[0], dtype=np.intp), np.empty(X.shape[0])
    step = max(1, _BLOCK // len(prototypes))
    for begin in range(0, X.shape[0], step):
        squares = squared_distances(X[begin : begin + step], prototypes)
        codes[begin : begin + step] = squares.argmin(axis=1)
        distances[begin : begin + step] = np.sqrt(squares.min(axis=1))
    return codes, distances


def squared_distances(X: Any, prototypes: Floats) -> Floats:
    """Return squared distances, from centred coordinates so that large offsets do not drown small differences."""
    centre = prototypes.mean(axis=0)
    if sp.issparse(X):
        X = sp.csr_array(X)
        squares = X.multiply(X).sum(axis=1)[:, None] - 2.0 * (X @ prototypes.T) + (prototypes**2).sum(axis=1)
    else:
        A, B = X - centre, prototypes - centre
        squares = (A**2).sum(axis=1)[:, None] - 2.0 * (A @ B.T) + (B**2).sum(axis=1)
    return np.maximum(squares, 0.0)


# Rounding: from continuous coordinates to one cluster per row.


def round_by_kmeans(coordinates: Any, n_clusters: int, *, seed: int, n_init: int = 1) -> np.ndarray:
    """Assign rows to ``n_clusters`` groups by k-means (k-means++ starts, best of ``n_init`` by inertia)."""
    from sklearn.cluster import KMeans  # .1 s, which placing rows with a fitted model need not wait for

    # k-means limits BLAS by itself; only inside our count do overlapping fits restore it
    with one_blas_thread(), without_library_warnings():  # fewer different rows than clusters: the callers say it
        return np.asarray(KMeans(n_clusters, n_init=n_init, random_state=seed).fit_predict(coordinates), dtype=np.intp)
