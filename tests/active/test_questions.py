"""What may be asked and answered."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.active.belief import Belief
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
    """A strategy that notes what it is told to leave alone; ``shares_rows`` as given."""

    def __init__(self, **about):
        vars(self).update(about)
        self.busy = None

    def choose(self, belief, asked, generator, busy=frozenset()):
        self.busy = busy
        return

    def after_answer(self, belief, rows, answer):
        """Nothing to note."""


class Expecting(Belief):
    """A belief that expects to place the first row of each question."""

    def __init__(self, X, n_clusters, generator):
        self.n_rows, self.n_clusters, self.is_consistent = len(X), n_clusters, True

    def expecting(self, being_asked):
        return self, [rows[0] for rows in being_asked]


@pytest.mark.parametrize(("about", "belief", "busy"), [
    ({"shares_rows": True}, Expecting, {0, 2}), ({"shares_rows": False}, Expecting, {0, 1, 2, 3}),
    ({}, Expecting, {0, 1, 2, 3}),
])  # fmt: skip
def test_rows_are_shared_where_a_strategy_and_a_belief_can(about, belief, busy):
    session = sl.ActiveSession(np.arange(12.0)[:, None], 2, strategy=Sharing(**about), belief=belief)
    assert session.ask(busy=[(0, 1), (2, 3)]) is None
    assert session._strategy.busy == busy
    plain = Belief()
    assert plain.expecting([(0, 1), (2, 3)]) == (plain, [0, 1, 2, 3])  # who cannot say leaves all rows alone


def test_a_belief_says_what_it_can_do():
    class Silent:
        def __init__(self, X, n_clusters, generator):
            self.n_rows = len(X)

    with pytest.raises(InvalidData, match="Silent, which does not say what it can do"):
        sl.ActiveSession(np.arange(12.0)[:, None], 2, belief=Silent)
    plain = Expecting(np.zeros((5, 1)), 2, None)
    assert (plain.anew(), plain.next_check(None), plain.chance_of_same(0, 1), plain.marginals()) == (None,) * 4
    assert (plain.n_unlike(), plain.can_relink, len(plain.wrong), plain.answer_weights) == (0, False, 0, None)
    assert plain.typicality().tolist() == [1.0] * 5


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
