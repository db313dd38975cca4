"""What is settled before all rows are climbed: every choice and every start, on all rows or on a sample of them.

Among very many rows, a sample says which counts, boundary and start are best as well as all of them do; what it leaves
open is how far the best start climbs on all rows, and that takes a few evaluations from where the sample ended.

Boundaries between clusters bend where held-out lists say so. A class that is one cluster gets a near map, whose
boundary follows small groups of rows. Clusters of one class bend its boundary by themselves, and under a near map each
of them wraps around anything: theirs is wide. Kinds that nobody named may be rare, so landmarks then cover the rows
evenly; else they are rows drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from sidelight._core.params import as_generator, as_seed
from sidelight._core.process import one_blas_thread
from sidelight._models.feature_map import FeatureMap
from sidelight._solvers.descent import Solution, best, race
from sidelight.data.bags import Bags
from sidelight.errors import InvalidParameter, SidelightWarning, ignore_warnings, warn
from sidelight.estimators._choice import Choice, choose, highest, simplest_within_error, try_in_turn
from sidelight.estimators._labelled_bags.row_temperature import matching_temperature
from sidelight.estimators._labelled_bags.supervision import Layout, check_cells, count_clusters
from sidelight.estimators.coverage.held_out import (
    FEWEST_TO_CHOOSE,
    BagOdds,
    HeldOut,
    RoughFits,
    calibrate_rows,
    compare_without,
    correct_odds,
    hold_out_bags,
    list_values,
    log_odds,
)
from sidelight.estimators.coverage.judging import told_probabilities
from sidelight.estimators.coverage.novel_rows import by_chance
from sidelight.estimators.coverage.problem import Problem, Told, tight
from sidelight.progress import report

PENALTIES = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1)  # the strong ones first: they converge in a tenth of the iterations
STRONGER, WEAKER = (100.0, 300.0, 1000.0), (0.03, 0.01, 0.003)  # tried where an end of them is best
MOST_SUBCLUSTERS, MOST_NOVEL = 4, 6  # the most clusters of a label, and for what nobody named, that "auto" tries
NO_LISTS = {"lists": {"probability": np.zeros(0), "bag": np.zeros(0, dtype=np.intp)}}
FOLDS = 5  # of whole bags, for every "auto"
STARTS = 4  # enough to compare counts: with all twelve the held-out fits take three times as long
PATIENCE = {"penalty": 1, "n_novel": 2, "n_subclusters": 2}  # a bigger model may pay only as a whole; a penalty may not
HEAT = 30  # iterations after which starts are compared: on MSRC v2 and Carroll ranks then agree with the end by 0.8
KEPT = 4  # one start in so many is followed to the end


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of an estimator, whose name is ``who``, and how it climbs the likelihood."""

    n_subclusters: Any
    n_novel: Any
    penalty: Any
    wrong: float
    forgotten: float
    information: float
    boundary: str
    calibrate: bool
    n_init: int
    max_iter: int
    tol: float | str
    who: str
    climb: Callable[..., Solution]

    @classmethod
    def of(cls, estimator: Any) -> Settings:
        """Read them."""
        own = {part.name: getattr(estimator, part.name) for part in fields(cls)[:-2]}
        return cls(**own, who=type(estimator).__name__, climb=estimator._climb)


@dataclass(frozen=True, slots=True)
class Settled:
    """The choices, the problem they make of the rows at hand, and where its starts ended."""

    boundary: Boundary
    penalty: float  # of all rows; the problem of a sample has its share of it
    choice: dict[str, Choice]
    problem: Problem
    solutions: list[Solution]
    odds: BagOdds
    calibration: dict[str, Any]
    kinds: dict[str, tuple[Any, ...]]
    counts_rows: str

    @property
    def layout(self) -> Layout:
        """Which clusters there are."""
        return self.problem.layout

    @property
    def feature_map(self) -> FeatureMap | None:
        """From rows to features, where the boundary is curved."""
        return self.boundary.feature_map


