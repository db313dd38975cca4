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
from sidelight.data.splits import BagKFold
from sidelight.estimators._choice import Choice, choose_best
from sidelight.estimators._labelled_bags.layout import Layout
from sidelight.estimators._labelled_bags.supervision import code_rows, plan_bags
from sidelight.estimators.coverage.problem import Problem
from sidelight.progress import report

STRAIGHT, CURVED = "straight", "curved"
LANDMARKS = 500
NEAR, WIDE = 0.6, 3.0  # widths h of the kernel exp(-|x - z|^2 / h), in total variances of the rows
FAR = 4.0  # squared distances from the nearest landmark, in widths, from which the kernel (e^-4) says nothing
STRENGTH = 2.3  # root mean square length of the curved features; standardised rows have the root of their number
FEWEST_BAGS = 10  # labelled bags below which holding some out says nothing
MOST_ROWS = 20_000  # rows that the choice looks at
FOLDS, HELD_OUT = 4, 1  # one bag in four is held out, once: its list is judged under both boundaries, pair by pair
STEPS, TOL = 15, 1e-3  # of a fit that is only compared
MOST_NUMBERS = 1 << 29  # features of all rows: 2 GB in float32


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows as the rule sees them: as they came, or mapped.

    ``reach`` is the squared distance to the nearest landmark up to which a row is believed: that of training rows, and
    at least as far as the kernel reaches.
    """

    features: Any
    feature_map: FeatureMap | None = None
    reach: float = np.inf


def map_rows(X: Any, layout: Layout, generator: np.random.Generator) -> Rows:
    """Learn the map that fits a layout, and map the rows."""
    h = (WIDE if layout.has_subclusters else NEAR) * _total_variance(X)
    report("landmarks", 0, 1)
    with one_blas_thread():
        feature_map = FeatureMap.learn(
            X, generator=generator, n_landmarks=LANDMARKS if h > 0 else 0, gamma=1.0 / (h or 1.0), rank=None,
            landmarks="centres" if layout.n_novel > 1 else "rows", strength=STRENGTH, unit_rows=False,
        )  # fmt: skip
        features, squares = feature_map.map(X, dtype=np.float32)  # twice as fast; the clusters are the same
    return Rows(features, feature_map, max(float(squares.max(initial=0.0)), FAR * feature_map.width))


def settle_boundary(
    estimator: Any,
    X: Any,
    bags: Bags,
    names: list[Any],
    layout: Layout,
    generator: np.random.Generator,
    *,
    one_of: bool = False,
) -> tuple[Rows, Choice | None]:
    """Return the rows as the rule shall see them, and how that was chosen where it was "auto"."""
    if estimator.boundary == STRAIGHT:
        return Rows(X), None
    if estimator.boundary == CURVED:
        return map_rows(X, layout, generator), None
    note = _why_straight(X, bags)
    if note:
        return Rows(X), {"tried": [STRAIGHT], "scores": [], "errors": [], "chosen": STRAIGHT, "note": note}
    rows = map_rows(X, layout, generator)
    chosen = _some_bags(bags, generator)
    judge = _Judge(estimator, bags[chosen], [names[i] for i in chosen], one_of, generator)
    scores = [judge.scores(features[chosen]) for features in (X, rows.features)]
    choice = choose_best([STRAIGHT, CURVED], scores)
    gain = scores[1] - scores[0]
    if gain.mean() <= gain.std() / np.sqrt(len(gain)):  # of two boundaries that explain lists as well, the simpler
        choice["chosen"] = STRAIGHT
    return (rows if choice["chosen"] == CURVED else Rows(X)), choice


def _total_variance(X: Any) -> float:
    """Return the mean squared distance of rows to their mean: the number of features, where they are standardised."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = float(np.square(X.data).sum() if issparse(X) else np.einsum("ij,ij->", X, X)) / X.shape[0]
    variance = squares - float(mean @ mean)
    return variance if variance > 1e-12 * squares else 0.0  # rounding of constant rows is no variance


def _why_straight(X: Any, bags: Bags) -> str:
    n_labelled = int(bags.is_labelled.sum())
    if n_labelled < FEWEST_BAGS:
        return f"{n_labelled} labelled bags are too few to hold some out"
    if X.shape[0] * (min(X.shape[1], 500) + LANDMARKS) > MOST_NUMBERS:
        return f"the curved features of {X.shape[0]} rows would take more than 2 GB"
    return ""


def _some_bags(bags: Bags, generator: np.random.Generator) -> np.ndarray:
    """Return the rows of whole labelled bags, about ``MOST_ROWS`` of them."""
    order = generator.permutation(np.flatnonzero(bags.is_labelled))
    n_kept = max(FEWEST_BAGS, int(np.searchsorted(np.cumsum(bags.sizes[order]), MOST_ROWS)))
    kept = np.zeros(bags.n_bags, dtype=bool)
    kept[order[:n_kept]] = True
    return np.flatnonzero(kept[bags.codes])


class _Judge:
    """Held-out lists under rough fits with one cluster a class: what the boundary is judged by."""

    def __init__(
        self, estimator: Any, bags: Bags, names: list[Any], one_of: bool, generator: np.random.Generator
    ) -> None:
        self.one_of = one_of
        empty = np.diff(bags.label_matrix.indptr) == 0
        self.options, self.bags, self.row_class = estimator, bags, code_rows(names, bags.classes)
        novel = estimator.n_novel == "auto" or estimator.n_novel > 0 or bool((empty & bags.is_labelled).any())
        self.layout = Layout.of(bags.classes, 1, int(novel))
        self.penalty = 1.5 if isinstance(estimator.penalty, str) else float(estimator.penalty)
        split = BagKFold(FOLDS, shuffle=True, random_state=int(generator.integers(2**31)))
        self.folds = list(split.split(np.empty((bags.n_rows, 0)), groups=bags))[:HELD_OUT]
        self.seed = int(generator.integers(2**31))

    def scores(self, features: Any) -> np.ndarray:
        """Return the log likelihood of every labelled bag of the folds, under the model of the other bags."""
        scores = []
        for done, (train, test) in enumerate(self.folds):
            report("choosing the boundary", done, len(self.folds))
            problem = self._problem(features[train], train)
            start = np.zeros(problem.model.n_parameters)
            theta = problem.climb(start, STEPS, "choosing the boundary", tol=TOL).parameters
            values = self._problem(features[test], test).posteriors(theta)[1]
            scores.append(values[self.bags[test].is_labelled])
        return np.concatenate(scores)

    def _problem(self, features: Any, rows: np.ndarray) -> Problem:
        plan = plan_bags(
            self.bags[rows], self.row_class[rows], anything_novel=self.layout.n_novel > 0,
            wrong=self.options.wrong, forgotten=self.options.forgotten, one_of=self.one_of, warn=False,
        )  # fmt: skip
        generator = np.random.default_rng(self.seed)
        return Problem.of(self.options, features, plan, self.layout, self.penalty, generator)
