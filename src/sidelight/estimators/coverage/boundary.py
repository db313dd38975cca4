"""Whether boundaries between clusters bend: two maps from rows to features, and the choice by held-out lists.

A class that is one cluster gets a near map, whose boundary follows small groups of rows. Clusters of one class bend its
boundary by themselves, and under a near map each of them wraps around anything: theirs is wide. Kinds that nobody named
may be rare, so landmarks then cover the rows evenly; else they are rows drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from sidelight._core.process import one_blas_thread
from sidelight._models.feature_map import FeatureMap
from sidelight.data.bags import Bags
from sidelight.estimators._choice import Choice, choose
from sidelight.estimators._labelled_bags.supervision import Layout
from sidelight.estimators.coverage.held_out import FEWEST_TO_CHOOSE, HeldOut, RoughFits
from sidelight.estimators.coverage.problem import Told
from sidelight.progress import report

STRAIGHT, CURVED = "straight", "curved"
LANDMARKS = 500
NEAR, WIDE = 0.6, 3.0  # widths h of the kernel exp(-|x - z|^2 / h), in total variances of the rows
FAR = 4.0  # squared distances from the nearest landmark, in widths, from which the kernel (e^-4) says nothing
STRENGTH = 2.3  # root mean square length of the curved features; standardised rows have the root of their number
MOST_NUMBERS = 1 << 29  # features of rows that are held at once: 2 GB in float32


def reach_of(feature_map: FeatureMap | None, squares: np.ndarray) -> float:
    """Return the squared distance to the nearest landmark up to which a row is believed.

    It is that of training rows, whose ``squares`` are given, and at least as far as the kernel reaches.
    """
    if feature_map is None:
        return np.inf
    return max(float(squares.max(initial=0.0)), FAR * feature_map.width)


def map_rows(X: Any, layout: Layout, generator: np.random.Generator) -> tuple[FeatureMap, Any]:
    """Learn the map that fits a layout, and map the rows."""
    h = (WIDE if layout.has_subclusters else NEAR) * _total_variance(X)
    report("landmarks", 0, 1)
    with one_blas_thread():
        feature_map = FeatureMap.learn(
            X, generator=generator, n_landmarks=LANDMARKS if h > 0 else 0, gamma=1.0 / (h or 1.0), rank=None,
            landmarks="centres" if layout.n_novel > 1 else "rows", strength=STRENGTH, unit_rows=False,
        )  # fmt: skip
        features = feature_map.map(X, dtype=np.float32)  # twice as fast; the clusters are the same
    return feature_map, features


@dataclass(frozen=True, slots=True)
class Boundary:
    """The rows as the rule shall see them, mapped or as they came.

    Where the boundary was "auto", also how that was chosen and what was found out about held-out bags.
    """

    features: Any
    feature_map: FeatureMap | None = None
    choice: Choice | None = None
    held_out: tuple[RoughFits, HeldOut] | None = None


def choose_boundary(options: Any, told: Told, layout: Layout, generator: np.random.Generator) -> Boundary:
    """Map the rows, or not; where that is open, one bag in four is held out, once, and judged pair by pair."""
    if options.boundary == STRAIGHT:
        return Boundary(told.X)
    if options.boundary == CURVED:
        feature_map, features = map_rows(told.X, layout, generator)
        return Boundary(features, feature_map)
    note = _why_straight(told.X.shape[0], told.X.shape[1], told.bags)
    if note:
        choice: Choice = {"tried": [STRAIGHT], "scores": [], "errors": [], "chosen": STRAIGHT, "note": note}
        return Boundary(told.X, choice=choice)
    feature_map, features = map_rows(told.X, layout, generator)
    fits = RoughFits(options, told, generator)
    held_out = []
    for done, some in enumerate((told.X, features)):
        report("choosing the boundary", done, 2)
        held_out.append(fits.hold_out(some, 0, "choosing the boundary"))
    straight, curved = held_out
    gain = curved.values - straight.values
    is_clear = gain.mean() > gain.std() / np.sqrt(
        len(gain)
    )  # of two boundaries that explain lists as well, the simpler
    choice = choose([STRAIGHT, CURVED], [straight.values, curved.values], lambda _: int(is_clear))
    if choice["chosen"] == CURVED:
        return Boundary(features, feature_map, choice, (fits, curved))
    return Boundary(told.X, None, choice, (fits, straight))


def _total_variance(X: Any) -> float:
    """Return the mean squared distance of rows to their mean: the number of features, where they are standardised."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = float(np.square(X.data).sum() if issparse(X) else np.einsum("ij,ij->", X, X)) / X.shape[0]
    variance = squares - float(mean @ mean)
    return variance if variance > 1e-12 * squares else 0.0  # rounding of constant rows is no variance


def _why_straight(n_rows: int, n_columns: int, bags: Bags) -> str:
    n_labelled = int(bags.is_labelled.sum())
    if n_labelled < FEWEST_TO_CHOOSE:
        return f"{n_labelled} labelled bags are too few to hold some out"
    if n_rows * (min(n_columns, 500) + LANDMARKS) > MOST_NUMBERS:
        return f"the curved features of {n_rows} rows would take more than 2 GB"
    return ""
