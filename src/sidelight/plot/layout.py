"""Where rows lie on a flat map: on their two main directions, or so that the clusters they are in can be told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds

from sidelight._core.simplex import softmax

_WIDE = 400  # rows and features beyond which all principal components would take longer than the few that are drawn
_DIRECTIONS = 50  # of rows that are laid out; further ones hold little that tells clusters apart
_SHRINK = 0.1  # of the spread inside clusters towards the same spread in all directions: few rows tell little of it
_LEAST_KEPT = 0.3  # of the size of clusters, so that each stays a cloud
_STEPS = 200  # of the layout of cluster centres; each lowers the stress


def main_directions(X: Any) -> np.ndarray:
    """Coordinates of the rows on the two directions in which they differ most (principal components)."""
    flat = _leading(X, 2)
    return flat if flat.shape[1] == 2 else np.column_stack([flat, np.zeros(len(flat))])


def cluster_map(X: Any, labels: Any) -> np.ndarray:
    """Coordinates of the rows on a map of their clusters: alike clusters lie near each other, doubtful rows between.

    The unit is the spread inside clusters: rows are whitened by it, and linear discriminant analysis gives the K - 1
    directions in which cluster centres m_k differ. Up to three clusters are drawn on the first two of them. The centres
    of more clusters are laid out in the plane at a_k, with the least change of their distances (metric scaling by
    majorisation). A row z is drawn at

        sum_k p_k a_k + c (z - sum_k p_k m_k)[:2],    p = softmax(-|z - m_k|^2 / 2),

    between the centres that it is near to, and as far from there as it is from their mean in the first two directions.
    c is what the plane leaves of the distance between two centres, where it leaves least: clusters that do not overlap
    are not drawn as if they did.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        The rows, on the scale on which they are to be compared.
    labels : array-like of int of shape (n_rows,)
        The cluster of each row; -1 for none.
    """
    rows, labels = _leading(X, _DIRECTIONS), np.asarray(labels)
    is_used = labels >= 0
    _, codes, counts = np.unique(labels[is_used], return_inverse=True, return_counts=True)
    if len(counts) < 2 or rows.shape[1] < 2 or not rows.any():
        return main_directions(rows)
    whitened, centres = _whitened(rows, rows[is_used], codes, counts)
    offset = np.average(centres, axis=0, weights=counts)
    centres, whitened = centres - offset, whitened - offset
    _, _, directions = np.linalg.svd(centres * np.sqrt(counts)[:, None], full_matrices=False)
    directions = directions[: len(counts) - 1]
    Z, M = whitened @ directions.T, centres @ directions.T
    if Z.shape[1] == 1:  # two clusters: the second direction is the main one of what is left
        return np.column_stack([Z, _leading(whitened - Z @ directions, 1)])
    if len(counts) <= 3 or Z.shape[1] == 2:
        return np.ascontiguousarray(Z[:, :2])
    P = softmax(Z @ M.T - 0.5 * (M**2).sum(axis=1))
    places, kept = _laid_out(M)
    return np.asarray(P @ places + kept * (Z - P @ M)[:, :2])


def _whitened(
    rows: np.ndarray, used: np.ndarray, codes: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return all rows, and the centres of the clusters, in units of the spread inside clusters."""
    member = sp.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(len(counts), len(codes)))
    centres = (member @ used) / counts[:, None]
    apart = used - centres[codes]
    inside = apart.T @ apart / len(codes)
    level = np.trace(inside) / len(inside) or 1.0  # every row is its cluster's centre: any unit will do
    inside = (1.0 - _SHRINK) * inside + _SHRINK * level * np.eye(len(inside))
    variances, axes = np.linalg.eigh(inside)
    unit = axes / np.sqrt(variances)
    return rows @ unit, centres @ unit


def _laid_out(M: np.ndarray) -> tuple[np.ndarray, float]:
    """Place points in the plane with the least squared change of distances (SMACOF), and say what it left at least."""
    distances = np.sqrt(np.maximum(((M[:, None] - M[None]) ** 2).sum(axis=2), 0.0))
    flat = M[:, :2]
    for _ in range(_STEPS):
        apart = np.sqrt(((flat[:, None] - flat[None]) ** 2).sum(axis=2))
        pull = -np.divide(distances, apart, out=np.zeros_like(apart), where=apart > 0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        flat = pull @ flat / len(M)
    kept = apart[distances > 0] / distances[distances > 0]
    return flat, float(np.clip(kept.min(initial=1.0), _LEAST_KEPT, 1.0))


def _leading(X: Any, width: int) -> np.ndarray:
    """Coordinates of the rows on the directions in which they differ most, as many as there are up to a width."""
    if sp.issparse(X):
        return _leading(X.toarray(), width) if min(X.shape) <= width else _largest(X.astype(float), width)
    X = np.asarray(X, dtype=float)
    centred = X - X.mean(axis=0)
    if min(X.shape) > max(_WIDE, width):
        return _largest(centred, width)
    if X.shape[0] < X.shape[1]:  # the table of rows by rows is the smaller one
        squares, vectors = np.linalg.eigh(centred @ centred.T)
        return np.asarray((vectors * np.sqrt(np.maximum(squares, 0.0)))[:, ::-1][:, :width])
    _, vectors = np.linalg.eigh(centred.T @ centred)
    return np.asarray(centred @ vectors[:, ::-1][:, :width])


def _largest(X: Any, width: int) -> np.ndarray:
    """Coordinates on the largest singular directions, without a table of features by features."""
    if not (X.nnz if sp.issparse(X) else X.any()):
        return np.zeros((X.shape[0], width))
    U, s, _ = svds(X, k=width, random_state=0)
    return np.asarray(U[:, ::-1] * s[::-1])
