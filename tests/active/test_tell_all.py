"""Answers of many people, learnt in one step."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

import sidelight as sl
from sidelight.errors import InvalidData, UnknownName

X, Y = load_wine(return_X_y=True)
X = X / X.std(axis=0)


class Kept:
    """A recorder that may run out of room."""

    def __init__(self, room: int = 10**6) -> None:
        self.events, self.room = [], room

    def record(self, event):
        if len(self.events) >= self.room:
            raise OSError("no space left")
        self.events.append(dict(event))


def answers(n: int = 40):
    pairs = sl.Pairs.sample(Y, n, random_state=0)
    return [((int(a), int(b)), "same" if same else "different") for a, b, same in zip(*pairs.rows.T, pairs.same)]


def test_one_step_records_what_single_steps_record():
    once, singly = Kept(), Kept()
    sl.ActiveSession(X, 3, recorder=once, random_state=0).tell_all(answers(12), who="a")
    session = sl.ActiveSession(X, 3, recorder=singly, random_state=0)
    for question, answer in answers(12):
        session.tell(question, answer, who="a")
    assert once.events == singly.events


def test_one_answer_at_once_is_a_tell():
    sessions = [sl.ActiveSession(X, 3, random_state=0) for _ in range(2)]
    for question, answer in answers(6):
        sessions[0].tell(question, answer)
        sessions[1].tell_all([(question, answer)])
    np.testing.assert_array_equal(sessions[0].predict_proba(), sessions[1].predict_proba())


@pytest.mark.parametrize("n_clusters", [3, None])
def test_many_answers_at_once_teach(n_clusters):
    session = sl.ActiveSession(X, n_clusters, random_state=0)
    session.tell_all(answers(80))
    assert adjusted_rand_score(Y, session.labels_) > 0.9
    assert session.n_answers == 80


def test_undo_after_one_step_takes_one_answer_back():
    told = answers(12)
    session = sl.ActiveSession(X, 3, recorder=(kept := Kept()), random_state=0)
    session.tell_all(told)
    session.undo()
    other = sl.ActiveSession(X, 3, random_state=0)
    other.tell_all(told[:-1])
    assert [rows for rows, _ in session.history] == [rows for rows, _ in told[:-1]]
    assert kept.events[-1] == {"event": "undo"}
    np.testing.assert_array_equal(session.predict_proba(), other.predict_proba())
    session.tell(*told[-1])
    assert session.n_answers == 12


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ([((0, 1), "same"), ((1, 0), "different")], InvalidData),
        ([((0, 1), "same"), ((0, 10**6), "same")], InvalidData),
        ([((0, 1), "same"), ((0, 2), "perhaps")], UnknownName),
    ],
)
def test_one_bad_answer_refuses_all(told, error):
    session = sl.ActiveSession(X, 3, recorder=(kept := Kept()), random_state=0)
    with pytest.raises(error):
        session.tell_all(told)
    assert session.n_answers == 0
    assert not kept.events


def test_a_recorder_that_fails_half_way_loses_nothing_it_took():
    session = sl.ActiveSession(X, 3, recorder=(kept := Kept(room=5)), random_state=0)
    with pytest.raises(OSError, match="no space"):
        session.tell_all(answers(8))
    assert session.n_answers == len(kept.events) == 5


def test_no_answers_are_no_step():
    session = sl.ActiveSession(X, 3, random_state=0)
    question = session.ask()
    session.tell_all([])
    assert session.n_answers == 0
    assert session.ask() == question


def test_unsure_and_triplets_go_with_pairs():
    session = sl.ActiveSession(X, 3, random_state=0)
    session.tell_all([((0, 1), "same"), ((0, 60, 150), "none"), ((2, 70), "unsure"), ((3, 80, 4), "b")])
    assert session.n_answers == 4
    assert session.pairs.n_answers == 3  # nothing was known of rows 60 and 150, so "none" says nothing
