"""Rows drawn at random, copies, many placed rows, and acts that were recorded elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

import sidelight as sl
from sidelight.active import pile_belief
from sidelight.active.outlook import PartitionHistory
from sidelight.active.screens import NEW, SCREEN, PileAct
from sidelight.errors import InvalidData

X, Y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)


def sorted_by(session, n, oracle=None):
    oracle = oracle or sl.Oracle(Y)
    screens = []
    for _ in range(n):
        screen = session.ask_screen()
        session.tell_screen(screen, oracle.sort(screen))
        screens.append(screen)
    return screens


def test_every_fifth_screen_draws_two_rows_that_nobody_placed():
    session, before = sl.ActiveSession(X, random_state=0), set()
    for number in range(1, 11):
        screen = session.ask_screen()
        assert len(screen.drawn) == (2 if number % 5 == 0 else 0)
        assert set(screen.drawn) <= set(screen.rows) - before
        before |= set(screen.rows)
        session.tell_screen(screen, sl.Oracle(Y).sort(screen))
    assert session.outlook().n_drawn == 4


def test_a_row_drawn_at_random_tests_what_was_expected_of_it():
    session = sl.ActiveSession(X, random_state=0)
    sorted_by(session, 4)
    screen = session.ask_screen()
    expected = dict(screen.drawn)
    wrong = {row: next(pile.number for pile in screen.piles if pile.number != expected[row]) for row in expected}
    right = dict(zip(screen.rows, sl.Oracle(Y).sort(screen)))
    session.tell_screen(screen, right | wrong)
    assert (session.outlook().n_drawn, session.outlook().n_elsewhere) == (2, 2)
    session.undo()
    session.tell_screen(session.ask_screen(), right | expected)
    assert (session.outlook().n_drawn, session.outlook().n_elsewhere) == (2, 0)


def test_a_row_of_a_new_kind_was_expected_if_a_new_pile_was():
    session = sl.ActiveSession(X, random_state=0)
    session.tell_screen([0, 1, 2], [0, 0, 0])
    for drawn, put, is_right in [({80: NEW}, 1, True), ({81: 0}, 2, False), ({82: NEW}, 0, False), ({83: 1}, 1, True)]:
        (row,) = drawn
        session.tell_acts([PileAct(SCREEN, (row,), (put,), drawn=drawn)])
        assert session._belief.piles.drawn[row] is is_right


def test_the_share_that_is_probably_wrong_falls():
    session = sl.ActiveSession(X, random_state=0)
    sorted_by(session, 1)
    first = session.outlook().wrong
    sorted_by(session, 6)
    outlook = session.outlook()
    assert outlook.wrong < first
    assert outlook.wrong < 0.05
    assert outlook.wrong_before > outlook.wrong
    assert f"{outlook.wrong:.0%} of the rows are probably not" in outlook.sentence


@pytest.mark.parametrize(
    ("drawn", "is_enough"), [([True] * 9, False), ([True] * 10, True), ([True] * 17 + [False] * 3, False)]
)
def test_little_change_is_promised_only_where_random_rows_say_so(drawn, is_enough):
    history, labels = PartitionHistory(), np.arange(20) % 2
    for _ in range(5):
        history.add(labels, 0.01)
    outlook = history.outlook(50, np.eye(2)[labels], 0, 0.01, drawn)
    assert outlook.enough is is_enough
    assert ("little" in outlook.sentence) is is_enough
    assert outlook.low <= outlook.n_elsewhere / outlook.n_drawn <= outlook.high or not outlook.n_elsewhere


def test_the_last_twenty_random_rows_count():
    history = PartitionHistory()
    outlook = history.outlook(9, np.eye(2), 0, 0.1, [False] * 10 + [True] * 20)
    assert (outlook.n_drawn, outlook.n_elsewhere) == (20, 0)


def test_of_exact_copies_one_is_shown_and_the_others_follow():
    doubled = np.repeat(X, 2, axis=0)
    session, truth = sl.ActiveSession(doubled, random_state=0), np.repeat(Y, 2)
    shown = [row for screen in sorted_by(session, 5, sl.Oracle(truth)) for row in screen.rows]
    assert len({row // 2 for row in shown}) == len(set(shown))
    labels = session.labels_
    assert (labels[[row ^ 1 for row in shown]] == labels[shown]).all()


def test_rows_beyond_those_that_are_learnt_are_believed_by_their_votes(monkeypatch):
    monkeypatch.setattr(pile_belief, "MOST_LEARNT", 40)
    session = sl.ActiveSession(X, random_state=0)
    sorted_by(session, 12)
    assert len(session._belief.rows) == 40
    assert len(session._belief.beyond) > 30
    assert sum(len(pile.rows) for pile in session.piles) == len(session._belief.piles.votes)
    assert adjusted_rand_score(Y, session.labels_) > 0.95
    shown = [set(screen.rows) for screen in sorted_by(session, 2)]
    assert not (shown[0] | shown[1]) & set(session._belief.beyond) - {
        row for row in session._belief.beyond if len(session._belief.piles.votes[row]) == 1
    }


def test_acts_learnt_in_one_step_are_resumed_in_one(tmp_path):
    other = sl.ActiveSession(X, random_state=0)
    sorted_by(other, 3)
    events = []
    acts = [PileAct.of_event(event, len(X), None) for event in other._events]
    session = sl.ActiveSession(X, random_state=0)
    session.recorder = type("Kept", (), {"record": lambda self, event: events.append(event)})()
    session.tell_acts(acts)
    assert [event["event"] for event in events] == [SCREEN] * 3
    assert session.piles
    assert [p.rows for p in session.piles] == [p.rows for p in other.piles]
    session.recorder = None
    session.save(tmp_path / "session.json")
    again = sl.ActiveSession.resume(tmp_path / "session.json", X)
    assert again.labels_.tolist() == session.labels_.tolist()
    assert again.ask_screen() == session.ask_screen()


def test_acts_of_which_one_cannot_be_are_none():
    session = sl.ActiveSession(X, random_state=0)
    session.tell_screen([0, 1], [0, 1])
    with pytest.raises(InvalidData, match="makes no sense"):
        session.tell_acts([PileAct(SCREEN, (5,), (0,)), PileAct("merge piles", (), (0, 9))])
    assert session.n_answers == 1
    session.tell_acts([])


def test_the_first_act_says_what_pairs_had_begun():
    session = sl.ActiveSession(X, random_state=0)
    session.run(sl.Oracle(Y), budget=40)
    sorted_by(session, 1)
    (act,) = [event for event in session._events if event["event"] == SCREEN]
    begun = {int(row): pile for row, pile in act["begun"].items()}
    assert len(set(begun.values())) == 3
    alone = sl.ActiveSession(X, random_state=0)  # it learns the pairs in other steps, and has the same piles
    alone.replay(session._events, steps=[40])
    assert {pile.number for pile in alone.piles} == {pile.number for pile in session.piles}
    assert alone._belief.piles.votes == session._belief.piles.votes
