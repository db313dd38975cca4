"""One fit as a problem: the term of labelled bags, the rule, where it starts, and the way up the likelihood.

Clusters of one class enter the likelihood by their sum, so from equal weights they would stay equal for ever. Half of
the starts draw small random scores; the others first fit one cluster a class, then split its rows by k-means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from sidelight._core.params import as_seed
from sidelight._core.process import one_blas_thread, without_library_warnings
from sidelight._models.objective import SoftmaxLinear, Term
from sidelight._solvers.descent import Solution
from sidelight._terms.information import Balance, Confidence, CrossEntropy
from sidelight.data.bags import Bags
from sidelight.estimators._labelled_bags.coverage import BagPlan, coverage_posteriors
from sidelight.estimators._labelled_bags.supervision import Layout, plan_bags
from sidelight.estimators._linear_rule import RuleFit

SPREAD = 0.1  # standard deviation of random scores: far from 0 to break ties, near enough to favour no cluster
_STEPS = 60  # of a climb that only leads to the next one
_ASIDE = 12  # starts beside a saddle: half of them may run to where classes have changed places
_SHARES = (0.0, 0.1, 0.3)  # of the information between rows and clusters, before all of it: counts come first
LOOK, STILL = 10, 0.005  # iterations between two looks at answers, and the move between them that ends a climb
TIGHT = 1e-6  # relative change of the objective that ends a climb whose answers still move
_SADDLE = 1e-6  # of the gradient beside zero: below this the gradient at zero is rounding


@dataclass(frozen=True, slots=True)
class Told:
    """Rows and what was said about them: lists of their bags or, ``one_of``, candidates; and labels of single rows."""

    X: Any
    bags: Bags
    row_class: np.ndarray
    one_of: bool = False

    def take(self, rows: np.ndarray) -> Told:
        """Some of the rows."""
        return Told(self.X[rows], self.bags[rows], self.row_class[rows], self.one_of)

    def plan(self, options: Any, layout: Layout, *, warn: bool = False) -> BagPlan:
        """What every bag demands and allows."""
        return plan_bags(
            self.bags, self.row_class, anything_novel=layout.n_novel > 0, wrong=options.wrong,
            forgotten=options.forgotten, one_of=self.one_of, warn=warn,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Coverage:
    """Minus the log likelihood of what the bags say, summed over bags.

    value = -sum_b log P(labels of bag b | its rows)
    G     = -Q, the row posteriors given the bags: the derivative of a log-sum is the share of its parts
    """

    plan: BagPlan
    class_of: np.ndarray
    wrong: float = 0.0
    forgotten: float = 0.0

    @classmethod
    def of(cls, told: Told, options: Any, layout: Layout, *, warn: bool = False) -> Coverage:
        """Plan what every bag says of its rows."""
        return cls(told.plan(options, layout, warn=warn), layout.class_of, options.wrong, options.forgotten)

    def add_rows(self, first: int, last: int, weight: float, P: np.ndarray, log_P: np.ndarray, G: np.ndarray) -> float:
        """Add the part about the rows ``first`` to ``last``: whole bags of consecutive rows; the caller has threads."""
        Q, log_likelihood = coverage_posteriors(
            P, log_P, self.class_of, self.plan.restrict(first, last), wrong=self.wrong, forgotten=self.forgotten,
            in_threads=False,
        )  # fmt: skip
        if weight != 1.0:
            Q *= weight
        G -= Q
        return -weight * float(log_likelihood.sum())

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if P.ndim > 2:
            values, gradients = zip(*(self(p, log_p) for p, log_p in zip(P, log_P)))
            return np.stack(values), np.stack(gradients)
        Q, log_likelihood = self.posteriors(P, log_P)
        Q *= -1.0
        return -log_likelihood.sum(), Q

    def posteriors(self, P: np.ndarray, log_P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return Q (rows x clusters) and the log likelihood of each bag."""
        return coverage_posteriors(P, log_P, self.class_of, self.plan, wrong=self.wrong, forgotten=self.forgotten)


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows, bags and clusters of one fit; the objective is minus the penalised log likelihood.

    Rows go in and come out in the caller's order, in which ``lists`` speaks of them. Inside, dense rows are arranged
    bag by bag, so that the objective can visit them in blocks of whole bags; ``order`` says where they come from, None
    that they were not moved.
    """

    fit: RuleFit
    layout: Layout
    lists: Coverage
    coverage: Coverage
    others: tuple[tuple[float, Term], ...]
    order: np.ndarray | None

    @classmethod
    def of(cls, options: Any, told: Told, layout: Layout, penalty: float, *, warn: bool = False) -> Problem:
        """Put together what the parameters of an estimator (``options``) ask for, with a penalty that is settled."""
        lists = coverage = Coverage.of(told, options, layout, warn=warn)
        plan, X, order = lists.plan, told.X, None
        # Even clusters are a guess about how common each kind is. It weighs at most the rows with side information.
        weight = options.information * np.count_nonzero(plan.is_told)
        others: tuple[tuple[float, Term], ...] = ()
        if weight > 0:
            others = ((weight, Balance()), (weight, Confidence(n_rows=X.shape[0])))
        if not issparse(X) and not plan.is_arranged:
            order = plan.order
            X, coverage = X[order], replace(lists, plan=plan.arranged())
        fit = RuleFit.whitened(X, penalty, None if issparse(X) else plan.starts)
        return cls(fit, layout, lists, coverage, others, order)

    @property
    def model(self) -> SoftmaxLinear:
        """The rule that is fitted."""
        return self.fit.model(self.layout.n_clusters)

    def climb(self, start: np.ndarray, max_iter: int, stage: str, tol: float | str) -> Solution:
        """Climb the likelihood from one start: to a tolerance, or as long as answers move.

        Clusters that could change places part slowly at first, so that answers rest beside saddles: to a tolerance.
        """
        terms: list[tuple[float, Term]] = [(1.0, self.coverage), *self.others]
        watch = Answers(self) if tol == "auto" and not self.layout.is_symmetric else None
        return self.fit.minimise(
            terms, self.layout.n_clusters, start, max_iter=max_iter, tol=tight(tol), stage=stage, watch=watch
        )

    def beliefs(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return P of the rows as the problem arranges them, Q given the bags, and the log likelihood of each bag."""
        log_P = self.model.log_posterior(theta, self.fit.X)
        P = np.exp(log_P)
        return P, *self.coverage.posteriors(P, log_P)

    @one_blas_thread()
    def posteriors(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return Q of the rows given the bags, and the log likelihood of each bag."""
        _, Q, values = self.beliefs(theta)
        if self.order is not None:
            arranged, Q = Q, np.empty_like(Q)
            Q[self.order] = arranged
        return Q, values

    def first_starts(self, steps: int = _STEPS) -> list[np.ndarray]:
        """Return where a fit without symmetries begins: at zero, or at several random places where zero is a saddle.

        At W = 0 all rows of a bag share one posterior, so the gradient of W adds up the rows of each bag. Where rows
        were centred within their bags it is zero whatever the lists say, and W would never move.

        Where long bags count their rows, even and sharp clusters fit the counts in many ways. What counts alone say
        comes first there, and the information between rows and clusters little by little, ``steps`` at a time.
        """
        zero = np.zeros(self.model.n_parameters)
        if self.lists.plan.demands is not None and self.others and self.lists.plan.demands.is_counted.any():
            theta = zero
            for share in _SHARES:
                weaker = replace(self, others=tuple((share * weight, term) for weight, term in self.others if share))
                theta = weaker.climb(theta, steps, "counts first", 1e-4).parameters
            return [theta]
        generator = np.random.default_rng(0)
        first = random_start(self.model, self.fit.X, generator)
        objective = self.fit.objective([(1.0, self.coverage)], self.layout.n_clusters)
        at_zero, beside = (np.linalg.norm(self.model.unpack(objective(theta)[1])[0]) for theta in (zero, first))
        if at_zero > _SADDLE * beside:
            return [zero]
        return [first, *(random_start(self.model, self.fit.X, generator) for _ in range(_ASIDE - 1))]

    def starts(self, X: Any, n_init: int, generator: np.random.Generator) -> list[np.ndarray]:
        """Return the starts, from rows in the caller's order; one is enough if no two clusters could change places."""
        fine = self.layout
        if not fine.is_symmetric:
            return self.first_starts()
        starts = [random_start(self.model, X, generator) for _ in range((n_init + 1) // 2)]
        if n_init > 1:
            coarse = Layout.of(fine.classes, 1, min(fine.n_novel, 1))
            Q = self._coarse_posteriors(coarse)
            starts += [self._near_targets(split_targets(X, Q, coarse, fine, generator)) for _ in range(n_init // 2)]
        return starts

    def _coarse_posteriors(self, coarse: Layout) -> np.ndarray:
        """Fit one cluster a class, roughly, and return its posteriors: what starts split."""
        rough = replace(self, layout=coarse, coverage=replace(self.coverage, class_of=coarse.class_of), others=())
        start = np.zeros(rough.model.n_parameters)
        return rough.posteriors(rough.climb(start, 60, "one cluster a class", 1e-4).parameters)[0]

    def _near_targets(self, targets: np.ndarray) -> np.ndarray:
        """Return parameters whose posteriors are near the targets."""
        targets = targets if self.order is None else targets[self.order]
        terms = [(1.0, CrossEntropy(targets))]
        found = self.fit.minimise(terms, self.layout.n_clusters, max_iter=15, tol=1e-3, stage="fitting a start")
        return found.parameters


@dataclass(slots=True)
class Answers:
    """Watches a climb, and ends it when answers about rows stop moving from one look to the next.

    moved = max(mean_i sum_k |P_ik - P'_ik|, mean_i sum_k |Q_ik - Q'_ik|) / 2

    with P by features alone, Q under what the bags say, and P', Q' those of the look before: the share of probability
    that changed its cluster. The odds of bags are sums over these rows. The objective itself goes on creeping
    in directions that no answer depends on.
    """

    problem: Problem
    every: int = LOOK
    still: float = STILL
    before: tuple[np.ndarray, np.ndarray] | None = None

    def __call__(self, theta: np.ndarray) -> bool:
        P, Q, _ = self.problem.beliefs(theta)
        before, self.before = self.before, (P, Q)
        if before is None:
            return False
        moved = [0.5 * float(np.abs(now - then).sum(axis=1).mean()) for now, then in zip((P, Q), before)]
        return max(moved) < self.still


def tight(tol: float | str) -> float:
    """Return the relative change of the objective at which a climb ends in any case."""
    return TIGHT if isinstance(tol, str) else tol


def random_start(model: SoftmaxLinear, X: Any, generator: np.random.Generator) -> np.ndarray:
    """Draw W so that every score has mean 0 and standard deviation ``SPREAD`` over the rows."""
    W = generator.normal(size=(model.n_features, model.n_clusters))
    scores = np.asarray(X @ W.astype(X.dtype, copy=False))
    W *= SPREAD / np.maximum(scores.std(axis=0), 1e-12)  # constant rows: any W is as good as another
    return model.pack(W, -np.asarray(X @ W.astype(X.dtype, copy=False)).mean(axis=0))


def split_targets(
    X: Any, coarse_Q: np.ndarray, coarse: Layout, fine: Layout, generator: np.random.Generator
) -> np.ndarray:
    """Share out the posteriors of one cluster a class among its sub-clusters, by k-means of its rows."""
    from sklearn.cluster import KMeans  # .1 s, which placing rows with a fitted model need not wait for

    targets = np.zeros((X.shape[0], fine.n_clusters))
    for j, c in enumerate(coarse.class_of):
        parts = np.flatnonzero(fine.class_of == c)
        share = coarse_Q[:, j]
        if len(parts) == 1 or np.count_nonzero(share > 0.01) < len(parts):  # too few rows to be split
            targets[:, parts] = share[:, None] / len(parts)
            continue
        split = KMeans(len(parts), random_state=as_seed(generator))
        with one_blas_thread(), without_library_warnings():  # fewer different rows than parts: some stay empty
            group = split.fit_predict(X, sample_weight=share + 1e-9)  # k-means wants no weights of exactly zero
        targets[np.arange(len(group)), parts[group]] = share
    return targets


def left_uncovered(bags: Bags, required: np.ndarray, row_class: np.ndarray) -> tuple[tuple[Any, Any], ...]:
    """Name the bags that were asked to carry only some of their labels, and the labels that no row got."""
    starts, listed = bags.label_matrix.indptr, bags.label_matrix.indices
    short = np.flatnonzero(bags.whole & (required < np.diff(starts)))
    uncovered = []
    for b in short.tolist():
        carried = set(row_class[bags.order[bags.starts[b] : bags.starts[b + 1]]].tolist())
        missing = tuple(bags.classes[c] for c in listed[starts[b] : starts[b + 1]].tolist() if c not in carried)
        uncovered.append((bags.names[b], missing))
    return tuple(uncovered)
