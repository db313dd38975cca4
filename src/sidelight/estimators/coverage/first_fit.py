"""What is settled before all rows are climbed: every choice and every start, on all rows or on a sample of whole bags.

Among very many rows, a sample says which counts, boundary and start are best as well as all of them do; what it leaves
open is how far the best start climbs on all rows, and that takes a few evaluations from where the sample ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight._solvers.race import best, race
from sidelight._solvers.trace import Solution
from sidelight.data.bag_lists import bag_keys
from sidelight.data.bags import Bags
from sidelight.errors import InvalidParameter
from sidelight.estimators._choice import Choice
from sidelight.estimators._labelled_bags.layout import Layout, count_clusters
from sidelight.estimators._labelled_bags.supervision import code_rows, plan_bags
from sidelight.estimators.coverage.bag_odds import BagOdds
from sidelight.estimators.coverage.boundary import Rows
from sidelight.estimators.coverage.choose import choose
from sidelight.estimators.coverage.held_out import correct_odds
from sidelight.estimators.coverage.problem import Problem
from sidelight.estimators.coverage.starts import HEAT, KEPT, draw_starts

MOST, LEAST = 100_000, 40_000  # rows that settle everything but the last steps
MANY = 3  # times the least sample: from so many rows on a sample pays


@dataclass(frozen=True, slots=True)
class FirstFit:
    """The choices, the problem they make of the rows at hand, and where its starts ended."""

    rows: Rows
    layout: Layout
    penalty: float
    choice: dict[str, Choice]
    problem: Problem
    solutions: list[Solution]
    odds: BagOdds

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        bags: Bags,
        names: list[Any],
        generator: np.random.Generator,
        *,
        n_rows: int,
        one_of: bool,
        in_parts: bool,
    ) -> FirstFit:
        """Settle a fit.

        Parameters
        ----------
        estimator : CoverageClustering
            Its parameters.
        X, bags, names : rows, Bags, list
            The rows at hand, their bags, and the labels of single rows.
        generator : Generator
            Draws starts, folds and landmarks.
        n_rows : int
            How many rows there are in all. The penalty stands against the likelihood of all of them, so a sample is
            fitted under its share of the penalty.
        one_of : bool
            Whether lists hold candidates.
        in_parts : bool
            Whether all rows will be read part by part, so that curved features of all of them are never held.
        """
        held_rows = X.shape[0] if in_parts else n_rows
        rows, settled, choice, held_out = choose(
            estimator, X, bags, names, generator, one_of=one_of, n_rows=held_rows
        )  # fmt: skip
        n_clusters = count_clusters(bags.classes, settled["n_subclusters"], settled["n_novel"])
        if n_clusters > max(n_rows, len(bags.classes)):
            raise InvalidParameter(
                f"{type(estimator).__name__} was asked for {n_clusters} clusters of n_samples={n_rows} rows. "
                "Lower n_subclusters or n_novel, or bring more rows."
            )
        layout = Layout.of(bags.classes, settled["n_subclusters"], settled["n_novel"])
        is_sample = X.shape[0] < n_rows
        plan = plan_bags(
            bags, code_rows(names, bags.classes), anything_novel=layout.n_novel > 0, wrong=estimator.wrong,
            forgotten=estimator.forgotten, one_of=one_of, warn=not (is_sample or in_parts),
        )  # fmt: skip
        share = X.shape[0] / n_rows
        problem = Problem.of(estimator, rows.features, plan, layout, settled["penalty"] * share, generator)
        starts = draw_starts(
            estimator.n_init,
            problem.model,
            rows.features,
            layout,
            problem.coarse_posteriors,
            problem.fit_targets,
            generator,
            problem.first_starts,
        )
        solutions = race(starts, problem.climb, estimator.max_iter, heat=HEAT, keep_one_in=KEPT)
        odds = correct_odds(estimator, rows.features, bags, names, generator.spawn(1)[0], held_out, one_of=one_of)
        return cls(rows, layout, settled["penalty"], choice, problem, solutions, odds)

    @property
    def best(self) -> Solution:
        """Where the best start ended."""
        return best(self.solutions)


def sample_size(n_rows: int) -> int:
    """Return how many of so many rows settle a fit: a sixteenth of them, from ``LEAST`` to ``MOST``.

    A larger sample of a million rows takes longer than the evaluations that it saves.
    """
    return min(MOST, max(LEAST, n_rows // 16))


def some_bags(X: Any, bags: Bags, names: list[Any]) -> tuple[Any, Bags, list[Any]]:
    """Return a sample of whole bags, drawn by a hash; all of them where there are not very many rows."""
    if X.shape[0] < MANY * LEAST:
        return X, bags, names
    share = sample_size(X.shape[0]) / X.shape[0]
    drawn = bag_keys(np.arange(bags.n_bags)) < np.uint64(share * 2.0**64)
    rows = np.flatnonzero(drawn[bags.codes])
    return X[rows], bags[rows], [names[row] for row in rows.tolist()]
