"""How many clusters, where no number was given: what was tried, what was taken, and whether it comes back.

``rows`` asks the graph of the rows (or bags), ``sequences`` asks which sequences find each other, ``counts`` asks some
of the counts about the others, ``answers`` some of the answers. None of them looks at a label. Decision 28 says why
there are several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from sidelight.app.jobs.how_many.rows import clearest
from sidelight.app.jobs.how_many.stability import Stability
from sidelight.app.jobs.options import Options
from sidelight.app.jobs.reading import collect_notes
from sidelight.app.jobs.result import Result
from sidelight.metrics import adjusted_rand_index
from sidelight.progress import report

_SEEDS = 3  # of the method itself, the run's own among them
_MOST_CELLS = (
    500_000  # rows x features that are clustered with further seeds; beyond this a run would take three times as long
)
Method = TypeVar("Method", bound=Options)
R = TypeVar("R", bound=Result)


def choose_number(options: Method, points: Callable[[], Any], seed: int) -> tuple[Method, tuple[Stability, ...]]:
    """Return the options with a number of clusters, and how it was chosen when it was left open.

    Parameters
    ----------
    options : Options
        Their ``n_clusters`` may be "auto".
    points : callable
        Returns standardised rows, or one point for each bag; not called when nobody asks.
    seed : int
        Draws the halves.
    """
    settings = options.settings()
    if settings.get("n_clusters") != "auto":
        return options, ()
    found = clearest(points(), np.random.default_rng(seed))
    return with_number(options, found.chosen), (found,)


def with_number(options: Method, n_clusters: Any) -> Method:
    """Return the options with a number of clusters."""
    return type(options)(**{**options.settings(), "n_clusters": n_clusters})


def with_choice(
    result: R,
    choices: Sequence[Stability],
    refit: Callable[[int], np.ndarray] | None = None,
    labels: np.ndarray | None = None,
    *,
    seed: int = 0,
    n_cells: int = 0,
) -> R:
    """Add the curves behind numbers of clusters that were left open, and whether other seeds find the same clusters.

    Parameters
    ----------
    result : Result
        Without a choice.
    choices : sequence of Stability
        One for each number that was chosen; none where the numbers were given.
    refit : callable, optional
        Clusters again with another seed, and returns the labels.
    labels : ndarray, optional
        The labels of the run's own seed.
    seed : int
        The run's own.
    n_cells : int
        Size of the table: large ones are not clustered again.
    """
    if not choices:
        return result
    if refit is not None and labels is not None and n_cells <= _MOST_CELLS:
        found = [labels]
        for number in range(1, _SEEDS):
            report("other seeds", number, _SEEDS, f"seed {seed + number}")
            with collect_notes():  # the run's own fit has said it already
                found.append(refit(seed + number))
        agreement = float(np.mean([adjusted_rand_index(a, b) for a, b in combinations(found, 2)]))
        choices = [replace(choices[0], seeds_agree=agreement), *choices[1:]]
    return replace(result, n_clusters_choice=tuple(choices), tables={**result.tables, "stability": _columns(choices)})


def _columns(choices: Sequence[Stability]) -> dict[str, list[Any]]:
    """Return what was tried as one table, with a column for the axis where there are several."""
    columns: dict[str, list[Any]] = {}
    if len(choices) > 1:
        columns["of"] = [choice.of for choice in choices for _ in choice.tried]
    columns["clusters"] = [k for choice in choices for k in choice.tried]
    columns[choices[0].measure.replace(" ", "_")] = [round(score, 4) for choice in choices for score in choice.scores]
    columns["standard_error"] = [round(error, 4) for choice in choices for error in choice.errors]
    columns["chosen"] = [int(k == choice.chosen) for choice in choices for k in choice.tried]
    return columns


__all__ = ["choose_number", "with_choice", "with_number"]
