"""The tree behind label sets, and its weights, of rows that are read part by part.

Tree and rates of loss are functions of how often each set of labels was seen, so one pass counts the sets. Whether gaps
depend on features, and where to round, is asked of a sample. The weights start where those of the sample ended and
climb the likelihood of all rows: one pass for each evaluation.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache, partial
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from sidelight._core.label_passes import Inputs, as_inputs, edge_targets, logistic_residual
from sidelight._core.tree_sum import Sums
from sidelight._models.label_logits import LabelLogits
from sidelight._models.passes import Held, Moments, Passes
from sidelight._models.scaled_rows import ScaledRows
from sidelight._solvers.descent import Solution
from sidelight.data.bag_lists import BagLists, Sample
from sidelight.data.label_matrix import LabelMatrix
from sidelight.data.parts import Look, PartedRows
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.estimators._base import fingerprint, reporting
from sidelight.estimators._large import refine
from sidelight.estimators.hierarchy.candidates import best_candidate, known_tree
from sidelight.estimators.hierarchy.counts import Entries, Floats, count_pairs
from sidelight.estimators.hierarchy.evidence import held_out_scores
from sidelight.estimators.hierarchy.further_parents import as_tree
from sidelight.estimators.hierarchy.weights import learn_weights

SAMPLE = 100_000  # rows that tests, thresholds and first weights are learnt from
Names = tuple[Any, ...]


def entries_of(lists: BagLists, classes: Names) -> Entries:
    """Return 1, 0 and -1 for every row and label; rows that nobody looked at have -1 only."""
    place = {name: column for column, name in enumerate(classes)}
    table = np.zeros((len(lists.sets), len(classes)), dtype=np.int8)
    for row, members in zip(table, lists.sets):
        row[:] = -1 if members is None else 0
        row[[place[name] for name in members or ()]] = 1
    return table[lists.codes]


@dataclass(frozen=True, slots=True)
class CountSets:
    """How often was each set of labels seen?"""

    def of_part(self, held: Held) -> Counter[Any]:
        """Answer for a part."""
        lists = held.lists()
        assert lists is not None  # the fit looked
        times = np.bincount(lists.codes, minlength=len(lists.sets)).tolist()
        return Counter({members: n for members, n in zip(lists.sets, times) if n})


@dataclass(frozen=True, slots=True, eq=False)
class PullLabels:
    """How probable are the labels that were seen, and what is the gradient by scores of rows near 0?"""

    W: Floats
    b: Floats
    tree: Inputs
    classes: Names
    key: str  # no other fit has it: entries of a part are made once

    def of_block(self, held: Held, run: tuple[int, int]) -> Sums:
        """Answer for one block."""
        lists = held.lists
        Z = held.once(self.key, lambda: entries_of(lists(), self.classes))[slice(*run)]  # type: ignore[arg-type] # rows have labels: the fit looked
        near = held.X[slice(*run)]
        scores = np.ascontiguousarray(near @ self.W.astype(np.float32), dtype=np.float64) + self.b
        targets = edge_targets(scores, Z, self.tree)
        _, residual = logistic_residual(scores, targets.both, targets.parent)
        pulled = np.asarray(near.T @ residual.astype(np.float32), dtype=np.float64)
        return float(targets.log_likelihood.sum()), pulled, residual.sum(axis=0)


@dataclass(frozen=True, slots=True)
class PartedLabels:
    """Minus the penalised log-likelihood of the labels of all parts, and its gradient."""

    model: LabelLogits
    passes: Passes
    tree: Inputs
    classes: Names
    key: str

    def __call__(self, theta: Floats) -> tuple[Floats, Floats]:
        rows, look = self.model.rows, self.passes.look
        assert rows is not None  # without features nobody goes over the rows
        V, b = self.model.unpack(theta)
        stretched = V * rows.inverse_scale
        W = np.ascontiguousarray((stretched * look.spread).T)
        offset = b + stretched @ (look.centre - rows.mean)
        value, pulled, total = self.passes.sum(PullLabels(W, offset, self.tree, self.classes, self.key))
        gradient = self.model.ridge_gradient(theta)
        of_V, of_b = self.model.unpack(gradient)
        of_V -= (pulled.T * look.spread + np.outer(total, look.centre - rows.mean)) * rows.inverse_scale
        of_b -= total
        return np.asarray(self.model.ridge(theta) - float(value)), gradient


class ManyRows:
    """A fit of rows in parts, as :class:`sidelight.estimators._large.Family` wants it."""

    X: Any
    some: LabelMatrix
    distinct: tuple[Entries, Floats]  # the distinct rows of labels, and how often each occurs
    tree: Inputs

    def __init__(self, estimator: Any, parts: PartedRows, *, use_features: bool) -> None:
        _refuse(estimator, parts)
        self.estimator, self.parts, self.use_features = estimator, parts, use_features

    def look(self, passes: Passes) -> None:
        """Count label sets, and see where the rows are."""
        self.distinct = _distinct(passes, self.parts.classes)
        self.model = _model(self.estimator, passes, len(self.parts.classes), use_features=self.use_features)

    def settle(self, sample: Sample) -> None:
        """Choose the tree; whether gaps depend on features is asked of the sample."""
        assert sample.lists is not None  # rows have labels: the fit looked
        self.X, classes = sample.rows, self.parts.classes
        self.some = some = LabelMatrix(entries_of(sample.lists, classes), map(str, classes))
        if not some.is_seen.any():
            raise InvalidData(
                f"The sample of {self.parts!r} holds no label: there are too few rows with labels. Use arrays."
            )
        self.of_sample = _restricted(self.model, self.X)
        self.held_out = cache(lambda: held_out_scores(self.of_sample, some.values))
        estimator, (Z, times) = self.estimator, self.distinct
        estimator.candidates_ = {}
        if estimator.tree is None:
            self.chosen, judged, self.counts = best_candidate(Z, estimator.eps, rates=estimator.alpha, weights=times)
            estimator.candidates_ = {candidate.source: candidate.value for candidate in judged}
            estimator.label_names_ = some.names
            self.chosen = estimator._unless_overlapping(self.chosen, some.values, self.held_out)
            rates_of = partial(known_tree, Z, rates=estimator.alpha, weights=times)
            self.chosen = estimator._without_implausible(self.chosen, some.values, self.held_out, rates_of)
        else:
            self.counts = count_pairs(Z, times)
            parents = as_tree(estimator.tree, some).parents
            self.chosen = known_tree(Z, parents, rates=estimator.alpha, weights=times)
        self.tree = as_inputs(self.chosen.alphas, self.chosen.parents, estimator.eps)

    def refine(self, passes: Passes) -> Solution:
        """Learn the weights: of the sample, and from there of all rows; without features distinct rows are enough."""
        how: dict[str, Any] = {"max_iter": self.estimator.max_iter, "tol": self.estimator.tol}
        if not self.use_features:
            report = reporting("weights given the tree")
            return learn_weights(
                self.model, self.distinct[0], self.tree, weights=self.distinct[1], report=report, **how
            )
        report = reporting("weights of the sample")
        first = learn_weights(self.of_sample, self.some.values, self.tree, report=report, **how)
        if self.of_sample.n_rows == self.model.n_rows:
            return first
        objective = PartedLabels(self.model, passes, self.tree, self.parts.classes, uuid4().hex)
        return refine(objective, first.parameters, passes.dtype, **how)

    def publish(self, passes: Passes, solution: Solution) -> None:
        """Write down tree and weights; where to round is learnt from the sample."""
        estimator, some = self.estimator, self.some
        estimator.label_names_ = some.names
        estimator._keep(self.model, solution.parameters, -solution.trace, solution.converged)
        estimator._publish(self.chosen, self.counts, some, self.held_out)
        estimator._choose_thresholds(self.of_sample.scores(solution.parameters), some.values)
        if self.use_features:
            estimator.n_features_in_ = self.parts.n_features
        estimator.data_fingerprint_ = fingerprint(self.X)


def _distinct(passes: Passes, classes: Names) -> tuple[Entries, Floats]:
    """Return the distinct rows of labels, and how often each occurs."""
    counted: Counter[Any] = Counter()
    for some in passes.each(CountSets()):
        counted.update(some)
    sets = sorted(counted, key=lambda members: (members is None, sorted(map(str, members or ()))))
    codes = np.arange(len(sets))
    lists = BagLists(codes, np.arange(len(sets) + 1), tuple(sets), codes)
    return entries_of(lists, classes), np.array([counted[members] for members in sets], dtype=np.float64)


def _model(estimator: Any, passes: Passes, n_labels: int, *, use_features: bool) -> LabelLogits:
    """Return the model of all rows, which holds none of them: their means, and one scale for all features."""
    if not use_features:
        return LabelLogits(None, passes.n_rows, n_labels, estimator.penalty)
    total, squares = passes.sum(Moments())
    look, mean = passes.look, total / passes.n_rows
    variance = np.maximum(squares / passes.n_rows - mean**2, 0.0) * look.spread**2
    size = float(np.sqrt(variance.mean()))
    scale = np.full(len(mean), 1.0 / size if size > 0 else 0.0)
    none = np.zeros((0, len(mean)))
    return LabelLogits(
        ScaledRows(none, _far(look, mean), scale, np.ones(0)), passes.n_rows, n_labels, estimator.penalty
    )


def _far(look: Look, near: Floats) -> NDArray[np.float64]:
    return look.far(near[None])[0]


def _restricted(model: LabelLogits, X: Any) -> LabelLogits:
    """Return the model of a sample: its rows under the same scale, and its share of the penalty."""
    rows = None
    if model.rows is not None:
        rows = ScaledRows(X, model.rows.mean, model.rows.inverse_scale, np.ones(len(X)))
    return LabelLogits(rows, len(X), model.n_labels, model.penalty * len(X) / model.n_rows)


def _refuse(estimator: Any, parts: PartedRows) -> None:
    """Refuse by name what is no sum over rows, and what is not about rows."""
    who = type(estimator).__name__
    if estimator.structure == "joint":
        raise InvalidParameter(
            f'{who} cannot be fitted by parts with structure="joint", which keeps the posteriors of all rows. '
            'structure="counts" learns the tree from how often labels are seen together.'
        )
    if not parts.in_bags or not any(members for members in parts.survey.sets):
        raise InvalidData(
            f"{who} learns from the labels of rows, and {parts!r} has none. Name their column: "
            "Parts.from_parquet(..., labels=...)."
        )
    if parts.n_bags < parts.n_rows:
        raise InvalidData(
            f"{who} learns from the labels of rows, and {parts!r} has labels of {parts.n_bags} bags. Name the column "
            "of labels and none of bags."
        )
