"""Starts that tell apart the clusters of one class, and the novel ones: nothing else would.

Clusters of one class enter the likelihood by their sum, so from equal weights they would stay equal for ever. Half of
the starts draw small random scores; the others first fit one cluster a class, then split its rows by k-means. All set
out, but only those that are ahead after some iterations are followed to the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sidelight._core.params import as_seed
from sidelight._core.threads import one_blas_thread
from sidelight._models.softmax_linear import SoftmaxLinear
from sidelight.estimators._labelled_bags.layout import Layout

HEAT = 30  # iterations after which starts are compared: on MSRC v2 and Carroll ranks then agree with the end by 0.8
KEPT = 4  # one start in so many is followed to the end
SPREAD = 0.1  # standard deviation of the random scores: far from 0 to break ties, near enough to favour no cluster


def random_start(model: SoftmaxLinear, X: Any, generator: np.random.Generator) -> np.ndarray:
    """Draw W so that every score has mean 0 and standard deviation ``SPREAD`` over the rows."""
    W = generator.normal(size=(model.n_features, model.n_clusters))
    scores = np.asarray(X @ W.astype(X.dtype, copy=False))
    W *= SPREAD / np.maximum(scores.std(axis=0), 1e-12)  # constant rows: any W is as good as another
    return model.pack(W, -np.asarray(X @ W.astype(X.dtype, copy=False)).mean(axis=0))


def split_targets(
    X: Any, coarse_Q: np.ndarray, coarse: Layout, fine: Layout, generator: np.random.Generator
) -> np.ndarray:
    """Share out the posteriors of one cluster a class among its sub-clusters, by k-means of its rows."""
    from sklearn.cluster import KMeans  # .1 s, which placing rows with a fitted model need not wait for

    targets = np.zeros((X.shape[0], fine.n_clusters))
    for j, c in enumerate(coarse.class_of):
        parts = np.flatnonzero(fine.class_of == c)
        share = coarse_Q[:, j]
        if len(parts) == 1 or np.count_nonzero(share > 0.01) < len(parts):  # too few rows to be split
            targets[:, parts] = share[:, None] / len(parts)
            continue
        split = KMeans(len(parts), random_state=as_seed(generator))
        with one_blas_thread():
            group = split.fit_predict(X, sample_weight=share + 1e-9)  # k-means wants no weights of exactly zero
        targets[np.arange(len(group)), parts[group]] = share
    return targets


def draw_starts(
    n_init: int,
    model: SoftmaxLinear,
    X: Any,
    fine: Layout,
    coarse_posteriors: Callable[[Layout], np.ndarray],
    fit_targets: Callable[[np.ndarray], np.ndarray],
    generator: np.random.Generator,
    first_starts: Callable[[], list[np.ndarray]],
) -> list[np.ndarray]:
    """Return the starts; one is enough when no two clusters could change places."""
    if not fine.is_symmetric:
        return first_starts()
    starts = [random_start(model, X, generator) for _ in range((n_init + 1) // 2)]
    if n_init > 1:
        coarse = Layout.of(fine.classes, 1, min(fine.n_novel, 1))
        Q = coarse_posteriors(coarse)
        starts += [fit_targets(split_targets(X, Q, coarse, fine, generator)) for _ in range(n_init // 2)]
    return starts
