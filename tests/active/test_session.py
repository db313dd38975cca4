"""The conversation: what it learns, what it remembers, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

import sidelight as sl
from sidelight.errors import InvalidData, InvalidInput, UnknownName, UnreadableFile

X, Y = load_wine(return_X_y=True)
X = X / X.std(axis=0)


@pytest.fixture(scope="module")
def answered():
    session = sl.ActiveSession(X, 3, random_state=0)
    session.run(sl.Oracle(Y), budget=30)
    return session


def test_questions_beat_what_rows_alone_tell(answered):
    assert adjusted_rand_score(Y, answered.labels_) > 0.9
    assert answered.n_answers == 30


def test_the_number_of_clusters_can_be_discovered():
    iris, kind = load_iris(return_X_y=True)
    session = sl.ActiveSession(iris, random_state=0)
    session.run(sl.Oracle(kind), budget=40)
    by_rows = KMeans(3, n_init=5, random_state=0).fit_predict(iris)  # which is told the number
    assert len(np.unique(session.labels_)) == 3
    assert adjusted_rand_score(kind, session.labels_) > adjusted_rand_score(kind, by_rows)


@pytest.mark.slow
def test_chosen_questions_beat_random_ones():
    chosen, drawn = (sl.ActiveSession(X, 3, strategy=name, random_state=0) for name in ("rows", "random"))
    for session in (chosen, drawn):
        session.run(sl.Oracle(Y), budget=40)
    assert adjusted_rand_score(Y, chosen.labels_) > adjusted_rand_score(Y, drawn.labels_)


@pytest.mark.slow
def test_some_wrong_answers_are_outvoted():
    session = sl.ActiveSession(X, 3, random_state=1)
    session.run(sl.Oracle(Y, noise=0.1, random_state=3), budget=80)
    assert adjusted_rand_score(Y, session.labels_) > 0.8
    assert 0.02 < session.eps_ < 0.25


def test_new_rows_get_the_clusters_of_the_session(answered):
    P = answered.predict_proba(X[:20])
    assert P.shape == (20, 3)
    assert np.mean(answered.predict(X[:20]) == answered.labels_[:20]) > 0.9


def test_an_implied_answer_is_asked_only_as_a_check():
    session = sl.ActiveSession(X, 3, random_state=0)
    oracle = sl.Oracle(Y)
    n_checks = 0
    for _ in range(30):
        question = session.ask()
        if session.pairs.implies(*question.rows) is not None:
            assert session._belief.next_check(session._said.was_asked) == question.rows
            n_checks += 1
        session.tell(question, oracle(question))
    assert n_checks <= 6  # most of them early


def test_undo_takes_the_last_answer_back():
    oracle = sl.Oracle(Y)
    session = sl.ActiveSession(X, 3, random_state=0)
    session.run(oracle, budget=12)
    before, question = session.labels_, session.ask()
    session.tell(question, "same")
    session.undo()
    np.testing.assert_array_equal(session.labels_, before)
    assert session.ask().rows == question.rows
    assert session.n_answers == 12


def test_a_saved_session_goes_on_as_it_would_have(tmp_path):
    oracle = sl.Oracle(Y)
    one = sl.ActiveSession(X, 3, random_state=0)
    one.run(oracle, budget=10)
    one.save(tmp_path / "session.json")
    two = sl.ActiveSession.resume(tmp_path / "session.json", X)
    for session in (one, two):
        session.run(oracle, budget=6)
    assert one.history == two.history
    np.testing.assert_array_equal(one.predict_proba(), two.predict_proba())


def test_a_session_of_other_rows_is_refused(tmp_path):
    session = sl.ActiveSession(X, 3, random_state=0)
    session.save(tmp_path / "session.json")
    with pytest.raises(InvalidData, match="other rows"):
        sl.ActiveSession.resume(tmp_path / "session.json", X[:-1])
    (tmp_path / "session.json").write_text("{")
    with pytest.raises(UnreadableFile):
        sl.ActiveSession.resume(tmp_path / "session.json", X)


def test_the_outlook_says_when_to_stop(answered):
    assert not sl.ActiveSession(X, 3, random_state=0).outlook().enough
    session = sl.ActiveSession(X, 3, random_state=0)
    session.run(sl.Oracle(Y), budget=80)
    assert session.outlook().enough
    assert "hardly changed" in session.outlook().sentence


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda s: s.tell((0, 1), "perhaps"), UnknownName),
        (lambda s: s.tell((0, 0), "same"), InvalidData),
        (lambda s: s.tell((0, 10**6), "same"), InvalidData),
        (lambda s: s.tell("rows", "same"), InvalidInput),
        (lambda s: s.tell(5, "same"), InvalidInput),
        (lambda s: s.undo(), InvalidData),
        (lambda s: s.ask(0), InvalidInput),
        (lambda s: s.place(0, 99), InvalidInput),
        (lambda s: sl.ActiveSession(X[:2], 3), InvalidInput),
        (lambda s: sl.ActiveSession(X, strategy="best"), InvalidInput),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(call, error):
    session = sl.ActiveSession(X, 3, random_state=0)
    with pytest.raises(error):
        call(session)
    assert session.n_answers == 0


@pytest.mark.parametrize("n_clusters", [None, 2])
def test_two_rows_are_no_trouble(n_clusters):
    session = sl.ActiveSession(X[:2], n_clusters, random_state=0)
    session.run(sl.Oracle([0, 0]), budget=5)
    assert session.n_answers == 1
    assert len(set(session.predict_proba().argmax(axis=1))) == 1


def test_gaps_are_named():
    gap = X.copy()
    gap[3, 1] = np.nan
    with pytest.raises(InvalidData, match=r"ActiveSession: row 3, column 1 .* is NaN: 1 of 178 rows"):
        sl.ActiveSession(gap, 3)
