"""How many clusters, where no number was given: what was tried, what was taken, and whether it comes back.

Every way of asking ends in one table of numbers, scores and errors, a ``NumberOfClusters``; ``ASKED`` has the words for
it. None of them looks at a label. Decision 28 says why there are several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from sidelight.app.jobs.options import Options
from sidelight.app.jobs.reading import collect_notes
from sidelight.app.jobs.result import Result
from sidelight.estimators._how_many import NumberOfClusters, clearest_number
from sidelight.metrics import adjusted_rand_index
from sidelight.progress import report

_SEEDS = 3  # of the method itself, the run's own among them
_MOST_CELLS = (
    500_000  # rows x features that are clustered with further seeds; beyond this a run would take three times as long
)
Method = TypeVar("Method", bound=Options)
R = TypeVar("R", bound=Result)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for a number of clusters, in words.

    Attributes
    ----------
    measure : str
        What the scores are, as a heading of stability.csv.
    score : str
        The same in a sentence: "taken with a relative gap of 0.2".
    why, how : str
        What the chosen number is, and how it was found.
    axis : str
        The axis of the curve.
    clear : str
        What would be clear.
    is_share : bool
        Whether scores are shares of 1.
    """

    measure: str
    score: str
    why: str
    how: str
    axis: str
    clear: str
    is_share: bool = False


ASKED = {
    "rows": Asked(
        "relative gap",
        "a relative gap",
        "the number at which the graph of the rows falls apart most clearly",
        "Rows are joined to those nearest to them. Where K groups hardly touch, the graph has K large eigenvalues and "
        "then a gap, given here relative to what the next is short of 1. Of the numbers whose clusters come back from "
        "parts of the rows (adjusted Rand index of 0.9 or more) the largest is taken whose gap is nearly the largest; "
        "where none comes back, the fewest. The band is the scatter over parts of the rows.",
        "relative gap of eigenvalues",
        "0.15 or more, with clusters that come back from parts of the rows,",
    ),
    "told": Asked(
        "above a cloud",
        "an excess over a cloud without clusters",
        "the number of clusters of a row about which other rows tell most",
        "Clusters of every number are judged by how much the nearest rows, and a linear rule that was learnt from the "
        "other half, tell about the cluster of a row. Given here is by how much that exceeds the same in a cloud of "
        "the same spread that has no clusters; the number with the largest excess is taken. The kinds touch, or a few "
        "stand apart from all others: the graph of the rows falls apart nowhere, or elsewhere.",
        "told by other rows, above a cloud without clusters",
        "clusters that come back from parts of the rows",
    ),
    "words": Asked(
        "agreement",
        "an agreement",
        "the largest number that two halves of the evidence agree on",
        "The code books are dealt into halves, and each half clusters the bags. The largest number is taken that "
        "falls short of the best by no more than the standard error of the difference. "
        "The band is the standard error over random halves.",
        "agreement (adjusted Rand index)",
        "0.8",
        is_share=True,
    ),
    "sequences": Asked(
        "above chance",
        "an eigenvalue above chance",
        "as many groups of sequences find each other more than by chance",
        "Every row looks for the nearest other sequence. Groups of sequences that find each other show in the "
        "eigenvalues of these links, one for each group; those are counted that are larger than with links to "
        "sequences by chance, in 50 draws. The band is the scatter of chance.",
        "eigenvalue above chance",
        "more than 0",
    ),
    "channels": Asked(
        "agreement",
        "an agreement",
        "of the numbers that the channels agree on, the one at which their graphs fall apart most clearly",
        "Every channel is clustered alone with every number of clusters, and the clusters of every two channels are "
        "compared (adjusted mutual information; 1: the same clusters, 0: chance). Of the numbers with at least 0.8 of "
        "the best agreement the one is taken below which the eigenvalues of all graphs of near rows together fall "
        "most, relative to what the next is short of 1. The band is the standard error over pairs of channels.",
        "agreement of channels (adjusted mutual information)",
        "a relative gap of eigenvalues of 0.3 or more",
        is_share=True,
    ),
    "counts": Asked(
        "bits",
        "a gain",
        "the smallest number with which some of the counts tell most about the others",
        "The counts are dealt into five parts, and clusters of four are judged by the fifth: the bits that they tell "
        "beyond chance. The smallest number is taken that falls short of the best by no more than the standard error "
        "of the difference. The band is the standard error over the parts.",
        "bits told about held-out counts",
        "more than its standard error",
    ),
    "answers": Asked(
        "log likelihood",
        "a log likelihood",
        "the smallest number that explains answers which were held out",
        "The answers are dealt into three parts, and clusters by two of them are judged by the third: the mean log "
        "likelihood of its answers. The smallest number within one standard error of the best is taken; too few "
        "clusters cannot keep the answers, further ones gain nothing. The band is the standard error over answers.",
        "log likelihood of held-out answers",
        "more than its standard error",
    ),
    "proof": Asked(
        "groups",
        "a number of groups",
        "answers prove as many groups of rows that all differ, more than the rows alone suggest",
        "Rows that answers join are a group. As many groups were found that answers tell apart from each other.",
        "groups",
        "one or more",
    ),
}


def choose_number(options: Method, points: Callable[[], Any], seed: int) -> tuple[Method, tuple[NumberOfClusters, ...]]:
    """Return the options with a number of clusters, and how it was chosen when it was left open.

    Parameters
    ----------
    options : Options
        Their ``n_clusters`` may be "auto".
    points : callable
        Returns standardised rows, or one point for each bag; not called when nobody asks.
    seed : int
        Draws the parts.
    """
    if options.settings().get("n_clusters") != "auto":
        return options, ()
    found = clearest_number(points(), np.random.default_rng(seed))
    return with_number(options, found.chosen), (found,)


def with_number(options: Method, n_clusters: Any) -> Method:
    """Return the options with a number of clusters."""
    return type(options)(**{**options.settings(), "n_clusters": n_clusters})


def with_choice(
    result: R,
    choices: Sequence[NumberOfClusters],
    refit: Callable[[int], np.ndarray] | None = None,
    labels: np.ndarray | None = None,
    seed: int = 0,
    n_cells: int = 0,
) -> R:
    """Add the curves behind numbers of clusters that were left open, and whether other seeds find the same clusters.

    Parameters
    ----------
    result : Result
        Without a choice.
    choices : sequence of NumberOfClusters
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


def _columns(choices: Sequence[NumberOfClusters]) -> dict[str, list[Any]]:
    """Return what was tried as one table, with a column for the axis where there are several."""
    lines = [(choice, *line) for choice in choices for line in zip(choice.tried, choice.scores, choice.errors)]
    columns: dict[str, list[Any]] = {"of": [choice.of for choice, *_ in lines]} if len(choices) > 1 else {}
    columns["clusters"] = [k for _, k, _, _ in lines]
    columns[ASKED[choices[0].by].measure.replace(" ", "_")] = [round(score, 4) for _, _, score, _ in lines]
    columns["standard_error"] = [round(error, 4) for _, _, _, error in lines]
    columns["chosen"] = [int(k == choice.chosen) for choice, k, _, _ in lines]
    return columns
