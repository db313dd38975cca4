"""Choosing the penalty and how many sub-clusters and novel clusters there are, by the likelihood of held-out bags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from sidelight._core.params import as_seed
from sidelight.data.bags import Bags
from sidelight.errors import InvalidParameter, ignore_warnings
from sidelight.estimators._choice import Choice, choose_best
from sidelight.estimators._labelled_bags.candidates import candidates_of
from sidelight.estimators._labelled_bags.layout import Layout, count_clusters
from sidelight.estimators.coverage.boundary import STRAIGHT, Rows, choose_boundary
from sidelight.estimators.coverage.held_out import HeldOut
from sidelight.progress import report

if TYPE_CHECKING:
    from sidelight.estimators.coverage.clustering import CoverageClustering

PENALTIES = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1)  # the strong ones first: they converge in a tenth of the iterations
STARTS = 4  # enough to compare counts: with all twelve the held-out fits take three times as long
PATIENCE = {"penalty": 1, "n_novel": 2, "n_subclusters": 2}  # a bigger model may pay only as a whole; a penalty may not


def choose(
    estimator: CoverageClustering,
    X: Any,
    bags: Bags,
    names: list[Any],
    generator: np.random.Generator,
    *,
    one_of: bool = False,
    n_rows: int | None = None,
) -> tuple[Rows, dict[str, Any], dict[str, Choice], HeldOut | None]:
    """Return the rows as the rule sees them, penalty, n_novel and n_subclusters, and how what was "auto" was chosen.

    Last comes what was found out about held-out bags, where the boundary was chosen by them.


    Every candidate is fitted on the same folds of whole bags and judged by the log likelihood of the lists that it did
    not see. What is open is settled one after the other, with one cluster for each count that still is. ``n_rows`` says
    how many rows will be fitted, where X is a sample of them.
    """
    settled = {name: getattr(estimator, name) for name in PATIENCE}
    is_open = [name for name, value in settled.items() if isinstance(value, str)]
    choice: dict[str, Choice] = {}
    layout = _least_layout(estimator, bags)
    rows, boundary, held_out = choose_boundary(
        estimator, X, bags, names, layout, generator.spawn(1)[0], one_of=one_of, n_rows=n_rows
    )
    if boundary is not None:
        choice["boundary"] = boundary
    if is_open:
        folds = Folds(estimator, rows.features, bags, names, generator, one_of)
        least = {"penalty": None, "n_novel": _least_novel(bags), "n_subclusters": 1}
        candidates: dict[str, Sequence[Any]] = {
            "penalty": PENALTIES,
            "n_novel": range(_least_novel(bags), estimator.max_novel + 1),
            "n_subclusters": range(1, estimator.max_subclusters + 1),
        }
        settled.update({name: least[name] for name in is_open})
        for name in is_open:
            choice[name] = folds.best_of(name, candidates[name], settled)
            settled[name] = choice[name]["chosen"]
    settled["penalty"] = float(settled["penalty"])
    return rows, settled, choice, held_out


def _least_layout(estimator: CoverageClustering, bags: Bags) -> Layout:
    """The layout that is asked for; of counts that are still open only whether there may be several matters."""
    most = {"n_subclusters": estimator.max_subclusters, "n_novel": estimator.max_novel}
    counts = {name: most[name] if getattr(estimator, name) == "auto" else getattr(estimator, name) for name in most}
    if count_clusters(bags.classes, **counts) > bags.n_rows + len(bags.classes):
        return Layout.of(bags.classes, 1, 0)  # too many: refused as soon as the counts are settled
    return Layout.of(bags.classes, **counts)


class Folds:
    """The folds that all candidates share."""

    def __init__(
        self, estimator: CoverageClustering, X: Any, bags: Bags, names: list[Any], generator: Any, one_of: bool
    ) -> None:
        n_labelled = int(bags.is_labelled.sum())
        if n_labelled < estimator.cv:
            raise InvalidParameter(
                f'"auto" needs at least cv={estimator.cv} labelled bags to hold some out; there are {n_labelled}. '
                "Give the number, or lower cv."
            )
        self.estimator, self.X, self.bags, self.names, self.one_of = estimator, X, bags, names, one_of
        self.seed = as_seed(generator)
        from sidelight.data.splits import BagKFold  # as in held_out.py

        split = BagKFold(estimator.cv, shuffle=True, random_state=as_seed(generator))
        self.splits = list(split.split(X, groups=bags))

    def best_of(self, name: str, candidates: Sequence[Any], settled: dict[str, Any]) -> Choice:
        """Try the candidates in order until the held-out likelihood stops rising, and say which one is taken.

        The best penalty is taken, but the smallest count within a standard error of the best (Breiman's rule): a
        superfluous cluster changes next to nothing, so that the larger count would often win by chance.
        """
        tried: list[Any] = []
        values: list[np.ndarray] = []
        for candidate in candidates:
            stage = f"choosing {name}", len(tried) * len(self.splits), len(candidates) * len(self.splits)
            values.append(self._held_out(stage, f"{candidate:g}?", {**settled, name: candidate}))
            tried.append(candidate)
            if len(tried) - 1 - _last_rise(values) >= PATIENCE[name]:
                break
        return choose_best(tried, values, simplest_within_error=name != "penalty")

    def _held_out(self, stage: tuple[str, int, int], note: str, settings: dict[str, Any]) -> np.ndarray:
        """Return the log likelihood of every labelled bag, under the model of the other folds."""
        scores = []
        what, before, total = stage
        for done, (train, test) in enumerate(self.splits):
            report(what, before + done, total, note)
            model = clone(self.estimator)
            starts = min(self.estimator.n_init, STARTS)
            # not set_params: ORLR has no counts to set
            vars(model).update(  # the rows are mapped
                settings, boundary=STRAIGHT, n_init=starts, random_state=self.seed, calibrate=False
            )
            with ignore_warnings():  # the final fit says it once
                model.fit(self.X[train], row_labels=[self.names[i] for i in train], **self._side(train))
                scores.append(model.bag_scores(self.X[test], **self._side(test)))
        return np.concatenate(scores)

    def _side(self, rows: np.ndarray) -> dict[str, Any]:
        """What is known about some rows: candidates of their own, or lists of their bags."""
        bags = self.bags[rows]
        return {"candidates": candidates_of(bags)} if self.one_of else {"bags": bags}


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
