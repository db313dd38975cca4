"""Bags drawn at random: the rectangles of [Z17], and bags of one or several groups with a telling row for each."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import as_generator, as_sequence, check_number
from sidelight.data.bags import Bags
from sidelight.data.samples import draw_label_counts
from sidelight.errors import InvalidParameter

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
_N_CLASSES, _N_COLUMNS = 6, 3


@dataclass(frozen=True, slots=True, repr=False)
class Rectangles:
    """What :func:`make_rectangles` drew.

    Attributes
    ----------
    X, y : ndarray of shape (n_rows, 2) and (n_rows,)
        Points and the truth: the rectangle, 0 to 5, of each.
    bags : Bags
        The bag of each row; label sets name the rectangles inside, but for the novel ones. A bag with novel rows only
        has an empty set.
    X_test, y_test : ndarray
        Points drawn uniformly from all rectangles, and their rectangles.
    novel : tuple of int
        The classes that no label set names.
    rectangles : ndarray of shape (6, 4)
        (left, right, bottom, top) of each.
    """

    X: Floats
    y: Codes
    bags: Bags
    X_test: Floats
    y_test: Codes
    novel: tuple[int, ...]
    rectangles: Floats

    def __repr__(self) -> str:
        return (
            f"Rectangles({len(self.X)} rows in {self.bags.n_bags} bags, {len(self.X_test)} test rows; "
            f"classes 0 to 5, novel {', '.join(map(str, self.novel)) or 'none'})"
        )


def make_rectangles(
    n_bags: int = 300,
    *,
    bag_size: int = 10,
    labels_per_bag: float = 2.47,
    novel: tuple[int, ...] = (0, 5),
    n_test: int = 10_000,
    gap: float = 0.2,
    random_state: Any = None,
) -> Rectangles:
    """Draw bags of points from six rectangles of which some were never named, after the toy of [Z17].

    Parameters
    ----------
    n_bags, bag_size : int
        Bags, and rows in each.
    labels_per_bag : float
        The average number of different rectangles in a bag, novel ones included; met to the nearest label.
    novel : tuple of int
        Classes left out of the label sets.
    n_test : int
        Test rows, drawn uniformly from all rectangles.
    gap : float
        The space between neighbours; the rectangles are 1 wide and 1 high.
    random_state : int, RandomState, Generator or None
        The seed.

    Returns
    -------
    Rectangles
        With ``X``, ``y``, ``bags``, ``X_test``, ``y_test``, ``novel`` and ``rectangles``.

    Examples
    --------
    >>> import sidelight as sl
    >>> toy = sl.data.make_rectangles(random_state=0)
    >>> toy
    Rectangles(3000 rows in 300 bags, 10000 test rows; classes 0 to 5, novel 0, 5)
    >>> toy.bags.classes
    (1, 2, 3, 4)
    """
    check_number("make_rectangles", "n_bags", n_bags, integer=True, low=1)
    check_number("make_rectangles", "bag_size", bag_size, integer=True, low=1)
    most = min(_N_CLASSES, bag_size)
    check_number("make_rectangles", "labels_per_bag", labels_per_bag, low=1, high=most)
    check_number("make_rectangles", "n_test", n_test, integer=True, low=0)
    check_number("make_rectangles", "gap", gap, low=0)
    hidden = _checked_novel(novel)
    rng = as_generator(random_state)

    rectangles = _places(gap)
    n_labels = draw_label_counts(n_bags, labels_per_bag, most, rng)
    y = np.concatenate([_classes(n, bag_size, rng) for n in n_labels])
    ids = np.repeat(np.arange(n_bags), bag_size)
    y_test = rng.integers(_N_CLASSES, size=n_test)
    known = [c for c in range(_N_CLASSES) if c not in hidden]
    labels = {b: set(rows.tolist()) - set(hidden) for b, rows in enumerate(y.reshape(n_bags, bag_size))}
    return Rectangles(
        X=_points(rectangles, y, rng),
        y=y,
        bags=Bags(ids, labels=labels, classes=known),
        X_test=_points(rectangles, y_test, rng),
        y_test=y_test.astype(np.intp),
        novel=hidden,
        rectangles=rectangles,
    )


def _places(gap: float) -> Floats:
    row, column = np.divmod(np.arange(_N_CLASSES), _N_COLUMNS)
    left, bottom = column * (1 + gap), row * (1 + gap)
    return np.column_stack([left, left + 1, bottom, bottom + 1]).astype(np.float64)


def _classes(n_labels: int, bag_size: int, rng: np.random.Generator) -> Codes:
    """Fill one bag with rows of ``n_labels`` different classes, each at least once."""
    present = rng.choice(_N_CLASSES, size=n_labels, replace=False)
    rest = rng.choice(present, size=bag_size - n_labels)
    return rng.permutation(np.concatenate([present, rest])).astype(np.intp)


def _points(rectangles: Floats, classes: Codes, rng: np.random.Generator) -> Floats:
    low, high = rectangles[classes][:, [0, 2]], rectangles[classes][:, [1, 3]]
    return low + (high - low) * rng.random((len(classes), 2))


def _checked_novel(novel: Any) -> tuple[int, ...]:
    hidden = tuple(as_sequence("make_rectangles", "novel", novel, "a sequence of classes"))
    is_whole = all(isinstance(c, numbers.Integral) for c in hidden)
    if not is_whole or len(set(hidden)) < len(hidden) or not set(hidden) <= set(range(_N_CLASSES)):
        raise InvalidParameter(
            f"The 'novel' parameter of make_rectangles must name different classes from 0 to 5. Got {novel!r} instead."
        )
    return tuple(int(c) for c in hidden)


# Bags that belong to one or several groups: a telling row for each of them, hidden among clutter.


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
