"""The parts of a fit to answers: weights, starts, rows that are looked at, and the thesis' bound."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import sidelight as sl
from sidelight.estimators.relations import direct, trust, variational
from sidelight.estimators.relations import direct as starts
from sidelight.estimators.relations.answered import Answered

Y = np.arange(40) % 3
X = 3.0 * np.eye(3)[Y] + np.random.default_rng(0).normal(size=(40, 3))
PAIRS, TRIPLETS = sl.Pairs.sample(Y, 30, random_state=0), sl.Triplets.sample(Y, 12, random_state=0)
SETTINGS = direct.Settings(n_clusters=3, tau=None, penalty=None, n_init=1, max_iter=50, tol=1e-6, max_rows=1000)


def space():
    told = Answered.evenly(PAIRS, TRIPLETS, 0.05)
    return direct.StartSpace.of(X, X - X.mean(axis=0), told, 3, np.random.default_rng(0)), told


def test_starts_come_from_every_kind_of_coordinates_or_from_those_that_are_named():
    terrain, told = space()
    kinds = {"rows", "features", "graph", "narrow graph"}
    assert set(terrain.coordinates) == kinds
    fit = direct.learn(terrain, told, replace(SETTINGS, n_init=2), 0.05, np.random.default_rng(0))
    assert set(fit.starts) == {f"{kind} {turn}" for kind in {*kinds, "agreement"} for turn in (1, 2)}
    assert set(fit.kinds) == {*kinds, "agreement"}
    assert fit.kinds[0] == min(fit.starts, key=fit.starts.get).rsplit(" ", 1)[0]
    named = direct.learn(terrain, told, SETTINGS, 0.05, np.random.default_rng(0), kinds=["graph", "agreement"])
    assert set(named.starts) == {"graph 1", "agreement 1"}
    nothing = Answered.evenly(sl.Pairs.empty(40), sl.Triplets.empty(40), 0.05)
    assert set(direct.learn(terrain, nothing, SETTINGS, 0.05, np.random.default_rng(0)).kinds) == kinds


def test_information_of_a_sample_counts_where_rows_are_many():
    terrain, told = space()
    weights = direct.Weights(0.5, 0.01)
    start = starts.ridge_start(terrain.features, Y, 3)
    few = replace(SETTINGS, max_rows=10, max_iter=2)
    drawn = np.sort(np.random.default_rng(5).choice(40, 10, replace=False))
    end = direct.follow(terrain.features, told, few, weights, start, np.random.default_rng(5))
    W, b = end.parameters[:-3], end.parameters[-3:]
    scores = terrain.features @ W.reshape(3, 3) + b
    P = np.exp(scores - scores.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    share = P[drawn].mean(axis=0)
    information = -(share * np.log(share)).sum() + (P[drawn] * np.log(P[drawn])).sum(axis=1).mean()
    penalty = 0.01 / 2 * np.square(W).sum()
    assert end.value == pytest.approx(-told.log_likelihood(P) - 0.5 * information + penalty)


@pytest.mark.parametrize(("n_pairs", "n_triplets"), [(30, 12), (30, 4), (4, 12)])
def test_every_answer_is_held_out_once_and_those_of_a_rare_kind_never(n_pairs, n_triplets):
    pairs, triplets = PAIRS.only(slice(n_pairs)), TRIPLETS.only(slice(n_triplets))
    folds = list(trust._folds(pairs, triplets, 3, 0, 10))
    assert len(folds) == 3
    for place, answers in enumerate((pairs, triplets)):
        n_held_out = [out[place].n_answers for _, out in folds]
        if answers.n_answers < 10:
            assert n_held_out == [0, 0, 0]
            assert all(known[place] == answers for known, _ in folds)
        else:
            assert sum(n_held_out) == answers.n_answers
            assert all(known[place].n_answers + n == answers.n_answers for (known, _), n in zip(folds, n_held_out))
            held_out = np.concatenate([out[place].rows for _, out in folds])
            assert sorted(held_out.tolist()) == sorted(answers.rows.tolist())
    assert len(list(trust._folds(PAIRS.only(slice(10)), triplets, 2, 0, 10))) == 2
    assert [out[0].n_answers for _, out in trust._folds(PAIRS.only(slice(10)), triplets, 2, 0, 10)] == [5, 5]


def test_the_sharpness_of_beliefs_is_the_one_that_makes_held_out_answers_likeliest():
    """Beliefs that are right but unsure: the answers say that they may be sharpened."""
    for factor, confusion in ((0.4, False), (2.0, True)):
        log_P = np.log(np.full((40, 3), 0.1) + 0.7 * np.eye(3)[Y]) * factor
        log_P -= np.log(np.exp(log_P).sum(axis=1, keepdims=True))
        parts = [Answered.evenly(PAIRS.only(slice(20)), TRIPLETS, 0.05)]
        parts += [Answered.evenly(PAIRS.only(slice(20, None)), sl.Triplets.empty(40), 0.05)]
        likelihood, rates, sharpness, _ = trust._likeliest(parts, [log_P, log_P], confusion)
        assert sharpness == max(trust.SHARPNESSES)
        assert rates.uneven == confusion
        P = np.exp(sharpness * log_P)
        P /= P.sum(axis=1, keepdims=True)
        told = rates.believed(PAIRS, TRIPLETS)
        assert likelihood == pytest.approx(told.log_likelihood(P))


def test_the_expected_likelihood_of_answers_is_that_of_enumeration():
    rng = np.random.default_rng(1)
    Q = rng.dirichlet(np.ones(3), size=4)
    pairs = sl.Pairs.from_table([(0, 1, "same"), (2, 1, "different")], n_rows=4)
    triplets = sl.Triplets.sample([0, 1, 1, 0], 2, random_state=0)
    for eps, floor in ((0.1, 0.1), (0.0, 1e-6)):
        told = Answered.evenly(pairs, triplets, floor)
        expected = 0.0
        for labels in product(range(3), repeat=4):
            chance = np.prod([Q[row, label] for row, label in enumerate(labels)])
            log_p = told.log_likelihoods_of(told.truths(np.eye(3)[list(labels)])).sum()
            expected += chance * log_p
        assert variational._expected_answers(told, Q, eps) == pytest.approx(expected)


def test_agreement_space_parts_rows_said_to_differ():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 4))
    side = features[:, 1] > 0  # what answers are about
    a, b = rng.integers(200, size=(2, 400))
    same = side[a] == side[b]
    links = np.column_stack([a, b])
    along = starts.agreement_space(features, links[same], links[~same], 1)
    assert along.shape == (200, 1)
    assert abs(np.corrcoef(along[:, 0], features[:, 1])[0, 1]) > 0.95
    swapped = starts.agreement_space(features, links[~same], links[same], 1)
    assert abs(np.corrcoef(swapped[:, 0], features[:, 1])[0, 1]) < 0.5
    assert starts.agreement_space(features, links[same], links[:0], 3).shape[1] <= 3


def test_rows_of_parts_are_those_with_answers_and_about_as_many_as_are_wanted():
    parts = sl.Parts.from_arrays(X)
    rows, _, numbers = parts.drawn(parts.draw(10, also=np.array([3, 30])))
    assert {3, 30} <= set(numbers.tolist())
    assert 4 < len(numbers) < 20
    np.testing.assert_array_equal(rows, X[numbers])
    for enough in (40, 41):
        assert parts.drawn(parts.draw(enough, also=np.array([3, 30]))).numbers.tolist() == list(range(40))


def test_answers_among_some_rows_keep_their_chances():
    rates = np.linspace(0.05, 0.4, 30)
    told = Answered(PAIRS, TRIPLETS, np.column_stack([rates, 1 - rates]), np.tile(np.linspace(0.1, 0.4, 4), (12, 1)))
    rows = np.flatnonzero(np.random.default_rng(0).random(40) < 0.7)
    few = told.among(rows)
    P = np.random.default_rng(1).dirichlet(np.ones(3), size=40)
    kept = [np.isin(answers.rows, rows).all(axis=1) for answers in (PAIRS, TRIPLETS)]
    assert 0 < kept[0].sum() < 30
    whole = told.log_likelihoods_of(told.truths(P))[np.concatenate(kept)]
    np.testing.assert_allclose(few.log_likelihoods_of(few.truths(P[rows])), whole)


def test_without_answers_or_weights_there_is_no_mean_likelihood():
    P = np.full((40, 3), 1 / 3)
    silent = sl.Pairs.from_table([(0, 1, "same", 0.0)], n_rows=40)
    for pairs in (sl.Pairs.empty(40), silent):
        assert np.isnan(Answered.evenly(pairs, sl.Triplets.empty(40), 0.05).log_likelihood(P))
