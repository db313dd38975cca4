"""Several people who answer at once: what each is asked while others still think."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine

import sidelight as sl
from sidelight.metrics import adjusted_rand_index


def wine():
    """Three classes that overlap a little."""
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def conversation(X, y, seed, n_people, n_answers, wrong):
    """Let people answer in a random order, each holding one question; return the adjusted Rand index at the end."""
    session = sl.ActiveSession(X, random_state=seed)
    generator = np.random.default_rng([seed, 9])
    held: dict[int, tuple[int, ...]] = {}
    for _ in range(n_answers):
        for person in set(range(n_people)) - set(held):
            question = session.ask(busy=held.values())
            assert set(question.rows) not in [set(rows) for rows in held.values()]
            held[person] = question.rows
        who = int(generator.integers(n_people))
        rows = held.pop(who)
        is_same = (y[rows[0]] == y[rows[1]]) != (generator.random() < wrong[who])
        session.tell(rows, "same" if is_same else "different")
    return adjusted_rand_index(y, session.labels_)


@pytest.mark.parametrize("wrong", [(0.0, 0.0, 0.0), (0.3, 0.02, 0.02)])
def test_three_people_at_once_are_not_worse_than_one_after_the_other(wrong):
    X, y = wine()
    seeds = range(300, 304)
    alone = np.mean([conversation(X, y, seed, 1, 60, [np.mean(wrong)]) for seed in seeds])
    together = np.mean([conversation(X, y, seed, 3, 60, wrong) for seed in seeds])
    assert together >= alone - 0.03


def test_rows_that_others_compare_with_are_not_avoided():
    X, y = wine()
    session = sl.ActiveSession(X, random_state=0)
    session.run(sl.Oracle(y), 30)
    placed = {row for rows, _ in session.history for row in rows}
    unplaced = [row for row in range(len(X)) if row not in placed]
    held = [(row, other) for row, other in zip(unplaced, placed)]  # every row that is known is in somebody's question
    row, other = session.ask(busy=held).rows
    assert other in placed
    assert row not in {rows[0] for rows in held}


def test_what_is_expected_is_forgotten():
    X, y = wine()
    session = sl.ActiveSession(X, random_state=0)
    session.run(sl.Oracle(y), 20)
    before, labels = session.ask().rows, session.labels_
    for _ in range(3):
        session.ask(busy=[before, (0, 1), (5, 100)])
    assert session.ask().rows == before
    again = sl.ActiveSession(X, random_state=0)
    again.run(sl.Oracle(y), 20)
    session.tell(before, "same")
    again.tell(before, "same")
    assert (session.labels_ == again.labels_).all()
    assert (labels != -1).all()


def test_a_row_that_was_begun_is_finished_by_whoever_comes_next():
    X, y = wine()
    session, oracle, n_begun = sl.ActiveSession(X, random_state=0), sl.Oracle(y), 0
    for _ in range(20):
        question = session.ask()
        elsewhere = session.ask(busy=[question])
        session.tell(question, oracle(question))
        if question.rows[0] in session._strategy.in_hand:
            n_begun += 1
            assert session.ask(busy=[elsewhere]).rows[0] == question.rows[0]
    assert n_begun >= 2
