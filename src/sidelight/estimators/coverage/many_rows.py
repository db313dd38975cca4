"""Coverage clustering of very many rows, in memory or read part by part: what they are asked.

Choices, starts, landmarks and the correction of bags come from a sample, by the code that fits few rows; then all rows
are climbed from where the sample ended.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any
from uuid import uuid4

import numpy as np

from sidelight._core.params import as_generator
from sidelight._core.tree_sum import Sums
from sidelight._models.feature_map import squared_distances
from sidelight._models.objective import PartedObjective, RawColumns, Rule, Share, SoftmaxLinear, Term
from sidelight._models.passes import Held, Passes
from sidelight._solvers.descent import Solution, best
from sidelight._terms.information import Balance, Confidence
from sidelight.data.array_parts import ArrayRows
from sidelight.data.bag_lists import Sample, lists_of
from sidelight.data.bags import Bags
from sidelight.data.parts import PartedRows
from sidelight.errors import InvalidData, LabelsWithoutRows, warn
from sidelight.estimators._base import fingerprint
from sidelight.estimators._labelled_bags.supervision import (
    check_names,
    plan_bags,
    refuse_empty_sets,
    warn_if_inseparable,
)
from sidelight.estimators._large import refine
from sidelight.estimators._linear_rule import ClusterWhitening
from sidelight.estimators.coverage.problem import Answers, Coverage, Told, left_uncovered, tight
from sidelight.estimators.coverage.settle import FAR, MOST_NUMBERS, Settings, Settled, settle
from sidelight.words import counted

MOST, LEAST = 100_000, 40_000  # rows that settle everything but the last steps
MANY = 3  # times the least sample: from so many rows in memory on a sample pays
STILL_OF_ALL = 0.001  # move of answers about rows of the sample, from look to look, that ends a climb over all rows
LOOK_AT_COUNTS = 5  # steps between looks where bags count rows: one of them may be short by chance; else 1
MOST_TOLD = 1_000  # bags with more labels than rows that are listed by name


def sample_size(n_rows: int) -> int:
    """Return how many of so many rows settle a fit: a sixteenth of them, from ``LEAST`` to ``MOST``.

    A larger sample of a million rows takes longer than the evaluations that it saves.
    """
    return min(MOST, max(LEAST, n_rows // 16))


@dataclass(frozen=True, slots=True, eq=False)
class ListsOfPart:
    """What the lists of a part wish of its rows, and how sure the rows should be.

    ``here`` is the term of all rows, where they are in memory and more than lists of bags may have been said.
    """

    key: str
    classes: tuple[Hashable, ...]
    class_of: np.ndarray
    wrong: float
    forgotten: float
    confidence: float
    n_rows: int
    here: Coverage | None = None

    def __call__(self, held: Held) -> list[tuple[float, Term]]:
        """Return the terms of a part."""
        terms: list[tuple[float, Term]] = [(1.0, self.coverage(held))]
        if self.confidence > 0:
            terms.append((self.confidence, Confidence(n_rows=self.n_rows)))
        return terms

    def coverage(self, held: Held) -> Coverage:
        """Return the term of the lists, with what every bag demands and allows."""
        if self.here is not None:
            first = held.part.first_row
            return replace(self.here, plan=self.here.plan.restrict(first, first + held.part.n_rows))
        bags = held.bags(self.classes)
        plan = plan_bags(
            bags, np.full(bags.n_rows, -1), anything_novel=bool((self.class_of < 0).any()), wrong=self.wrong,
            forgotten=self.forgotten, warn=False,
        )  # fmt: skip
        return Coverage(plan, self.class_of, self.wrong, self.forgotten)


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
    wishes: ListsOfPart

    def of_block(self, held: Held, run: tuple[int, int]) -> Sums:
        """Return the log likelihood of the lists of a block."""
        P, log_P, _ = self.rule.believe(self.rule.columns(held, run))
        coverage = held.once(self.wishes.key, lambda: self.wishes(held))[0][1]
        return (-coverage.add_rows(*run, 1.0, P, log_P, np.zeros_like(P)),)


@dataclass(frozen=True, slots=True)
class Farthest:
    """How far is the farthest row from its nearest landmark, squared?"""

    landmarks: np.ndarray

    def of_part(self, held: Held) -> float:
        """Answer for a part, block by block."""
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
        coverage = self.wishes.coverage(held)
        labels = coverage.posteriors(P, log_P)[0].argmax(axis=1)
        return list(left_uncovered(bags, coverage.plan.required, self.wishes.class_of[labels]))


class ManyRows:
    """A fit of very many rows, as :class:`sidelight.estimators._large.Family` wants it."""

    n_told: int
    settled: Settled
    wishes: ListsOfPart
    columns: RawColumns
    seen: str  # a short name of the sample

    def __init__(self, estimator: Any, rows: PartedRows | Told) -> None:
        self.estimator, self.settings = estimator, Settings.of(estimator)
        self.generator = as_generator(estimator.random_state)
        self.told = rows if isinstance(rows, Told) else None
        self.rows = rows if isinstance(rows, PartedRows) else parts_of(rows)
        if self.told is None:
            _refuse(estimator, self.rows)
            check_names(estimator.n_subclusters, self.rows.classes)

    def look(self, passes: Passes) -> None:
        """Count the rows that were told something; says which lists rows cannot carry."""
        if self.told is not None:
            return
        settings = self.settings
        novel = settings.n_novel == "auto" or settings.n_novel > 0 or settings.forgotten > 0
        facts = list(passes.each(Facts(self.rows.classes, novel)))
        self.n_told = sum(fact[0] for fact in facts)
        if not any(fact[1] for fact in facts):
            raise InvalidData(
                f"{settings.who} learns from the label lists of bags, and no bag of {self.rows!r} has one. Name "
                "the column that holds them: Parts.from_parquet(..., labels=...)."
            )
        short = [name for fact in facts for name in fact[2]]
        if short and settings.wrong == 0:
            warn(
                f"{counted(len(short), 'bag has', 'bags have')} more labels than rows that could carry them, for "
                f"example bag {short[0]!r}. They are asked to carry as many as they can; see uncovered_, or fit with "
                "wrong > 0.",
                LabelsWithoutRows,
                stacklevel=6,
            )

    def settle(self, sample: Sample) -> None:
        """Make every choice, and follow every start, on a sample."""
        self.seen = fingerprint(sample.rows)
        some = self._told_of(sample)
        self.settled = settle(self.settings, some, self.generator, n_rows=self.rows.n_rows, warn=False)

    def _told_of(self, sample: Sample) -> Told:
        if self.told is not None:
            rows, told = np.sort(sample.numbers), self.told
            return Told(told.X[rows], told.bags.drawn(rows), told.row_class[rows], told.one_of)
        assert sample.lists is not None  # rows are in bags: the fit looked
        bags = sample.lists.as_bags(self.rows.classes)
        return Told(sample.rows, bags, np.full(bags.n_rows, -1))

    def refine(self, passes: Passes) -> Solution:
        """Climb the likelihood of all lists."""
        settled, settings, layout = self.settled, self.settings, self.settled.layout
        here = None
        if self.told is not None:
            plan = self.told.plan(settings, layout, warn=True)
            self.n_told = int(np.count_nonzero(plan.is_told))
            self.lists = Coverage(plan, layout.class_of, settings.wrong, settings.forgotten)
            here = replace(self.lists, plan=plan.arranged())
        weight = settings.information * self.n_told
        self.wishes = ListsOfPart(
            uuid4().hex, self.rows.classes, layout.class_of, settings.wrong, settings.forgotten, weight,
            passes.n_rows, here,
        )  # fmt: skip
        of_all: list[tuple[float, Term]] = [(weight, Balance())] if weight > 0 else []
        features, start = settled.boundary.features, best(settled.solutions).parameters
        model = SoftmaxLinear(features.shape[1], layout.n_clusters)
        every = LOOK_AT_COUNTS if settled.counts_rows else 1
        watch = Answers(settled.problem, every=every, still=STILL_OF_ALL) if settings.tol == "auto" else None
        has_room = self.told is not None and passes.n_rows * features.shape[1] <= MOST_NUMBERS
        self.columns = RawColumns(passes.look, settled.feature_map, keeps=has_room)
        return refine(
            PartedObjective(model, passes, self.columns, self.wishes, of_all, settled.penalty), start,
            passes.dtype if settled.feature_map is None else np.float32,  # kernels are of single precision
            coordinates=ClusterWhitening(features, *model.unpack(start), settled.penalty, passes.n_rows),
            max_iter=settings.max_iter, tol=tight(settings.tol), watch=watch,
        )  # fmt: skip

    def publish(self, passes: Passes, solution: Solution) -> None:
        """Write down the rule; of rows in parts, figures are made part by part, too."""
        estimator, settled = self.estimator, self.settled
        if self.told is not None:
            estimator._publish(self.told, settled, self.lists, [solution])
            return
        W, b = SoftmaxLinear(settled.boundary.features.shape[1], settled.layout.n_clusters).unpack(solution.parameters)
        rule = self.columns.rule(W, b, f"{self.wishes.key}/end")
        (mass,) = passes.sum(Share(rule))
        (log_likelihood,) = passes.sum(Judge(rule, self.wishes))
        reach, feature_map = np.inf, settled.feature_map
        if feature_map is not None:
            reach = max(*passes.each(Farthest(feature_map.landmarks)), FAR * feature_map.width)
        estimator.n_features_in_, estimator.data_fingerprint_ = self.rows.n_features, self.seen
        estimator._publish_rule(settled, W, b, reach, mass / passes.n_rows, solution)
        estimator.start_values_ = -np.array([one.value for one in settled.solutions])
        estimator.log_likelihood_ = float(log_likelihood)
        uncovered = chain.from_iterable(passes.each(Uncovered(rule, self.wishes)))
        estimator.uncovered_ = tuple(islice(uncovered, MOST_TOLD))
        estimator.labels_ = self.rows.apply(estimator.predict, bags=True)


def parts_of(told: Told) -> PartedRows:
    """Return rows in memory as parts; bags are drawn by their places, for names may be anything."""
    bags = told.bags
    order = None if (np.diff(bags.order) == 1).all() else np.array(bags.order, dtype=np.intp)
    source = ArrayRows(told.X, lists_of(bags)._replace(names=np.arange(bags.n_bags)), order)
    names = [f"x{j}" for j in range(told.X.shape[1])]
    return PartedRows([source], names, in_bags=True, classes=bags.classes)


def _refuse(estimator: Any, parts: PartedRows) -> None:
    """Refuse rows without bags, and say which labels their lists cannot tell apart."""
    if not parts.in_bags:
        raise InvalidData(
            f"{type(estimator).__name__} learns from the label lists of bags, and {parts!r} has no bags. Name their "
            "column: Parts.from_parquet(..., bag=..., labels=...)."
        )
    sets = [labels for labels in parts.survey.sets if labels is not None]
    several = Bags(range(20 * len(sets)), labels=dict(enumerate(20 * sets)), classes=parts.classes)
    warn_if_inseparable(estimator, several, np.full(several.n_rows, -1))
