"""Rounding of eigenvectors without random starts: a rotation to indicators, or a pivoted QR decomposition."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr


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
