"""The joints of a session: what is handed to the belief, the strategy, the recorder and the file."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight.active.strategies import RandomStrategy
from sidelight.active.told import SavedSession
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.estimators._base import fingerprint

Y = np.random.default_rng(0).permutation(np.arange(24) % 3)
X = np.random.default_rng(1).normal(size=(24, 2)) + 4.0 * np.array([[0, 0], [1, 0], [0, 1]])[Y]
ORACLE = sl.Oracle(Y)


class Kept(list):
    """A recorder."""

    record = list.append


def session_of(n_clusters=3, **options):
    return sl.ActiveSession(X, n_clusters, **{"random_state": 0, **options})


@pytest.fixture(scope="module")
def told():
    session = session_of()
    session.run(ORACLE, 12)
    return session


@pytest.mark.parametrize("recorder", [3, "file", object()])
def test_a_recorder_records(recorder):
    with pytest.raises(InvalidParameter, match="recorder"):
        session_of(recorder=recorder)


@pytest.mark.parametrize("seconds", [3.0, (1.0,), (1.0, 2.0, 3.0), "ab", (1.0, -1.0)])
def test_seconds_are_two(seconds):
    with pytest.raises((InvalidData, InvalidParameter), match="seconds"):
        session_of(seconds=seconds)
    assert session_of(seconds=[1, 2]).seconds == (1.0, 2.0)


def test_sparse_rows_are_asked_about_as_dense_ones_are(told):
    sparse = sl.ActiveSession(sp.csr_array(X), 3, random_state=0)
    sparse.run(ORACLE, 12)
    assert sparse.history == told.history
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X[:4])), told.predict_proba(X[:4]), atol=1e-5)


def test_new_rows_are_refused_by_name_where_they_do_not_fit(told):
    with pytest.raises(InvalidData, match="2 features; these have 3"):
        told.predict(np.ones((2, 3)))
    with pytest.raises(InvalidData, match="ActiveSession"):
        told.predict_proba(np.full((2, 2), np.nan))
    np.testing.assert_array_equal(told.predict(), told.labels_)
    np.testing.assert_array_equal(told.predict(X[:5]), told.predict_proba(X[:5]).argmax(axis=1))


# -- asking ----------------------------------------------------------------------------------------------------------


def test_as_many_questions_are_kept_as_were_asked_for():
    session = session_of()
    questions = session.ask(2)
    assert session._pending == questions
    assert session.ask() == questions[0]
    assert [question.number for question in questions] == [0, 1]
    session.tell(questions[1], "unsure")
    assert session.ask(2)[0] == questions[0]  # it was not answered
    session.tell(questions[0], "different")
    assert len(session.ask(3)) == 3


@pytest.mark.parametrize("strategy", ["rows", "pairs", "random", "info"])
@pytest.mark.parametrize("word", ["same", "different", "unsure"])
def test_who_answers_first_is_not_asked_what_the_others_still_have(strategy, word):
    session = session_of(strategy=strategy)
    first, second, third = session.ask(3)
    session.tell(second, word)
    have = [frozenset(question.rows) for question in (first, third)]
    for _ in range(4):  # the quick one answers one question after the other
        question = session.ask()
        assert frozenset(question.rows) not in have
        assert session.ask() == question  # the same one until it is answered
        assert [frozenset(one.rows) for one in session.ask(2)] == have  # the others have theirs all the while
        session.tell(question, word)
    session.tell(first, "different")
    assert session._held == [third]
    session.tell(third, "different")
    assert session._held == []
    session.undo()
    assert session._held == []  # nobody has anything: it begins anew


def test_a_question_that_others_have_is_not_kept():
    session = session_of()
    first = session.ask()
    elsewhere = session.ask(busy=[first])
    assert elsewhere.rows != first.rows
    assert elsewhere.number == 1
    assert session._pending == [first]


def test_the_loop_ends_with_the_budget_or_with_the_questions():
    session = session_of()
    session.run(ORACLE, 0)
    assert session.n_answers == 0
    session.run(ORACLE, 3)
    assert session.n_answers == 3
    with pytest.raises(InvalidParameter, match="asks a function"):
        session.run("same", 3)


# -- telling ---------------------------------------------------------------------------------------------------------


def test_a_person_of_all_answers_is_the_one_of_those_that_name_nobody():
    session = session_of(recorder=(kept := Kept()))
    session.tell_all([((0, 1), "same"), ((0, 2), "different", "bob"), ((3, 4, 5), "none")], person="ann", seconds=2)
    session.tell((6, 7), "same")
    assert [event.get("person") for event in kept] == ["ann", "bob", "ann", None]
    assert "person" not in kept[-1]
    assert [event.get("seconds") for event in kept] == [2, 2, 2, None]
    assert kept[0] == {"event": "answer", "rows": [0, 1], "answer": "same", "person": "ann", "seconds": 2}
    assert [line.n_answers for line in session.people()] == [2, 1, 1]
    assert [line.person for line in session.people()] == ["ann", "bob", None]


# -- corrections -----------------------------------------------------------------------------------------------------


def test_a_correction_names_who_made_it_and_the_clusters_there_are(told):
    session = session_of(recorder=(kept := Kept()))
    session.replay(told._events)
    row = next(row for row in range(24) if row not in session._belief.at)
    cluster = int(session.labels_[row])
    session.reject(row, cluster, person="ann")
    assert kept[-1]["person"] == "ann"
    assert kept[-1]["answer"] == "different"
    assert kept[-1]["correction"] is True
    other = kept[-1]["rows"][1]
    assert kept[-1]["rows"][0] == row
    session.place(row, cluster)
    assert kept[-1]["rows"][1] != other  # that pair was asked about
    assert "person" not in kept[-1]
    for bad in (-1, 3):
        with pytest.raises(InvalidParameter, match="range \\[0, 2\\]"):
            session.place(row, bad)


def test_a_row_is_corrected_against_a_cluster_that_is_only_shown():
    session = session_of(None)
    assert session._belief.n_known == 1
    assert session.labels_.max() >= 1
    first, second = (int(row) for row in session.typical_rows(1)[:2])
    session.reject(first, 1)
    assert session.history[-1] == ((first, second), "different")  # not against itself
    session.undo()
    third = int(session.typical_rows(1)[2])
    session.tell((first, second), "unsure")
    session.place(first, 1)
    assert session.history[-1] == ((first, third), "same")


def test_a_row_that_was_compared_with_all_of_a_cluster_is_not_corrected():
    rows = np.array([[0.0], [0.1], [9.0], [9.1]])
    session = sl.ActiveSession(rows, 2, random_state=0)
    session.tell_all([((a, b), "same" if (a < 2) == (b < 2) else "different") for a in range(4) for b in range(a)])
    with pytest.raises(InvalidData, match="compared with row 0 already"):
        session.place(0, int(session.labels_[2]))


def test_typical_rows_are_those_of_the_cluster_in_any_order_where_nothing_is_known_of_them(told):
    for cluster in range(3):
        rows = told.typical_rows(cluster)
        assert sorted(rows) == np.flatnonzero(told.labels_ == cluster).tolist()
        assert (np.diff(told.typicality_[rows]) <= 0).all()
    assert session_of(strategy="cobras").typicality_.tolist() == [1.0] * 24


# -- files -----------------------------------------------------------------------------------------------------------


def test_everything_is_written_and_taken_up_again(tmp_path):
    session = session_of(None, strategy="pairs", seconds=(2.0, 3.0), random_state=5)
    session.tell_all([((0, 1), "same"), ((2, 3), "different")])
    session.tell((4, 5), "unsure", person="ann")
    session.save(tmp_path / "s.json")
    assert SavedSession.read(tmp_path / "s.json") == SavedSession(
        rows=fingerprint(session._X), n_clusters=None, strategy="pairs", belief=None, seconds=[2.0, 3.0],
        seed=session.seed_, steps=[2, 1], events=session._events,
    )  # fmt: skip
    again = sl.ActiveSession.resume(tmp_path / "s.json", X, recorder=(kept := Kept()))
    assert (again.seed_, again.seconds, again.strategy, again.n_clusters) == (session.seed_, (2.0, 3.0), "pairs", None)
    assert again.history == session.history
    assert again._said.steps == [2, 1]
    assert kept == []  # what was recorded is not recorded again
    again.tell((6, 7), "same")
    assert len(kept) == 1
    assert sl.ActiveSession.resume(tmp_path / "s.json", X, seconds=(1.0, 9.0)).seconds == (1.0, 9.0)
    named = sl.ActiveSession.resume(tmp_path / "s.json", X, strategy="random")
    assert named.strategy == "random"


def test_a_belief_of_ones_own_is_named_in_the_file(tmp_path):
    session_of(belief=sl.peers.PCKMeans(3), strategy=RandomStrategy()).save(tmp_path / "s.json")
    saved = SavedSession.read(tmp_path / "s.json")
    assert (saved.belief, saved.strategy, saved.n_clusters) == ("PCKMeans", None, 3)


@pytest.mark.parametrize(("events", "steps"), [(3, ()), ([], 3), ([], [-1]), ([], [0.5]), ([{"event": "x"}], ())])
def test_only_events_in_whole_steps_are_replayed(events, steps):
    session = session_of()
    with pytest.raises((InvalidData, InvalidParameter)):
        session.replay(events, steps=steps)
    assert session.n_answers == 0


def test_answers_are_replayed_in_the_steps_they_were_learnt_in():
    session = session_of(recorder=(kept := Kept()))
    answers = [((a, b), "same" if Y[a] == Y[b] else "different") for a in range(5) for b in range(a)]
    session.tell_all(answers)
    once, singly = session_of(), session_of()
    once.replay(kept, steps=[10])
    singly.replay(kept)
    assert once._said.steps == [10]
    assert singly._said.steps == [1] * 10
    np.testing.assert_array_equal(once.predict_proba(), session.predict_proba())
    assert once._events == kept
    once._events[0]["answer"] = "changed"
    assert kept[0]["answer"] != "changed"
