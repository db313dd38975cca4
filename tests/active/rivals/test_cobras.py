"""COBRAS as a session: it learns, goes on without an answer, and finds the number of clusters."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import adjusted_rand_score

import sidelight as sl

Y = np.repeat([0, 1, 2], 30)
X = np.random.default_rng(0).normal(size=(90, 2)) + 5.0 * np.array([[0, 0], [1, 0], [0, 1]])[Y]


def test_it_finds_the_clusters_and_their_number():
    session = sl.ActiveSession(X, strategy="cobras", random_state=0)
    session.run(sl.Oracle(Y), budget=25)
    assert len(np.unique(session.labels_)) == 3
    assert adjusted_rand_score(Y, session.labels_) > 0.9


def test_no_question_comes_twice_and_answers_given_before_are_used():
    session = sl.ActiveSession(X, strategy="cobras", random_state=0)
    oracle = sl.Oracle(Y)
    session.tell((0, 89), "different")
    session.run(oracle, budget=40)
    asked = [frozenset(rows) for rows, _ in session.history]
    assert len(set(asked)) == len(asked) == 41


def test_unsure_joins_nothing_and_is_not_asked_again():
    session = sl.ActiveSession(X, strategy="cobras", random_state=0)
    first = session.ask()
    session.tell(first, "unsure")
    assert session.ask() != first
    assert session.pairs.n_answers == 0


def test_a_conversation_ends_when_every_row_was_told_apart():
    session = sl.ActiveSession(X[:6], strategy="cobras", random_state=0)
    session.run(lambda question: "different", budget=100)
    assert session.ask() is None
    assert len(np.unique(session.labels_)) == 6


def test_undo_and_new_rows(tmp_path):
    session = sl.ActiveSession(X, strategy="cobras", random_state=0)
    session.run(sl.Oracle(Y), budget=12)
    question, before = session.ask(), session.labels_
    session.tell(question, "same")
    session.undo()
    np.testing.assert_array_equal(session.labels_, before)
    assert session.ask().rows == question.rows
    assert np.mean(session.predict(X) == before) > 0.9


def test_copies_of_one_row_are_no_trouble():
    session = sl.ActiveSession(np.ones((8, 2)), strategy="cobras", random_state=0)
    session.run(lambda question: "same", budget=30)
    assert len(np.unique(session.labels_)) == 1