def settle(
    settings: Settings, told: Told, generator: np.random.Generator, *, n_rows: int | None = None, warn: bool = True
) -> Settled:
    """Settle a fit of the rows at hand: boundary, penalty and counts, the best start, odds and temperatures.

    The penalty stands against the likelihood of all ``n_rows`` rows, so a sample of them is fitted under its share.
    """
    n = told.X.shape[0]
    n_rows = n if n_rows is None else n_rows
    boundary = choose_boundary(settings, told, _least_layout(settings, told.bags), generator.spawn(1)[0])
    seen = replace(told, X=boundary.features)
    settled, choice = choose_counts(settings, seen, generator)
    if boundary.choice is not None:
        choice = {"boundary": boundary.choice, **choice}
    n_clusters = count_clusters(told.bags.classes, settled.n_subclusters, settled.n_novel)
    if n_clusters > max(n_rows, len(told.bags.classes)):
        raise InvalidParameter(
            f"{settings.who} was asked for {n_clusters} clusters of n_samples={n_rows} rows. "
            "Lower n_subclusters or n_novel, or bring more rows."
        )
    check_cells(settings.who, n_clusters, n_rows)
    layout = Layout.of(told.bags.classes, settled.n_subclusters, settled.n_novel)
    problem = Problem.of(settled, seen, layout, settled.penalty * (n / n_rows), warn=warn)
    climb = partial(settings.climb, problem, tol=settings.tol)
    starts = problem.starts(seen.X, settings.n_init, generator)
    solutions = race(starts, climb, settings.max_iter, heat=HEAT, keep_one_in=KEPT)
    settings = replace(
        settings, penalty=settled.penalty
    )  # what is held out is judged by rules like the one that is used
    trust = settle_trust(settings, replace(told, X=seen.X), problem, best(solutions).parameters, generator, boundary)
    words = told.bags.kinds, told.bags.how_counted
    return Settled(boundary, settled.penalty, choice, problem, solutions, *trust, *words)


def settle_trust(
    settings: Settings, told: Told, problem: Problem, theta: np.ndarray, generator: np.random.Generator, at: Boundary
) -> tuple[BagOdds, dict[str, Any]]:
    """Return how the probabilities of bags are corrected, and what held-out lists say of those of rows."""
    known = at.held_out if at.held_out and at.held_out[0].penalty == settings.penalty else None
    found = hold_out_bags(settings, told, told.X, generator.spawn(1)[0], known)
    to_labels = problem.layout.to_labels()
    Q = problem.posteriors(theta)[0] @ to_labels
    if found is None:
        return correct_odds(settings, told, None), calibrate_rows(settings, told, None, Q).as_dict() | NO_LISTS
    fits, parts = found
    held_out = HeldOut.join(parts)
    odds, calibration = correct_odds(settings, told, held_out), calibrate_rows(settings, told, held_out, Q)
    probability, bag = told_probabilities(held_out, odds)
    more: dict[str, Any] = {"lists": {"probability": probability, "bag": bag}}
    if told.bags.demands is not None:
        more |= held_out.words.as_dict(told.bags.demands.member)
    if problem.layout.n_novel and fits.layout.n_novel and not told.one_of and calibration.n_rows:
        T = calibration.temperature
        novel = compare_without(fits, told.X, parts, T)
        more["novel"] = novel.as_dict()
        if novel.is_harmful:
            P = np.exp(problem.model.log_posterior(theta, told.X)) @ to_labels
            complete = (told.bags.is_labelled & ~told.bags.is_partial)[told.bags.codes]
            listed = told.bags.label_matrix.toarray()[told.bags.codes[complete]] > 0
            rows = held_out.rows
            sure = by_chance(rows.P, rows.listed, novel.chance, T).max(axis=1).mean()
            in_fit = matching_temperature(by_chance(P[complete], listed, novel.chance, T), float(sure))
            calibration = replace(calibration, temperature_in_fit=in_fit)
    return odds, calibration.as_dict() | more


def choose_counts(settings: Settings, told: Told, generator: np.random.Generator) -> tuple[Settings, dict[str, Choice]]:
    """Return the settings with penalty, n_novel and n_subclusters, and how what was "auto" was chosen.

    Every candidate is fitted on the same folds of whole bags and judged by the log likelihood of the lists that it did
    not see. What is open is settled one after the other, with one cluster for each count that still is.
    """
    is_open = [name for name in PATIENCE if isinstance(getattr(settings, name), str)]
    choice: dict[str, Choice] = {}
    if is_open:
        folds = Folds(settings, told, generator)
        least = _least_novel(told.bags)
        candidates: dict[str, Sequence[Any]] = {
            "n_novel": range(least, MOST_NOVEL + 1),
            "n_subclusters": range(1, MOST_SUBCLUSTERS + 1),
        }
        first: dict[str, Any] = {"penalty": None, "n_novel": least, "n_subclusters": 1}
        settings = replace(settings, **{name: first[name] for name in is_open})
        for name in is_open:
            choice[name] = (
                folds.best_penalty(settings) if name == "penalty" else folds.best_of(name, candidates[name], settings)
            )
            settings = replace(settings, **{name: choice[name]["chosen"]})
    return replace(settings, penalty=float(settings.penalty)), choice


