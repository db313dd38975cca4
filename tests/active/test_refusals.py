"""What a session refuses, before anything is recorded or learnt; and what it needs to be taken up again."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

import sidelight as sl
from sidelight.active.strategies import RowStrategy
from sidelight.errors import InvalidData, InvalidParameter

Y = np.repeat([0, 1, 2], 10)
X = np.random.default_rng(0).normal(size=(30, 3)) + 5.0 * Y[:, None]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_clusters": 1}, "nothing to ask"),
        ({"strategy": None}, "'rows'"),
        ({"strategy": 3}, "'rows'"),
        ({"belief": KMeans(3)}, "KMeans takes no pairs"),
        ({"belief": sl.peers.MPCKMeans}, r"call it, MPCKMeans\(\)"),
        ({"belief": "kmeans"}, "belief must be"),
    ],
)
def test_a_session_that_could_not_ask_is_not_begun(options, match):
    with pytest.raises((InvalidData, InvalidParameter), match=match):
        sl.ActiveSession(X, **options)


def test_the_thesis_method_needs_two_clusters_to_ask():
    with pytest.raises(InvalidParameter, match="nothing to ask"):
        sl.BayesianActiveClustering(1).start(X)


@pytest.mark.parametrize("answers", [[(3, 4, "same")], None, 5, ["same"], [((3, 4), "same", "ann", "sure")]])
def test_a_list_that_holds_no_answers_is_refused(answers):
    session = sl.ActiveSession(X, 3, random_state=0)
    with pytest.raises(InvalidData, match=r"\(question, answer\)"):
        session.tell_all(answers)
    assert session.n_answers == 0


@pytest.mark.parametrize("busy", [3, [99], ["a"], [0.5]])
def test_busy_rows_are_rows(busy):
    with pytest.raises(InvalidData, match="busy"):
        sl.ActiveSession(X, 3, random_state=0).ask(busy=busy)


def test_an_oracle_of_fewer_rows_says_so():
    with pytest.raises(InvalidData, match="knows 2 rows"):
        sl.ActiveSession(X, 3, random_state=0).run(sl.Oracle(Y[:2]), budget=5)


@pytest.mark.parametrize("about", [{"rows": [1, 2]}, {"event": "note"}, {"who": object()}])
def test_what_is_noted_with_an_answer_can_be_written_down_and_hides_nothing(about):
    session = sl.ActiveSession(X, 3, random_state=0)
    with pytest.raises(InvalidParameter, match=r"ActiveSession\.tell keeps"):
        session.tell((0, 1), "same", **about)
    assert session.n_answers == 0


def test_a_belief_or_strategy_of_ones_own_must_be_given_again(tmp_path):
    path = tmp_path / "s.json"
    session = sl.ActiveSession(X, 3, belief=sl.peers.PCKMeans(3), strategy=RowStrategy(), random_state=0)
    session.run(sl.Oracle(Y), budget=3)
    session.save(path)
    with pytest.raises(InvalidParameter, match="strategy="):
        sl.ActiveSession.resume(path, X, belief=sl.peers.PCKMeans(3))
    with pytest.raises(InvalidParameter, match="PCKMeans"):
        sl.ActiveSession.resume(path, X, strategy=RowStrategy())
    again = sl.ActiveSession.resume(path, X, belief=sl.peers.PCKMeans(3), strategy=RowStrategy())
    assert again.ask().rows == session.ask().rows


def test_undo_begins_a_strategy_of_ones_own_anew():
    session = sl.ActiveSession(X, strategy=RowStrategy(), random_state=0)
    question = session.ask()
    session.tell(question, "unsure")
    session.undo()
    assert session._strategy.unsure == {}
    assert session.ask() == question


def test_the_thesis_session_is_taken_up_by_its_estimator(tmp_path):
    path, estimator = tmp_path / "s.json", sl.BayesianActiveClustering(3, n_particles=8, n_moves=1, random_state=0)
    session = estimator.start(X)
    session.run(sl.Oracle(Y), budget=4)
    session.save(path)
    again = estimator.resume(path, X)
    assert again.ask() == session.ask()
    np.testing.assert_array_equal(again.predict_proba(), session.predict_proba())
    with pytest.raises(InvalidParameter, match="BayesianActiveClustering"):
        sl.ActiveSession.resume(path, X)
    with pytest.raises(InvalidParameter, match="n_clusters=3"):
        sl.BayesianActiveClustering(4).resume(path, X)


@pytest.mark.parametrize("question", [range(10**12), iter(int, 1), [0, 1, 2, 3], (), 5])
def test_a_question_is_about_two_or_three_rows(question):
    """A range of a billion rows was made a list first: gigabytes, and a bare MemoryError."""
    with pytest.raises(InvalidData, match="two or three"):
        sl.ActiveSession(X, 3, random_state=0).tell(question, "same")
