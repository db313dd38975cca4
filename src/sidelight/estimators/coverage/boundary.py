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

from sidelight._core.threads import one_blas_thread
from sidelight._models.feature_map import FeatureMap
from sidelight.data.bags import Bags
from sidelight.estimators._choice import Choice, choose_best
from sidelight.estimators._labelled_bags.layout import Layout
from sidelight.estimators.coverage.held_out import FEWEST_BAGS, HeldOut, RoughFits
from sidelight.progress import report

STRAIGHT, CURVED = "straight", "curved"
LANDMARKS = 500
NEAR, WIDE = 0.6, 3.0  # widths h of the kernel exp(-|x - z|^2 / h), in total variances of the rows
FAR = 4.0  # squared distances from the nearest landmark, in widths, from which the kernel (e^-4) says nothing
STRENGTH = 2.3  # root mean square length of the curved features; standardised rows have the root of their number
MOST_NUMBERS = 1 << 29  # features of all rows: 2 GB in float32


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows as the rule sees them: as they came, or mapped."""

    features: Any
    feature_map: FeatureMap | None = None


def reach_of(feature_map: FeatureMap | None, squares: np.ndarray) -> float:
    """Return the squared distance to the nearest landmark up to which a row is believed.

    It is that of training rows, whose ``squares`` are given, and at least as far as the kernel reaches.
    """
    if feature_map is None:
        return np.inf
    return max(float(squares.max(initial=0.0)), FAR * feature_map.width)


def map_rows(X: Any, layout: Layout, generator: np.random.Generator) -> Rows:
    """Learn the map that fits a layout, and map the rows."""
    h = (WIDE if layout.has_subclusters else NEAR) * _total_variance(X)
    report("landmarks", 0, 1)
    with one_blas_thread():
        feature_map = FeatureMap.learn(
            X, generator=generator, n_landmarks=LANDMARKS if h > 0 else 0, gamma=1.0 / (h or 1.0), rank=None,
            landmarks="centres" if layout.n_novel > 1 else "rows", strength=STRENGTH, unit_rows=False,
        )  # fmt: skip
        features = feature_map.map(X, dtype=np.float32)  # twice as fast; the clusters are the same
    return Rows(features, feature_map)


def choose_boundary(
    estimator: Any,
    X: Any,
    bags: Bags,
    names: list[Any],
    layout: Layout,
    generator: np.random.Generator,
    *,
    one_of: bool = False,
    n_rows: int | None = None,
) -> tuple[Rows, Choice | None, HeldOut | None]:
    """Return the rows as the rule shall see them and, where it was "auto", how that was chosen and by which bags.

    One bag in four is held out, once: its list is judged under both boundaries, pair by pair.
    """
    if estimator.boundary == STRAIGHT:
        return Rows(X), None, None
    if estimator.boundary == CURVED:
        return map_rows(X, layout, generator), None, None
    note = _why_straight(X.shape[0] if n_rows is None else n_rows, X.shape[1], bags)
    if note:
        return Rows(X), {"tried": [STRAIGHT], "scores": [], "errors": [], "chosen": STRAIGHT, "note": note}, None
    rows = map_rows(X, layout, generator)
    fits = RoughFits(estimator, bags, names, generator, one_of=one_of)
    held_out = []
    for done, features in enumerate((X, rows.features)):
        report("choosing the boundary", done, 2)
        held_out.append(fits.hold_out(features, 0, "choosing the boundary"))
    scores = [judged.values for judged in held_out]
    choice = choose_best([STRAIGHT, CURVED], scores)
    gain = scores[1] - scores[0]
    if gain.mean() <= gain.std() / np.sqrt(len(gain)):  # of two boundaries that explain lists as well, the simpler
        choice["chosen"] = STRAIGHT
    if choice["chosen"] == CURVED:
        return rows, choice, held_out[1]
    return Rows(X), choice, held_out[0]


def _total_variance(X: Any) -> float:
    """Return the mean squared distance of rows to their mean: the number of features, where they are standardised."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = float(np.square(X.data).sum() if issparse(X) else np.einsum("ij,ij->", X, X)) / X.shape[0]
    variance = squares - float(mean @ mean)
    return variance if variance > 1e-12 * squares else 0.0  # rounding of constant rows is no variance


def _why_straight(n_rows: int, n_columns: int, bags: Bags) -> str:
    n_labelled = int(bags.is_labelled.sum())
    if n_labelled < FEWEST_BAGS:
        return f"{n_labelled} labelled bags are too few to hold some out"
    if n_rows * (min(n_columns, 500) + LANDMARKS) > MOST_NUMBERS:
        return f"the curved features of {n_rows} rows would take more than 2 GB"
    return ""
