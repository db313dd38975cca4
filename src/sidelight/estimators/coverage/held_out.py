"""Rough fits with one cluster a class, and what they say of bags whose lists they did not see.

The choice of the boundary asks how probable the lists are; the probabilities of bags are corrected by what is on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight._solvers.descent import descend
from sidelight.data.bags import Bags
from sidelight.estimators._labelled_bags.layout import Layout
from sidelight.estimators._labelled_bags.supervision import code_rows, plan_bags
from sidelight.estimators.coverage.bag_odds import BagOdds, correction, log_odds
from sidelight.estimators.coverage.problem import Problem
from sidelight.progress import report

FEWEST_BAGS = 10  # labelled bags below which holding some out says nothing
MOST_ROWS = 20_000  # rows that the rough fits look at
FOLDS = 4  # one bag in four is held out
STEPS, TOL = 15, 1e-3  # of a fit that is only compared
ENOUGH_BAGS = 60  # held-out lists that settle a slope; with fewer in a fold a second fold is held out, too


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Of bags that a fit did not see: how probable their lists were, the log-odds of each label, and the lists."""

    values: np.ndarray
    evidence: np.ndarray
    listed: np.ndarray


class RoughFits:
    """The bags that are looked at, their folds, and one rough fit for each map of the rows and fold."""

    def __init__(
        self, estimator: Any, bags: Bags, names: list[Any], generator: np.random.Generator, *, one_of: bool
    ) -> None:
        self.options, self.one_of = estimator, one_of
        self.rows = _some_bags(bags, generator)
        self.bags = bags[self.rows]
        self.row_class = code_rows([names[i] for i in self.rows], bags.classes)
        empty = np.diff(self.bags.label_matrix.indptr) == 0
        is_empty = bool((empty & self.bags.is_labelled).any())
        novel = estimator.n_novel == "auto" or estimator.n_novel > 0 or is_empty
        self.layout = Layout.of(bags.classes, 1, int(novel))
        self.penalty = 1.5 if isinstance(estimator.penalty, str) else float(estimator.penalty)
        from sidelight.data.splits import BagKFold  # scikit-learn's model selection takes .1 s; predicting needs none

        split = BagKFold(FOLDS, shuffle=True, random_state=int(generator.integers(2**31)))
        self.folds = list(split.split(np.empty((self.bags.n_rows, 0)), groups=self.bags))
        self.seed = int(generator.integers(2**31))

    def hold_out(self, features: Any, fold: int, stage: str) -> HeldOut:
        """Fit the bags of the other folds, and say what the fit thinks of the labelled bags of this one."""
        train, test = self.folds[fold]
        features = features[self.rows]
        problem = self._problem(features[train], train)
        ends = [problem.climb(start, STEPS, stage, tol=TOL) for start in problem.first_starts()]
        theta = min(ends, key=lambda end: end.value).parameters
        held_out = self._problem(features[test], test)
        values, bags = held_out.posteriors(theta)[1], self.bags[test]
        P = np.exp(problem.model.log_posterior(theta, features[test])) @ self.layout.to_labels()
        evidence = log_odds(P, bags.order, bags.starts)[:, : len(bags.classes)]
        kept = bags.is_labelled
        return HeldOut(values[kept], evidence[kept], bags.label_matrix.toarray()[kept].astype(float))

    def _problem(self, features: Any, rows: np.ndarray) -> Problem:
        plan = plan_bags(
            self.bags[rows], self.row_class[rows], anything_novel=self.layout.n_novel > 0,
            wrong=self.options.wrong, forgotten=self.options.forgotten, one_of=self.one_of, warn=False,
        )  # fmt: skip
        generator = np.random.default_rng(self.seed)
        return Problem.of(self.options, features, plan, self.layout, self.penalty, generator)


def correct_odds(
    estimator: Any,
    features: Any,
    bags: Bags,
    names: list[Any],
    generator: np.random.Generator,
    known: HeldOut | None,
    *,
    one_of: bool = False,
) -> BagOdds:
    """Learn how the probabilities of bags are corrected, from lists that rough fits did not see.

    Nothing is corrected where lists are too few, cut, or not taken at their word (``wrong``, ``forgotten``,
    candidates). ``known`` holds what the choice of the boundary has found out already.
    """
    n_labelled = int(bags.is_labelled.sum())
    doubted = one_of or estimator.wrong > 0 or estimator.forgotten > 0 or bags.is_partial.any()
    if not estimator.calibrate or doubted or n_labelled < 2 * FEWEST_BAGS or not len(bags.classes):
        return BagOdds.plain(len(bags.classes))
    fits = RoughFits(estimator, bags, names, generator, one_of=False)
    held_out = [] if known is None else [known]
    for fold in range(len(held_out), 2):
        if sum(len(part.values) for part in held_out) >= ENOUGH_BAGS:
            break
        report("probabilities of bags", fold, 2)
        held_out.append(fits.hold_out(features, fold, "probabilities of bags"))
    evidence, listed = (np.concatenate([getattr(part, what) for part in held_out]) for what in ("evidence", "listed"))
    return BagOdds.unpack(descend(*correction(evidence, listed), tol=1e-8).parameters)


def _some_bags(bags: Bags, generator: np.random.Generator) -> np.ndarray:
    """Return the rows of whole labelled bags, about ``MOST_ROWS`` of them."""
    order = generator.permutation(np.flatnonzero(bags.is_labelled))
    n_kept = max(FEWEST_BAGS, int(np.searchsorted(np.cumsum(bags.sizes[order]), MOST_ROWS)))
    kept = np.zeros(bags.n_bags, dtype=bool)
    kept[order[:n_kept]] = True
    return np.flatnonzero(kept[bags.codes])
