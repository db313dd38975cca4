"""Where DMNL starts: k-means in which a row may only join a label of its bag or a novel cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sidelight.data.bags import Bags
from sidelight.estimators._labelled_bags.layout import Layout

ROUNDS = 30  # of k-means; what is left to move after that is moved by the descent


def allowed_labels(bags: Bags, layout: Layout) -> np.ndarray:
    """Return which clusters each row may join, shape (n_rows, n_clusters): those of its bag's list, and novel ones."""
    known = bags.row_label_mask()
    return np.hstack([known, np.ones((bags.n_rows, layout.n_novel), dtype=bool)])


def draw_labels(X: Any, bags: Bags, layout: Layout, generator: np.random.Generator) -> np.ndarray:
    """Return a cluster for each row.

    Known centres begin at the mean of the rows of the bags that list the label, a long list counting less. Novel ones
    begin at rows of bags without any known label, else at rows far from every centre that they may join.
    """
    squares = np.asarray((X.multiply(X) if sp.issparse(X) else np.square(X)).sum(axis=1)).ravel()
    allowed = allowed_labels(bags, layout)
    listed = np.asarray(bags.label_matrix.toarray(), dtype=np.float64)
    weights = (listed / np.maximum(listed.sum(axis=1, keepdims=True), 1.0))[bags.codes]
    is_listed = weights.sum(axis=0) > 0
    allowed[:, : len(layout.classes)] &= is_listed  # a label that no bag lists has no known look
    centres = np.zeros((layout.n_clusters, X.shape[1]))
    centres[: len(layout.classes)] = _means(X, weights)
    nearest = _least(X, squares, centres[: len(layout.classes)], allowed[:, : len(layout.classes)])
    _seed_novel(X, squares, bags, centres[len(layout.classes) :], nearest, generator)
    z = np.full(X.shape[0], -1)
    for _ in range(ROUNDS):
        before, z = z, np.argmin(np.where(allowed, _distances(X, squares, centres), np.inf), axis=1)
        if (z == before).all():
            break
        held = np.bincount(z, minlength=layout.n_clusters) > 0
        centres[held] = _means(X, np.eye(layout.n_clusters)[z])[held]
    return z


def _seed_novel(
    X: Any, squares: np.ndarray, bags: Bags, centres: np.ndarray, nearest: np.ndarray, generator: np.random.Generator
) -> None:
    """Draw each novel centre with odds of the squared distance to the nearest one so far, as k-means++ does."""
    empty = np.asarray(bags.label_matrix.sum(axis=1)).ravel() == 0
    nameless = (empty & bags.is_labelled & ~bags.is_partial)[bags.codes]
    for j in range(len(centres)):
        odds = np.where(np.isfinite(nearest), nearest, 1.0)  # no centre yet: any row will do
        if (odds * nameless).sum() > 0:
            odds = odds * nameless
        total = odds.sum()
        row = generator.choice(len(odds), p=odds / total if total > 0 else None)
        centres[j] = X[[row]].toarray()[0] if sp.issparse(X) else X[row]
        nearest = np.minimum(nearest, _distances(X, squares, centres[j : j + 1])[:, 0])


def _least(X: Any, squares: np.ndarray, centres: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return the squared distance of each row to the nearest centre that it may join; infinite without any."""
    if not len(centres):
        return np.full(X.shape[0], np.inf)
    return np.asarray(np.where(allowed, _distances(X, squares, centres), np.inf).min(axis=1))


def _distances(X: Any, squares: np.ndarray, centres: np.ndarray) -> np.ndarray:
    crossed = np.asarray(X @ centres.T)
    return np.maximum(squares[:, None] - 2.0 * crossed + np.square(centres).sum(axis=1), 0.0)


def _means(X: Any, weights: np.ndarray) -> np.ndarray:
    total = weights.sum(axis=0)
    return np.asarray(X.T @ weights).T / np.where(total > 0, total, 1.0)[:, None]
