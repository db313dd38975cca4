"""What was asked and answered, what may still be, and what follows when a row is moved."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.active.told import Conversation, GivenAnswer, Known
from sidelight.errors import InvalidData


class Believer:
    """A belief that is sure of the clusters of four rows."""

    rows, position, is_consistent, q = (0, 1, 2, 3), np.arange(8), True, np.eye(3)[[0, 0, 1, 2]]

    def __init__(self, *, is_consistent=True, sure=1.0):
        self.is_consistent, self.sure = is_consistent, sure

    def certainty(self, row):
        return self.sure

    def places(self):
        return np.column_stack([np.eye(3)[[0, 0, 1, 2, 0, 0, 0, 0]], np.zeros(8)])


def conversation(*answers, belief=None):
    said = Conversation(8)
    for rows, word, *person in answers:
        said.add([GivenAnswer(rows, word, *person)], belief or Believer(sure=0.0))
    return said


def pairs_of(said):
    words = [said.pairs.WORDS[code] for code in said.pairs.codes]
    return [(int(a), int(b), word) for (a, b), word in zip(said.pairs.rows, words)]


def test_who_may_answer_a_question():
    said = conversation(((0, 1), "same", "ann"), ((2, 3), "same"), ((4, 5, 6), "c", "ann"), ((4, 7), "unsure", "ann"))
    assert said.may_answer((0, 2))
    assert said.may_answer((1, 0), "bob")
    assert not said.may_answer((0, 1), "ann")
    assert not said.may_answer((0, 1))  # somebody without a name may be ann
    assert said.may_answer((2, 3), "bob")
    assert not said.may_answer((4, 5, 6), "bob")  # of three rows, one answer
    assert not said.may_answer((4, 5), "bob")  # answered within a triplet, by nobody of whom it was asked
    assert said.may_answer((5, 6), "bob")  # "c" says nothing of these two alone
    assert not said.may_answer((7, 4), "ann")  # unsure is an answer


@pytest.mark.parametrize(
    ("batch", "is_refused"),
    [
        ([((0, 1), None), ((0, 2), None)], False),
        ([((0, 1), "ann"), ((1, 0), "bob")], False),
        ([((0, 1), "ann"), ((1, 0), "ann")], True),
        ([((0, 1), "ann"), ((1, 0), None)], True),
        ([((0, 1, 2), "ann"), ((1, 0, 2), "bob")], True),
        ([((5, 6), "ann")], True),
        ([((5, 6), "bob")], False),
        ([((5, 6), "bob"), ((5, 6), "carl")], False),
    ],
)
def test_a_question_is_answered_once_by_each_person(batch, is_refused):
    said = conversation(((5, 6), "same", "ann"))
    given = [GivenAnswer(rows, "b" if len(rows) == 3 else "same", person) for rows, person in batch]
    if not is_refused:
        said.check_new(given)
        return
    with pytest.raises(InvalidData, match=r"already: '(b|same)'"):
        said.check_new(given)


def test_a_refusal_names_the_answer_that_was_given_within_three_rows():
    said = conversation(((2, 3), "different"), ((4, 5, 6), "c"))
    for rows in ((4, 5), (4, 5, 6)):
        with pytest.raises(InvalidData, match="already: 'c'"):
            said.check_new([GivenAnswer(rows, "same")])


def test_answers_become_pairs_with_the_answer_behind_each():
    said = conversation(((0, 1), "same"), ((2, 3), "unsure"), ((4, 5, 6), "a"), ((7, 0), "different"))
    assert pairs_of(said) == [(0, 1, "same"), (5, 6, "same"), (4, 5, "different"), (7, 0, "different")]
    assert said.sources == [0, 2, 2, 3]
    assert said.steps == [1, 1, 1, 1]
    assert said.pairs.n_rows == 8
    assert said.was_asked(2, 3)
    assert said.was_asked(6, 4, 5)
    assert not said.was_asked(4, 6)


def test_three_rows_tell_nothing_of_a_pair_that_was_answered():
    said = conversation(((5, 4), "different"), ((4, 5, 6), "a"))
    assert pairs_of(said) == [(5, 4, "different"), (5, 6, "same")]


def test_what_is_known_of_two_rows():
    for answers, belief, rows, expected in [
        ([((0, 1), "same")], Believer(sure=0.0), (1, 0), "same"),
        ([((0, 1), "same")], Believer(is_consistent=False, sure=0.0), (0, 1), None),
        ([], Believer(), (0, 2), "different"),  # sure of different clusters
        ([], Believer(), (0, 1), None),
        ([], Believer(sure=0.89), (0, 2), None),
        ([], Believer(sure=0.9), (0, 2), "different"),
        ([], Believer(), (0, 5), None),  # row 5 was not asked about
        ([((0, 2), "same")], Believer(), (0, 2), "same"),  # answers come before beliefs
    ]:
        assert conversation(*answers).relation(*rows, belief) == expected


def test_none_of_three_rows_says_what_the_relation_of_the_others_makes_of_it():
    apart = conversation(((5, 0, 2), "none"), belief=Believer())
    assert pairs_of(apart) == [(5, 0, "different"), (5, 2, "different")]
    alike = conversation(((0, 2), "same"), ((5, 0, 2), "none"), belief=Believer())
    assert pairs_of(alike)[1:] == [(5, 0, "same")]


# -- a row is taken out ----------------------------------------------------------------------------------------------


def test_answers_about_a_row_that_is_moved_pass_to_a_row_it_was_joined_to():
    said = conversation(((0, 1), "same"), ((2, 0), "same"), ((3, 0), "same"), ((4, 5), "same"), ((0, 6), "different"))
    assert said.take_out(0, 4) == 1
    assert pairs_of(said) == [(2, 1, "same"), (3, 1, "same"), (4, 5, "same"), (0, 6, "different")]
    assert said.sources == [1, 2, 3, 4]
    assert said.pairs.n_rows == 8


def test_a_row_that_is_moved_differs_no_more_from_its_new_cluster():
    said = conversation(
        ((1, 0), "same"), ((0, 5), "different"), ((7, 0), "different"), ((4, 5), "same"), ((2, 1), "same")
    )
    assert said.take_out(0, 4) == 1
    assert pairs_of(said) == [(7, 0, "different"), (4, 5, "same"), (2, 1, "same")]
    assert said.sources == [2, 3, 4]


def test_there_is_nothing_to_take_out_of_where_a_row_belongs_or_stands_alone():
    said = conversation(((0, 1), "same"), ((1, 2), "same"), ((3, 4), "different"))
    before = pairs_of(said)
    assert said.take_out(0, 2) is None
    assert said.take_out(3, 0) is None
    assert said.take_out(5, 0) is None
    assert pairs_of(said) == before


def test_the_only_answer_about_a_row_that_is_moved_says_nothing_more():
    said = conversation(((0, 1), "same"))
    assert said.take_out(0, 4) == 1
    assert said.pairs.n_answers == 0
    assert said.pairs.n_rows == 8
    assert said.sources == []


# -- what a strategy may know ----------------------------------------------------------------------------------------


def test_what_was_asked_is_being_asked_or_follows_is_known():
    said = conversation(((0, 1), "same"), ((1, 2), "different"), ((4, 5), "unsure"))
    known = Known(said, Believer(), [(6, 7), (3, 4, 5)])
    assert known(1, 0)
    assert known(0, 2)  # it follows
    assert known(4, 5)
    assert known(7, 6)
    assert not known(0, 3)
    assert not known(3, 4)
    assert known.was_asked(5, 3, 4)
    assert known.was_asked(0, 1)
    assert not known.was_asked(0, 2)
    doubting = Known(said, Believer(is_consistent=False))
    assert doubting(0, 1)
    assert not doubting(0, 2)  # where answers were wrong nothing follows
    assert not doubting(6, 7)
