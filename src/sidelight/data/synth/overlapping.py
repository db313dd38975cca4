"""Bags that belong to one or several groups: a telling row for each of them, hidden among clutter."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._core.params import as_generator, check_number
from sidelight.data.bags import Bags


def make_overlapping_bags(
    *,
    n_bags: int = 100,
    n_clusters: int = 4,
    n_features: int = 10,
    bag_size: int = 8,
    overlap: float = 0.4,
    noise: float = 0.5,
    random_state: Any = None,
) -> tuple[np.ndarray, Bags, np.ndarray]:
    """Draw bags with one telling row for each group that they belong to; all other rows are clutter around 0.

    Parameters
    ----------
    n_bags, n_clusters, n_features : int
        How many there are; groups lie along features, so ``n_features`` is at least ``n_clusters``.
    bag_size : int
        Rows of each bag, at least 2.
    overlap : float
        The share of bags that belong to two groups; the others belong to one.
    noise : float
        Standard deviation of every row; telling rows are 3 away from 0.
    random_state : int, RandomState, Generator or None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n_bags * bag_size, n_features)
        The rows.
    bags : Bags
        The bag of each row, without labels.
    Y : ndarray of shape (n_bags, n_clusters)
        True where a bag belongs to a group.

    Examples
    --------
    >>> import sidelight as sl
    >>> X, bags, Y = sl.data.make_overlapping_bags(n_bags=10, overlap=1.0, random_state=0)
    >>> Y.sum(axis=1).tolist()
    [2, 2, 2, 2, 2, 2, 2, 2, 2, 2]
    """
    me = "make_overlapping_bags"
    check_number(me, "n_bags", n_bags, integer=True, low=1)
    check_number(me, "n_clusters", n_clusters, integer=True, low=2)
    check_number(me, "n_features", n_features, integer=True, low=n_clusters)
    check_number(me, "bag_size", bag_size, integer=True, low=2)
    check_number(me, "overlap", overlap, low=0, high=1)
    check_number(me, "noise", noise, low=0)
    generator = as_generator(random_state)
    first = np.arange(n_bags) % n_clusters
    second = (first + generator.integers(1, n_clusters, n_bags)) % n_clusters
    both = generator.random(n_bags) < overlap
    X = noise * generator.normal(size=(n_bags, bag_size, n_features))
    places = generator.permuted(np.tile(np.arange(bag_size), (n_bags, 1)), axis=1)[:, :2]
    every = np.arange(n_bags)
    X[every, places[:, 0], first] += 3.0
    X[every[both], places[both, 1], second[both]] += 3.0
    Y = np.zeros((n_bags, n_clusters), dtype=bool)
    Y[every, first] = True
    Y[every[both], second[both]] = True
    return X.reshape(-1, n_features), Bags(np.repeat(every, bag_size)), Y
