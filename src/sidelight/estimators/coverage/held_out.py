"""Rough fits with one cluster a class, what they say of bags whose lists they did not see, and how odds are corrected.

The choice of the boundary asks how probable held-out lists are; the probabilities of bags are corrected by what is on
them. If the errors of rows were independent, a bag would carry label c with odds e = 1 / prod_i (1 - P_ic) - 1. They
are not: many rows that are each a little wrong add up, so rare labels are predicted far too often. Held-out lists
correct it,

    logit P(c in bag) = slope * log e + offset_c,

with one positive slope for all labels and offsets that are drawn towards their mean: a label that few bags carry leans
on the others. Slope 1 and offsets 0 are the plain product. The rows of the same bags say how sure rows may be
(:mod:`sidelight.estimators._labelled_bags.row_temperature`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from sidelight._affinity.copies import near_copies
from sidelight._core.params import is_sparse
from sidelight._core.prototypes import group_means
from sidelight._solvers.descent import best, descend
from sidelight.data.bags import Bags
from sidelight.estimators._labelled_bags.row_temperature import FEWEST_BAGS, Calibration, HeldOutRows
from sidelight.estimators._labelled_bags.supervision import Layout
from sidelight.estimators.coverage.novel_rows import SLIP, NovelRows
from sidelight.estimators.coverage.problem import Problem, Told
from sidelight.estimators.coverage.words import Words
from sidelight.progress import report

FEWEST_TO_CHOOSE = 10  # labelled bags below which holding some out says nothing
MOST_ROWS = 20_000  # rows that the rough fits look at
FOLDS = 4  # one bag in four is held out
STEPS, TOL = 15, 1e-3  # of a fit that is only compared
ENOUGH_BAGS = 60  # held-out lists that settle a slope; with fewer in a fold a second fold is held out, too
SURE = 30.0  # the most that -sum log(1 - P) may say: the odds of e^30 are certainty
DOUBT = 1e-9  # the least: no row has the label
APART = 1.0  # standard deviation of offsets around their mean
STEEP = 1.0  # standard deviation of the logarithm of the slope around 0


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Of bags that a fit did not see: how probable lists were, log-odds of labels, lists, which are whole, rows.

    ``words`` says of each of them what it was said to hold, against what its rows say.
    """

    values: np.ndarray
    evidence: np.ndarray
    listed: np.ndarray
    is_complete: np.ndarray
    rows: HeldOutRows
    words: Words

    @classmethod
    def join(cls, parts: list[HeldOut]) -> HeldOut:
        """Put folds together."""
        values, evidence, listed, is_complete = (
            np.concatenate([getattr(part, what) for part in parts])
            for what in ("values", "evidence", "listed", "is_complete")
        )
        words = Words.join([part.words for part in parts])
        return cls(values, evidence, listed, is_complete, HeldOutRows.join([part.rows for part in parts]), words)


class RoughFits:
    """The bags that are looked at, their folds, and one rough fit for each map of the rows and fold."""

    def __init__(self, options: Any, told: Told, generator: np.random.Generator) -> None:
        self.options = options
        self.rows = _some_bags(told.bags, generator)
        self.told = told.take(self.rows)
        bags = self.told.bags
        empty = np.diff(bags.label_matrix.indptr) == 0
        novel = options.n_novel == "auto" or options.n_novel > 0 or bool((empty & bags.is_labelled).any())
        self.layout = Layout.of(bags.classes, 1, int(novel))
        self.penalty = 1.5 if isinstance(options.penalty, str) else float(options.penalty)
        from sidelight.data.splits import BagKFold  # scikit-learn's model selection takes .1 s; predicting needs none

        split = BagKFold(FOLDS, shuffle=True, random_state=int(generator.integers(2**31)))
        whole = copies_together(self.told.X, bags)
        self.folds = list(split.split(np.empty((bags.n_rows, 0)), groups=bags if whole is None else whole))

    def hold_out(self, features: Any, fold: int, stage: str, *, plain: bool = False) -> HeldOut:
        """Fit the bags of the other folds, and say what the fit thinks of the labelled bags of this one.

        ``plain`` leaves novel clusters out; a list without labels is then a slip of the pen.
        """
        told = replace(self.told, X=features[self.rows])
        train, test = (told.take(rows) for rows in self.folds[fold])
        layout, options = self.layout, self.options
        if plain:
            layout = Layout.of(layout.classes, 1, 0)
            options = replace(options, wrong=max(options.wrong, SLIP), forgotten=max(options.forgotten, SLIP))
        problem = Problem.of(options, train, layout, self.penalty)
        climb = partial(problem.climb, max_iter=STEPS, stage=stage, tol=TOL)
        theta, bags = best(list(map(climb, problem.first_starts(STEPS)))).parameters, test.bags
        Q, values = Problem.of(options, test, layout, self.penalty).posteriors(theta)
        to_labels = layout.to_labels()
        P = np.exp(problem.model.log_posterior(theta, test.X)) @ to_labels
        evidence = log_odds(P, bags.order, bags.starts)[:, : len(bags.classes)]
        kept, listed = bags.is_labelled, bags.label_matrix.toarray()
        rows = HeldOutRows(P, Q @ to_labels, listed[bags.codes] > 0, np.array(bags.codes))
        complete = kept & ~bags.is_partial  # of a partial list no row is known to be on it
        is_complete = (complete & bags.whole)[kept]  # nor is a list where rows were cut away
        rows = rows.take(complete[bags.codes])
        words = Words.of(P[:, : len(bags.classes)], bags)
        return HeldOut(values[kept], evidence[kept], listed[kept].astype(float), is_complete, rows, words)


