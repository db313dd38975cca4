"""Questions about three rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import sidelight as sl
from sidelight.active.questions import pairs_of
from sidelight.errors import InvalidInput

Y = np.repeat(np.arange(4), 20)
X = np.random.default_rng(0).normal(size=(80, 2)) + 3.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[Y]


def test_an_answer_about_three_rows_holds_for_every_true_labeling():
    for labels in np.ndindex(3, 3, 3):
        word = sl.Oracle(labels)(sl.active.Question((0, 1, 2), 0))
        relation = "same" if labels[1] == labels[2] else "different"
        for known in (relation, None):
            for a, b, said in pairs_of((0, 1, 2), word, known):
                assert said == ("same" if labels[a] == labels[b] else "different")


def test_three_rows_are_asked_about_where_they_buy_more_a_second():
    session = sl.ActiveSession(X, 4, seconds=(1.0, 1.0), random_state=0)
    session.run(sl.Oracle(Y), budget=20)
    kinds = [len(rows) for rows, _ in session.history]
    assert kinds.count(3) >= 5
    slow = sl.ActiveSession(X, 4, seconds=(1.0, 100.0), random_state=0)
    slow.run(sl.Oracle(Y), budget=20)
    assert all(len(rows) == 2 for rows, _ in slow.history)
    assert adjusted_rand_score(Y, session.labels_) >= adjusted_rand_score(Y, slow.labels_) - 0.05


def test_three_rows_are_the_row_in_hand_and_two_that_differ():
    session = sl.ActiveSession(X, 4, seconds=(1.0, 1.0), random_state=0)
    oracle = sl.Oracle(Y)
    for _ in range(20):
        question = session.ask()
        if len(question.rows) == 3:
            assert Y[question.rows[1]] != Y[question.rows[2]]
        session.tell(question, oracle(question))


def test_a_conversation_with_triplets_is_taken_up_where_it_stopped(tmp_path):
    session = sl.ActiveSession(X, 4, seconds=(1.0, 1.2), random_state=0)
    session.run(sl.Oracle(Y), budget=12)
    session.save(tmp_path / "s.json")
    again = sl.ActiveSession.resume(tmp_path / "s.json", X)
    assert again.ask().rows == session.ask().rows
    assert np.array_equal(again.predict_proba(), session.predict_proba())
    session.undo()
    session.undo()
    assert session.n_answers == 10


def test_told_triplets_are_learnt():
    session = sl.ActiveSession(X, 4, random_state=0)
    session.tell((0, 1, 20), "c")
    assert session.pairs.implies(0, 1) == "same"
    assert session.pairs.implies(1, 20) == "different"
    session.tell((2, 41, 60), "unsure")
    assert session.n_answers == 2
    with pytest.raises(InvalidInput, match="already: 'c'"):
        session.tell((0, 1), "same")
