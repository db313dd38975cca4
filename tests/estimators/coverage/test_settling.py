"""What is settled before the climb: arranged rows, starts, counts by held-out lists, boundaries, a test of novelty."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight._core.params import as_seed
from sidelight.data.splits import BagKFold
from sidelight.errors import (
    ConvergenceWarning,
    InseparableLabels,
    InvalidData,
    SidelightWarning,
    ignore_warnings,
)
from sidelight.estimators._labelled_bags.coverage import coverage_posteriors
from sidelight.estimators._labelled_bags.supervision import Layout, plan_bags
from sidelight.estimators.coverage import held_out, settle
from sidelight.estimators.coverage import settle as boundary
from sidelight.estimators.coverage.problem import LOOK, STILL, TIGHT, Answers, Coverage, Problem, Told
from sidelight.estimators.coverage.settle import Settings

RNG = np.random.default_rng(0)
Y = np.arange(48) % 3
X = 4.0 * np.eye(3)[Y] + RNG.normal(size=(48, 3))
CODES = RNG.permutation(48) // 3  # neither rows nor bags come in order
BAGS = sl.Bags(CODES, labels={int(b): set(np.array(list("abc"))[Y[b == CODES]]) for b in range(16)})
LAYOUT = Layout.of(BAGS.classes, 1, 0)


NOBODY = np.full(48, -1)
TOLD = Told(X, BAGS, NOBODY)


def of(**options):
    return Settings.of(sl.CoverageClustering(**options))


def problem(rows, layout=LAYOUT, **options):
    return Problem.of(of(**options), Told(rows, BAGS, NOBODY), layout, 1.5)


def test_rows_that_are_arranged_by_bags_come_back_in_their_order():
    """Dense rows are arranged inside, sparse ones are not: both say the same of every row."""
    dense, sparse = (problem(rows) for rows in (X, sp.csr_array(X)))
    assert dense.order is not None
    assert sparse.order is None
    theta = np.random.default_rng(1).normal(size=dense.model.n_parameters)
    for one, other in zip(dense.posteriors(theta), sparse.posteriors(theta)):
        np.testing.assert_allclose(one, other, atol=1e-9)
    log_P = dense.model.log_posterior(theta, X)
    for one, other in zip(dense.lists.posteriors(np.exp(log_P), log_P), dense.posteriors(theta)):
        np.testing.assert_allclose(one, other, atol=1e-9)
    np.testing.assert_allclose(dense._coarse_posteriors(LAYOUT), sparse._coarse_posteriors(LAYOUT), atol=1e-3)
    targets = np.eye(3)[Y]
    np.testing.assert_allclose(dense._near_targets(targets), sparse._near_targets(targets), atol=1e-3)
    fitted = dense.model.log_posterior(dense._near_targets(targets), X)
    assert (fitted.argmax(axis=1) == Y).all()
    ends = [one.climb(np.zeros(one.model.n_parameters), 50, "a climb", 1e-6) for one in (dense, sparse)]
    assert ends[0].value == pytest.approx(ends[1].value, rel=1e-5)


def test_a_tolerance_ends_a_climb():
    start = np.zeros(problem(X).model.n_parameters)
    loose, tight = (problem(X).climb(start, 200, "a", tol) for tol in (0.1, 1e-9))
    assert loose.n_iter < tight.n_iter


def test_a_climb_ends_when_answers_stop_moving_and_says_so():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 8, size=600)
    rows = rng.normal(size=(8, 16))[y] + rng.normal(size=(600, 16))
    ids = np.arange(600) // 4
    bags = sl.Bags(ids, labels={b: set(y[ids == b].tolist()) for b in range(150)})
    straight = {"boundary": "straight", "calibrate": False}
    default, tight = (sl.CoverageClustering(**straight, **how).fit(rows, bags=bags) for how in ({}, {"tol": 1e-9}))
    with pytest.warns(ConvergenceWarning):
        short = sl.CoverageClustering(**straight, max_iter=3).fit(rows, bags=bags)
    assert [model.stop_ for model in (default, tight, short)] == ["answers", "objective", "max_iter"]
    assert default.n_iter_ < tight.n_iter_
    assert default.n_iter_ % LOOK == 0
    parted = sl.CoverageClustering(**straight, n_subclusters=2, n_init=1, random_state=0).fit(rows, bags=bags)
    assert parted.stop_ != "answers"  # clusters of a class part slowly: answers rest beside saddles
    moved = 0.5 * np.abs(default.predict_proba(rows) - tight.predict_proba(rows)).sum(axis=1).mean()
    assert 0 < moved < 2 * STILL


def test_answers_under_lists_are_watched_too():
    """The same move of P and of Q: either of them keeps a climb going."""
    one = problem(X)
    watch = Answers(one, still=0.01)
    theta = np.random.default_rng(0).normal(size=one.model.n_parameters)
    P, Q, _ = one.beliefs(theta)
    assert not watch(theta)  # nothing to compare with
    assert watch(theta)
    for before in ((np.roll(P, 1, axis=1), Q), (P, np.roll(Q, 1, axis=1))):
        watch.before = before
        assert not watch(theta)


def test_candidates_are_compared_at_the_ends_of_their_climbs(monkeypatch):
    seen = []
    monkeypatch.setattr(settle, "settle", lambda settings, *told: seen.append(settings.tol) or 1 / 0)
    for tol in ("auto", 1e-3):
        folds = settle.Folds(of(tol=tol), TOLD, np.random.default_rng(0))
        with pytest.raises(ZeroDivisionError):
            folds._held_out(("a", 0, 3), "b", of(tol=tol, penalty=1.0))
    assert seen == [TIGHT, 1e-3]


class Scripted(settle.Folds):
    """Held-out likelihoods that are given."""

    def __init__(self, values):
        self.values, self.asked, self.splits, self.told = iter(values), [], [0, 1], TOLD

    def _held_out(self, stage, note, settings, corrected=False):
        self.asked.append((stage, settings))
        return next(self.values)


def test_candidates_are_tried_until_held_out_lists_stop_gaining():
    for name, means, n_tried, chosen in [
        ("penalty", [0.0, -1.0, 5.0], 2, 1),  # no patience with penalties
        ("penalty", [0.0, 1.0, 2.0, 1.0], 4, 3),
        ("n_novel", [0.0, -1.0, -1.0, 5.0], 3, 1),
        ("n_novel", [0.0, -1.0, 5.0, 5.0, 5.0], 5, 3),
        ("n_subclusters", [0.0, 0.01, 0.02, 9.0], 3, 1),  # rises by less than a tenth of an error are none
        ("n_novel", [0.0, 0.4, 0.2, 0.1], 4, 1),  # the smallest within an error
        ("penalty", [0.0, 0.4, 0.2, 0.1], 3, 2),  # the best
    ]:
        spread = np.array([-2.0, 2.0, -2.0, 2.0, 0.0, 0.0])  # a standard error of about .7
        folds = Scripted([mean + spread for mean in means])
        found = folds.best_of(name, range(1, len(means) + 1), of(penalty=1))
        assert len(found["tried"]) == n_tried
        assert found["chosen"] == chosen
        assert [getattr(settings, name) for _, settings in folds.asked] == list(range(1, n_tried + 1))
        assert [stage[1:] for stage, _ in folds.asked] == [(2 * i, 2 * len(means)) for i in range(n_tried)]


@pytest.mark.parametrize(
    ("means", "chosen", "tried", "said"),
    [
        ([1, 2, 1], 10, 3, None),
        ([2, 1, 2, 3, 1], 100, 4, None),  # the end is asked again beside what lies beyond it
        ([2, 1, 2, 3, 4, 5], 1000, 5, "strongest"),
        ([1, 2, 3, 4, 5, 6, 6, 7, 8, 9], 0.003, 9, "weakest"),
        ([1, 2, 3, 4, 5, 6, 6, 7, 6], 0.03, 8, None),
    ],
)
def test_beyond_the_best_end_more_penalties_are_tried(means, chosen, tried, said):
    folds = Scripted([np.array([mean, mean + 0.1]) for mean in means])
    with contextlib.nullcontext() if said is None else pytest.warns(SidelightWarning, match=said):
        found = folds.best_penalty(of())
    assert found["chosen"] == chosen
    assert len(found["tried"]) == len(found["scores"]) == len(found["errors"]) == len(set(found["tried"])) == tried
    assert ("note" in found) is (said is not None)
    with pytest.raises(StopIteration):
        next(folds.values)


def test_a_penalty_that_was_chosen_does_not_empty_the_sets_of_bags():
    """Weak rows and long lists: by its own likelihood the strongest rule won, and the F1 of sets fell by a third."""
    rng = np.random.default_rng(0)
    kinds = rng.dirichlet(np.full(12, 0.7))
    topics = [rng.choice(12, 4, replace=False, p=kinds) for _ in range(20)]
    y = np.concatenate([rng.choice(topics[rng.integers(20)], 8) for _ in range(120)])
    rows, codes = 2.0 * rng.normal(size=(12, 8))[y] + 4.0 * rng.normal(size=(960, 8)), np.arange(960) // 8
    bags = sl.Bags(codes, labels={bag: set(y[codes == bag].tolist()) for bag in range(120)})
    train, test = codes < 80, codes >= 80
    truth = np.array([[name in bags[test].labels[bag] for name in range(12)] for bag in bags[test].names])

    def f1(penalty):
        model = sl.CoverageClustering(penalty=penalty, boundary="straight", random_state=0)
        sets = model.fit(rows[train], bags=bags[train]).predict_bags(rows[test], bags=bags[test])
        return sl.metrics.micro_f1(
            truth.astype(int), np.array([[name in one for name in range(12)] for one in sets]) * 1
        )

    assert f1("auto") > f1(1.5) - 0.03


@pytest.mark.slow
def test_held_out_lists_are_judged_by_fits_that_did_not_see_them():
    settings = {"penalty": 2.0, "n_novel": 0, "n_subclusters": 2, "tol": 1e-6}
    folds = settle.Folds(of(), TOLD, np.random.default_rng(0))
    found = folds._held_out(("a", 0, 3), "b", of(**settings))
    expected = []
    for train, test in folds.splits:
        model = sl.CoverageClustering(
            **settings, boundary="straight", calibrate=False, n_init=4, random_state=folds.seed
        )
        expected.append(model.fit(X[train], bags=BAGS[train]).bag_scores(X[test], bags=BAGS[test]))
    np.testing.assert_allclose(found, np.concatenate(expected), rtol=2e-3)  # rows in another order: the end of a climb
    told = Told(X, BAGS, np.where(np.arange(48) % 4 == 0, Y, -1))
    knowing = settle.Folds(of(), told, np.random.default_rng(0))
    assert (knowing._held_out(("a", 0, 3), "b", of(**settings)) != found).any()


def test_boundaries_are_straight_where_lists_are_few_or_rows_too_many():
    ten = sl.Bags(np.arange(10), labels={b: {"a"} for b in range(10)})
    nine = sl.Bags(np.arange(10), labels={b: {"a"} for b in range(9)})
    assert boundary._why_straight(10, 3, ten) == ""
    assert "too few" in boundary._why_straight(10, 3, nine)
    most = boundary.MOST_NUMBERS // (12 + boundary.LANDMARKS)
    assert boundary._why_straight(most, 12, ten) == ""
    assert "2 GB" in boundary._why_straight(most + 1, 12, ten)
    assert boundary._why_straight(boundary.MOST_NUMBERS // 1000, 600, ten) == ""


@pytest.mark.parametrize(
    ("options", "is_corrected"),
    [({}, True), ({"calibrate": False}, False), ({"wrong": 0.1}, False), ({"forgotten": 0.1}, False)],
)
def test_probabilities_of_bags_are_corrected_where_lists_are_taken_at_their_word(options, is_corrected):
    ids = RNG.permutation(60) // 3
    y = np.arange(60) % 3
    bags = sl.Bags(ids, labels={int(b): set(np.array(list("abc"))[y[b == ids]]) for b in range(20)})
    rows = 2.0 * np.eye(3)[y] + RNG.normal(size=(60, 3))

    def odds(bags, **more):
        told = Told(rows[: bags.n_rows], bags, np.full(bags.n_rows, -1), **more)
        found = held_out.hold_out_bags(of(**options), told, told.X, RNG, None)
        return held_out.correct_odds(of(**options), told, found and held_out.HeldOut.join(found[1]))

    assert (odds(bags).slope != 1.0) == is_corrected
    assert odds(bags, one_of=True).slope == 1.0
    assert odds(bags[np.flatnonzero(ids < 19)]).slope == 1.0  # two folds of ten lists each
    partly = sl.Bags(ids, labels=bags.labels, partial=[0])
    assert odds(partly).slope == 1.0


def test_gains_are_those_of_fits_that_did_not_see_the_lists():
    listed = sl.Bags(list(BAGS), labels={b: names - {"c"} for b, names in BAGS.labels.items()})
    found = sl.novelty_test(3.0 * X + 1.0, listed, cv=2, random_state=0)
    generator = np.random.default_rng(0)
    rows = (X - X.mean(axis=0)) / X.std(axis=0)
    plain = {"boundary": "straight", "calibrate": False, "information": 0.0, "wrong": 0.01, "forgotten": 0.01}
    plain |= {"n_init": 4, "random_state": as_seed(generator)}
    gains = np.zeros(16)
    for train, test in BagKFold(2, shuffle=True, random_state=as_seed(generator)).split(rows, groups=listed):
        scores = [
            sl.CoverageClustering(n_novel=n, **plain).fit(rows[train], bags=listed[train])
            .bag_scores(rows[test], listed[test])
            for n in (0, 1)
        ]  # fmt: skip
        gains[[listed.names.index(name) for name in listed[test].names]] = scores[1] - scores[0]
    np.testing.assert_allclose(found.gains, gains, atol=1e-6)
    whole = sl.CoverageClustering(n_novel=1, **plain).fit(rows, bags=listed)
    np.testing.assert_allclose(found.novelty, whole.novelty_score(rows, bags=listed), atol=1e-6)


@pytest.mark.slow
def test_gains_of_bags_stand_under_their_names():
    """A few bags hold a kind that no list names: theirs are the gains, whatever order rows and bags come in."""
    rng = np.random.default_rng(3)
    order = rng.permutation(120)
    y = np.where(order < 30, 2, order % 2)
    codes = np.array([f"bag-{b:02}" for b in (order // 3 * 7) % 40])
    rows = 7.0 * np.eye(3)[y] + rng.normal(size=(120, 3))
    lists = {name: {"ab"[k] for k in y[codes == name] if k < 2} for name in np.unique(codes).tolist()}
    del lists["bag-07"]
    bags = sl.Bags(codes.tolist(), labels=lists)
    found = sl.novelty_test(rows, bags, cv=2, random_state=0)
    assert "bag-07" not in found.bags
    assert len(found.gains) == len(found.bags) == 39
    assert found.log_bayes_factor == pytest.approx(found.gains.sum())
    strange = np.array([(y[codes == name] == 2).all() for name in found.bags])
    assert found.gains[strange].min() > found.gains[~strange].mean()
    assert (np.diff(found.novelty[found.rows]) <= 0).all()
    twice = [
        sl.novelty_test(rows, bags, cv=2, random_state=seed, n_novel=n).gains for seed, n in ((0, 1), (0, 2), (1, 1))
    ]
    np.testing.assert_array_equal(twice[0], found.gains)
    assert (twice[1] != found.gains).any()
    assert (twice[2] != found.gains).any()
    few = sl.Bags(codes.tolist(), labels={name: lists[name] for name in list(lists)[:2]})
    assert len(sl.novelty_test(rows, few, cv=2, random_state=0).gains) == 2
    with pytest.raises(InvalidData, match="cv=3"):
        sl.novelty_test(rows, few, cv=3)


def test_parts_are_told_what_arrays_are_told():
    """An empty list where nothing can be novel, and labels that always come together."""
    empty = sl.Bags(list(BAGS), labels={**BAGS.labels, 3: set()})
    together = sl.Bags(np.arange(48) // 2, labels={b: {"a", "b"} for b in range(24)})
    make = sl.CoverageClustering(boundary="straight", calibrate=False, n_init=1, max_iter=5, random_state=0)
    for rows, bags in ((X, {"bags": empty}), (sl.Parts.from_arrays(X, empty), {})):
        with pytest.raises(InvalidData, match="nothing novel is allowed"):
            make.fit(rows, **bags)
    for rows, bags in ((X, {"bags": together}), (sl.Parts.from_arrays(X, together), {})):
        with pytest.warns(InseparableLabels), ignore_warnings(ConvergenceWarning):
            make.fit(rows, **bags)


def test_doubts_about_lists_reach_the_term():
    plan = plan_bags(BAGS, np.full(48, -1), anything_novel=False, wrong=0.2, forgotten=0.1)
    P = RNG.dirichlet(np.ones(3), size=48)
    class_of = np.arange(3)
    doubts = {"wrong": 0.2, "forgotten": 0.1}
    found = Coverage(plan, class_of, **doubts).posteriors(P, np.log(P))
    for one, other in zip(found, coverage_posteriors(P, np.log(P), class_of, plan, **doubts)):
        np.testing.assert_array_equal(one, other)
    for name in ("wrong", "forgotten"):
        other = coverage_posteriors(P, np.log(P), class_of, plan, **{**doubts, name: 0.0})
        assert np.abs(other[1] - found[1]).max() > 1e-3, name


def test_candidates_of_rough_fits_are_read_as_one_of_them():
    """A row whose true kind may be missing among its candidates need carry none of them."""
    ids = np.arange(48)
    either = sl.Bags(ids, labels={int(i): {"abc"[Y[i]], "abc"[(Y[i] + 1 + i % 2) % 3]} for i in ids})
    values = []
    for one_of in (True, False):
        told = Told(X, either, NOBODY, one_of)
        fits = held_out.RoughFits(of(forgotten=0.3), told, np.random.default_rng(0))
        values.append(fits.hold_out(X, 0, "a").values.mean())
    assert values[0] > values[1]
