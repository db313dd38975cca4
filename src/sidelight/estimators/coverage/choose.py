"""Choosing how many sub-clusters and novel clusters there are, by the likelihood of held-out bags."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from sidelight._core.params import as_seed
from sidelight.data.bags import Bags
from sidelight.data.splits import BagKFold
from sidelight.errors import InvalidParameter, SidelightWarning
from sidelight.progress import report

if TYPE_CHECKING:
    from sidelight.estimators.coverage.clustering import CoverageClustering

PATIENCE = 2  # counts tried after the best one: likelihoods wobble, and a bigger model may pay only as a whole


def choose_counts(
    estimator: CoverageClustering, X: Any, bags: Bags, names: list[Any], generator: np.random.Generator
) -> tuple[Any, int, dict[str, Any]]:
    """Return n_subclusters, n_novel and how they were chosen; numbers that were given are taken.

    Every candidate is fitted on the same folds of whole bags and judged by the log likelihood of the lists that it did
    not see. The smallest one within a standard error of the best wins (Breiman's rule; the error of paired differences
    is next to nothing here, because a superfluous cluster changes next to nothing). When both counts are open, novel
    clusters are settled first, with one sub-cluster a class.
    """
    n_subclusters: Any = estimator.n_subclusters
    n_novel: Any = estimator.n_novel
    is_auto = isinstance(n_subclusters, str), isinstance(n_novel, str)
    if not any(is_auto):
        return n_subclusters, n_novel, {}
    folds = Folds(estimator, X, bags, names, generator)
    choice: dict[str, Any] = {}
    if is_auto[1]:
        base = 1 if is_auto[0] else n_subclusters
        n_novel = folds.settle(choice, "n_novel", range(_least_novel(bags), estimator.max_novel + 1), base)
    if is_auto[0]:
        n_subclusters = folds.settle(choice, "n_subclusters", range(1, estimator.max_subclusters + 1), n_novel)
    return n_subclusters, n_novel, choice


class Folds:
    """The folds that all candidates share."""

    def __init__(self, estimator: CoverageClustering, X: Any, bags: Bags, names: list[Any], generator: Any) -> None:
        n_labelled = int(bags.is_labelled.sum())
        if n_labelled < estimator.cv:
            raise InvalidParameter(
                f'"auto" needs at least cv={estimator.cv} labelled bags to hold some out; there are {n_labelled}. '
                "Give the number of clusters, or lower cv."
            )
        self.estimator, self.X, self.bags, self.names = estimator, X, bags, names
        self.seed = as_seed(generator)
        split = BagKFold(estimator.cv, shuffle=True, random_state=as_seed(generator))
        self.splits = list(split.split(X, groups=bags))

    def settle(self, choice: dict[str, Any], name: str, counts: range, other: Any) -> int:
        """Try the counts in order until the held-out likelihood stops rising; note everything in ``choice``."""
        tried: list[int] = []
        values: list[np.ndarray] = []
        for count in counts:
            pair = {"n_novel": count, "n_subclusters": other}
            if name == "n_subclusters":
                pair = {"n_novel": other, "n_subclusters": count}
            values.append(self._held_out(name, count, counts[-1], pair))
            tried.append(count)
            if len(tried) - 1 - _last_rise(values) >= PATIENCE:
                break
        scores = [float(v.mean()) for v in values]
        errors = [float(v.std() / np.sqrt(len(v))) for v in values]
        best = int(np.argmax(scores))
        chosen = next(c for c, score in zip(tried, scores) if score >= scores[best] - errors[best])
        choice[name] = {"tried": tried, "scores": scores, "errors": errors, "chosen": chosen}
        return chosen

    def _held_out(self, name: str, count: int, most: int, counts: dict[str, Any]) -> np.ndarray:
        """Return the log likelihood of every labelled bag, under the model of the other folds."""
        found = []
        for done, (train, test) in enumerate(self.splits):
            report(f"choosing {name}", count * len(self.splits) + done, (most + 1) * len(self.splits), f"{count}?")
            model = clone(self.estimator).set_params(**counts, random_state=self.seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SidelightWarning)  # the final fit says it once
                model.fit(self.X[train], bags=self.bags[train], row_labels=[self.names[i] for i in train])
                found.append(model.bag_scores(self.X[test], self.bags[test]))
        return np.concatenate(found)


def _last_rise(values: list[np.ndarray]) -> int:
    """The last candidate that was clearly better than all before it: by a tenth of a standard error."""
    last = 0
    for j, value in enumerate(values):
        if value.mean() > values[last].mean() + 0.1 * value.std() / np.sqrt(len(value)):
            last = j
    return last


def _least_novel(bags: Bags) -> int:
    """A complete list without labels demands something novel."""
    empty = np.diff(bags.label_matrix.indptr) == 0
    return int((empty & bags.is_labelled & ~bags.is_partial).any())
