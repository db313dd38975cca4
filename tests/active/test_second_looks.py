"""Which answers another person should look at, counted out."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.active.people import SLOPES, SecondLooks
from sidelight.active.row_belief import RowBelief
from sidelight.active.told import Conversation, GivenAnswer


def plain_slope(odds):
    def fit(slope):
        return sum(np.log(1 / (1 + np.exp(-slope * one))) for one in odds) - (slope - 1) ** 2 / 0.5

    return max(SLOPES, key=fit)


def test_what_is_foretold_is_trusted_by_how_well_it_was():
    for odds in [[], [2.0, 3.0, 1.0], [-2.0, -3.0, 2.0], [5.0] * 30, [-1.0] * 30]:
        looks = SecondLooks()
        looks._foretold = list(odds)
        assert looks.slope == plain_slope(odds)


def test_an_answer_that_is_probably_wrong_is_noted():
    for chance, rate, is_noted in [
        (0.05, 0.05, True),  # 0.0475 of 0.0475 + 0.0475
        (0.49, 0.05, False),  # wrong with a chance of five in a hundred
        (0.49, 0.2, True),
        (0.5, 0.45, False),
        (0.51, 0.45, False),  # what was likelier than not is not asked again
        (0.0, 0.001, True),  # never foretold with more certainty than one in a thousand
        (0.0, 0.0001, False),
        (1.0, 0.45, False),
    ]:  # fmt: skip
        looks = SecondLooks()
        looks.note((3, 4), chance, rate)
        assert (looks.rows == [(3, 4)]) == is_noted
        assert len(looks._foretold) == 1
        p = np.clip(chance, 1e-3, 1 - 1e-3)
        assert looks._foretold[0] == pytest.approx(np.log(p / (1 - p)), abs=2e-3)


def test_a_belief_that_foretold_badly_surprises_less():
    looks = SecondLooks()
    for _ in range(30):
        looks.note((0, 1), 0.2, 1e-6)
    assert looks.slope == SLOPES[0]
    looks.note((3, 4), 0.1, 0.05)  # flattened to 0.37
    assert looks.rows == []


def said_of(*words):
    said = Conversation(9)
    for person, word in zip(("ann", "bob", "carl", "dora"), words):
        said.add([GivenAnswer((0, 1), word, person)], None)
    return said


def test_a_second_person_looks_and_a_third_where_two_differ():
    for words, is_due in [
        (["same"], True), (["same", "different"], True), (["same", "same"], False), (["unsure"], False),
        (["same", "unsure"], True), (["same", "unsure", "different"], False), (["same", "different", "same"], False),
        (["unsure", "unsure"], False),
    ]:  # fmt: skip
        looks = SecondLooks()
        looks.rows = [(0, 1)]
        assert (looks.due_for("zoe", said_of(*words), set()) == (0, 1)) == is_due


def test_who_answered_does_not_look_again_and_nobody_while_another_does():
    looks, said = SecondLooks(), said_of("same")
    looks.rows = [(0, 1)]
    assert looks.due_for("ann", said, set()) is None
    assert looks.due_for("bob", said, {frozenset((1, 0))}) is None
    assert looks.due_for("bob", said, {frozenset((1, 2))}) == (0, 1)


class Table:
    """Rows 0 and 4 were asked about; row 5 is no candidate."""

    at, q = {0: 0, 4: 1, 5: 2}, np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.5, 0.5, 0.0]])
    position = np.array([0, 1, 2, 3, 4, -1])

    def places(self):
        return np.array([[0.9, 0.1, 0.0], [0.3, 0.6, 0.1], [0.5, 0.4, 0.1], [1.0, 0.0, 0.0], [0.2, 0.7, 0.1]])


def test_the_chance_of_an_answer_is_that_of_the_clusters_of_its_rows():
    for rows, expected in [
        ((1, 0), 0.3 * 0.9 + 0.6 * 0.1), ((0, 1), 0.3 * 0.9 + 0.6 * 0.1), ((2, 4), 0.5 * 0.2 + 0.4 * 0.7),
        ((0, 4), 0.9 * 0.2 + 0.1 * 0.7), ((4, 0), 0.9 * 0.2 + 0.1 * 0.7), ((1, 2), None), ((5, 0), None),
        ((0, 5), 0.5),
    ]:  # fmt: skip
        chance = RowBelief.chance_of_same(Table(), *rows)
        assert chance == (None if expected is None else pytest.approx(expected))