class Folds:
    """The folds that all candidates share."""

    def __init__(self, settings: Settings, told: Told, generator: np.random.Generator) -> None:
        n_labelled = int(told.bags.is_labelled.sum())
        if n_labelled < FOLDS:
            raise InvalidParameter(
                f'"auto" needs at least {FOLDS} labelled bags to hold some out; there are {n_labelled}. Give the '
                "number."
            )
        self.told, self.seed = told, as_seed(generator)
        from sidelight.data.splits import BagKFold  # as in held_out.py

        split = BagKFold(FOLDS, shuffle=True, random_state=as_seed(generator))
        self.splits = list(split.split(told.X, groups=told.bags))

    def best_penalty(self, settings: Settings) -> Choice:
        """Take the best penalty; where an end of those tried is best, look beyond it, and say where that ends, too."""
        choice = self.best_of("penalty", PENALTIES, settings)
        for end, beyond, extreme in ((PENALTIES[0], STRONGER, "strongest"), (PENALTIES[-1], WEAKER, "weakest")):
            if choice["chosen"] != end:
                continue
            further = self.best_of("penalty", (end, *beyond), settings)
            for name in ("tried", "scores", "errors"):
                choice[name] += further[name][1:]
            choice["chosen"] = further["chosen"]
            if choice["chosen"] == beyond[-1]:
                choice["note"] = (
                    f"the {extreme} penalty that was tried, {beyond[-1]:g}, explains held-out lists best: "
                    + ("rows say next to nothing about lists" if beyond is STRONGER else "give a smaller one by number")
                )
                warn(f'{settings.who}(penalty="auto"): {choice["note"]}.', SidelightWarning, stacklevel=2)
            break
        return choice

    def best_of(self, name: str, candidates: Sequence[Any], settings: Settings) -> Choice:
        """Try the candidates in order until the held-out likelihood stops rising, and say which one is taken.

        The best penalty is taken, but the smallest count within a standard error of the best (Breiman's rule): a
        superfluous cluster changes next to nothing, so that the larger count would often win by chance. Penalties are
        judged by the corrected probabilities of lists, which are what a model is asked for: by itself, a rule that says
        the same of all rows beats one that is a little too sure of each of many.
        """

        def told(candidate: Any) -> np.ndarray:
            before, total = (n * len(self.splits) for n in (candidates.index(candidate), len(candidates)))
            stage = f"choosing {name}", before, total
            corrected = name == "penalty" and not self.told.one_of
            return self._held_out(stage, f"{candidate:g}?", replace(settings, **{name: candidate}), corrected)

        rule = highest if name == "penalty" else simplest_within_error
        return try_in_turn(candidates, told, rule, patience=PATIENCE[name], peak=_last_rise)

    def _held_out(
        self, stage: tuple[str, int, int], note: str, settings: Settings, corrected: bool = False
    ) -> np.ndarray:
        """Return the log likelihood of every labelled bag under the rule of the other folds, or by corrected odds."""
        scores, odds, lists = [], [], []
        what, before, total = stage
        # a climb that ends early is like a stronger penalty: candidates are compared where their climbs end themselves
        rough = replace(
            settings, boundary=STRAIGHT, calibrate=False, n_init=min(settings.n_init, STARTS), tol=tight(settings.tol)
        )
        for done, split in enumerate(self.splits):
            report(what, before + done, total, note)
            train, test = (self.told.take(rows) for rows in split)
            with ignore_warnings():  # the final fit says it once
                found = settle(rough, train, as_generator(self.seed))
                judged = Problem.of(rough, test, found.layout, 0.0)
                theta, bags = best(found.solutions).parameters, test.bags
                values = judged.posteriors(theta)[1]
            P = np.exp(judged.model.log_posterior(theta, test.X)) @ found.layout.to_labels()
            scores.append(values[bags.is_labelled])
            odds.append(log_odds(P, bags.order, bags.starts)[bags.is_labelled, : len(bags.classes)])
            lists.append(bags.label_matrix.toarray()[bags.is_labelled].astype(float))
        return list_values(np.concatenate(odds), np.concatenate(lists)) if corrected else np.concatenate(scores)


def _least_layout(settings: Settings, bags: Bags) -> Layout:
    """The layout that is asked for; of counts that are still open only whether there may be several matters."""
    most = {"n_subclusters": MOST_SUBCLUSTERS, "n_novel": MOST_NOVEL}
    counts = {name: most[name] if getattr(settings, name) == "auto" else getattr(settings, name) for name in most}
    if count_clusters(bags.classes, **counts) > bags.n_rows + len(bags.classes):
        return Layout.of(bags.classes, 1, 0)  # too many: refused as soon as the counts are settled
    return Layout.of(bags.classes, **counts)


