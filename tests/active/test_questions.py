"""What may be asked and answered."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.active.expected import expect_answers
from sidelight.active.questions import Question, busy_questions, checked_answer, checked_answers, rows_of
from sidelight.data import Labeller
from sidelight.errors import InvalidData, InvalidInput, InvalidParameter, UnknownName, WrongKind


@pytest.mark.parametrize(("rows", "kind", "words"), [
    ((0, 1), "pair", ("same", "different", "unsure")), ((0, 1, 2), "triplet", ("a", "b", "c", "none", "unsure")),
])  # fmt: skip
def test_a_question_has_its_words(rows, kind, words):
    question = Question(rows, 7)
    assert (question.kind, question.words) == (kind, words)
    assert rows_of(question, 5) == rows
    for word in words:
        assert checked_answer(list(rows), word, 5) == (rows, word)
    with pytest.raises(UnknownName, match="two rows" if kind == "pair" else "three rows"):
        checked_answer(rows, "perhaps", 5)


@pytest.mark.parametrize("rows", [(0,), (0, 1, 2, 3), (0, 0), (0, 1, 1), (0, 5), (-6, 1), 3, None, "ab", (0.5, 1)])
def test_rows_of_a_question_are_two_or_three_different_ones(rows):
    with pytest.raises(InvalidInput):
        rows_of(rows, 5)
    with pytest.raises(InvalidInput, match="busy"):
        busy_questions([rows], 5)


@pytest.mark.parametrize("answer", [None, 1, True, ["same"], "none"])
def test_an_answer_is_one_of_the_words(answer):
    with pytest.raises(UnknownName):
        checked_answer((0, 1), answer, 5)


def test_answers_come_with_or_without_a_person():
    answers = [((0, 1), "same"), [Question((1, 2, 3), 0), "none", "ann"], (np.array([3, 4]), "different", 5)]
    assert checked_answers(answers, 5) == [
        ((0, 1), "same", None), ((1, 2, 3), "none", "ann"), ((3, 4), "different", 5),
    ]  # fmt: skip
    assert checked_answers(iter([]), 5) == []
    assert busy_questions([(0, 1), Question((1, 2), 0)], 5) == [(0, 1), (1, 2)]


@pytest.mark.parametrize("one", [(3, 4, "same"), ((0, 1),), ((0, 1), "same", "ann", 1), "same", None, 5, {0: 1}])
def test_what_is_no_pair_of_question_and_answer_is_refused(one):
    with pytest.raises(InvalidData, match=r"\(question, answer\)"):
        checked_answers([one], 5)


# -- questions that others have --------------------------------------------------------------------------------------


class Sharing:
    shares_rows = True


class Expecting:
    def expecting(self, being_asked):
        return "expected", [rows[0] for rows in being_asked]


@pytest.mark.parametrize(("strategy", "belief", "expected"), [
    (Sharing(), Expecting(), ("expected", frozenset({0, 2}))),
    (object(), Expecting(), frozenset({0, 1, 2, 3})),
    (Sharing(), object(), frozenset({0, 1, 2, 3})),
])  # fmt: skip
def test_rows_are_shared_where_a_strategy_and_a_belief_can(strategy, belief, expected):
    found = expect_answers(strategy, belief, [(0, 1), (2, 3)])
    assert found == (expected if isinstance(expected, tuple) else (belief, expected))


# -- a simulated person ----------------------------------------------------------------------------------------------


def test_an_oracle_tells_the_truth_unless_it_is_noisy():
    y = np.array([0, 0, 1, 1, 2])
    pairs = [Question((a, b), 0) for a in range(5) for b in range(a)]
    assert [sl.Oracle(y)(one) for one in pairs] == [
        "same" if y[one.rows[0]] == y[one.rows[1]] else "different" for one in pairs
    ]
    assert sl.Oracle(y)(Question((0, 1, 4), 0)) == "c"
    assert sl.Oracle(y)(Question((0, 2, 4), 0)) == "none"
    wrong = sl.Oracle(y, noise=1.0, random_state=0)
    assert all(wrong(one) != sl.Oracle(y)(one) for one in pairs)
    some = sl.Oracle(y, noise=0.5, random_state=0)
    assert 0 < sum(some(one) != sl.Oracle(y)(one) for one in pairs * 5) < 50


def test_an_oracle_may_be_a_labeller_with_times_of_its_own():
    labeller = Labeller(noise=1.0, pair_seconds=2.0)
    oracle = sl.Oracle([0, 0, 1], labeller=labeller, random_state=0)
    assert oracle(Question((0, 1), 0)) == "different"
    assert oracle.labeller is labeller
    assert oracle.seconds > 0
    with pytest.raises(InvalidParameter, match="labeller"):
        sl.Oracle([0, 1], labeller=0.1)


def test_an_oracle_knows_its_rows_to_the_last_and_takes_questions_only():
    oracle = sl.Oracle([0, 0, 1])
    assert oracle(Question((1, 2), 0)) == "different"
    with pytest.raises(InvalidData, match="row 3"):
        oracle(Question((0, 3), 0))
    with pytest.raises(WrongKind):
        oracle((0, 1))
