"""When a point or a sequence fits no cluster: thresholds from how far the known ones lie from their own kind.

Points lie close to their own sequence's mean, which was made from them; a new day of a known person does not. So each
known point is measured against the *other* prototypes of its cluster, as if its own sequence had never been seen, and
the threshold is a high quantile of these distances. Clusters with one prototype cannot tell and are left out, and so
are outliers among sequences: a jacket that was worn once has only another jacket for kin, and measuring that distance
would make every stranger known.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sidelight._core.prototypes import nearest_prototype

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]


def thresholds(X: Floats, home: Ints | None, prototypes: Floats, labels: Ints, quantile: float) -> tuple[float, float]:
    """Return the distances beyond which a point, and the mean of a sequence, are new.

    Parameters
    ----------
    X, prototypes : arrays
        The points of a channel and its code book.
    home : intp array or None
        The prototype of each point's own sequence; None for a k-means code book.
    labels : intp array
        The cluster of each prototype; -1 for those nobody uses.
    quantile : float
        Share of known points (sequences) that should not be called new.
    """
    _, plain = nearest_prototype(X, prototypes)
    if home is None:
        beyond = float(np.quantile(plain, quantile))
        return beyond, beyond
    point_gaps, sequence_gaps = [], []
    for i, cluster in enumerate(labels):
        kin = np.flatnonzero((labels == cluster) & (np.arange(len(labels)) != i))
        mine = home == i
        if cluster >= 0 and kin.size and mine.any():
            point_gaps.append(nearest_prototype(X[mine], prototypes[kin])[1])
            sequence_gaps.append(nearest_prototype(prototypes[i : i + 1], prototypes[kin])[1])
    if not point_gaps:
        beyond = float(np.quantile(plain, quantile))
        return beyond, beyond
    gaps = np.concatenate(sequence_gaps)
    usual = gaps <= _fence(gaps)
    points = np.concatenate([of for of, kept in zip(point_gaps, usual) if kept])
    return float(np.quantile(points, quantile)), float(np.quantile(gaps[usual], quantile))


def _fence(values: Floats) -> float:
    """Return Tukey's fence: values beyond it are outliers."""
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high + 1.5 * (high - low))
