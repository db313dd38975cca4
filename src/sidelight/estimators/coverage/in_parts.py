"""Coverage clustering of rows that are read part by part.

Choices, starts, landmarks and the correction of bags come from a sample of whole bags, by the code that fits rows in
memory; then all rows are climbed from where the sample ended. Nothing of the size of the rows is ever held here.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any
from uuid import uuid4

import numpy as np

from sidelight._core.params import as_generator
from sidelight._core.tree_sum import Sums
from sidelight._models.objective import Term
from sidelight._models.part_work import Engine, Held, Passes
from sidelight._models.parted import RawColumns, Rule, Share
from sidelight._models.softmax_linear import SoftmaxLinear
from sidelight._solvers.trace import Solution
from sidelight._terms.information import Balance, Confidence
from sidelight.data.bags import Bags
from sidelight.data.parts import PartedRows
from sidelight.errors import InvalidData, InvalidParameter, LabelsWithoutRows, warn
from sidelight.estimators._base import fingerprint
from sidelight.estimators._labelled_bags.layout import check_names
from sidelight.estimators._labelled_bags.supervision import plan_bags, refuse_empty_sets, warn_if_inseparable
from sidelight.estimators._linear_rule import RuleFit
from sidelight.estimators.coverage.boundary import FAR
from sidelight.estimators.coverage.first_fit import FirstFit, sample_size
from sidelight.estimators.coverage.term import Coverage
from sidelight.estimators.coverage.uncovered import left_uncovered
from sidelight.words import counted

MOST_TOLD = 1_000  # bags with more labels than rows that are listed by name


@dataclass(frozen=True, slots=True, eq=False)
class ListsOfPart:
    """What the lists of a part wish of its rows, and how sure the rows should be."""

    key: str
    classes: tuple[Hashable, ...]
    class_of: np.ndarray
    wrong: float
    forgotten: float
    cap: int
    confidence: float
    n_rows: int

    def __call__(self, held: Held) -> list[tuple[float, Term]]:
        """Return the terms of a part."""
        terms: list[tuple[float, Term]] = [(1.0, self.coverage(held.bags(self.classes)))]
        if self.confidence > 0:
            terms.append((self.confidence, Confidence(n_rows=self.n_rows)))
        return terms

    def coverage(self, bags: Bags) -> Coverage:
        """Return the term of the lists, with what every bag demands and allows."""
        plan = plan_bags(
            bags, np.full(bags.n_rows, -1), anything_novel=bool((self.class_of < 0).any()), wrong=self.wrong,
            forgotten=self.forgotten, warn=False,
        )  # fmt: skip
        return Coverage(plan, self.class_of, self.wrong, self.forgotten, self.cap)


@dataclass(frozen=True, slots=True)
class Facts:
    """How many rows were told something, and which lists cannot be true?"""

    classes: tuple[Hashable, ...]
    anything_novel: bool  # whether a list without labels can be true

    def of_part(self, held: Held) -> tuple[int, int, list[Hashable]]:
        """Return rows in labelled bags, labelled bags, and bags with more labels than rows."""
        bags = held.bags(self.classes)
        if not self.anything_novel:
            refuse_empty_sets(bags)
        short = np.flatnonzero(np.diff(bags.label_matrix.indptr) > bags.sizes)
        told = int(bags.sizes[bags.is_labelled].sum())
        return told, int(bags.is_labelled.sum()), [bags.names[b] for b in short.tolist()]


@dataclass(frozen=True, slots=True)
class Judge:
    """How probable are the lists under a rule?"""

    rule: Rule
    of_part: ListsOfPart

    def of_block(self, held: Held, run: tuple[int, int]) -> Sums:
        """Return the log likelihood of the lists of a block."""
        P, log_P, _ = self.rule.believe(self.rule.columns(held, run))
        coverage = held.once(self.of_part.key, lambda: self.of_part(held))[0][1]
        G = np.zeros_like(P)
        return (-coverage.add_rows(*run, 1.0, P, log_P, G),)


@dataclass(frozen=True, slots=True)
class Farthest:
    """How far is the farthest row from its nearest landmark, squared?"""

    landmarks: np.ndarray

    def of_part(self, held: Held) -> float:
        """Answer for a part, block by block."""
        from sidelight._models.feature_map import squared_distances

        blocks = (held.look.far(held.X[a:z]) for a, z in held.runs)
        return max(float(squared_distances(rows, self.landmarks).min(axis=1).max()) for rows in blocks)


@dataclass(frozen=True, slots=True)
class Uncovered:
    """Which labels of bags with too few rows did no row get?"""

    rule: Rule
    wishes: ListsOfPart

    def of_part(self, held: Held) -> list[tuple[Hashable, Any]]:
        """Answer for a part; most parts have no such bag and cost nothing."""
        bags = held.bags(self.wishes.classes)
        if not (np.diff(bags.label_matrix.indptr) > bags.sizes).any():
            return []
        P, log_P, _ = self.rule.believe(self.rule.columns(held, (0, held.part.n_rows)))
        coverage = self.wishes.coverage(bags)
        labels = coverage.posteriors(P, log_P)[0].argmax(axis=1)
        return list(left_uncovered(bags, coverage.plan.required, self.wishes.class_of[labels]))


def fit_parts(estimator: Any, parts: PartedRows, engine: Engine) -> Any:
    """Fit ``estimator`` to the parts: settle on a sample, climb on all rows, publish."""
    _refuse(estimator, parts)
    check_names(estimator.n_subclusters, parts.classes)
    with engine.over(parts) as passes:
        n_told = _count(estimator, passes, parts)
        X, lists = passes.sample(sample_size(passes.n_rows))
        if lists is None or not lists.n_bags:
            raise InvalidData(f"The sample of {parts!r} holds no bag: there are too few bags to draw some. Use arrays.")
        bags = lists.as_bags(parts.classes)
        generator = as_generator(estimator.random_state)
        first = FirstFit.of(
            estimator, X, bags, [None] * len(X), generator, n_rows=passes.n_rows, one_of=False,
            in_parts=True,
        )  # fmt: skip
        weight = estimator.information * n_told
        wishes = ListsOfPart(
            uuid4().hex, parts.classes, first.layout.class_of, estimator.wrong, estimator.forgotten, estimator.cap,
            weight, passes.n_rows,
        )  # fmt: skip
        of_all: list[tuple[float, Term]] = [(weight, Balance())] if weight > 0 else []
        fit = RuleFit.over(passes, first.penalty, first.rows.feature_map)
        solution = fit.minimise(
            wishes, of_all, first.best.parameters, first.rows.features, max_iter=estimator.max_iter, tol=estimator.tol,
            stage="all rows",
        )  # fmt: skip
        return _publish(estimator, parts, passes, first, wishes, fit.columns, solution, fingerprint(X))


def _publish(
    estimator: Any,
    parts: PartedRows,
    passes: Passes,
    first: FirstFit,
    wishes: ListsOfPart,
    columns: RawColumns,
    solution: Solution,
    short_name: str,
) -> Any:
    model = SoftmaxLinear(first.rows.features.shape[1], first.layout.n_clusters)
    W, b = model.unpack(solution.parameters)
    rule = columns.rule(W, b, f"{wishes.key}/end")
    (mass,) = passes.sum(Share(rule))
    (log_likelihood,) = passes.sum(Judge(rule, wishes))
    feature_map, reach = first.rows.feature_map, np.inf
    if feature_map is not None:
        reach = max(*passes.each(Farthest(feature_map.landmarks)), FAR * feature_map.width)
    estimator.n_features_in_, estimator.data_fingerprint_ = parts.n_features, short_name
    estimator.choice_, estimator.bag_slope_, estimator.bag_offsets_ = first.choice, first.odds.slope, first.odds.offsets
    estimator._publish_rule(first.layout, first.penalty, W, b, feature_map, reach, mass / passes.n_rows, solution)
    estimator.start_values_ = -np.array([one.value for one in first.solutions])
    estimator.log_likelihood_ = float(log_likelihood)
    uncovered = chain.from_iterable(passes.each(Uncovered(rule, wishes)))
    estimator.uncovered_ = tuple(islice(uncovered, MOST_TOLD))
    estimator.labels_ = parts.apply(estimator.predict, bags=True)
    return estimator


def _count(estimator: Any, passes: Passes, parts: PartedRows) -> int:
    """Return how many rows were told something; says which lists rows cannot carry."""
    novel = estimator.n_novel == "auto" or estimator.n_novel > 0 or estimator.forgotten > 0
    facts = list(passes.each(Facts(parts.classes, novel)))
    n_told, n_labelled = sum(fact[0] for fact in facts), sum(fact[1] for fact in facts)
    if not n_labelled:
        raise InvalidData(
            f"{type(estimator).__name__} learns from the label lists of bags, and no bag of {parts!r} has one. Name "
            "the column that holds them: Parts.from_parquet(..., labels=...)."
        )
    short = [name for fact in facts for name in fact[2]]
    if short and estimator.wrong == 0:
        warn(
            f"{counted(len(short), 'bag has', 'bags have')} more labels than rows that could carry them, for example "
            f"bag {short[0]!r}. They are asked to carry as many as they can; see uncovered_, or fit with wrong > 0.",
            LabelsWithoutRows,
            stacklevel=5,
        )
    return n_told


def _refuse(estimator: Any, parts: PartedRows) -> None:
    """Refuse by name what is no sum over rows."""
    who = type(estimator).__name__
    if estimator.neighbours > 0:
        raise InvalidParameter(
            f"{who} cannot be fitted by parts with neighbours={estimator.neighbours:g}: near rows may be in different "
            "parts. Set neighbours=0, or fit a sample: X, bags = parts.sample(100_000)."
        )
    if estimator.solver == "em":
        raise InvalidParameter(
            f'{who} cannot be fitted by parts with solver="em", which keeps the posteriors of all rows. '
            'solver="lbfgs" climbs the same likelihood in fewer passes.'
        )
    if not parts.in_bags:
        raise InvalidData(
            f"{who} learns from the label lists of bags, and {parts!r} has no bags. Name their column: "
            "Parts.from_parquet(..., bag=..., labels=...)."
        )
    sets = [labels for labels in parts.survey.sets if labels is not None]
    several = Bags(range(20 * len(sets)), labels=dict(enumerate(20 * sets)), classes=parts.classes)
    warn_if_inseparable(estimator, several, np.full(several.n_rows, -1))
