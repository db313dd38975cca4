"""The thesis' estimator: every parameter reaches the model, every answer and weight its score."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight._core.simplex import softmax
from sidelight.active.particle_belief import ParticleBelief, Prior
from sidelight.errors import InvalidInput, InvalidParameter

Y = np.random.default_rng(0).permutation(np.arange(24) % 3)
X = np.random.default_rng(1).normal(size=(24, 2)) + 3.0 * np.array([[0, 0], [1, 0], [0, 1]])[Y]
PAIRS = [(0, 1, "same"), (2, 3, "different"), (4, 0, "different"), (5, 6, "same")]


class Kept(list):
    """A recorder."""

    record = list.append


def estimator(**changes):
    return sl.BayesianActiveClustering(
        **{"n_clusters": 3, "n_particles": 4, "n_moves": 1, "random_state": 0, **changes}
    )


def prior_of(**changes):
    return estimator(**changes)._new_belief(X, None, np.random.default_rng(0)).prior


def test_every_parameter_reaches_the_model():
    assert prior_of(eps=0.2, tau=0.5, penalty=3.0, centre="zero", n_particles=7, n_moves=2) == Prior(
        3, 0.2, 0.5, 3.0, "zero", 7, 2
    )
    assert prior_of(n_particles="thesis").n_particles == 2 * 2 * 3


@pytest.mark.parametrize("changes", [
    {"n_clusters": 0}, {"criterion": "best"}, {"eps": 0.0}, {"eps": 0.5}, {"tau": -1}, {"penalty": 0},
    {"centre": "middle"}, {"n_particles": 0}, {"n_particles": "many"}, {"n_moves": -1}, {"n_clusters": 25},
])  # fmt: skip
def test_parameters_that_cannot_be_are_refused(changes):
    with pytest.raises(InvalidInput):
        estimator(**changes).fit(X)


def test_fit_takes_answers_as_pairs_or_as_y_and_leaves_cycles_out():
    with_pairs = estimator(penalty=0.5).fit(X, pairs=[*PAIRS, (1, 4, "same")])
    with_y = estimator(penalty=0.5).fit(X, sl.Pairs(*zip(*PAIRS, (1, 4, "same")), n_rows=24))
    np.testing.assert_array_equal(with_pairs.weights_, with_y.weights_)
    assert with_pairs.n_dropped_ == with_y.n_dropped_ == 1  # the later of answers that close a cycle
    np.testing.assert_array_equal(with_pairs.weights_, estimator(penalty=0.5).fit(X, pairs=PAIRS).weights_)
    assert (with_pairs.weights_ != estimator(penalty=0.5).fit(X).weights_).any()
    labels = with_pairs.labels_
    assert labels[0] == labels[1] != labels[4]
    with pytest.raises(InvalidInput):
        estimator().fit(X, pairs=[(0, 24, "same")])


def test_probabilities_are_those_of_the_rule_on_standardised_rows():
    fitted = estimator(penalty=0.5).fit(X, pairs=PAIRS)
    rows = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(24)])
    np.testing.assert_allclose(fitted.predict_proba(X), softmax(rows @ fitted.weights_))
    np.testing.assert_allclose(fitted.predict_proba(sp.csr_array(X)), fitted.predict_proba(X))
    np.testing.assert_array_equal(fitted.predict(X), fitted.predict_proba(X).argmax(axis=1))
    assert fitted.predict(X[:3]).shape == (3,)


def test_the_score_is_the_mean_log_likelihood_of_weighted_answers():
    fitted = estimator(eps=0.1).fit(X)
    P = fitted.predict_proba(X)
    assert fitted.score(X) == pytest.approx(np.mean((P * np.log(P)).sum(axis=1)))
    logs = []
    for a, b, word in PAIRS:
        same = 0.1 + 0.8 * P[a] @ P[b]
        logs.append(np.log(same if word == "same" else 1 - same))
    assert fitted.score(X, pairs=PAIRS) == pytest.approx(np.mean(logs))
    assert fitted.score(X, sl.Pairs(*zip(*PAIRS), n_rows=24)) == pytest.approx(np.mean(logs))
    left, right, words = zip(*PAIRS)
    weighed = sl.Pairs(left, right, words, n_rows=24, weights=[1.0, 2.0, 3.0, 4.0])
    assert fitted.score(X, pairs=weighed) == pytest.approx(np.average(logs, weights=[1, 2, 3, 4]))
    with pytest.raises(InvalidInput):
        fitted.score(X, pairs=[(0, 24, "same")])


def test_a_conversation_begins_with_the_answers_criterion_seed_and_recorder_given():
    session = estimator(criterion="uncertain").start(X, PAIRS, recorder=(kept := Kept()))
    assert [rows for rows, _ in session.history] == [(a, b) for a, b, _ in PAIRS]
    assert [word for _, word in session.history] == [word for *_, word in PAIRS]
    assert len(kept) == 4
    assert session.strategy == "uncertain"
    assert session.n_clusters == 3
    assert isinstance(session._belief, ParticleBelief)
    assert session.seed_ == estimator().start(X).seed_ != estimator(random_state=1).start(X).seed_
    with pytest.raises(InvalidInput):
        estimator().start(X, [(0, 24, "same")])


def test_a_conversation_is_taken_up_with_its_parameters_and_a_recorder(tmp_path):
    session = estimator().start(X, PAIRS)
    session.save(tmp_path / "s.json")
    again = estimator().resume(tmp_path / "s.json", X, recorder=(kept := Kept()))
    assert again.history == session.history
    again.tell((7, 8), "same")
    assert len(kept) == 1  # from here on
    for changes in ({"criterion": "uncertain"}, {"n_clusters": 4}):
        with pytest.raises(InvalidParameter, match="begun with"):
            estimator(**changes).resume(tmp_path / "s.json", X)


# -- the belief ------------------------------------------------------------------------------------------------------


def belief(**changes):
    return ParticleBelief(X, Prior(3, **{"n_particles": 6, **changes}), np.random.default_rng(0))


def test_a_column_that_never_changes_is_left_as_it_is():
    rows = np.column_stack([X, np.full(24, 5.0)])
    made = ParticleBelief(rows, Prior(2, n_particles=2), np.random.default_rng(0))
    assert made.scale.tolist() == [*X.std(axis=0), 1.0]
    np.testing.assert_allclose(made.features[:, 2], 0.0)


@pytest.mark.parametrize(("centre", "n_centres"), [("zero", 1), ("start", 1), ("either", 2)])
def test_the_prior_is_centred_on_zero_on_a_start_or_on_both(centre, n_centres):
    made = belief(centre=centre)
    assert made.centres.shape == (n_centres, 9)
    assert (not made.centres[0].any()) == (centre != "start")
    assert made.centres[-1].any() == (centre != "zero")


def test_the_entropies_of_rules_are_summed_over_rows():
    made = belief()
    P = made.rules(made.particles)
    np.testing.assert_allclose(made._entropies(made.particles), -(P * np.log(P)).sum(axis=(1, 2)))


def test_the_log_factor_is_that_of_the_answers_and_the_average_entropy():
    made = belief(tau=2.0, eps=0.1)
    made.left, made.right, made.same = np.array([5, 3]), np.array([7, 5]), np.array([1, 0])
    P = made.rules(made.particles)
    expected = []
    for rule in P:
        total = 0.0
        for a, b, c in np.ndindex(3, 3, 3):  # labels of rows 5, 7 and 3
            chance = (0.9 if a == b else 0.1) * (0.1 if a == c else 0.9)
            total += rule[5, a] * rule[7, b] * rule[3, c] * chance
        expected.append(np.log(total) + 2.0 / 24 * (rule * np.log(rule)).sum())
    np.testing.assert_allclose(made._log_factor(made.particles), expected)
    assert made.rows == [3, 5, 7]
    value = made.negative_log_joint(made.particles[0], made.centres[0])[0]
    away = made.particles[0] - made.centres[0]
    assert value == pytest.approx(5.0 * away @ away - expected[0])


def test_an_answer_that_closes_a_cycle_is_left_out_and_the_best_rule_follows_the_others():
    made, generator = belief(penalty=0.5), np.random.default_rng(0)
    before = made.posterior()
    made.tell(0, 1, True, generator)
    made.tell(1, 2, False, generator)
    made.tell(0, 2, True, generator)
    assert (made.left.tolist(), made.right.tolist(), made.same.tolist()) == ([0, 1], [1, 2], [1, 0])
    after = made.posterior()
    assert (after != before).any()
    best = made._map()
    assert made._map() is best  # found once
    np.testing.assert_allclose(made.posterior(X)[3:], after[3:])
    W, centre = best, made.centres[int(np.argmin([((best - c) ** 2).sum() for c in made.centres]))]
    assert np.abs(made.negative_log_joint(W, centre)[1]).max() < 1e-3  # it is a minimum


def test_the_best_rule_is_no_worse_than_any_start(monkeypatch):
    told = []
    monkeypatch.setattr("sidelight.active.particle_belief.reporting", lambda doing: lambda *a, **k: told.append(doing))
    made, generator = belief(penalty=0.2, centre="zero"), np.random.default_rng(0)
    for k in range(1, 12):
        made.tell(k - 1, k, bool(Y[k - 1] == Y[k]), generator)
    zero = made.centres[0]
    best = made.negative_log_joint(made.best_rule(), zero)[0]
    joint = [made.negative_log_joint(W, zero)[0] for W in (zero, *made.particles)]
    assert best < min(joint) - 0.1
    assert told  # somebody who waits is told


def test_resampling_heeds_an_answer():
    made, generator = belief(n_particles=400, n_moves=0, penalty=0.3, centre="zero"), np.random.default_rng(0)
    for same in (True, False):
        one = ParticleBelief(
            X, Prior(3, n_particles=400, n_moves=0, penalty=0.3, centre="zero"), np.random.default_rng(0)
        )
        q = one.rules(one.particles)
        before = np.einsum("sk,sk->s", q[:, 0], q[:, 9]).mean()
        one.tell(0, 9, same, generator)
        q = one.rules(one.particles)
        assert (np.einsum("sk,sk->s", q[:, 0], q[:, 9]).mean() > before) == same
        assert len(one.parts) == 400
    assert made.particles.shape == (400, 9)