def copies_together(X: Any, bags: Bags) -> np.ndarray | None:
    """Return a group for each row where some bags are copies of others: held-out ones would be known by heart.

    Of bags that are told by many numbers near copies count, too, by the means of their rows. None where no bag is one,
    and where so many are that folds would be empty.
    """
    if is_sparse(X):
        cells = [slice(*ends) for ends in pairwise(X.indptr.tolist())]
        keys = [hash((X.indices[some].tobytes(), X.data[some].tobytes())) for some in cells]
    else:
        keys = [hash(row.tobytes()) for row in np.asarray(X)]
    held: list[list[int]] = [[] for _ in range(bags.n_bags)]
    for code, key in zip(bags.codes.tolist(), keys):
        held[code].append(key)
    first: dict[tuple[int, ...], int] = {}
    group = np.array([first.setdefault(tuple(sorted(of_bag)), code) for code, of_bag in enumerate(held)])
    if not is_sparse(X):
        group = _joined(group, near_copies(group_means(np.asarray(X), bags.codes, bags.n_bags)))
    return group[bags.codes] if FOLDS <= len(np.unique(group)) < bags.n_bags else None


def _joined(group: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return one group for what either of two says belongs together."""
    n = len(group)
    ends = np.concatenate([np.arange(n), np.arange(n)]), np.concatenate([group, near])
    return np.asarray(connected_components(coo_array((np.ones(2 * n), ends), shape=(n, n)), directed=False)[1])


def log_odds(P: np.ndarray, order: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return log e of every bag and label, from the probabilities of rows and the rows of each bag."""
    missed = np.log1p(-np.minimum(P, 1.0 - 1e-12))  # log 0 would spoil the sums
    missing = np.clip(-np.add.reduceat(missed[order], starts[:-1], axis=0), DOUBT, SURE)
    return np.asarray(np.log(np.expm1(missing)))


@dataclass(frozen=True, slots=True)
class BagOdds:
    """The correction: one slope, and an offset for each known label; whatever stands behind them is left alone."""

    slope: float
    offsets: np.ndarray

    @classmethod
    def plain(cls, n_labels: int) -> BagOdds:
        """Correct nothing."""
        return cls(1.0, np.zeros(n_labels))

    @classmethod
    def unpack(cls, theta: np.ndarray) -> BagOdds:
        """Read the parameters of :func:`correction`."""
        return cls(float(np.exp(theta[0])), theta[1] + theta[2:])

    def probability(self, evidence: np.ndarray) -> np.ndarray:
        """Return the probability of every label for every bag, from log e."""
        scores = np.array(evidence)
        known = scores[:, : len(self.offsets)]
        known *= self.slope
        known += self.offsets
        return np.asarray(expit(scores))


def hold_out_bags(
    options: Any, told: Told, features: Any, generator: np.random.Generator, known: tuple[RoughFits, HeldOut] | None
) -> tuple[RoughFits, list[HeldOut]] | None:
    """Return what rough fits think of bags that they did not see; None where lists are too few, or it is not wanted.

    ``known`` holds what the choice of the boundary has found out already.
    """
    if why_not(options, told):
        return None
    fits = RoughFits(options, told, generator) if known is None else known[0]
    held_out = [] if known is None else [known[1]]
    for fold in range(len(held_out), 2):
        if sum(len(part.values) for part in held_out) >= ENOUGH_BAGS:
            break
        report("bags held out", fold, 2)
        held_out.append(fits.hold_out(features, fold, "bags held out"))
    return fits, held_out


def compare_without(fits: RoughFits, features: Any, held_out: list[HeldOut], temperature: float) -> NovelRows:
    """Compare what was held out with fits that have no novel cluster, fold by fold."""
    report("comparing with no novel cluster", 0, 1)
    stage = "comparing with no novel cluster"
    plain = [fits.hold_out(features, fold, stage, plain=True).rows for fold in range(len(held_out))]
    novel = [part.rows for part in held_out]
    return NovelRows.of(HeldOutRows.join(novel), HeldOutRows.join(plain), temperature=temperature)


def why_not(options: Any, told: Told) -> str:
    """Say why no bags are held out; nothing where they are."""
    n_labelled = int(told.bags.is_labelled.sum())
    if not options.calibrate:
        return "calibrate=False"
    if n_labelled < FEWEST_BAGS:
        what = "rows with candidates" if told.one_of else "labelled bags"
        return f"with fewer than {FEWEST_BAGS} {what} ({n_labelled} here) nothing can be held out"
    return "" if told.bags.classes else "no list names a label"


def correct_odds(options: Any, told: Told, held_out: HeldOut | None) -> BagOdds:
    """Learn how the probabilities of bags are corrected.

    Nothing is corrected where lists are cut, or not taken at their word (``wrong``, ``forgotten``, candidates).
    """
    doubted = told.one_of or options.wrong > 0 or options.forgotten > 0 or told.bags.is_partial.any()
    if held_out is None or doubted:
        return BagOdds.plain(len(told.bags.classes))
    return BagOdds.unpack(descend(*correction(held_out.evidence, held_out.listed), tol=1e-8).parameters)


def list_values(evidence: np.ndarray, listed: np.ndarray) -> np.ndarray:
    """Return how probable each list is, in logarithms, by odds that are corrected for these very lists."""
    odds = BagOdds.unpack(descend(*correction(evidence, listed), tol=1e-8).parameters)
    scores = odds.slope * evidence + odds.offsets
    return np.asarray((listed * scores - np.logaddexp(0.0, scores)).sum(axis=1))


def calibrate_rows(options: Any, told: Told, held_out: HeldOut | None, Q: np.ndarray) -> Calibration:
    """Find the temperatures of rows; ``Q`` are the posteriors of the rows of the fit, by the names of rows."""
    if held_out is None:
        return Calibration(note=why_not(options, told))
    if len(np.unique(held_out.rows.bag)) < FEWEST_BAGS // 4 or not held_out.rows.listed.any():
        return Calibration(note="too few of the lists that were held out are complete")
    in_fit = Q[told.bags.is_labelled[told.bags.codes]]
    return Calibration.of(held_out.rows, in_fit, forgotten=options.forgotten or None)


def correction(
    evidence: np.ndarray, listed: np.ndarray
) -> tuple[Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], np.ndarray]:
    """Return what a correction minimises, minus the log likelihood of held-out lists, and where to start.

    The parameters are the logarithm of the slope, the mean of the offsets, and how far each is from it.

    Parameters
    ----------
    evidence : ndarray of shape (n_bags, n_labels)
        log e of bags whose lists the model did not see.
    listed : ndarray of shape (n_bags, n_labels)
        1 where the label is on the list.
    """

    def objective(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slope, middle, apart = np.exp(theta[0]), theta[1], theta[2:]
        scores = slope * evidence + middle + apart
        residual = expit(scores) - listed
        value = np.logaddexp(0.0, scores).sum() - (listed * scores).sum()
        value += 0.5 * (apart @ apart) / APART**2 + 0.5 * theta[0] ** 2 / STEEP**2
        by_slope = slope * (residual * evidence).sum() + theta[0] / STEEP**2
        return value, np.r_[by_slope, residual.sum(), residual.sum(axis=0) + apart / APART**2]

    return objective, np.zeros(evidence.shape[1] + 2)


def _some_bags(bags: Bags, generator: np.random.Generator) -> np.ndarray:
    """Return the rows of whole labelled bags, about ``MOST_ROWS`` of them."""
    order = generator.permutation(np.flatnonzero(bags.is_labelled))
    n_kept = max(FEWEST_TO_CHOOSE, int(np.searchsorted(np.cumsum(bags.sizes[order]), MOST_ROWS)))
    kept = np.zeros(bags.n_bags, dtype=bool)
    kept[order[:n_kept]] = True
    return np.flatnonzero(kept[bags.codes])
