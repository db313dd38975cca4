"""How many clusters: the largest number whose clusters come back from other rows.

Prediction strength (Tibshirani and Walther, 2005): cluster each half of the rows, and let each half judge the clusters
of the other. For every cluster, which share of its pairs does the other half put together, too? The worst cluster
counts. From 0.8 on clusters are said to be real; the largest such number is chosen. No labels are looked at.
"""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from sidelight._core.quiet import without_library_warnings
from sidelight._core.threads import one_thread
from sidelight.app.jobs.how_many.stability import Stability
from sidelight.progress import report

_REAL = 0.8  # strength from which the paper calls clusters real
_SPLITS, _STARTS = 4, 3
_MOST_ROWS, _MOST_CLUSTERS, _MOST_DIRECTIONS = 2000, 12, 20
_LARGEST = 2.0  # rows a cluster needs at least, on average, in each half


def strongest(points: np.ndarray, generator: np.random.Generator) -> Stability:
    """Try numbers of clusters from 2 on and choose one by prediction strength."""
    most = int(min(_MOST_CLUSTERS, _MOST_ROWS, len(points) // (2 * _LARGEST)))
    if most < 2:
        return Stability([1], [1.0], [0.0], 1)
    Z = _compact(np.asarray(points, dtype=np.float64), generator)
    tried = list(range(2, most + 1))
    strengths = np.ones((len(tried), _SPLITS))
    with without_library_warnings(), one_thread():  # fewer different rows than clusters: no strength
        for split in range(_SPLITS):
            order = generator.permutation(len(Z))
            halves = (Z[order[::2]], Z[order[1::2]])
            for place, k in enumerate(tried):
                report("number of clusters", split * len(tried) + place, _SPLITS * len(tried), f"{k} clusters")
                strengths[place, split] = _strength(halves, k, int(generator.integers(2**31)))
    scores, errors = strengths.mean(axis=1), strengths.std(axis=1) / np.sqrt(_SPLITS)
    real = [k for k, score, error in zip(tried, scores, errors) if score + error >= _REAL]
    chosen = max(real) if real else tried[int(scores.argmax())]
    return Stability(tried, scores.tolist(), errors.tolist(), chosen, is_clear=bool(real))


def _compact(points: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Take some rows and the directions in which they differ most."""
    if len(points) > _MOST_ROWS:
        points = points[np.sort(generator.choice(len(points), _MOST_ROWS, replace=False))]
    width = min(_MOST_DIRECTIONS, *points.shape)
    if width >= points.shape[1]:
        return points
    with one_thread():
        return np.asarray(PCA(width, svd_solver="full").fit_transform(points))


def _strength(halves: tuple[np.ndarray, np.ndarray], k: int, seed: int) -> float:
    models = [KMeans(k, n_init=_STARTS, random_state=seed).fit(half) for half in halves]
    judged = [models[1].predict(halves[0]), models[0].predict(halves[1])]
    return float(np.mean([_worst(model.labels_, seen, k) for model, seen in zip(models, judged)]))


def _worst(labels: np.ndarray, seen: np.ndarray, k: int) -> float:
    """Return the smallest share of a cluster's pairs that the other half puts together, too."""
    table = np.zeros((k, k))
    np.add.at(table, (labels, seen), 1.0)
    sizes = table.sum(axis=1)
    pairs = sizes * (sizes - 1.0)
    shares = (table * (table - 1.0)).sum(axis=1)[pairs > 0] / pairs[pairs > 0]
    return float(shares.min()) if len(shares) else 0.0