def _last_rise(values: Sequence[np.ndarray]) -> int:
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


STRAIGHT, CURVED = "straight", "curved"
LANDMARKS = 500
NEAR, WIDE = 0.6, 3.0  # widths h of the kernel exp(-|x - z|^2 / h), in total variances of the rows
FAR = 4.0  # squared distances from the nearest landmark, in widths, from which the kernel (e^-4) says nothing
STRENGTH = 2.3  # root mean square length of the curved features; standardised rows have the root of their number
MOST_NUMBERS = 1 << 29  # features of rows that are held at once: 2 GB in float32


def reach_of(feature_map: FeatureMap | None, squares: np.ndarray) -> float:
    """Return the squared distance to the nearest landmark up to which a row is believed.

    It is that of training rows, whose ``squares`` are given, and at least as far as the kernel reaches.
    """
    if feature_map is None:
        return np.inf
    return max(float(squares.max(initial=0.0)), FAR * feature_map.width)


def map_rows(X: Any, layout: Layout, generator: np.random.Generator) -> tuple[FeatureMap, Any]:
    """Learn the map that fits a layout, and map the rows."""
    h = (WIDE if layout.has_subclusters else NEAR) * _total_variance(X)
    report("landmarks", 0, 1)
    with one_blas_thread():
        feature_map = FeatureMap.learn(
            X, generator=generator, n_landmarks=LANDMARKS if h > 0 else 0, gamma=1.0 / (h or 1.0), rank=None,
            landmarks="centres" if layout.n_novel > 1 else "rows", strength=STRENGTH, unit_rows=False,
        )  # fmt: skip
        features = feature_map.map(X, dtype=np.float32)  # twice as fast; the clusters are the same
    return feature_map, features


@dataclass(frozen=True, slots=True)
class Boundary:
    """The rows as the rule shall see them, mapped or as they came.

    Where the boundary was "auto", also how that was chosen and what was found out about held-out bags.
    """

    features: Any
    feature_map: FeatureMap | None = None
    choice: Choice | None = None
    held_out: tuple[RoughFits, HeldOut] | None = None


def choose_boundary(options: Any, told: Told, layout: Layout, generator: np.random.Generator) -> Boundary:
    """Map the rows, or not; where that is open, one bag in four is held out, once, and judged pair by pair."""
    if options.boundary == STRAIGHT:
        return Boundary(told.X)
    if options.boundary == CURVED:
        feature_map, features = map_rows(told.X, layout, generator)
        return Boundary(features, feature_map)
    note = _why_straight(told.X.shape[0], told.X.shape[1], told.bags)
    if note:
        choice: Choice = {"tried": [STRAIGHT], "scores": [], "errors": [], "chosen": STRAIGHT, "note": note}
        return Boundary(told.X, choice=choice)
    feature_map, features = map_rows(told.X, layout, generator)
    fits = RoughFits(options, told, generator)
    held_out = []
    for done, some in enumerate((told.X, features)):
        report("choosing the boundary", done, 2)
        held_out.append(fits.hold_out(some, 0, "choosing the boundary"))
    straight, curved = held_out
    gain = curved.values - straight.values
    error = gain.std() / np.sqrt(len(gain))
    # Of two boundaries that explain lists as well, the simpler; counts of rows say so much more that it must be better.
    is_clear = gain.mean() > (-error if told.bags.counts_rows else error)
    choice = choose([STRAIGHT, CURVED], [straight.values, curved.values], lambda _: int(is_clear))
    if choice["chosen"] == CURVED:
        return Boundary(features, feature_map, choice, (fits, curved))
    return Boundary(told.X, None, choice, (fits, straight))


def _total_variance(X: Any) -> float:
    """Return the mean squared distance of rows to their mean: the number of features, where they are standardised."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = float(np.square(X.data).sum() if issparse(X) else np.einsum("ij,ij->", X, X)) / X.shape[0]
    variance = squares - float(mean @ mean)
    return variance if variance > 1e-12 * squares else 0.0  # rounding of constant rows is no variance


def _why_straight(n_rows: int, n_columns: int, bags: Bags) -> str:
    n_labelled = int(bags.is_labelled.sum())
    if n_labelled < FEWEST_TO_CHOOSE:
        return f"{n_labelled} labelled bags are too few to hold some out"
    if n_rows * (min(n_columns, 500) + LANDMARKS) > MOST_NUMBERS:
        return f"the curved features of {n_rows} rows would take more than 2 GB"
    return ""
