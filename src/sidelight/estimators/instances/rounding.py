"""Rounding of eigenvectors: k-means on a sample first, a rotation to indicators, or a pivoted QR decomposition."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import qr
from sklearn.cluster import KMeans

from sidelight._core.process import one_blas_thread, one_thread, without_library_warnings

SAMPLE = 20_000  # rows on which starts compete; K centres are settled long before
FEW = 10_000  # rows whose k-means steps are so short that threads wait for each other longer than they work
ROUNDINGS = ("kmeans", "discretize", "cluster_qr")


def round_embedding(
    U: np.ndarray, how: str, n_clusters: int, *, generator: np.random.Generator, n_init: int
) -> np.ndarray:
    """Turn unit rows ``U`` (n_rows, n_clusters) into a cluster per row, by one of ``ROUNDINGS``."""
    if how == "kmeans":
        return round_by_kmeans_on_sample(U, n_clusters, generator=generator, n_init=n_init)
    without_starts: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "discretize": round_by_rotation,
        "cluster_qr": round_by_qr,
    }
    return without_starts[how](U)


def round_by_kmeans_on_sample(
    U: np.ndarray, n_clusters: int, *, generator: np.random.Generator, n_init: int, sample: int = SAMPLE
) -> np.ndarray:
    """Let ``n_init`` starts compete on a sample of rows and finish from the best centres on all of them."""
    seed = int(generator.integers(2**31))
    with without_library_warnings():  # fewer distinct rows than clusters: some stay empty
        if len(U) <= FEW:
            with one_thread():
                return KMeans(n_clusters, n_init=n_init, random_state=seed).fit_predict(U).astype(np.intp)
        if len(U) <= 2 * sample:
            with one_blas_thread():
                return KMeans(n_clusters, n_init=n_init, random_state=seed).fit_predict(U).astype(np.intp)
        few = np.sort(generator.choice(len(U), size=sample, replace=False))
        with one_blas_thread():
            best = KMeans(n_clusters, n_init=n_init, random_state=seed).fit(U[few]).cluster_centers_
            return KMeans(n_clusters, init=best).fit_predict(U).astype(np.intp)


def round_by_rotation(V: np.ndarray, *, max_iter: int = 100) -> np.ndarray:
    """Find the rotation that brings unit rows ``V`` (n_rows, K) nearest to an indicator matrix (Yu and Shi 2003).

    Alternates labels = argmax(V R) and R = the orthogonal factor of V' indicator; the fit sum of singular values
    never falls, and it stops when it no longer rises.
    """
    R = _spread_rows(V)
    best = -np.inf
    labels = (V @ R).argmax(axis=1)
    for _ in range(max_iter):
        sums = np.stack([np.bincount(labels, weights=column, minlength=V.shape[1]) for column in V.T])
        left, strengths, right = np.linalg.svd(sums)
        if strengths.sum() <= best * (1 + 1e-10):  # rounding noise of the sum
            break
        best = float(strengths.sum())
        labels = (V @ (left @ right)).argmax(axis=1)
    return labels


def round_by_qr(V: np.ndarray) -> np.ndarray:
    """Choose K exemplary rows by pivoted QR and rotate ``V`` onto them (Damle 2019): no iteration."""
    k = V.shape[1]
    pivots = qr(V.T, mode="r", pivoting=True)[1][:k]
    left, _, right = np.linalg.svd(V[pivots].T)
    return np.abs(V @ (left @ right)).argmax(axis=1)


def _spread_rows(V: np.ndarray) -> np.ndarray:
    """Return K rows of ``V`` as columns, each the least aligned with those before."""
    chosen = np.zeros((V.shape[1], V.shape[1]), dtype=V.dtype)
    aligned = np.zeros(len(V))
    row = int(np.abs(V).sum(axis=1).argmax())
    for column in range(V.shape[1]):
        chosen[:, column] = V[row]
        aligned += np.abs(V @ chosen[:, column])
        row = int(aligned.argmin())
    return chosen
