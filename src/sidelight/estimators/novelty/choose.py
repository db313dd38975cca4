"""How many novel labels: by how well the known labels of held-out bags are told, as [Z17] suggests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from sidelight._core.params import as_seed
from sidelight.data.bags import Bags
from sidelight.data.splits import BagKFold
from sidelight.errors import InvalidParameter, SidelightWarning, ignore_warnings, warn
from sidelight.estimators._choice import Choice, choose_best
from sidelight.progress import report
from sidelight.words import Setting

if TYPE_CHECKING:
    from sidelight.estimators.novelty.dmnl import DMNL

STARTS = 2  # of a held-out fit: counts are compared, the final fit has all starts
PATIENCE = 2  # counts tried after the best one


def choose_n_novel(estimator: DMNL, X: Any, bags: Bags, generator: np.random.Generator) -> Choice:
    """Try one count after the other until held-out lists are told no better; take the smallest within an error."""
    n_labelled = int(bags.is_labelled.sum())
    if n_labelled < estimator.cv:
        raise InvalidParameter(
            f'n_novel="auto" needs at least cv={estimator.cv} labelled bags to hold some out; there are {n_labelled}. '
            "Give the number, or lower cv."
        )
    empty = np.asarray(bags.label_matrix.sum(axis=1)).ravel() == 0
    least = int((empty & bags.is_labelled & ~bags.is_partial).any())  # such a list demands something novel
    splits = list(BagKFold(estimator.cv, shuffle=True, random_state=as_seed(generator)).split(X, groups=bags))
    seed = as_seed(generator)
    tried: list[int] = []
    values: list[np.ndarray] = []
    for count in range(least, max(estimator.max_novel, least) + 1):
        parts = []
        for done, (train, test) in enumerate(splits):
            report("choosing n_novel", len(tried) * len(splits) + done, None, f"{count}?")
            model = clone(estimator).set_params(n_novel=count, n_init=min(estimator.n_init, STARTS), random_state=seed)
            with ignore_warnings():  # the final fit says it once
                parts.append(model.fit(X[train], bags=bags[train]).bag_scores(X[test], bags[test]))
        tried.append(count)
        values.append(np.concatenate(parts))
        if len(tried) - 1 - int(np.argmax([value.mean() for value in values])) >= PATIENCE:
            break
    _warn_if_thin(tried, values)
    return choose_best(tried, values, simplest_within_error=True)


def _warn_if_thin(tried: list[int], values: list[np.ndarray]) -> None:
    best = int(np.argmax([value.mean() for value in values]))
    gaps = [values[best] - value for j, value in enumerate(values) if j != best]
    if any(gap.mean() > 2.0 * gap.std() / np.sqrt(len(gap)) for gap in gaps):
        return
    warn(
        SidelightWarning(
            f"The known labels of held-out bags do not tell {tried[0]} to {tried[-1]} novel labels apart: none is "
            "worse than the best by two standard errors.",
            do=["Say how many with ", Setting("n_novel"), ", or cluster by coverage, which compares likelihoods."],
        ),
        stacklevel=5,
    )
